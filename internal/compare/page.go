package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// Page is comparisons as a page.
type Page struct {
	Title  string
	Labels []string        // of the classes
	Tables []*Comparison   // by rising number of training rows of each class
	Tree   *labeltree.Tree // nil: none is drawn
	Facts  []report.Fact
}

// last is the table with the most training rows, which the page looks into.
func (p *Page) last() *Comparison { return p.Tables[len(p.Tables)-1] }

// best returns the most accurate method of a table, cross entropy left out; nil
// if there is no other.
func best(t *Comparison) *Result {
	var found *Result
	for i := range t.Results[1:] {
		if r := &t.Results[i+1]; found == nil || r.Accuracy > found.Accuracy {
			found = r
		}
	}
	return found
}

// Report draws the page.
func (p *Page) Report() *report.Page {
	last := p.last()
	page := &report.Page{Title: p.Title, Lead: p.lead(), Warnings: p.warnings()}
	page.Sections = append(page.Sections, p.accuracy())
	if len(p.Tables) > 1 {
		page.Sections = append(page.Sections, p.curve())
	}
	if best := best(last); best != nil {
		page.Sections = append(page.Sections, p.classes(best), p.confusions(best))
	}
	if p.Tree != nil {
		page.Sections = append(page.Sections, report.Section{Heading: "Tree of the classes", Tree: p.Tree,
			Paragraphs: []string{"Classes that are near to each other in the tree share parameters when a tree is the sharing. Names in italics are pseudoclasses: inner nodes that are no class."}})
	}
	similarity := "not known: the names have no letters"
	if last.SimilarityOf != nil {
		similarity = *last.SimilarityOf
	}
	var shots []string
	for _, t := range p.Tables {
		shots = append(shots, rowsOfClass(t.Shots))
	}
	page.Facts = append(slices.Clone(p.Facts),
		report.Fact{Name: "Training examples", Value: strings.Join(shots, "; ")},
		report.Fact{Name: "Test examples", Value: fmt.Sprintf("%d in each split", last.TestRows)},
		report.Fact{Name: "Classes", Value: fmt.Sprint(last.Classes)},
		report.Fact{Name: "Tuning", Value: "each method chose its settings in the same way, on examples held out of its training examples; with too few of these it took the defaults"},
		report.Fact{Name: "Intervals", Value: "95 %, over " + last.OverWords()},
		report.Fact{Name: "Similarity of classes", Value: similarity})
	return page
}

// rowsOfClass says how many training examples a class has.
func rowsOfClass(shots int) string {
	switch shots {
	case 0:
		return "all"
	case 1:
		return "1 of each class"
	}
	return fmt.Sprintf("%d of each class", shots)
}

// lead says what came out, from the numbers alone.
func (p *Page) lead() []string {
	last := p.last()
	first := fmt.Sprintf("%s, %d test examples. Training examples: %s.", counted(last.Classes, "class", "classes"), last.TestRows, rowsOfClass(last.Shots))
	if len(p.Tables) > 1 {
		first = fmt.Sprintf("%s, %d test examples. Training examples: %d to %d of each class; what follows is about %[4]d of each unless it says otherwise.",
			counted(last.Classes, "class", "classes"), last.TestRows, p.Tables[0].Shots, last.Shots)
	}
	lead := []string{first}
	r := best(last)
	if r == nil {
		return lead
	}
	text := fmt.Sprintf("Of the other methods %s is the most accurate: %s %%, cross entropy %s %%. The difference is %s percentage points",
		r.Method, console.Points(r.Accuracy), console.Points(last.Results[0].Accuracy), signed(r.Difference))
	low, high := r.DifferenceInterval.Low, r.DifferenceInterval.High
	switch {
	case math.IsNaN(low):
		text += "."
	case low > 0 || high < 0:
		text += fmt.Sprintf(", its 95 %% interval %s to %s excludes 0.", signed(low), signed(high))
	default:
		text += fmt.Sprintf(", its 95 %% interval %s to %s includes 0: no significant difference.", signed(low), signed(high))
	}
	return append(lead, text)
}

// signed prints a fraction as points with its sign.
func signed(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%+.1f", 100*x)
}

// counted prints a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// fewSplits is the number of splits below which the interval over them is wide for want
// of splits: with 2 it is 13 standard errors to each side, with 5 it is 2.8.
const fewSplits = 5

// warnings say what the numbers cannot show.
func (p *Page) warnings() []string {
	last := p.last()
	if last.Over == score.OverRows || last.Splits >= fewSplits {
		return nil
	}
	return []string{fmt.Sprintf("the intervals are over %d splits only, too few to conclude from: methods whose intervals overlap may still differ. Compare on %d splits or more.", last.Splits, fewSplits)}
}

// interval prints an interval in points.
func interval(i score.Interval) string {
	if math.IsNaN(i.Low) {
		return "-"
	}
	return console.Points(i.Low) + " to " + console.Points(i.High)
}

