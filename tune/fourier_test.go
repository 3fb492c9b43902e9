package tune

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
)

// points returns rows of two numbers whose class place tells.
func points(t *testing.T, n int, place func(x, y float64) int32) (*corpus.Data, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	table := feature.NewTable(dataset.Numbers, []string{"x", "y"})
	var class []int32
	for range n {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		if err := table.Add(dataset.Example{Values: []float64{x, y}}); err != nil {
			t.Fatal(err)
		}
		class = append(class, place(x, y))
	}
	d, err := corpus.NewData(table, class, nil, classinfo.Info{Labels: []string{"a", "b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	return d, dataset.Range(0, n)
}

// Rings need curved boundaries, and Fourier features are taken; for sectors, whose
// boundaries are straight, and with the choice off they are not.
func TestFourierWhereItGains(t *testing.T) {
	rings := func(x, y float64) int32 {
		switch r := x*x + y*y; {
		case r < 0.8:
			return 0
		case r < 2.2:
			return 1
		}
		return 2
	}
	sectors := func(x, y float64) int32 { return int32((math.Atan2(y, x) + math.Pi) / (2 * math.Pi) * 2.9999) }
	for _, tc := range []struct {
		name   string
		place  func(x, y float64) int32
		choice Choice
		want   bool
	}{{"rings", rings, Auto, true}, {"rings, off", rings, Off, false}, {"sectors", sectors, Auto, false}, {"sectors, on", sectors, On, true}} {
		d, rows := points(t, 300, tc.place)
		r, err := Plan{Fourier: tc.choice}.Fit(t.Context(), d, rows, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Features.Fourier() > 0; got != tc.want || got != (r.Method.Fourier > 0) || got != strings.HasSuffix(r.Method.String(), "+fourier") {
			t.Errorf("%s: %s with %d Fourier features (%s), want them: %v", tc.name, r.Method, r.Features.Fourier(), r.Reason, tc.want)
		}
		best := 0.0
		for _, c := range r.Candidates {
			best = max(best, c.Accuracy)
		}
		if best < 0.9 && tc.choice != Off {
			t.Errorf("%s: accuracy %v on held-out rows, want at least 0.9", tc.name, best)
		}
	}
}
