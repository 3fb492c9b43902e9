package classinfo

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

// randomWeights returns the weights of k outputs over d features, feature-major.
func randomWeights(k, d int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 5))
	w := make([]float32, k*d)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	return w
}

// pairDistances returns the squared distances that a kernel has.
func pairDistances(g mat.Symmetric) func(i, j int) float64 {
	return func(i, j int) float64 { return g.At(i, i) + g.At(j, j) - 2*g.At(i, j) }
}

// The points of distances that points have are these points: K has the squared
// distances, but for its scale and rho.
func TestDistancesOfPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	points := matrix.NewDense(7, 3)
	for i := range points.Data {
		points.Data[i] = float32(r.NormFloat64())
	}
	space, err := metric.Euclidean(points)
	if err != nil {
		t.Fatal(err)
	}
	c := Info{Labels: strings.Fields("a b c d e f g"), Distances: space}
	const rho = 0.25
	s, _, err := Build(Spec{Distances}, c, Options{Rho: rho})
	if err != nil {
		t.Fatal(err)
	}
	// K = q (p G + rho I): squared distances q (p d² + 2 rho), where q and p make
	// the mean eigenvalues of the parts 1, which are half the mean squared
	// distance of a pair.
	var mean float64
	for i := range 7 {
		for j := range i {
			d := space.Distance(i, j)
			mean += d * d / 21 / 2
		}
	}
	squared := pairDistances(kernel(t, s, 7))
	for i := range 7 {
		for j := range i {
			d := space.Distance(i, j)
			if want := (d*d/mean + 2*rho) / (1 + rho); math.Abs(squared(i, j)-want) > 1e-6 {
				t.Errorf("squared distance of %d and %d is %v, want %v", i, j, squared(i, j), want)
			}
		}
	}
}