// signedInterval prints that of a difference in percentage points.
func signedInterval(i score.Interval) string {
	if math.IsNaN(i.Low) {
		return "-"
	}
	return signed(i.Low) + " to " + signed(i.High)
}

// accuracy shows how good each method is and, as the same rows make good and bad days
// for all of them, the paired difference to cross entropy beside it.
func (p *Page) accuracy() report.Section {
	last := p.last()
	accuracies := &report.Chart{Name: "accuracy", Title: "Accuracy", XLabel: "accuracy, %", Percent: true,
		Caption: "Bars are 95 % intervals of each method alone. As all methods were tested on the same examples, look at differences to compare them."}
	gains := &report.Chart{Name: "difference", Title: "Difference to cross entropy", XLabel: "accuracy minus that of cross entropy, percentage points", Percent: true, Zero: true,
		Signs: &report.Signs{Above: "better", Below: "worse", Neither: "no significant difference"}, Caption: "On the same test examples, with paired 95 % intervals."}
	var own, paired report.Series
	own.Name, paired.Name = "accuracy", "difference"
	for i, r := range last.Results {
		accuracies.Rows = append(accuracies.Rows, r.Method)
		own.AddRow(r.Interval.Mean, r.Interval.Low, r.Interval.High)
		if i > 0 {
			gains.Rows = append(gains.Rows, r.Method)
			paired.AddRow(r.DifferenceInterval.Mean, r.DifferenceInterval.Low, r.DifferenceInterval.High)
		}
	}
	accuracies.Series, gains.Series = []report.Series{own}, []report.Series{paired}
	s := report.Section{Heading: "Accuracy", Pictures: []report.Picture{accuracies}, Tables: []report.Table{p.results()}}
	if len(gains.Rows) > 0 {
		s.Pictures = append(s.Pictures, gains)
	}
	return s
}

// results is the table of all numbers.
func (p *Page) results() report.Table {
	t := report.Table{Name: "results", Caption: "All results in %, differences in percentage points, with 95 % intervals; shots: training examples of each class",
		Heads: []string{"method", "shots", "accuracy", "interval of accuracy", "difference", "interval of difference", "macro F1", "similarity accuracy", "seconds"}}
	for _, one := range p.Tables {
		shots := "all"
		if one.Shots > 0 {
			shots = fmt.Sprint(one.Shots)
		}
		for i, r := range one.Results {
			name, gain, gainInterval := r.Method, signed(r.Difference), signedInterval(r.DifferenceInterval)
			if r.Choice != "" {
				name += " (" + r.Choice + ")"
			}
			if i == 0 {
				gain, gainInterval = "-", "-"
			}
			t.Rows = append(t.Rows, []string{name, shots, console.Points(r.Accuracy), interval(r.Interval), gain, gainInterval,
				console.Points(r.MacroF1), console.Points(r.SimilarityAccuracy), fmt.Sprintf("%.1f", r.Seconds)})
		}
	}
	return t
}

// curve is what more training rows bring.
func (p *Page) curve() report.Section {
	accuracies := &report.Figure{Name: "learning-curve", Title: "Accuracy over training examples", XLabel: "training examples of each class", YLabel: "accuracy, %",
		LogX: true, Percent: true, Caption: "Bars are 95 % intervals of each method alone."}
	gains := &report.Figure{Name: "learning-difference", Title: "Difference to cross entropy over training examples", XLabel: "training examples of each class",
		YLabel: "accuracy minus that of cross entropy, percentage points", LogX: true, Percent: true, Zero: true, Caption: "On the same test examples, with paired 95 % intervals."}
	for m, r := range p.last().Results {
		own, paired := report.Series{Name: r.Method, Look: m%8 + 1}, report.Series{Name: r.Method, Look: m%8 + 1}
		for _, one := range p.Tables {
			r := one.Results[m]
			point(&own, one.Shots, r.Interval)
			point(&paired, one.Shots, r.DifferenceInterval)
		}
		accuracies.Series = append(accuracies.Series, own)
		if m > 0 {
			gains.Series = append(gains.Series, paired)
		}
	}
	s := report.Section{Heading: "Learning curve", Pictures: []report.Picture{accuracies}}
	if len(gains.Series) > 0 {
		s.Pictures = append(s.Pictures, gains)
	}
	return s
}

// point adds the result of a number of training rows to a curve, with its interval.
func point(s *report.Series, shots int, i score.Interval) {
	s.Add(float64(shots), i.Mean, i.Low, i.High)
}

// chartedClasses is the number of classes in the chart of those that gain, and of those that lose.
const chartedClasses = 12

