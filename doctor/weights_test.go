package doctor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// layerOf returns a layer with the rows of w, k x d, as weights.
func layerOf(w *matrix.Dense) *softmax.Layer {
	k, d := w.Rows(), w.Cols()
	l := &softmax.Layer{Classes: k, Features: d, Weight: make([]float32, k*d), Bias: make([]float32, k)}
	for c := range k {
		for f, x := range w.Row(c) {
			l.Weight[f*k+c] = x
		}
	}
	return l
}

func gaussian(k, d int, seed uint64) *matrix.Dense {
	random := rand.New(rand.NewPCG(seed, 6))
	w := matrix.NewDense(k, d)
	for i := range w.Data {
		w.Data[i] = float32(random.NormFloat64())
	}
	return w
}

func euclidean(t testing.TB, m matrix.Matrix) metric.Space {
	t.Helper()
	s, err := metric.Euclidean(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The paper's lambda is 1 exactly where the metric is that of the weights, in
// whatever unit.
func TestLambdaOfTheWeightsThemselves(t *testing.T) {
	w := gaussian(30, 300, 1) // more features than one block
	own := euclidean(t, w)
	sevenfold := metric.Func(30, func(i, j int) float64 { return 7 * own.Distance(i, j) })
	d := distortionOf(sevenfold, layerOf(w), 1)
	if d.Lambda == nil || math.Abs(*d.Lambda-1) > 1e-6 || math.Abs(d.Scale-1.0/7) > 1e-6 {
		t.Errorf("lambda %v, scale %v, want 1 and 1/7", d.Lambda, d.Scale)
	}
	if d.Correlation == nil || math.Abs(*d.Correlation-1) > 1e-6 {
		t.Errorf("correlation %v, want 1", d.Correlation)
	}
}

// Lambda must satisfy Assumption 3 at its scale, and no other scale may do
// with a smaller one.
func TestLambdaIsLeast(t *testing.T) {
	w := gaussian(12, 5, 2)
	space := cube(t, 12, 3, 3)
	d := distortionOf(space, layerOf(w), 1)
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
	if d := distortionOf(star, layerOf(w), 1); d.Lambda != nil || d.Correlation != nil {
		t.Errorf("%+v: two classes apart with the same weights have no lambda, and a constant no correlation", d)
	}
	twins := metric.Func(4, func(i, j int) float64 {
		if i == j || i+j == 1 {
			return 0
		}
		return 1
	})
	if d := distortionOf(twins, layerOf(w), 1); d.Lambda == nil || *d.Lambda < 1 {
		t.Errorf("%+v: classes at 0 with the same weights are no obstacle", d)
	}
	if d := distortionOf(twins, layerOf(gaussian(4, 3, 1)), 1); d.Lambda != nil {
		t.Errorf("%+v: classes at 0 with different weights have no lambda", d)
	}
}

// ‖U*‖² is the sum of |w_i - w_parent(i)|², and ‖V*‖ is at most ‖U*‖ and ‖W‖,
// whatever the tree: the facts 5 and 6 of the design.
func TestNormsOfTrees(t *testing.T) {
	for seed := range uint64(10) {
		k := 5 + int(seed)*4
		w := gaussian(k, 70, seed)
		labels := make([]string, k)
		for i := range labels {
			labels[i] = fmt.Sprint("c", i)
		}
		u, v, err := trees(cube(t, k, 2, seed), labels, 1.3+float64(seed)/10, seed)
		if err != nil {
			t.Fatal(err)
		}
		l := layerOf(w)
		_, normW := lengths(l)
		normU, err := minNorm(l, u)
		if err != nil {
			t.Fatal(err)
		}
		normV, err := minNorm(l, v)
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
			if got, want := stretch(tree), math.Sqrt(metric.MaxDistance(labeltree.LengthDistance(tree))/2); math.Abs(got-want) > 1e-12 {
				t.Errorf("seed %d: stretch %v, want %v", seed, got, want)
			}
		}
	}
}

func TestStretchOfAStar(t *testing.T) {
	star, err := labeltree.FromParents(map[string]string{"a": "root", "b": "root", "c": "root"}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := stretch(star); got != 1 {
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
		{256, 3, 2, 0.2, 12},                        //
		{256, 1, 1, 2, math.Sqrt(5) * 4},            // sqrt(5 sqrt(256))
		{256, 2, 0.5, 4, math.Sqrt(5 * 64)},         // 256^(3/4) = 64
		{256, 1, 1, math.Inf(1), math.Sqrt(5) * 16}, // no dimension: that of W times sqrt(5)
	} {
		if got := normLimit(tc.k, tc.lambda, tc.b, tc.c); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("k = %d, lambda = %v, B = %v, c = %v: %v, want %v", tc.k, tc.lambda, tc.b, tc.c, got, tc.want)
		}
	}
}

// The numbers of a report hang together as its comments say.
func TestWeights(t *testing.T) {
	const groups = "label,parent\ncard_lost,card\ncard_arrival,card\ntransfer_fee,money\ntransfer_pending,money\npin_blocked,pin\npin_change,pin\n"
	p := admit(t, texts(6, 0), groups)
	r := p.examine(t, Options{})
	w := r.Weights
	if w == nil || !w.Converged || len(w.Norms) != 4 || w.Base != 2 {
		t.Fatalf("%+v, want the four norms of a converged fit", w)
	}
	if r.Metric.Source != "taxonomy" {
		t.Errorf("metric from %s, want the taxonomy that is given", r.Metric.Source)
	}
	if math.Abs(w.Longest-math.Sqrt2) > 1e-5 {
		t.Errorf("rho %v, want sqrt(2): two blocks of unit length", w.Longest)
	}
	root := w.Longest / math.Sqrt(36)
	for _, n := range w.Norms {
		if math.Abs(n.Bound-n.Norm*root) > 1e-9 || math.Abs(n.Stretched-n.Bound*n.Stretch) > 1e-9 || n.Stretch < 1 {
			t.Errorf("%+v: bounds do not follow from the norm", n)
		}
	}
	normW, u, v := w.Norms[0], w.Norms[1], w.Norms[2]
	if normW.Norm > math.Sqrt(6)*w.Largest || *normW.Theory < normW.Bound || *u.Theory < u.Bound {
		t.Errorf("W %+v, U* %+v above the paper's bounds", normW, u)
	}
	if want := normLimit(6, *w.Distortion.Lambda, w.Largest, r.Metric.Dimension.Max) * root; math.Abs(*v.Theory-want) > 1e-9 {
		t.Errorf("Corollary 2: %v, want %v", *v.Theory, want)
	}
	if w.Norms[3].Theory != nil || w.Norms[3].Parameters != "V* of the taxonomy" {
		t.Errorf("%+v", w.Norms[3])
	}
}
