package scorecard

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/score"
)

// Card is an evaluation to be drawn. None of its pointers may be nil.
type Card struct {
	Evaluation *evaluate.Evaluation // which has counted
	Result     *evaluate.Result     // of Evaluation
	Mistakes   *Mistakes            // which was Rows of its Options
	About      classify.About
	Data       []string // files that were measured on
	Facts      []report.Fact
}

// mostExamples is how many mistakes of a class are kept, and mostText how many letters
// of each, so that Mistakes keeps at most 3.4 KB of text a class, however many examples
// there are.
const (
	mostExamples = 3
	mostText     = 280
)

// Mistakes keeps the mistakes on each class that the model was surest of. Add it to the
// Options of an evaluation as Rows.
type Mistakes struct {
	ofClass map[string][]evaluate.Row // the surest first
	texts   bool                      // some example has a text
	ids     bool                      // some has an id
}

// Add keeps a row if it is one of the surest mistakes on its class; of two that are as sure
// the one that came first, so that the page depends on the order of examples and on nothing
// else. Rows without the probability of their label, whose class was not trained, are not
// kept.
func (m *Mistakes) Add(r evaluate.Row) {
	m.texts, m.ids = m.texts || r.Text != "", m.ids || r.ID != ""
	if r.Right || r.LabelProbability == nil {
		return
	}
	if m.ofClass == nil {
		m.ofClass = map[string][]evaluate.Row{}
	}
	list := m.ofClass[r.Label]
	// Never equal, so that the place is behind all that are as sure.
	at, _ := slices.BinarySearchFunc(list, r, func(a, b evaluate.Row) int { return cmp.Or(cmp.Compare(b.Probability, a.Probability), -1) })
	if at >= mostExamples {
		return
	}
	if text := []rune(r.Text); len(text) > mostText {
		r.Text = string(text[:mostText-1]) + "…"
	}
	list = slices.Insert(list, at, r)
	m.ofClass[r.Label] = list[:min(len(list), mostExamples)]
}

// Page returns the evaluation as a page. It counts the k x k confusions that are not 0, and,
// for up to joinedMost classes without a tree, joins them by these in O(k²) time and memory.
// The error is that of an evaluation that kept no confusions.
func (c *Card) Page() (*report.Page, error) {
	matrix, err := c.Evaluation.Matrix()
	if err != nil {
		return nil, err
	}
	page := &report.Page{Title: fmt.Sprintf("%s measured on %s", filepath.Base(c.Result.Model), c.data()), Lead: c.lead(), Warnings: c.warnings(matrix)}
	page.Sections = append(page.Sections, c.measures(), c.confusions(matrix), c.classes(), c.confidence())
	if matrix.Tree != nil {
		page.Sections = append(page.Sections, c.severity(matrix))
	}
	if c.Result.OutOfScope != nil {
		s, err := c.scope()
		if err != nil {
			return nil, err
		}
		page.Sections = append(page.Sections, s)
	}
	page.Facts = append(c.facts(), c.Facts...)
	return page, nil
}

// data is what the page calls the data.
func (c *Card) data() string {
	if len(c.Data) == 0 || c.Data[0] == "-" {
		return classify.StdinName
	}
	if more := len(c.Data) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", filepath.Base(c.Data[0]), more)
	}
	return filepath.Base(c.Data[0])
}

// lead says what came out, from the numbers alone.
func (c *Card) lead() []string {
	r := c.Result
	first := fmt.Sprintf("%s, %s.", counted(r.Report.Examples, "example", "examples"), counted(r.Report.Classes, "class", "classes"))
	if i, ok := r.Intervals["accuracy"]; ok {
		first += fmt.Sprintf(" The answer is right for %s %% of them (95 %% interval %s to %s)", console.Points(i.Mean), console.Points(i.Low), console.Points(i.High))
		if top := r.Report.Top5Accuracy; r.Report.Classes > 10 {
			first += fmt.Sprintf(", and the right class among the five most probable for %s %%", console.Points(top))
		}
		first += "."
	}
	lead := []string{first}
	if len(r.Confusions) > 0 {
		most := r.Confusions[0]
		lead = append(lead, fmt.Sprintf("The most frequent mistake: %s predicted as %s, %s.", most.True, most.Predicted, times(most.Examples)))
	}
	if text := c.sureness(); text != "" {
		lead = append(lead, text)
	}
	return lead
}

