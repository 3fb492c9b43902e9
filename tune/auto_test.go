package tune

import (
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/exampletest"
	"github.com/treeloss/treeloss/softmax"
)

// tail returns texts of classes with the given numbers of rows.
func tail(t *testing.T, counts ...int) (*corpus.Data, []int) {
	t.Helper()
	c := corpusOf(t, exampletest.Topics(counts...))
	rows := c.Rows()
	d, err := c.Data(ctx, rows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d, rows
}

// A rare class leaves the choice to held-out rows, and its own rows are learnt;
// with a tail of nothing but rare classes auto goes by the few-row rule.
func TestAutoOfALongTail(t *testing.T) {
	d, rows := tail(t, 12, 10, 8, 6, 2, 1)
	r, err := Plan{}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil || r.HeldOut != 36 || !strings.HasPrefix(r.Reason, "best of") || r.Gain == nil {
		t.Fatalf("%d rows held out (%s), %v", r.HeldOut, r.Reason, err)
	}
	if c, err := Calibrate(ctx, d, rows, r, Options{Seed: 1}); err != nil || c.Rows != 36 {
		t.Errorf("calibrated on %d rows, %v", c.Rows, err)
	}
	m := r.Model(d.Classes.Labels, softmax.Training{})
	for _, text := range []string{"topic04word0 topic04word1", "topic05word0 topic05word1"} {
		p, err := m.NewPredictor().Predict(dataset.Example{Text: text}, 1)
		if err != nil || p[0].Label != text[:7] {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	d, rows = tail(t, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r, err = Plan{}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil || r.HeldOut != 0 || !strings.HasPrefix(r.Reason, "too few rows to hold any out") {
		t.Errorf("%d rows held out (%s), %v", r.HeldOut, r.Reason, err)
	}
}
