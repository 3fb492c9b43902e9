package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

func gaussian(k, d int, seed uint64) *matrix.Dense {
	random := rand.New(rand.NewPCG(seed, 6))
	w := matrix.NewDense(k, d)
	for i := range w.Data {
		w.Data[i] = float32(random.NormFloat64())
	}
	return w
}

// distort compares a metric with the distances of the rows of w.
func distort(t *testing.T, space metric.Space, w *matrix.Dense) Distortion {
	return Distort(space.Len(), space.Distance, euclidean(t, w).Distance)
}

func euclidean(t testing.TB, m matrix.Matrix) metric.Space {
	t.Helper()
	s, err := metric.Euclidean(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trees returns the U-tree and the V-tree of a cover tree.
func trees(t *testing.T, space metric.Space, base float64) (u, v *labeltree.Tree) {
	t.Helper()
	ct, err := covertree.New(space, covertree.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]string, space.Len())
	for i := range labels {
		labels[i] = fmt.Sprint("c", i)
	}
	if u, err = labeltree.U(ct, labels); err != nil {
		t.Fatal(err)
	}
	if v, err = labeltree.V(ct, labels); err != nil {
		t.Fatal(err)
	}
	return u, v
}

// The paper's lambda, of a metric in the unit of the weights.
func TestUnscaledLambda(t *testing.T) {
	w := matrix.NewDense(3, 1)
	copy(w.Data, []float32{0, 1, 3})
	own := euclidean(t, w)
	for _, scale := range []float64{1, 4, 0.25} {
		got := distort(t, metric.Func(3, func(i, j int) float64 { return scale * own.Distance(i, j) }), w)
		if want := max(scale, 1/scale); math.Abs(got.Unscaled()-want) > 1e-12 || math.Abs(*got.Lambda-1) > 1e-12 {
			t.Errorf("distances times %v: lambda %v, %v scaled; want %v and 1", scale, got.Unscaled(), *got.Lambda, want)
		}
	}
}

// Lambda must satisfy Assumption 3 at its scale, and no other scale may do
// with a smaller one.
func TestLambdaIsLeast(t *testing.T) {
	w := gaussian(12, 5, 2)
	space := cube(t, 12, 3, 3)
	d := distort(t, space, w)
	between := euclidean(t, w)
	need := func(scale float64) float64 { // the lambda that a scale takes
		most := 1.0
		for i := range 12 {
			for j := range i {
				ratio := between.Distance(i, j) / (scale * space.Distance(i, j))
				most = max(most, ratio, 1/ratio)
			}
		}
		return most
	}
	if got := need(d.Scale); math.Abs(got-*d.Lambda) > 1e-6*got {
		t.Errorf("at scale %v lambda is %v, not %v", d.Scale, got, *d.Lambda)
	}
	for _, factor := range []float64{0.9, 0.99, 1.01, 1.1} {
		if got := need(d.Scale * factor); got <= *d.Lambda {
			t.Errorf("scale times %v does with lambda %v, less than %v", factor, got, *d.Lambda)
		}
	}
}

func TestLambdaOfSpecialMetrics(t *testing.T) {
	w := gaussian(4, 3, 1)
	copy(w.Row(1), w.Row(0))
	star := metric.Func(4, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 1
	})
	if d := distort(t, star, w); d.Lambda != nil || !math.IsInf(d.Unscaled(), 1) || d.Correlation != nil {
		t.Errorf("%+v: two classes apart with the same weights have no lambda, and a constant no correlation", d)
	}
	twins := metric.Func(4, func(i, j int) float64 {
		if i == j || i+j == 1 {
			return 0
		}
		return 1
	})
	if d := distort(t, twins, w); d.Lambda == nil || *d.Lambda < 1 {
		t.Errorf("%+v: classes at 0 with the same weights are no obstacle", d)
	}
	if d := distort(t, twins, gaussian(4, 3, 1)); d.Lambda != nil {
		t.Errorf("%+v: classes at 0 with different weights have no lambda", d)
	}
}

