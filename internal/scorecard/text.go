package scorecard

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/score"
)

// Lines of the tables of mistakes and of classes, so that all fits on one screen.
const (
	shownConfusions = 10
	shownClasses    = 10
)

// Print prints the numbers of a result that are known, in points (hundredths) where they are
// fractions, and of its classes the worst ones, or all. A measure that is NaN, such as the
// severity without a tree, has no line. Errors of out are not reported.
func Print(out io.Writer, r *evaluate.Result, perClass bool) {
	t := console.NewTable(out, "measure", "points")
	values := map[string]float64{}
	for _, m := range score.Metrics() {
		x, name := m.Of(r.Report), m.Name
		values[m.Key] = x
		if m.Key == "similarity_accuracy" {
			name += " (" + r.SimilarityOf + ")"
		}
		if m.Unit == score.Fraction && x == x { // else it is not known
			t.Row(name, console.Points(x))
		}
	}
	t.Flush()
	if d := values["hierarchical_distance_1"]; d == d {
		printSeverity(out, r, values)
	}
	if x := values["log_loss"]; x == x {
		fmt.Fprintf(out, "log loss %.4f nats\n", x)
	}
	fmt.Fprintf(out, "%d examples, %d classes, %.1f s\n", r.Report.Examples, r.Report.Classes, r.Seconds)
	printCoverage(out, r)
	printDecisions(out, r)
	printClasses(out, r.Worst(), perClass)
	if len(r.Confusions) == 0 {
		return
	}
	fmt.Fprintln(out)
	t = console.NewTable(out, "most frequent mistakes: is", "predicted as", "examples")
	for _, c := range r.Confusions[:min(len(r.Confusions), shownConfusions)] {
		t.Row(c.True, c.Predicted, strconv.Itoa(c.Examples))
	}
	t.Flush()
}

// PrintMultilabel is Print for a model of several labels an example.
func PrintMultilabel(out io.Writer, r *evaluate.MultilabelResult, perClass bool) {
	t := console.NewTable(out, "measure", "points")
	for _, m := range score.MultilabelMetrics() {
		if x := m.Of(r.Report); x == x {
			t.Row(m.Name, console.Points(x))
		}
	}
	t.Flush()
	n := float64(max(r.Report.Examples, 1))
	fmt.Fprintf(out, "%d examples, %d classes, %.2f labels an example, %.2f answered, %.1f s\n", r.Report.Examples, r.Report.Classes, float64(r.Report.Labels)/n, float64(r.Report.Answers)/n, r.Seconds)
	printClasses(out, r.Worst(), perClass)
}

// printSeverity prints how bad the mistakes are, the accuracy always beside it: a model that
// makes many small mistakes has a lower mean than one with a few large ones.
func printSeverity(out io.Writer, r *evaluate.Result, values map[string]float64) {
	severity := "no mistakes"
	if x := values["mistake_severity"]; x == x {
		severity = fmt.Sprintf("mistake severity %.3f", x)
	}
	of := "tree of the model"
	if r.Tree == evaluate.OfOptions {
		of = "tree of --taxonomy"
	}
	fmt.Fprintf(out, "%s at accuracy %s; hierarchical distance at 1, 5, 20: %.3f, %.3f, %.3f (%s)\n", severity, console.Points(values["accuracy"]),
		values["hierarchical_distance_1"], values["hierarchical_distance_5"], values["hierarchical_distance_20"], of)
}

// shownThresholds are those of printCoverage, of the thresholds that a Result has.
var shownThresholds = []float64{0.5, 0.8, 0.9, 0.95, 0.99}

// printCoverage prints how accurate the answers are if the least sure ones are not given.
func printCoverage(out io.Writer, r *evaluate.Result) {
	if r.Report.Examples == 0 {
		return
	}
	fmt.Fprintln(out)
	t := console.NewTable(out, "answers with a probability of at least", "coverage", "right of these")
	for _, x := range r.Coverage {
		if slices.Contains(shownThresholds, x.Threshold) {
			t.Row(console.Points(x.Threshold), percentOf(x.Answered), percentOf(x.Accuracy))
		}
	}
	t.Flush()
}

// printDecisions prints how answers by a rule did: hedged, rejected, and out of scope. The
// best threshold is chosen on the examples it is measured on, which the table says.
func printDecisions(out io.Writer, r *evaluate.Result) {
	if h := r.Hedged; h != nil {
		x := h.Answers
		fmt.Fprintln(out)
		t := console.NewTable(out, fmt.Sprintf("hedged answers of confidence %.4g", h.Confidence), "points")
		t.Row("right", percentOf(x.Accuracy))
		t.Row("coverage: below the root", percentOf(x.Answered))
		t.Row("right of these", percentOf(x.AnsweredAccuracy))
		t.Row("coverage: a single class", percentOf(x.ClassShare))
		t.Row("right of these", percentOf(x.ClassAccuracy))
		t.Row("the root, which says nothing", percentOf(x.RootShare))
		t.Row("expected information gain", percentOf(x.InformationShare))
		t.Flush()
	}
	if s := r.Selected; s != nil && s.Answered != nil {
		fmt.Fprintf(out, "\nrejected below %.4g: %s %% of the examples are answered", s.Threshold, console.Points(*s.Answered))
		if s.Accuracy != nil {
			fmt.Fprintf(out, ", %s %% of these rightly", console.Points(*s.Accuracy))
		}
		fmt.Fprintln(out)
	}
	o := r.OutOfScope
	if o == nil {
		return
	}
	fmt.Fprintf(out, "\nout of scope: AUROC %s ± %s points, %d examples in scope, %d out of it\n", console.Points(o.AUROC.Mean), console.Points(o.AUROC.SE), o.At.InScope, o.At.OutOfScope)
	t := console.NewTable(out, "threshold", "right decisions", "right detections", "answered in scope", "rejected out of scope")
	row := func(name string, d evaluate.Decisions) {
		t.Row(fmt.Sprintf("%.4g (%s)", d.Threshold, name), console.Points(d.RightDecisions), console.Points(d.Right), console.Points(d.Answered), console.Points(d.Rejected))
	}
	name := "default"
	if r.Selected != nil {
		name = "--reject"
	}
	row(name, o.At)
	row("best for these, flatters", o.Best)
	t.Flush()
}

// printClasses prints the classes that were met, the worst first.
func printClasses(out io.Writer, met []evaluate.Class, perClass bool) {
	shown := met
	if !perClass {
		shown = met[:min(len(met), shownClasses)]
	}
	fmt.Fprintln(out)
	t := console.NewTable(out, "class", "examples", "precision", "recall", "F1")
	for _, c := range shown {
		t.Row(c.Label, strconv.Itoa(c.Examples), console.Points(c.Precision), console.Points(c.Recall), console.Points(c.F1))
	}
	t.Flush()
	if more := len(met) - len(shown); more > 0 {
		fmt.Fprintf(out, "the worst %d of %d classes; --per-class prints all\n", len(shown), len(met))
	}
}