// sureness compares how sure the model is, Σ n_b c_b / Σ n_b over the bins b of n_b examples
// with mean confidence c_b, with how often it is right. A difference within the interval of
// the accuracy may be chance, and is called none.
func (c *Card) sureness() string {
	n, sure := 0, 0.0
	for _, b := range c.Result.Calibration {
		n += b.Examples
		sure += b.Confidence * float64(b.Examples)
	}
	if n == 0 {
		return ""
	}
	sure /= float64(n)
	i := c.Result.Intervals["accuracy"]
	text := fmt.Sprintf("Its mean confidence is %s %%", console.Points(sure))
	switch {
	case sure > i.High:
		return text + ", more than the accuracy: it is surer than it should be."
	case sure < i.Low:
		return text + ", less than the accuracy: it could be surer."
	}
	return text + ", in line with the accuracy."
}

// fewExamples is the number of test examples of a class below which its rates are mostly
// chance: with 4 of 4 right Wilson's 95 % interval is 51 to 100 %.
const fewExamples = 5

// warnings say what the numbers cannot show.
func (c *Card) warnings(m *evaluate.Matrix) (list []string) {
	r := c.Result
	if n := r.Report.Examples; n > 0 && n < 100 {
		list = append(list, fmt.Sprintf("%s are few: the intervals are wide.", counted(n, "example", "examples")))
	}
	few, tested := 0, 0
	for _, n := range m.Support {
		if n > 0 {
			tested++
			if n < fewExamples {
				few++
			}
		}
	}
	if 2*few > tested {
		list = append(list, fmt.Sprintf("%s of %s classes have fewer than %d test examples: what the page says of a single class may be chance.", thousands(few), thousands(tested), fewExamples))
	}
	if untested := len(m.Labels) - tested; untested > 0 {
		list = append(list, fmt.Sprintf("%s of the model %s without test examples.", counted(untested, "class", "classes"), map[bool]string{true: "is", false: "are"}[untested == 1]))
	}
	if n := r.Report.Unknown; n > 0 {
		fate := "they count as wrong and are in no row of the matrix"
		if r.Skipped > 0 {
			fate = "they are left out"
		}
		list = append(list, fmt.Sprintf("%s a label that was never trained: %s.", counted(n, "example has", "examples have"), fate))
	}
	return list
}

// meanings say what the measures of score.Metrics are, by their keys.
var meanings = map[string]string{
	"accuracy":                 "the most probable class is the right one",
	"top5_accuracy":            "the right class is among the five most probable",
	"macro_f1":                 "mean F1 of the classes, each of the same weight",
	"weighted_f1":              "mean F1 of the classes by their number of examples",
	"similarity_accuracy":      "a wrong answer counts as far as its name is similar to the right one",
	"log_loss":                 "mean -log of the probability of the right class; 0 is best",
	"calibration_error":        "mean gap between confidence and accuracy; 0 is best",
	"mistake_severity":         "mean height of the lowest common ancestor of right and predicted class, over the mistakes",
	"hierarchical_distance_1":  "the same over all examples, 0 for a right answer",
	"hierarchical_distance_5":  "the same over the five most probable classes",
	"hierarchical_distance_20": "the same over the 20 most probable classes",
	"hierarchical_precision":   "of the nodes on the path of the predicted class, those on that of the right one",
	"hierarchical_recall":      "of the nodes on the path of the right class, those on that of the predicted one",
	"hierarchical_f1":          "harmonic mean of the two",
}

// further measures are folded.
var further = []string{"weighted_f1", "hierarchical_distance_5", "hierarchical_distance_20", "hierarchical_precision", "hierarchical_recall", "hierarchical_f1"}

