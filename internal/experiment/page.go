package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/report"
)

// looks gives each method one colour and marker in all figures.
func looks(m Method) int { return slices.Index(allMethods, m) + 1 }

// Page returns the results as a page: for each sweep a paragraph, figures of the
// accuracies and of the differences to cross entropy under each protocol, and
// tables of all numbers. Page.Save writes all of it into a folder.
func (r *Results) Page() *report.Page {
	page := &report.Page{
		Title: "The tree loss on synthetic data",
		Lead:  strings.Split(written("lead", ValidationRows), "\n\n"),
	}
	for i := range r.Sweeps {
		page.Sections = append(page.Sections, r.section(&r.Sweeps[i]))
	}
	if r.Norms != nil {
		page.Sections = append(page.Sections, r.normsSection())
	}
	o := r.Options
	var protocols []string
	for _, p := range o.Protocols {
		protocols = append(protocols, fmt.Sprintf("%s: %s, %d runs", p.title(), r.detail(p), o.runs(p)))
	}
	page.Facts = append(page.Facts,
		report.Fact{Name: "Protocols", Value: strings.Join(protocols, "; ")},
		report.Fact{Name: "True parameters", Value: string(o.Truth)},
		report.Fact{Name: "Seed", Value: strconv.FormatUint(o.Seed, 10)},
		report.Fact{Name: "Test examples", Value: strconv.Itoa(TestRows)})
	return page
}

// section shows a sweep: what holds, and under each protocol the accuracies beside their
// differences to cross entropy.
func (r *Results) section(s *SweepResult) report.Section {
	out := report.Section{
		Heading:    s.Sweep.Title,
		Paragraphs: append([]string{"Fixed: " + s.Sweep.fixed() + "."}, r.paragraphs(s)...),
	}
	for _, protocol := range r.Options.Protocols {
		for _, difference := range []bool{false, true} { // side by side on a wide page
			if f := r.figure(s, protocol, difference); f != nil {
				out.Pictures = append(out.Pictures, f)
			}
		}
	}
	out.Tables = append(out.Tables, s.table())
	if s.Sweep.Experiment == TreeShapes || s.Sweep.Experiment == MetricQuality {
		out.Tables = append(out.Tables, s.trees())
	}
	return out
}

// figure draws the accuracies under a protocol, or the differences to cross
// entropy; nil if there are none.
func (r *Results) figure(s *SweepResult, protocol Protocol, difference bool) *report.Figure {
	averaged := r.Options.Averaged && protocol != Converged
	f := &report.Figure{
		Name: s.Name + "-" + string(protocol), Title: "Accuracy: " + protocol.title(),
		XLabel: s.Sweep.XLabel, YLabel: "test accuracy, %", LogX: s.Sweep.LogX, Percent: true,
		Band: len(s.Sweep.Points) > 12,
	}
	if difference {
		f.Name += "-difference"
		f.Title = "Minus cross entropy: " + protocol.title()
		f.YLabel, f.Zero = "difference, points", true
	}
	if averaged {
		f.Title += ", averaged"
	}
	for _, method := range allMethods {
		series := report.Series{Name: method.title(), Look: looks(method)}
		for _, row := range s.Rows {
			if row.Protocol != protocol || row.Averaged != averaged || row.Method != method || difference && method == CrossEntropy {
				continue
			}
			v := row.Accuracy
			v.Low, v.High = max(v.Low, 0), min(v.High, 1) // of few runs an interval reaches beyond what a rate can be
			if difference {
				v = row.Difference
			}
			series.Add(row.X, v.Mean, v.Low, v.High)
		}
		if len(series.X) > 0 {
			f.Series = append(f.Series, series)
		}
	}
	if len(f.Series) == 0 {
		return nil
	}
	if protocol == Paper && !difference {
		for _, p := range readingsOf(&s.Sweep) {
			f.Markers = append(f.Markers, report.Marker{Series: p.method.title(), X: p.x, Y: p.value, Label: "read off the paper"})
		}
	}
	return f
}

