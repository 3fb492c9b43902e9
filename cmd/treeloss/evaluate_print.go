package main

import (
	"fmt"
	"strconv"

	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/score"
)

const (
	shownConfusions = 10
	shownClasses    = 10
)

// print prints the numbers of a result that are known.
func (f *evaluateFlags) print(a *app, r *evaluate.Result) {
	t := console.NewTable(a.out, "measure", "points")
	values := map[string]float64{}
	for _, m := range score.Metrics() {
		x, name := m.Of(r.Report), m.Name
		values[m.Key] = x
		if m.Key == "similarity_accuracy" {
			name += " (" + r.SimilarityOf + ")"
		}
		if m.Unit == score.Fraction && x == x { // else it is not known
			t.Row(name, points(x))
		}
	}
	t.Flush()
	if d := values["hierarchical_distance_1"]; d == d {
		f.printSeverity(a, r, values)
	}
	if x := values["log_loss"]; x == x {
		fmt.Fprintf(a.out, "log loss %.4f nats\n", x)
	}
	fmt.Fprintf(a.out, "%d examples, %d classes, %.1f s\n", r.Report.Examples, r.Report.Classes, r.Seconds)
	f.printDecisions(a, r)
	f.printClasses(a, r)
	if len(r.Confusions) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	t = console.NewTable(a.out, "most frequent mistakes: is", "predicted as", "examples")
	for _, c := range r.Confusions[:min(len(r.Confusions), shownConfusions)] {
		t.Row(c.True, c.Predicted, strconv.Itoa(c.Examples))
	}
	t.Flush()
}

// printSeverity prints how bad the mistakes are, the accuracy always beside it.
func (f *evaluateFlags) printSeverity(a *app, r *evaluate.Result, values map[string]float64) {
	severity := "no mistakes"
	if x := values["mistake_severity"]; x == x {
		severity = fmt.Sprintf("mistake severity %.3f", x)
	}
	of := "tree of the model"
	if r.Tree == evaluate.OfOptions {
		of = "tree of --taxonomy"
	}
	fmt.Fprintf(a.out, "%s at accuracy %s; hierarchical distance at 1, 5, 20: %.3f, %.3f, %.3f (%s)\n", severity, points(values["accuracy"]),
		values["hierarchical_distance_1"], values["hierarchical_distance_5"], values["hierarchical_distance_20"], of)
}

// printDecisions prints how the answers of --confidence, --reject and --oos did.
func (f *evaluateFlags) printDecisions(a *app, r *evaluate.Result) {
	if h := r.Hedged; h != nil {
		x := h.Answers
		fmt.Fprintln(a.out)
		t := console.NewTable(a.out, fmt.Sprintf("hedged answers of confidence %g", h.Confidence), "points")
		t.Row("right", pointsOf(x.Accuracy))
		t.Row("coverage: a single class", pointsOf(x.ClassShare))
		t.Row("right of these", pointsOf(x.ClassAccuracy))
		t.Row("the root, which says nothing", pointsOf(x.RootShare))
		t.Row("expected information gain", pointsOf(x.InformationShare))
		t.Flush()
	}
	if s := r.Selected; s != nil && s.Answered != nil {
		fmt.Fprintf(a.out, "\nrejected below %g: %s %% of the examples are answered", s.Threshold, points(*s.Answered))
		if s.Accuracy != nil {
			fmt.Fprintf(a.out, ", %s %% of these rightly", points(*s.Accuracy))
		}
		fmt.Fprintln(a.out)
	}
	o := r.OutOfScope
	if o == nil {
		return
	}
	fmt.Fprintf(a.out, "\nout of scope: AUROC %s points", difference(o.AUROC.Mean, o.AUROC.SE)[1:])
	fmt.Fprintf(a.out, ", %d examples in scope, %d out of it\n", o.At.InScope, o.At.OutOfScope)
	t := console.NewTable(a.out, "threshold", "right decisions", "right detections", "answered in scope", "rejected out of scope")
	row := func(name string, d evaluate.Decisions) {
		t.Row(fmt.Sprintf("%.4g (%s)", d.Threshold, name), points(d.RightDecisions), points(d.Right), points(d.Answered), points(d.Rejected))
	}
	name := "default"
	if r.Selected != nil {
		name = "--reject"
	}
	row(name, o.At)
	row("best for these, flatters", o.Best)
	t.Flush()
}

// pointsOf prints a fraction that may not be known.
func pointsOf(x *float64) string {
	if x == nil {
		return "-"
	}
	return points(*x)
}

// printClasses prints the classes that were met, the worst first.
func (f *evaluateFlags) printClasses(a *app, r *evaluate.Result) {
	met := r.Worst()
	shown := met
	if !f.perClass {
		shown = met[:min(len(met), shownClasses)]
	}
	fmt.Fprintln(a.out)
	t := console.NewTable(a.out, "class", "examples", "precision", "recall", "F1")
	for _, c := range shown {
		t.Row(c.Label, strconv.Itoa(c.Examples), points(c.Precision), points(c.Recall), points(c.F1))
	}
	t.Flush()
	if more := len(met) - len(shown); more > 0 {
		fmt.Fprintf(a.out, "the worst %d of %d classes; --per-class prints all\n", len(shown), len(met))
	}
}
