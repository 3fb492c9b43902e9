package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/treeloss/treeloss/score"
)

// evaluated is what evaluate prints. A number that is not known is null.
type evaluated struct {
	Model              string   `json:"model"`
	Temperature        float64  `json:"temperature"` // of the probabilities, 1 unless calibrated
	Decode             string   `json:"decode"`
	Accuracy           *float64 `json:"accuracy"`
	Top5Accuracy       *float64 `json:"top5_accuracy"`
	MacroF1            *float64 `json:"macro_f1"`
	WeightedF1         *float64 `json:"weighted_f1"`
	SimilarityAccuracy *float64 `json:"similarity_accuracy"`
	SimilarityOf       string   `json:"similarity_of"` // whose vectors these are
	LogLoss            *float64 `json:"log_loss"`
	CalibrationError   *float64 `json:"calibration_error"`

	Tree                   string   `json:"tree"` // where the tree is from, "" without one; then what follows is null
	MistakeSeverity        *float64 `json:"mistake_severity"`
	HierarchicalDistance1  *float64 `json:"hierarchical_distance_1"`
	HierarchicalDistance5  *float64 `json:"hierarchical_distance_5"`
	HierarchicalDistance20 *float64 `json:"hierarchical_distance_20"`
	HierarchicalPrecision  *float64 `json:"hierarchical_precision"`
	HierarchicalRecall     *float64 `json:"hierarchical_recall"`
	HierarchicalF1         *float64 `json:"hierarchical_f1"`

	Hedged     *hedgedAnswers `json:"hedged,omitempty"`       // with --confidence
	Selected   *selected      `json:"reject,omitempty"`       // with --reject
	OutOfScope *outOfScope    `json:"out_of_scope,omitempty"` // with --oos

	Examples int     `json:"examples"` // that count, unknown labels among them unless skipped
	Classes  int     `json:"classes"`
	Seconds  float64 `json:"seconds"`

	UnknownLabels int         `json:"unknown_labels"` // examples
	Skipped       int         `json:"skipped"`        // examples left out
	Unknown       []stranger  `json:"unknown"`        // the labels, the most frequent first
	PerClass      []classRow  `json:"per_class"`
	Confusions    []confusion `json:"confusions"`
	Calibration   []score.Bin `json:"calibration"`
}

// classRow is one class of the per-class table.
type classRow struct {
	Label     string  `json:"label"`
	Examples  int     `json:"examples"`
	Predicted int     `json:"predicted"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// confusion counts how often one class was taken for another.
type confusion struct {
	True      string `json:"true"`
	Predicted string `json:"predicted"`
	Examples  int    `json:"examples"`
}

const (
	mostConfusions  = 100 // in JSON
	shownConfusions = 10
	shownClasses    = 10
)

func (e *evaluation) result(model string, took time.Duration) (*evaluated, error) {
	all := e.counters[0]
	for _, c := range e.counters[1:] {
		if err := all.Merge(c); err != nil {
			return nil, err
		}
	}
	r := all.Report()
	out := &evaluated{
		Model:              model,
		Temperature:        e.model.Temperature(),
		Decode:             e.decision.decode,
		Accuracy:           number(r.Accuracy),
		Top5Accuracy:       number(r.Top5Accuracy),
		MacroF1:            number(r.MacroF1),
		WeightedF1:         number(r.WeightedF1),
		SimilarityAccuracy: number(r.SimilarityAccuracy),
		LogLoss:            number(r.LogLoss),
		CalibrationError:   number(r.CalibrationError),
		Examples:           r.Examples,
		Classes:            len(e.model.Labels),
		Seconds:            took.Seconds(),
		UnknownLabels:      e.strangers,
		Skipped:            e.rows - r.Examples,
		Unknown:            e.unknownLabels(),
		PerClass:           []classRow{},
		Confusions:         []confusion{},
		Calibration:        all.Calibration(),
		SimilarityOf:       e.by,

		Tree:                   e.treeOf,
		MistakeSeverity:        number(r.MistakeSeverity),
		HierarchicalDistance1:  number(r.HierarchicalDistance1),
		HierarchicalDistance5:  number(r.HierarchicalDistance5),
		HierarchicalDistance20: number(r.HierarchicalDistance20),
		HierarchicalPrecision:  number(r.HierarchicalPrecision),
		HierarchicalRecall:     number(r.HierarchicalRecall),
		HierarchicalF1:         number(r.HierarchicalF1),
	}
	if err := e.decisions(out); err != nil {
		return nil, err
	}
	labels := e.model.Labels
	for _, c := range all.Classes() {
		out.PerClass = append(out.PerClass, classRow{labels[c.Class], c.Support, c.Predicted, c.Precision, c.Recall, c.F1})
	}
	for _, c := range all.Confusions(mostConfusions) {
		out.Confusions = append(out.Confusions, confusion{labels[c.True], labels[c.Predicted], c.Count})
	}
	return out, nil
}

// number returns nil for a number that is not known.
func number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func (r *evaluated) print(a *app, perClass bool) {
	rate := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return points(*x)
	}
	t := newTable(a.out, "measure", "points")
	t.row("accuracy", rate(r.Accuracy))
	t.row("top-5 accuracy", rate(r.Top5Accuracy))
	t.row("macro F1", rate(r.MacroF1))
	if r.SimilarityOf != "" {
		t.row("similarity accuracy ("+r.SimilarityOf+")", rate(r.SimilarityAccuracy))
	}
	t.row("calibration error", rate(r.CalibrationError))
	if r.Tree != "" {
		t.row("hierarchical precision", rate(r.HierarchicalPrecision))
		t.row("hierarchical recall", rate(r.HierarchicalRecall))
		t.row("hierarchical F1", rate(r.HierarchicalF1))
	}
	t.flush()
	r.printSeverity(a)
	if r.LogLoss != nil {
		fmt.Fprintf(a.out, "log loss %.4f nats\n", *r.LogLoss)
	}
	fmt.Fprintf(a.out, "%d examples, %d classes, %.1f s\n", r.Examples, r.Classes, r.Seconds)
	r.printDecisions(a)
	r.printClasses(a, perClass)
	r.printConfusions(a)
}

// printClasses prints the classes that were met, the worst first.
func (r *evaluated) printClasses(a *app, all bool) {
	met := slices.DeleteFunc(slices.Clone(r.PerClass), func(c classRow) bool { return c.Examples+c.Predicted == 0 })
	slices.SortStableFunc(met, func(a, b classRow) int {
		return cmp.Or(cmp.Compare(a.F1, b.F1), b.Examples-a.Examples)
	})
	shown := met
	if !all {
		shown = met[:min(len(met), shownClasses)]
	}
	fmt.Fprintln(a.out)
	t := newTable(a.out, "class", "examples", "precision", "recall", "F1")
	for _, c := range shown {
		t.row(c.Label, strconv.Itoa(c.Examples), points(c.Precision), points(c.Recall), points(c.F1))
	}
	t.flush()
	if more := len(met) - len(shown); more > 0 {
		fmt.Fprintf(a.out, "the worst %d of %d classes; --per-class prints all\n", len(shown), len(met))
	}
}

func (r *evaluated) printConfusions(a *app) {
	if len(r.Confusions) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	t := newTable(a.out, "most frequent mistakes: is", "taken for", "examples")
	for _, c := range r.Confusions[:min(len(r.Confusions), shownConfusions)] {
		t.row(c.True, c.Predicted, strconv.Itoa(c.Examples))
	}
	t.flush()
}
