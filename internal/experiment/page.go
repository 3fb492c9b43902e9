package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/report"
)

// looks gives each method one colour and marker in all figures.
func looks(m Method) int { return slices.Index(allMethods, m) + 1 }

// Page returns the results as a page: first the claims of the paper that were measured with
// their verdicts and one figure, then, folded, for each sweep a paragraph, figures of
// the accuracies and of the differences to cross entropy under each protocol, and
// tables of all numbers. Page.Save writes all of it into a folder.
func (r *Results) Page() *report.Page {
	page := &report.Page{
		Title:    "The tree loss on synthetic data",
		Lead:     strings.Split(written("lead", ValidationRows), "\n\n"),
		Warnings: r.Warnings(),
	}
	page.Sections = append(page.Sections, r.verdicts()...)
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

// fewRuns is the number of runs below which intervals are wide for want of runs: with 2
// they reach 13 standard errors to each side, with 10 it is 2.3.
const fewRuns = 10

// Warnings say what so few runs cannot show; nil if there are enough.
func (r *Results) Warnings() []string {
	o, few := r.Options, []string(nil)
	if len(r.Sweeps) == 0 { // the norms of any draw are nearly the same
		return nil
	}
	for _, p := range o.Protocols {
		if n := o.runs(p); n < fewRuns {
			few = append(few, fmt.Sprintf("%d under %s", n, p.short()))
		}
	}
	if few == nil {
		return nil
	}
	text := fmt.Sprintf("there are too few runs to conclude (%s): intervals over them are wide, and a verdict such as “does not hold” may only say so. The default is %d runs, %d under the tuned protocols.",
		strings.Join(few, ", "), DefaultRuns, DefaultTunedRuns)
	return []string{text}
}

// verdictSigns stand in front of verdicts, for who looks down the column.
var verdictSigns = map[string]string{holds: "✓ ", fails: "✗ ", partly: "◐ "}

// verdicts are the claims that these results speak of, then the difference that they are about at
// one place of each sweep.
func (r *Results) verdicts() (out []report.Section) {
	t := report.Table{Name: "claims", Caption: "What the paper says, and what came of it", Cards: true, Heads: []string{"the paper says", "verdict", "we measured", "where"}}
	t.File = [][]string{t.Heads}
	unmeasured := (&Results{}).Claims()
	for i, c := range r.Claims() {
		if c.Verdict != notTested && c != unmeasured[i] {
			t.Rows = append(t.Rows, []string{c.Says, strings.ReplaceAll(verdictSigns[c.Verdict]+c.Verdict, " ", "\u00a0"), c.Measured, c.Where})
			t.File = append(t.File, []string{c.Says, c.Verdict, c.Measured, c.Where})
		}
	}
	if len(t.Rows) > 0 {
		out = append(out, report.Section{Heading: "What holds", Tables: []report.Table{t}})
	}
	if len(r.Sweeps) > 0 {
		out = append(out, r.headline())
	}
	return out
}

// headline is what the V-tree gains over cross entropy at one place of each sweep.
func (r *Results) headline() report.Section {
	chart := &report.Chart{Name: "headline", Title: "What the V-tree gains over cross entropy", XLabel: "accuracy minus that of cross entropy, percentage points", Percent: true, Zero: true,
		Caption: "At one place of each sweep, with 95 % intervals over runs, paired. Right of 0 the V-tree is better."}
	t := report.Table{Name: "headline-numbers", Caption: "The same in percentage points, ± half the 95 % interval", Heads: []string{"sweep"}}
	for i := range r.Sweeps {
		s := &r.Sweeps[i]
		chart.Rows = append(chart.Rows, fmt.Sprintf("%s, %s = %s", strings.TrimPrefix(s.Name, "data-"), s.Sweep.letter(), number(s.Sweep.Focus)))
		t.Rows = append(t.Rows, []string{chart.Rows[i]})
	}
	for n, protocol := range r.Options.Protocols {
		series := report.Series{Name: protocol.title(), Look: n + 1}
		t.Heads = append(t.Heads, protocol.short())
		for i := range r.Sweeps {
			row, ok := r.Sweeps[i].Find(protocol, r.averaged(protocol), VTree, r.Sweeps[i].Sweep.Focus)
			d := row.Difference
			if !ok {
				d = interval(nil)
			}
			series.AddRow(d.Mean, d.Low, d.High)
			t.Rows[i] = append(t.Rows[i], d.signed(100))
		}
		chart.Series = append(chart.Series, series)
	}
	return report.Section{Heading: "In one figure", Pictures: []report.Picture{chart}, Tables: []report.Table{t}}
}

// averaged tells whether figures show the mean of the weights over the pass, which an optimum
// does not have.
func (r *Results) averaged(p Protocol) bool { return r.Options.Averaged && p != Converged }

// section shows a sweep: what holds, and under each protocol the accuracies beside their
// differences to cross entropy.
func (r *Results) section(s *SweepResult) report.Section {
	out := report.Section{
		Heading: s.Sweep.Title, Closed: true, Short: r.short(s),
		Paragraphs: append([]string{"Fixed: " + s.Sweep.fixed() + "."}, r.paragraphs(s)...),
	}
	for _, protocol := range r.Options.Protocols {
		for _, difference := range []bool{false, true} { // side by side on a wide page
			if f := r.figure(s, protocol, difference); f != nil {
				out.Pictures = append(out.Pictures, f)
			}
		}
	}
	out.Tables = append(out.Tables, r.table(s))
	if s.Sweep.Experiment == TreeShapes || s.Sweep.Experiment == MetricQuality {
		out.Tables = append(out.Tables, s.trees())
	}
	return out
}

// short says on which side of cross entropy the V-tree is, in a line.
func (r *Results) short(s *SweepResult) string {
	var parts []string
	for _, p := range r.Options.Protocols {
		if t := s.Tally(p, r.averaged(p), VTree, CrossEntropy); t.Points() > 0 {
			parts = append(parts, p.short()+": "+t.sides())
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("V-tree minus cross entropy over %s. %s.", s.Sweep.letter(), strings.Join(parts, "; "))
}

// figure draws the accuracies under a protocol, or the differences to cross
// entropy; nil if there are none.
func (r *Results) figure(s *SweepResult, protocol Protocol, difference bool) *report.Figure {
	averaged := r.averaged(protocol)
	f := &report.Figure{
		Name: s.Name + "-" + string(protocol), Title: "Accuracy: " + protocol.title(),
		XLabel: s.Sweep.XLabel, YLabel: "test accuracy, %", LogX: s.Sweep.LogX, Percent: true,
		Band: len(s.Sweep.Points) > 12,
	}
	if difference {
		f.Name += "-difference"
		f.Title = "Minus cross entropy: " + protocol.title()
		f.YLabel, f.Zero = "difference, percentage points", true
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

// cellText writes a number for a table, to six digits; "" for one that is not known.
func cellText(x float64) string {
	if x != x {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// plusMinus writes a mean and half its interval, times a factor, both to the digit of the second
// significant one of the half.
func (i Interval) plusMinus(factor float64) string {
	half := factor * (i.High - i.Low) / 2
	if math.IsNaN(i.Mean) || math.IsInf(i.Mean, 0) {
		return "-"
	}
	decimals := 1 // where no half is known
	if half > 0 && !math.IsInf(half, 0) {
		decimals = max(0, 1-int(math.Floor(math.Log10(half))))
	}
	text := strconv.FormatFloat(factor*i.Mean, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	if math.IsNaN(half) {
		return text
	}
	return text + " ± " + strconv.FormatFloat(half, 'f', decimals, 64)
}

// signed is plusMinus with a sign in front of a mean above 0.
func (i Interval) signed(factor float64) string {
	if text := i.plusMinus(factor); i.Mean > 0 && !strings.HasPrefix(text, "-") {
		return "+" + text
	} else {
		return text
	}
}

// table lists the accuracies of a sweep in per cent, as the figures show them. Its file has all
// numbers, as fractions.
func (r *Results) table(s *SweepResult) report.Table {
	t := report.Table{
		Name: s.Name, Caption: "Accuracy in %, difference to cross entropy in percentage points, ± half the 95 % interval; the CSV file has all numbers as fractions", Closed: true,
		Heads: []string{s.Sweep.letter(), "method"},
		File:  [][]string{{"protocol", "averaged", "method", s.Sweep.letter(), "runs", "accuracy", "low", "high", "difference", "difference low", "difference high", "chosen rate or prior"}},
	}
	for _, p := range r.Options.Protocols {
		t.Heads = append(t.Heads, p.short(), "difference")
	}
	for _, p := range s.Sweep.Points {
		for _, method := range allMethods {
			cells, any := []string{number(p.X), method.title()}, false
			for _, protocol := range r.Options.Protocols {
				row, ok := s.Find(protocol, r.averaged(protocol), method, p.X)
				if !ok {
					cells = append(cells, "-", "-")
					continue
				}
				any = true
				cells = append(cells, row.Accuracy.plusMinus(100), row.Difference.signed(100))
				if method == CrossEntropy {
					cells[len(cells)-1] = "-"
				}
			}
			if any {
				t.Rows = append(t.Rows, cells)
			}
		}
	}
	for _, row := range s.Rows {
		choice := ""
		if row.Chosen > 0 {
			choice = cellText(row.Chosen)
		}
		t.File = append(t.File, slices.Concat(
			[]string{string(row.Protocol), strconv.FormatBool(row.Averaged), string(row.Method), number(row.X), strconv.Itoa(row.Runs)},
			row.Accuracy.cells(), row.Difference.cells(), []string{choice}))
	}
	return t
}

// trees lists the form of the cover trees.
func (s *SweepResult) trees() report.Table {
	heads := []string{s.Sweep.letter(), "height", "children of an inner node", "pseudoclasses", "share of stars", "lambda"}
	t := report.Table{
		Name: s.Name + "-trees", Caption: "The cover trees: means over runs ± half the 95 % interval, share of stars in %", Closed: true,
		Heads: heads, File: [][]string{heads},
	}
	for _, tree := range s.Trees {
		t.Rows = append(t.Rows, []string{number(tree.X), tree.Height.plusMinus(1), tree.FanOut.plusMinus(1), tree.Pseudoclasses.plusMinus(1), percent(tree.Star), tree.Lambda.plusMinus(1)})
		t.File = append(t.File, []string{number(tree.X), cellText(tree.Height.Mean), cellText(tree.FanOut.Mean),
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
	all := report.Table{Name: "norms-numbers", Caption: "All numbers, ± half the 95 % interval", Closed: true, Heads: []string{"quantity", "k", "runs", "value", "largest"},
		File: [][]string{{"quantity", "k", "runs", "value", "low", "high", "largest"}}}
	for _, row := range n.Rows {
		all.Rows = append(all.Rows, []string{row.Name, number(row.K), strconv.Itoa(row.Runs), row.Value.plusMinus(1), short(row.Most)})
		all.File = append(all.File, slices.Concat([]string{row.Name, number(row.K), strconv.Itoa(row.Runs)}, row.Value.cells(), []string{cellText(row.Most)}))
	}
	powers := report.Table{Name: "norms-exponents", Caption: fmt.Sprintf("Growth as a power of k, from k = %d on, ± half the 95 %% interval", ExponentsFrom), Heads: []string{"quantity", "power"},
		File: [][]string{{"quantity", "power", "low", "high"}}}
	for _, e := range n.Exponents {
		powers.Rows = append(powers.Rows, []string{e.Name, e.Power.plusMinus(1)})
		powers.File = append(powers.File, append([]string{e.Name}, e.Power.cells()...))
	}
	return report.Section{Heading: n.Sweep.Title, Closed: len(r.Sweeps) > 0, Paragraphs: []string{"Fixed: " + n.Sweep.fixed() + ".", r.NormsParagraph()},
		Pictures: []report.Picture{norms, bound}, Tables: []report.Table{powers, all}}
}
