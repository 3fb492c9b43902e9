package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// hingeObjective is the primal objective of a layer by its definition, and the
// length of its gradient, both over all classes.
func hingeObjective(ex Examples, l *Layer, prior float64) (objective, gradient float64) {
	scale := 1 / math.Sqrt(ex.meanSquaredNorm())
	x := rows(ex)
	for c := range l.Classes {
		w := make([]float64, l.Features+1)
		for f := range l.Features {
			w[f] = float64(l.Weight[f*l.Classes+c]) / scale
		}
		w[l.Features] = float64(l.Bias[c])
		g := slices.Clone(w)
		for _, v := range w {
			objective += v * v / 2
		}
		for i := range x {
			in := make([]float64, l.Features+1)
			var s float64
			for f, v := range append(slices.Clone(x[i]), 1/scale) {
				in[f] = v * scale
				s += in[f] * w[f]
			}
			y := -1.0
			if ex.Labels != nil {
				if own, _ := ex.Labels.Row(i); slices.Contains(own, int32(c)) {
					y = 1
				}
			} else if int(ex.Class[i]) == c {
				y = 1
			}
			weight := prior
			if ex.Weight != nil {
				weight *= float64(ex.Weight[i])
			}
			if miss := 1 - y*s; miss > 0 {
				objective += weight * miss * miss
				for f, v := range in {
					g[f] -= 2 * weight * y * miss * v
				}
			}
		}
		for _, v := range g {
			gradient += v * v
		}
	}
	return objective, math.Sqrt(gradient)
}

// The gradient of the primal objective vanishes where the ascent of the dual
// ends, and the two objectives meet.
func TestSquaredHingeMinimum(t *testing.T) {
	for _, tc := range []struct {
		name string
		ex   Examples
		k    int
	}{
		{"dense", sample(1, 80, 6, 3), 3},
		{"sparse", texts(2, 150, 60, 21), 21},
		{"weights", weighted(texts(3, 120, 40, 5)), 5},
		{"merged features", doubled(texts(4, 120, 40, 5)), 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			trainer := SquaredHinge{Tolerance: 1e-9, MaxPasses: 5000}
			priors := []float64{0.3, 10}
			err := FitPath(context.Background(), tc.ex, tc.k, Options{Trainer: trainer, Seed: 1}, priors, func(prior float64, l *Layer, r Record) error {
				objective, gradient := hingeObjective(tc.ex, l, prior)
				if !r.Converged || math.Abs(objective-r.Objective) > 1e-4*objective {
					t.Errorf("prior %v: objective %v, of the dual %v, converged %v", prior, objective, r.Objective, r.Converged)
				}
				if gradient > 2e-3*objective {
					t.Errorf("prior %v: a gradient of length %v at an objective of %v", prior, gradient, objective)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A pass over many examples takes seconds: each is reported, of all blocks together.
func TestSquaredHingeProgress(t *testing.T) {
	ex := texts(5, 200, 90, 70)
	for _, threads := range []int{1, 3} {
		var steps []int
		last := 0.0
		progress := func(p Progress) {
			if !(p.Fraction >= last && p.Fraction <= 1) || p.Step < 1 || !finite(p.Loss) {
				t.Errorf("%d threads: progress %+v after %v", threads, p, last)
			}
			last, steps = p.Fraction, append(steps, p.Step)
		}
		_, r, err := Fit(context.Background(), ex, 70, Options{Trainer: SquaredHinge{}, Progress: progress, Threads: threads})
		if err != nil || last != 1 || steps[0] != 1 || len(steps) <= r.Steps {
			t.Errorf("%d threads: %d reports of %d passes, the last at %v, %v", threads, len(steps), r.Steps, last, err)
		}
	}
}

// weighted gives the examples weights, some of 0.
func weighted(ex Examples) Examples {
	ex.Weight = make([]float32, len(ex.Class))
	for i := range ex.Weight {
		ex.Weight[i] = float32(i % 4)
	}
	return ex
}

// An example of weight 2 is one that is given twice.
func TestSquaredHingeWeights(t *testing.T) {
	twice := texts(4, 60, 30, 4)
	heavy := Examples{X: twice.X, Class: twice.Class, Weight: make([]float32, 60)}
	x := &matrix.Sparse{Columns: 30, Start: []int{0}}
	var class []int32
	for i := range 60 {
		heavy.Weight[i] = float32(1 + i%2)
		for range 1 + i%2 {
			index, value := twice.X.(*matrix.Sparse).Row(i)
			x.AppendRow(index, value)
			class = append(class, twice.Class[i])
		}
	}
	options := Options{Trainer: SquaredHinge{Tolerance: 1e-9, MaxPasses: 3000}, Prior: 2}
	a, _, err := Fit(context.Background(), heavy, 4, options)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Fit(context.Background(), Examples{X: x, Class: class}, 4, options)
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range a.Weight {
		if math.Abs(float64(w-b.Weight[j])) > 2e-3 {
			t.Fatalf("weight %d is %v, with copies %v", j, w, b.Weight[j])
		}
	}
}

// Classes never meet, so neither threads nor the blocks they make change a bit.
func TestSquaredHingeThreads(t *testing.T) {
	ex := texts(5, 200, 90, 70)
	var first *Layer
	for _, threads := range []int{1, 2, 3, 8} {
		l, _, err := Fit(context.Background(), ex, 70, Options{Trainer: SquaredHinge{}, Threads: threads, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = l
		}
		if !slices.Equal(l.Weight, first.Weight) || !slices.Equal(l.Bias, first.Bias) {
			t.Errorf("%d threads give other weights than one", threads)
		}
	}
}

func TestSquaredHingeRefuses(t *testing.T) {
	ex := texts(6, 40, 20, 6)
	mixed := ex
	mixed.Mix = &matrix.Sparse{Columns: 6}
	for range ex.Class {
		mixed.Mix.AppendRow(nil, nil)
	}
	tree := sharing.NewTree(sixClasses(t, labeltree.VTree))
	for name, tc := range map[string]struct {
		ex      Examples
		options Options
	}{
		"sharing":   {ex, Options{Trainer: SquaredHinge{}, Sharing: tree}},
		"smoothing": {ex, Options{Trainer: SquaredHinge{}, Loss: loss.CrossEntropy{Smoothing: 0.1}}},
		"mixes":     {mixed, Options{Trainer: SquaredHinge{}}},
		"no bias":   {ex, Options{Trainer: SquaredHinge{}, NoBias: true}},
		"tolerance": {ex, Options{Trainer: SquaredHinge{Tolerance: math.NaN()}}},
	} {
		if _, _, err := Fit(context.Background(), tc.ex, 6, tc.options); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: error %v, want ErrOptions", name, err)
		}
	}
}

func TestSquaredHingeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l, _, err := Fit(ctx, texts(7, 40, 20, 6), 6, Options{Trainer: SquaredHinge{}})
	if !errors.Is(err, context.Canceled) || l == nil {
		t.Errorf("layer %v, error %v; want a layer and the cancellation", l != nil, err)
	}
}

func BenchmarkSquaredHinge(b *testing.B) {
	for _, k := range []int{20, 200} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			ex := texts(8, 2000, 3000, k)
			for b.Loop() {
				if _, _, err := Fit(context.Background(), ex, k, Options{Trainer: SquaredHinge{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