// classes is what each class gains and loses.
func (p *Page) classes(best *Result) report.Section {
	last := p.last()
	var rates [][]score.Class
	for _, r := range last.Results {
		rates = append(rates, r.Total.Classes())
	}
	after := best.Total.Classes()
	gain := func(c int) float64 { return after[c].Recall - rates[0][c].Recall }
	var tested []int
	for c, rate := range after {
		if rate.Support > 0 {
			tested = append(tested, c)
		}
	}
	slices.SortStableFunc(tested, func(a, b int) int { return cmp.Compare(gain(b), gain(a)) })
	gained := slices.DeleteFunc(slices.Clone(tested), func(c int) bool { return gain(c) <= 0 })
	lost := slices.DeleteFunc(slices.Clone(tested), func(c int) bool { return gain(c) >= 0 })
	slices.Reverse(lost) // the largest loss first
	same := len(tested) - len(gained) - len(lost)
	if len(gained) == 0 { // a figure that says so
		gained = slices.DeleteFunc(slices.Clone(tested), func(c int) bool { return gain(c) != 0 })
	}
	var pictures []report.Picture
	for _, side := range []struct {
		name, title string
		classes     []int
	}{{"class-gains", "Classes that gain most with " + best.Method, gained}, {"class-losses", "Classes that lose most with " + best.Method, lost}} {
		chart := &report.Chart{Name: side.name, Title: side.title, XLabel: "recall minus that of cross entropy, percentage points", Percent: true, Stems: true,
			Signs:   &report.Signs{Above: "gain", Below: "loss", Neither: "the same"},
			Caption: "Recall is the share of the test examples of a class that were found. A class has few test examples, so that small differences may be chance."}
		values := report.Series{Name: "gain in recall"}
		for _, c := range side.classes[:min(len(side.classes), chartedClasses)] {
			chart.Rows = append(chart.Rows, p.Labels[c])
			values.Y = append(values.Y, gain(c))
		}
		chart.Series = []report.Series{values}
		if len(chart.Rows) > 0 || side.name == "class-gains" {
			pictures = append(pictures, chart)
		}
	}
	table := report.Table{Name: "classes", Caption: "Recall of each class in %, gain in percentage points", Closed: len(tested) > 30, Most: 1000, Heads: []string{"class", "test examples"}}
	for _, r := range last.Results {
		table.Heads = append(table.Heads, r.Method)
	}
	table.Heads = append(table.Heads, "gain of "+best.Method)
	for _, c := range tested {
		row := []string{p.Labels[c], fmt.Sprint(after[c].Support)}
		for m := range rates {
			row = append(row, console.Points(rates[m][c].Recall))
		}
		table.Rows = append(table.Rows, append(row, signed(gain(c))))
	}
	text := fmt.Sprintf("With %s in place of cross entropy %s better, %s worse, %d the same.", best.Method,
		counted(len(tested)-len(lost)-same, "class is found", "classes are found"), counted(len(lost), "is found", "are found"), same)
	return report.Section{Heading: "Classes", Paragraphs: []string{text}, Pictures: pictures, Tables: []report.Table{table}}
}

// listedConfusions is the number of pairs of classes in a table of mistakes.
const listedConfusions = 15

// confusions are the most frequent mistakes before and after.
func (p *Page) confusions(best *Result) report.Section {
	before := &p.last().Results[0]
	list := func(name, caption string, of, beside *Result) report.Table {
		count := map[[2]int]int{}
		for _, c := range beside.Total.Confusions(-1) {
			count[[2]int{c.True, c.Predicted}] = c.Count
		}
		t := report.Table{Name: name, Caption: caption, Heads: []string{"class", "predicted as", of.Method, beside.Method}}
		for _, c := range of.Total.Confusions(listedConfusions) {
			t.Rows = append(t.Rows, []string{p.Labels[c.True], p.Labels[c.Predicted], fmt.Sprint(c.Count), fmt.Sprint(count[[2]int{c.True, c.Predicted}])})
		}
		return t
	}
	text := "How many test examples of a class were predicted as another."
	if p.last().Splits > 1 {
		text += fmt.Sprintf(" Counts are sums over %d splits.", p.last().Splits)
	}
	return report.Section{Heading: "Confusions", Paragraphs: []string{text}, Tables: []report.Table{
		list("confusions-before", "Most frequent mistakes of "+before.Method, before, best),
		list("confusions-after", "Most frequent mistakes of "+best.Method, best, before),
	}}
}

// drawnClasses is the number of classes up to which a page has a tree.
const drawnClasses = 2000

// TreeOf returns the tree of a method that was compared, else the V-tree
// if one can be built; nil if there is none or it is too large to draw.
func TreeOf(all []*Comparison, c classinfo.Info, opts classinfo.Options) *labeltree.Tree {
	if len(c.Labels) > drawnClasses {
		return nil
	}
	for _, one := range all {
		if one.Tree != nil {
			return one.Tree
		}
	}
	tree, err := classinfo.BuildTree(classinfo.VTree, c, opts)
	if err != nil {
		return nil // names that say nothing make no tree, and nobody asked for one
	}
	return tree
}