// An ultrametric shares as the linkage of it does: both have K = H² - h².
func TestDistancesOfAnUltrametric(t *testing.T) {
	c := bank(t)
	c.Distances = metric.Func(6, func(i, j int) float64 {
		switch {
		case i == j:
			return 0
		case i/2 == j/2:
			return 1
		case i/4 == j/4:
			return 2
		}
		return 5
	})
	got, _, err := Build(Spec{Distances}, c, Options{Rho: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	want, tree, err := Build(Spec{Linkage}, c, Options{From: Distances})
	if err != nil {
		t.Fatal(err)
	}
	if tree.Classes() != 6 {
		t.Fatalf("a tree of %d classes", tree.Classes())
	}
	g, w := pairDistances(gram(t, got)), pairDistances(gram(t, want))
	for i := range 6 {
		for j := range i {
			if math.Abs(g(i, j)-w(i, j)) > 1e-6 {
				t.Errorf("squared distance of %d and %d is %v, of the linkage %v", i, j, g(i, j), w(i, j))
			}
		}
	}
}

// Distances that no points have keep what some have: K stays positive, and near
// classes stay nearer than far ones.
func TestDistancesOfNoPoints(t *testing.T) {
	c := Info{Labels: strings.Fields("a b c d"), Distances: metric.Func(4, func(i, j int) float64 {
		switch {
		case i == j:
			return 0
		case i+j == 1 || i+j == 5: // a, b and c, d
			return 1e150
		}
		return 9e150 // far too long for squares
	})}
	s, _, err := Build(Spec{Distances}, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	squared := pairDistances(kernel(t, s, 4))
	if near, far := squared(0, 1), squared(0, 2); !(near > 0 && near < far) {
		t.Errorf("squared distances %v within, %v between", near, far)
	}
}

func TestWeightsByBruteForce(t *testing.T) {
	const k, d = 9, 700 // more features than a block has
	w := randomWeights(k, d, 3)
	pick := []int{8, 0, 3, 5}
	g := WeightGram(w, k, pick)
	product := func(a, b int) float64 {
		var sum float64
		for f := range d {
			sum += float64(w[f*k+a]) * float64(w[f*k+b])
		}
		return sum
	}
	want := mat.NewSymDense(4, nil)
	for i, a := range pick {
		for j, b := range pick {
			want.SetSym(i, j, product(a, b))
		}
	}
	requireEqual(t, g, want, 1e-9)

	c := Info{Labels: strings.Fields("i a d f"), Weights: g}
	space, err := Metric("", c) // the weights are all there is
	if err != nil {
		t.Fatal(err)
	}
	if err := metric.Check(space); err != nil {
		t.Error(err)
	}
	for i, a := range pick {
		for j, b := range pick {
			c := centred(want)
			cosine := c.At(i, j) / math.Sqrt(c.At(i, i)*c.At(j, j))
			if i != j && math.Abs(math.Cos(space.Distance(i, j))-cosine) > 1e-9 {
				t.Errorf("angle of %d and %d is %v, want that of cosine %v", a, b, space.Distance(i, j), cosine)
			}
		}
	}
	s, _, err := Build(Spec{Weights}, c, Options{Rho: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	full := centred(want)
	for i := range pick { // only C K C matters, and Build drops the rest
		for j := range pick {
			want.SetSym(i, j, full.At(i, j))
		}
	}
	requireEqual(t, kernel(t, s, 4), plus(0.5, want), 1e-6)

	// A vector added to all weights changes no answer of a softmax, and nothing here.
	for f := range d {
		for c := range k {
			w[f*k+c] += float32(f%7) / 2
		}
	}
	c.Weights = WeightGram(w, k, pick)
	moved, _, err := Build(Spec{Weights}, c, Options{Rho: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	requireEqual(t, kernel(t, moved, 4), plus(0.5, want), 1e-5)
}

// The first that is given of distances, weights and vectors is what trees are
// built from.
func TestDefaultMetric(t *testing.T) {
	c := Info{Labels: strings.Fields("a b c"), Vectors: &matrix.Dense{Columns: 1, Data: []float32{1, 1, -1}}}
	at := func() float64 {
		space, err := Metric("", c)
		if err != nil {
			t.Fatal(err)
		}
		return space.Distance(0, 2)
	}
	if d := at(); math.Abs(d-math.Pi) > 1e-6 {
		t.Errorf("%v by vectors, want pi", d)
	}
	c.Weights = mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}) // a triangle around its centre
	if d := at(); math.Abs(d-2*math.Pi/3) > 1e-6 {
		t.Errorf("%v by weights, want 120 degrees", d)
	}
	c.Weights = mat.NewSymDense(3, []float64{1, 0, 1, 0, 0, 0, 1, 0, 1}) // one of them at 0
	if d := at(); math.Abs(d) > 1e-6 {
		t.Errorf("%v by weights, want 0", d)
	}
	c.Distances = metric.Func(3, func(i, j int) float64 { return 7 * math.Abs(float64(i-j)) })
	if d := at(); d != 14 {
		t.Errorf("%v by distances, want 14", d)
	}
	for _, source := range []Source{UTree, VTree, Linkage} {
		tree, err := BuildTree(source, c, Options{})
		if err != nil || tree.Check() != nil || tree.Classes() != 3 {
			t.Errorf("%s: %v, %v", source, tree, err)
		}
	}
}

func TestGramRefusals(t *testing.T) {
	labels := strings.Fields("a b c")
	flat := metric.Func(3, func(int, int) float64 { return 0 })
	two := metric.Func(2, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	many := make([]string, MaxGram+1)
	for i := range many {
		many[i] = string(rune('a' + i))
	}
	build := func(c Info, source Source) error { _, _, err := Build(Spec{source}, c, Options{}); return err }
	space := func(c Info, source Source) error { _, err := Metric(source, c); return err }
	for _, tc := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"no distances", build(Info{Labels: labels}, Distances), ErrMissing, "Options.Distances"},
		{"no weights", build(Info{Labels: labels}, Weights), ErrMissing, "Options.Weights"},
		{"no distances for a metric", space(Info{Labels: labels}, Distances), ErrMissing, "metric distances"},
		{"no weights for a metric", space(Info{Labels: labels}, Weights), ErrMissing, "metric weights"},
		{"distances of other classes", build(Info{Labels: labels, Distances: two}, Distances), nil, "of 2 classes, want those of the 3 labels"},
		{"weights of other classes", build(Info{Labels: labels, Weights: mat.NewSymDense(2, nil)}, Weights), nil, "of 2 classes, want those of the 3 labels"},
		{"all at one place", build(Info{Labels: labels, Distances: flat}, Distances), nil, "at one place"},
		{"all the same weights", build(Info{Labels: labels, Weights: mat.NewSymDense(3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})}, Weights), nil, "same weights"},
		{"too many classes", build(Info{Labels: many, Distances: metric.Func(len(many), two.Distance)}, Distances), nil, "at most 4000"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) || tc.is != nil && !errors.Is(tc.err, tc.is) {
			t.Errorf("%s: %v, want %q", tc.name, tc.err, tc.want)
		}
	}
}

// A list as it stands in a file, the tree of it, and the tree's distances again.
func TestDistancesAndTheirTree(t *testing.T) {
	c := bank(t)
	c.Distances = labeltree.Distance(c.Taxonomy)
	tree, err := BuildTree(Linkage, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Labels {
		for j := range i {
			near := i/3 == j/3
			if below := len(tree.ClassesBelow(tree.LCA(tree.Node(i), tree.Node(j)))) <= 3; below != near {
				t.Errorf("%s and %s: in a group of three %v, want %v", c.Labels[i], c.Labels[j], below, near)
			}
		}
	}
}
