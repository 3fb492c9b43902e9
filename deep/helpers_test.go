package deep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func randoms(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func tensor[T float32 | int32](x []T, dims ...int) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(x, dims...)
}

func names(k int) []string {
	labels := make([]string, k)
	for c := range labels {
		labels[c] = fmt.Sprint("c", c)
	}
	return labels
}

// classSpace puts k classes at random points.
func classSpace(t testing.TB, rng *rand.Rand, k int) metric.Space {
	t.Helper()
	space, err := metric.Euclidean(&matrix.Dense{Columns: 3, Data: randoms(rng, k*3)})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// trees returns a U-tree, a V-tree and a weighted linkage of k random classes, and a
// tree whose root has all but two classes for its children.
func trees(t testing.TB, rng *rand.Rand, k int) map[string]*labeltree.Tree {
	t.Helper()
	space := classSpace(t, rng, k)
	ct, err := covertree.New(space, covertree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := labeltree.U(ct, names(k))
	if err != nil {
		t.Fatal(err)
	}
	v, err := labeltree.V(ct, names(k))
	if err != nil {
		t.Fatal(err)
	}
	linkage, err := labeltree.Linkage(space, names(k))
	if err != nil {
		t.Fatal(err)
	}
	parents := map[string]string{"pair": "root"}
	for c, name := range names(k) {
		parents[name] = "root"
		if c < 2 {
			parents[name] = "pair"
		}
	}
	broad, err := labeltree.FromParents(parents, names(k))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*labeltree.Tree{"u-tree": u, "v-tree": v, "linkage": linkage, "broad": broad}
}

// sharings returns a sharing of each kind.
func sharings(t testing.TB, seed uint64, k int) map[string]sharing.Sharing {
	t.Helper()
	rng := newRand(seed)
	all := map[string]sharing.Sharing{"none": sharing.None{K: k}}
	for name, tree := range trees(t, rng, k) {
		all[name] = sharing.NewTree(tree)
	}
	e := &matrix.Sparse{Columns: 2 * k}
	for c := range k {
		e.AppendRow([]int32{int32(c), int32(k + c/2)}, []float32{1, 0.5})
	}
	features, err := sharing.NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	all["features"] = features
	sum, err := sharing.NewSum(
		sharing.Part{Factor: 0.5, Sharing: features},
		sharing.Part{Factor: 2, Sharing: all["v-tree"]},
		sharing.Part{Factor: 0.7, Sharing: sharing.None{K: k}})
	if err != nil {
		t.Fatal(err)
	}
	all["sum"] = sum
	return all
}

// apart returns the largest difference of two slices, relative to the largest
// number where that is above 1.
func apart[A, B float32 | float64](a []A, b []B) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	most, scale := 0.0, 1.0
	for i := range a {
		scale = max(scale, math.Abs(float64(b[i])))
		if d := math.Abs(float64(a[i]) - float64(b[i])); !(d <= most) { // NaN counts
			most = d
		}
	}
	return most / scale
}
