package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

// The exponents of the issue: ‖V*‖ in 0.38 to 0.47, ‖W*‖ in 0.49 to 0.51.
func TestExponents(t *testing.T) {
	r, err := Run(context.Background(), []Name{Norms}, Options{Runs: 12, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Norms.Exponent(NormV); !(v.Mean > 0.38 && v.Mean < 0.47) {
		t.Errorf("‖V*‖ grows as k to the power %v", v)
	}
	if w := r.Norms.Exponent(NormW); !(w.Mean > 0.49 && w.Mean < 0.51) {
		t.Errorf("‖W*‖ grows as k to the power %v", w)
	}
	for _, p := range r.Norms.Sweep.Points {
		get := func(name string) float64 {
			row, ok := r.Norms.Find(name, p.X)
			if !ok {
				t.Fatalf("no %s at k = %v", name, p.X)
			}
			return row.Value.Mean
		}
		if get(NormV) > get(NormU) || get(NormV) > get(NormW) {
			t.Errorf("k = %v: ‖V*‖ = %v, ‖U*‖ = %v, ‖W*‖ = %v", p.X, get(NormV), get(NormU), get(NormW))
		}
		if get(NormU) > get(BoundU) || get(NormW) > get(BoundW) {
			t.Errorf("k = %v: a norm is above its bound", p.X)
		}
		if get(DoublingLow) > get(DoublingHigh) {
			t.Errorf("k = %v: doubling dimension from %v to %v", p.X, get(DoublingLow), get(DoublingHigh))
		}
	}
}

func TestDoubling(t *testing.T) {
	line := metric.Func(64, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	if low, high := doubling(line); low > high || low < 1 || high > 2 {
		t.Errorf("a line: from %v to %v, want about 1 to 2", low, high)
	}
	equal := metric.Func(32, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 1
	})
	// A ball of radius 1 is everything, and half a ball one point.
	if low, high := doubling(equal); low > 5 || high != 5 {
		t.Errorf("equal distances: from %v to %v, want up to log2 32", low, high)
	}
}

func TestDistortion(t *testing.T) {
	w := matrix.NewDense(3, 1)
	copy(w.Data, []float32{0, 1, 3})
	own, err := metric.Euclidean(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1, 4, 0.25} {
		got, err := distortion(w, metric.Func(3, func(i, j int) float64 { return scale * own.Distance(i, j) }))
		if want := max(scale, 1/scale); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("distances times %v: lambda %v, %v, want %v", scale, got, err, want)
		}
	}
}

// Gradients in V are never longer than the factor says, and reach it.
func TestLipschitz(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	w := matrix.NewDense(15, 3)
	for i := range w.Data {
		w.Data[i] = float32(rng.NormFloat64())
	}
	space, err := metric.Euclidean(w)
	if err != nil {
		t.Fatal(err)
	}
	ct, err := covertree.New(space, covertree.Options{Base: 1.3})
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]string, 15)
	for i := range labels {
		labels[i] = number(float64(i))
	}
	for _, make := range []func(*covertree.Tree, []string) (*labeltree.Tree, error){labeltree.U, labeltree.V} {
		tree, err := make(ct, labels)
		if err != nil {
			t.Fatal(err)
		}
		a := matrixA(sharing.NewTree(tree), 15)
		length := func(g []float64) float64 {
			var sum float64
			for r := range a[0] {
				var x float64
				for c, v := range g {
					x += a[c][r] * v
				}
				sum += x * x
			}
			return math.Sqrt(sum)
		}
		bound, most := lipschitz(tree)*math.Sqrt2, 0.0
		for y := range 15 {
			for j := range 15 {
				g := [15]float64{}
				g[j]++
				g[y]--
				most = max(most, length(g[:]))
			}
			g, sum := [15]float64{}, 0.0
			for j := range g {
				g[j] = rng.ExpFloat64()
				sum += g[j]
			}
			for j := range g {
				g[j] /= sum
			}
			g[y]--
			if l := length(g[:]); l > bound+1e-9 {
				t.Errorf("a gradient of length %v, the bound is %v", l, bound)
			}
		}
		if math.Abs(most-bound) > 1e-9 {
			t.Errorf("the longest gradient is %v, the bound %v", most, bound)
		}
	}
}

func TestLemma3(t *testing.T) {
	if got, want := lemma3(1, 2, 16), 2*math.Sqrt(4.0/2); math.Abs(got-want) > 1e-12 {
		t.Errorf("c = 1: %v, want %v", got, want)
	}
	if got, want := lemma3(2, 2, 16), 2*math.Sqrt(5*4); math.Abs(got-want) > 1e-12 {
		t.Errorf("c = 2: %v, want %v", got, want)
	}
}