// cells are the numbers of an interval in a table.
func (i Interval) cells() []string {
	return []string{cellText(i.Mean), cellText(i.Low), cellText(i.High)}
}

// cellText writes a number for a table, to six digits.
func cellText(x float64) string {
	if x != x {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// table lists all rows of a sweep.
func (s *SweepResult) table() report.Table {
	t := report.Table{
		Name: s.Name, Caption: "All numbers (fractions)", Closed: true,
		Heads: []string{"protocol", "averaged", "method", s.Sweep.letter(), "runs", "accuracy", "low", "high", "difference", "difference low", "difference high", "chosen rate or prior"},
	}
	for _, row := range s.Rows {
		choice := ""
		if row.Chosen > 0 {
			choice = cellText(row.Chosen)
		}
		t.Rows = append(t.Rows, slices.Concat(
			[]string{string(row.Protocol), strconv.FormatBool(row.Averaged), string(row.Method), number(row.X), strconv.Itoa(row.Runs)},
			row.Accuracy.cells(), row.Difference.cells(), []string{choice}))
	}
	return t
}

// trees lists the form of the cover trees.
func (s *SweepResult) trees() report.Table {
	t := report.Table{
		Name: s.Name + "-trees", Caption: "The cover trees: means over runs", Closed: true,
		Heads: []string{s.Sweep.letter(), "height", "children of an inner node", "pseudoclasses", "share of stars", "lambda"},
	}
	for _, tree := range s.Trees {
		t.Rows = append(t.Rows, []string{number(tree.X), cellText(tree.Height.Mean), cellText(tree.FanOut.Mean),
			cellText(tree.Pseudoclasses.Mean), cellText(tree.Star), cellText(tree.Lambda.Mean)})
	}
	return t
}

// normsSection shows the norms, and the norms times the factor by which the gradient in U and V
// is longer: what the bound of SGD should compare.
func (r *Results) normsSection() report.Section {
	n := r.Norms
	curve := func(f *report.Figure, look int, name, title string) {
		s := report.Series{Name: title, Look: look}
		for _, row := range n.Rows {
			if row.Name == name {
				s.Add(row.K, row.Value.Mean, row.Value.Low, row.Value.High)
			}
		}
		f.Series = append(f.Series, s)
	}
	norms := &report.Figure{Name: "norms", Title: "Norms of the true parameters", XLabel: n.Sweep.XLabel, YLabel: "Frobenius norm", LogX: true, LogY: true}
	curve(norms, 1, NormW, "‖W*‖")
	curve(norms, 2, NormU, "‖U*‖")
	curve(norms, 3, NormV, "least-norm ‖V*‖")
	curve(norms, 4, NormVRandom, "the same, random tree")
	bound := &report.Figure{Name: "norms-bound", Title: "Norm times the gradient's factor: what bounds SGD", XLabel: n.Sweep.XLabel, YLabel: "norm × factor", LogX: true, LogY: true}
	curve(bound, 1, NormW, "W (factor 1)")
	curve(bound, 2, EffectiveU, "U")
	curve(bound, 3, EffectiveV, "V")
	all := report.Table{Name: "norms-numbers", Caption: "All numbers", Closed: true, Heads: []string{"quantity", "k", "runs", "value", "low", "high", "largest"}}
	for _, row := range n.Rows {
		all.Rows = append(all.Rows, slices.Concat([]string{row.Name, number(row.K), strconv.Itoa(row.Runs)}, row.Value.cells(), []string{cellText(row.Most)}))
	}
	powers := report.Table{Name: "norms-exponents", Caption: fmt.Sprintf("Growth as a power of k, from k = %d on", ExponentsFrom), Heads: []string{"quantity", "power", "low", "high"}}
	for _, e := range n.Exponents {
		powers.Rows = append(powers.Rows, append([]string{e.Name}, e.Power.cells()...))
	}
	return report.Section{Heading: n.Sweep.Title, Paragraphs: []string{"Fixed: " + n.Sweep.fixed() + ".", r.NormsParagraph()},
		Pictures: []report.Picture{norms, bound}, Tables: []report.Table{powers, all}}
}