// measures are the headline numbers with their intervals, and a figure of those that are rates.
func (c *Card) measures() report.Section {
	heads, units := []string{"measure", "value", "95 % interval", "what it is"}, map[score.Unit]string{score.Fraction: "%", score.Nats: "nats", score.Edges: "edges"}
	t := report.Table{Name: "measures", Caption: "Measures, with intervals over the choice of test examples", Cards: true, Heads: heads,
		File: [][]string{{"measure", "value", "se", "low", "high", "unit"}}}
	others := report.Table{Caption: "Further measures", Cards: true, Closed: true, Heads: heads}
	chart := &report.Chart{Name: "measures-figure", Title: "Rates with their intervals", XLabel: "%", Percent: true,
		Caption: "How well the rates are known: the 95 % intervals are what the choice of test examples leaves open."}
	rates := report.Series{Name: "rate", Look: 3}
	for _, m := range score.Metrics() {
		x := m.Of(c.Result.Report)
		if math.IsNaN(x) {
			continue
		}
		text := console.Points
		if m.Unit != score.Fraction {
			text = decimals
		}
		interval, i := "-", score.Interval{SE: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if found, ok := c.Result.Intervals[m.Key]; ok {
			i = found
			interval = text(i.Low) + " to " + text(i.High)
			if m.Unit == score.Fraction && m.Key != "calibration_error" {
				chart.Rows = append(chart.Rows, m.Name)
				rates.AddRow(x, i.Low, i.High)
			}
		}
		row := []string{m.Name, text(x) + " " + units[m.Unit], interval, meanings[m.Key]}
		if slices.Contains(further, m.Key) {
			others.Rows = append(others.Rows, row)
		} else {
			t.Rows = append(t.Rows, row)
		}
		unit := units[m.Unit]
		if m.Unit == score.Fraction {
			unit = "fraction"
		}
		full := []string{m.Key}
		for _, v := range []float64{x, i.SE, i.Low, i.High} {
			full = append(full, exact(v))
		}
		t.File = append(t.File, append(full, unit))
	}
	s := report.Section{Heading: "Measures", Tables: []report.Table{t, others}}
	if chart.Series = []report.Series{rates}; len(chart.Rows) > 0 {
		s.Pictures = append(s.Pictures, chart)
	}
	return s
}

// worstClasses is how many classes are listed and charted, and shownMistakes of how many
// of these mistakes are shown.
const (
	worstClasses  = 12
	shownMistakes = 8
)

// classes shows the worst ones, with examples of mistakes.
func (c *Card) classes() report.Section {
	worst := slices.DeleteFunc(c.Result.Worst(), func(x evaluate.Class) bool { return x.Examples == 0 })
	chart := &report.Chart{Name: "worst-classes", Title: "Classes of the lowest F1", XLabel: "%", Percent: true, Zero: true,
		Caption: "Recall: the share of the examples of a class that were found, with its 95 % interval. Precision: the share of the answers that were right."}
	recall, precision := report.Series{Name: "recall", Look: 3}, report.Series{Name: "precision", Look: 2}
	list := report.Table{Name: "classes", Caption: "Classes, the worst first; rates in %", Most: worstClasses, Heads: []string{"class", "examples", "predicted", "precision", "recall", "F1"},
		File: [][]string{{"label", "examples", "predicted", "precision", "recall", "f1"}}}
	for i, x := range worst {
		list.Rows = append(list.Rows, []string{x.Label, strconv.Itoa(x.Examples), strconv.Itoa(x.Predicted), console.Points(x.Precision), console.Points(x.Recall), console.Points(x.F1)})
		list.File = append(list.File, []string{x.Label, strconv.Itoa(x.Examples), strconv.Itoa(x.Predicted), exact(x.Precision), exact(x.Recall), exact(x.F1)})
		if i >= worstClasses {
			continue
		}
		chart.Rows = append(chart.Rows, x.Label)
		rate := rateOf(x.Recall, x.Examples)
		recall.AddRow(x.Recall, rate.Low, rate.High)
		// No interval: the answers of a class are not a number that was fixed beforehand.
		precision.AddRow(x.Precision, math.NaN(), math.NaN())
	}
	chart.Series = []report.Series{recall, precision}
	s := report.Section{Heading: "Classes", Pictures: []report.Picture{chart}, Tables: []report.Table{list}}
	if t := c.examples(worst); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s
}

// examples lists the surest mistakes on the worst classes: a wrong label in the data is
// found by what the model is sure of, an unclear example is not.
func (c *Card) examples(worst []evaluate.Class) report.Table {
	// What tells the examples apart beside their places: texts, else ids, if there are such.
	what, cell := "text", func(r evaluate.Row) string { return cmp.Or(r.Text, "-") }
	if !c.Mistakes.texts {
		what, cell = "id", func(r evaluate.Row) string { return cmp.Or(r.ID, "-") }
	}
	told := c.Mistakes.texts || c.Mistakes.ids
	t := report.Table{Name: "examples", Caption: "Mistakes on these classes, those that the model was surest of", Cards: true,
		Heads: []string{"true class", what, "predicted as", "its probability", "that of the true class", "place"},
		File:  [][]string{{"label", what, "predicted", "probability", "label_probability", "place"}}}
	classes := 0
	for _, x := range worst {
		rows := c.Mistakes.ofClass[x.Label]
		if len(rows) == 0 || classes == shownMistakes {
			continue
		}
		classes++
		for _, r := range rows {
			t.Rows = append(t.Rows, []string{r.Label, cell(r), r.Predicted, console.Points(float64(r.Probability)) + " %", console.Points(float64(*r.LabelProbability)) + " %", filepath.Base(r.Place)})
			t.File = append(t.File, []string{r.Label, cell(r), r.Predicted, exact32(r.Probability), exact32(*r.LabelProbability), r.Place})
		}
	}
	if !told {
		t.Heads = slices.Delete(t.Heads, 1, 2)
		for _, rows := range [][][]string{t.Rows, t.File} {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], 1, 2)
			}
		}
	}
	return t
}

