package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
)

// slowObjective is the solver's objective in float64.
func slowObjective(t *testing.T, m *model, v []float32, scale float64, ex examples, prior float64) float64 {
	t.Helper()
	share := m.share
	if share != nil {
		var err error
		if share, err = sharing.Normalized(share); err != nil {
			t.Fatal(err)
		}
	}
	a := matrixA(share, m.outputs)
	d := ex.x.Cols()
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x) / (2 * prior)
	}
	p, g, scores := make([]float64, m.outputs), make([]float64, m.outputs), make([]float64, m.outputs)
	for i, y := range ex.y {
		for c := range scores {
			scores[c] = 0
			for r, share := range a[c] {
				for f, x := range ex.x.Row(i) {
					scores[c] += share * float64(v[r*d+f]) * float64(x) * scale
				}
			}
		}
		if m.hierarchy != nil {
			sum += loss.EvaluateHierarchical(m.hierarchy, p, g, scores, int(y))
		} else {
			sum += loss.Evaluate(m.loss, p, g, scores, int(y))
		}
	}
	return sum
}

// The solver's objective is that of its definition, and no nearby V has a lower
// one by more than the tolerance.
func TestSolverFindsTheOptimum(t *testing.T) {
	g := smallDraw(t, 8, 5, 70)
	ex := g.examples(g.train, 70, 1.5)
	for _, method := range []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage} {
		m := modelOf(t, g, 1.3, method)
		s, err := newSolver(m, ex)
		if err != nil {
			t.Fatal(err)
		}
		for _, prior := range []float64{0.1, 1, 30} {
			if err := s.solve(context.Background(), prior); err != nil {
				t.Fatal(err)
			}
			want := slowObjective(t, m, s.v, float64(s.scale), ex, prior)
			if math.Abs(want-s.objective) > 1e-4*want {
				t.Errorf("%s prior %v: objective %v, by definition %v", method, prior, s.objective, want)
			}
			if method == SimLoss {
				continue // not convex: a stationary point need not be the least
			}
			rng := rand.New(rand.NewPCG(4, 4))
			for _, size := range []float64{1e-3, 1e-2, 0.1} {
				for range 10 {
					v := append([]float32(nil), s.v...)
					for i := range v {
						v[i] += float32(size * rng.NormFloat64())
					}
					if got := slowObjective(t, m, v, float64(s.scale), ex, prior); got < want*(1-3*tolerance) {
						t.Errorf("%s prior %v: %v nearby, below %v", method, prior, got, want)
					}
				}
			}
		}
		if method == CrossEntropy {
			// The weights belong to inputs as they are.
			w := s.weights()
			x := ex.x.Row(0)
			var got float64
			for f, v := range x {
				got += float64(w[f]) * float64(v)
			}
			if math.Abs(got-float64(s.z[0])) > 1e-4*(1+math.Abs(got)) {
				t.Errorf("weights give a score of %v, the solver has %v", got, s.z[0])
			}
		}
	}
}

func TestSolverStops(t *testing.T) {
	g := smallDraw(t, 8, 5, 70)
	s, err := newSolver(modelOf(t, g, 1.3, CrossEntropy), g.examples(g.train, 70, 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.solve(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("solve on a cancelled context: %v", err)
	}
}
