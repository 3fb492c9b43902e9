package multilabel

import (
	"fmt"
	"io"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/softmax"
)

// Write writes what was chosen on held-out rows for a model, for people. What fails shows when
// out is flushed or closed.
func Write(out io.Writer, m *softmax.Model) {
	r := m.Training.Multilabel
	if r.HeldOut == 0 {
		fmt.Fprintln(out, "not calibrated: too few rows to hold any out; give examples to measure on with --valid")
		return
	}
	t := console.NewTable(out, "prior", "held-out precision at 1", "at 5", "micro F1")
	for _, c := range r.Candidates {
		t.Row(fmt.Sprintf("%g", c.Prior), points(c.Precision1), points(c.Precision5), points(c.MicroF1))
	}
	t.Flush()
	from := "thresholds of their own"
	if r.Thresholds == string(Global) {
		from = fmt.Sprintf("a probability of %.3f", m.Multilabel.Threshold[0])
	}
	fmt.Fprintf(out, "chosen on %d held-out rows: prior %g; classes are answered from %s on\n", r.HeldOut, m.Training.Prior, from)
}

// points writes a fraction as points, 0 to 100.
func points(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