// facts are what the numbers depend on.
func (c *Card) facts() []report.Fact {
	r := c.Result
	list := []report.Fact{
		{Name: "Model", Value: fmt.Sprintf("%s, %s", r.Model, c.About.Kind)},
		{Name: "Data", Value: strings.Join(c.Data, ", ")},
		{Name: "Examples", Value: strconv.Itoa(r.Report.Examples)},
		{Name: "Classes", Value: strconv.Itoa(r.Report.Classes)},
		{Name: "Answers", Value: map[string]string{"cost": "the class of least expected cost over the tree", "likely": "the most probable class"}[r.Decode]},
		{Name: "Probabilities", Value: fmt.Sprintf("of temperature %s", strconv.FormatFloat(r.Temperature, 'g', 4, 64))},
	}
	if r.SimilarityOf != "" {
		list = append(list, report.Fact{Name: "Similarity of classes", Value: r.SimilarityOf})
	}
	if r.Tree != "" {
		list = append(list, report.Fact{Name: "Tree", Value: map[string]string{evaluate.OfModel: "that of the model", evaluate.OfOptions: "the given taxonomy"}[r.Tree]})
	}
	return append(list, report.Fact{Name: "Intervals", Value: "95 %, over the choice of test examples: Wilson's for rates, 1.96 standard errors for the others"})
}

// counted prints a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

// thousands prints a number with commas between groups of three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// percentOf is console.Points of a fraction that may not be known.
func percentOf(x *float64) string {
	if x == nil {
		return "-"
	}
	return console.Points(*x)
}

// decimals prints a number of another unit.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// exact32 prints a probability for a file, with as many digits as it takes to read it again.
func exact32(p float32) string { return strconv.FormatFloat(float64(p), 'g', -1, 32) }

// exact prints a number for a file, nothing for one that is not known.
func exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
