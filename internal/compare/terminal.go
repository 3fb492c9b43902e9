package compare

import (
	"fmt"
	"io"
	"slices"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/tune"
)

// WriteText prints a row for each method, and what the columns are. Errors of out are not
// reported.
func (t *Comparison) WriteText(out io.Writer) {
	several := t.Results[0].Shots > 0
	heads := []string{"method", "accuracy", "difference", "macro F1", "similarity accuracy", "seconds"}
	if several {
		heads = slices.Insert(heads, 1, "shots")
	}
	table := console.NewTable(out, heads...)
	for _, r := range t.Results {
		name := r.Method
		if r.Choice != "" {
			name += " (" + r.Choice + ")"
		}
		gain, similarity := "-", "-"
		if r.Method != tune.Baseline {
			gain = console.Difference(r.Difference, r.DifferenceSE)
		}
		if t.SimilarityOf != nil {
			similarity = console.Points(r.SimilarityAccuracy)
		}
		cells := []string{name, console.Points(r.Accuracy), gain, console.Points(r.MacroF1), similarity, fmt.Sprintf("%.1f", r.Seconds)}
		if several {
			cells = slices.Insert(cells, 1, fmt.Sprint(r.Shots))
		}
		table.Row(cells...)
	}
	table.Flush()
	rows := "all training rows"
	switch {
	case several:
		rows = "shots: training rows of each class"
	case t.Shots > 0:
		rows = fmt.Sprintf("%d training rows of each class", t.Shots)
	}
	by := "not known: the names have no letters"
	if t.SimilarityOf != nil {
		by = *t.SimilarityOf
	}
	fmt.Fprintf(out, "\npoints; difference: to cross entropy, ± its standard error over %s\n", t.OverWords())
	fmt.Fprintf(out, "%d classes, %s, %d test rows; similarity of classes: %s\n", t.Classes, rows, t.TestRows, by)
}