// ‖U*‖² is the sum of |w_i - w_parent(i)|², and ‖V*‖ is at most ‖U*‖ and ‖W‖,
// whatever the tree: the facts 5 and 6 of the design.
func TestNormsOfTrees(t *testing.T) {
	for seed := range uint64(10) {
		k := 5 + int(seed)*4
		w := gaussian(k, 70, seed)
		u, v := trees(t, cube(t, k, 2, seed), 1.3+float64(seed)/10)
		flat := make([]float32, 70*k) // d x k
		for c := range k {
			for f, x := range w.Row(c) {
				flat[f*k+c] = x
			}
		}
		largest, normW := Norms(flat, k)
		all := 0.0
		for _, x := range flat {
			all += float64(x) * float64(x)
		}
		if want := LongestInput(w); math.Abs(largest-want) > 1e-9 || math.Abs(normW-math.Sqrt(all)) > 1e-9 {
			t.Errorf("seed %d: largest %v, all %v, want %v and %v", seed, largest, normW, want, math.Sqrt(all))
		}
		normU, err := LeastNorm(u, flat)
		if err != nil {
			t.Fatal(err)
		}
		normV, err := LeastNorm(v, flat)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for node := range u.Len() {
			for f, x := range w.Row(u.Class(node)) {
				above := float32(0)
				if p := u.Parent(node); p >= 0 {
					above = w.Row(u.Class(p))[f]
				}
				want += float64(x-above) * float64(x-above)
			}
		}
		if math.Abs(normU-math.Sqrt(want)) > 1e-4*normU {
			t.Errorf("seed %d: ‖U*‖ = %v, want %v", seed, normU, math.Sqrt(want))
		}
		if normV > normU*(1+1e-9) || normV > normW*(1+1e-6) {
			t.Errorf("seed %d: ‖V*‖ = %v, want at most ‖U*‖ = %v and ‖W‖ = %v", seed, normV, normU, normW)
		}
		for _, tree := range []*labeltree.Tree{u, v} {
			if got, want := Stretch(tree), math.Sqrt(metric.MaxDistance(treetest.LengthDistance(tree))/2); math.Abs(got-want) > 1e-12 {
				t.Errorf("seed %d: stretch %v, want %v", seed, got, want)
			}
		}
	}
}

// Gradients in V are never longer than the factor says, and reach it.
func TestStretchBoundsGradients(t *testing.T) {
	const k = 15
	rng := rand.New(rand.NewPCG(3, 1))
	u, v := trees(t, euclidean(t, gaussian(k, 3, 3)), 1.3)
	for _, tree := range []*labeltree.Tree{u, v} {
		op := sharing.NewOperator[float64](sharing.NewTree(tree))
		length := func(g []float64) float64 {
			pulled := make([]float64, tree.Len())
			op.Pull(pulled, g, 1)
			return floats.Norm(pulled, 2)
		}
		bound, most := Stretch(tree)*math.Sqrt2, 0.0
		for y := range k {
			for j := range k {
				g := make([]float64, k)
				g[j]++
				g[y]--
				most = max(most, length(g))
			}
			g, sum := make([]float64, k), 0.0
			for j := range g {
				g[j] = rng.ExpFloat64()
				sum += g[j]
			}
			for j := range g {
				g[j] /= sum
			}
			g[y]--
			if l := length(g); l > bound+1e-9 {
				t.Errorf("a gradient of length %v, the bound is %v", l, bound)
			}
		}
		if math.Abs(most-bound) > 1e-9 {
			t.Errorf("the longest gradient is %v, the bound %v", most, bound)
		}
	}
}

func TestStretchOfAStar(t *testing.T) {
	star, err := labeltree.FromParents(map[string]string{"a": "root", "b": "root", "c": "root"}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := Stretch(star); got != 1 {
		t.Errorf("stretch %v, but a star is plain cross entropy", got)
	}
}

// Lemma 3 and the corollaries, worked by hand.
func TestNormLimit(t *testing.T) {
	for _, tc := range []struct {
		k                  int
		lambda, b, c, want float64
	}{
		{256, 1, 1, 1, 2},                           // sqrt(8/2)
		{16, 1, 2, 1, 2 * math.Sqrt2},               // sqrt(4/2)
		{16, 1, 2, 2, 2 * math.Sqrt(20)},            // sqrt(5 sqrt(16))
		{256, 3, 2, 0.2, 12},                        //
		{256, 1, 1, 2, math.Sqrt(5) * 4},            // sqrt(5 sqrt(256))
		{256, 2, 0.5, 4, math.Sqrt(5 * 64)},         // 256^(3/4) = 64
		{256, 1, 1, math.Inf(1), math.Sqrt(5) * 16}, // no dimension: that of W times sqrt(5)
	} {
		if got := NormLimit(tc.k, tc.lambda, tc.b, tc.c); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("k = %d, lambda = %v, B = %v, c = %v: %v, want %v", tc.k, tc.lambda, tc.b, tc.c, got, tc.want)
		}
	}
}
