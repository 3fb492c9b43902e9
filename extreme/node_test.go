package extreme

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// What is packed scores as the layer does, but for what is left out and half precision.
func TestScores(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	columns := []int32{1, 4, 5, 9, 40, 41, 77}
	const k = 3
	l := &softmax.Layer{Classes: k, Features: len(columns), Weight: make([]float32, k*len(columns)), Bias: []float32{0.5, -1, 2}}
	for i := range l.Weight {
		l.Weight[i] = float32(random.NormFloat64())
	}
	l.Weight[0], l.Weight[1], l.Weight[2] = 0.01, -0.01, 0 // a feature that goes
	w := pack(l, columns, 0.1).index(100)
	if err := w.check(100, k); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.features, 1) {
		t.Errorf("features %v, want none without weights", w.features)
	}
	var h hits
	for range 100 {
		var index []int32
		var value []float32
		want := slices.Clone(l.Bias)
		for f := range int32(100) {
			if random.IntN(3) == 0 {
				x := float32(random.NormFloat64())
				index, value = append(index, f), append(value, x)
				if at := slices.Index(columns, f); at >= 0 {
					for c := range want {
						if u := l.Weight[at*k+c]; math.Abs(float64(u)) >= 0.1 {
							want[c] += x * u
						}
					}
				}
			}
		}
		var got [kernel.PackedWidth]float32
		w.scores(&got, index, value, &h)
		for c := range want {
			if math.Abs(float64(got[c]-want[c])) > 0.01 {
				t.Fatalf("features %v: scores %v, want %v", index, got[:k], want)
			}
		}
	}
	if less := w.pruned(1); less.check(100, k) != nil || less.count() >= w.count() || len(less.start) != len(less.features)+1 {
		t.Errorf("%d of %d weights left, %v", less.count(), w.count(), less.check(100, k))
	}
}

func TestCompact(t *testing.T) {
	x := &matrix.Sparse{Columns: 10}
	x.AppendRow([]int32{2, 7}, []float32{1, 2})
	x.AppendRow(nil, nil)
	x.AppendRow([]int32{0, 7}, []float32{3, 4})
	scratch := make([]int32, 10)
	columns, out := compact(x, scratch)
	if !slices.Equal(columns, []int32{0, 2, 7}) || !slices.Equal(out.Index, []int32{1, 2, 0, 2}) || out.Check() != nil || out.Columns != 3 {
		t.Errorf("columns %v, index %v", columns, out.Index)
	}
	if slices.ContainsFunc(scratch, func(x int32) bool { return x != 0 }) {
		t.Error("scratch is not left as it was")
	}
}

// The tree of some classes has no more nodes than these need.
func TestSubtree(t *testing.T) {
	whole, err := labeltree.New([]labeltree.Node{
		{Name: "root", Parent: -1, Class: -1}, {Name: "animals", Parent: 0, Class: -1, Length: 1}, {Name: "tools", Parent: 0, Class: -1, Length: 1},
		{Name: "cats", Parent: 1, Class: -1, Length: 1}, {Name: "lion", Parent: 3, Class: 0, Length: 1}, {Name: "tiger", Parent: 3, Class: 1, Length: 1},
		{Name: "dog", Parent: 1, Class: 2, Length: 1}, {Name: "saw", Parent: 2, Class: 3, Length: 1}, {Name: "axe", Parent: 2, Class: 4, Length: 1}})
	if err != nil {
		t.Fatal(err)
	}
	got := subtree(whole, []int32{3, 1, 0}, true)
	if got.Classes() != 4 || got.Len() != 6 || got.Weighted() {
		t.Fatalf("%d classes in %d nodes, want 4 in 6: the root, cats and the classes", got.Classes(), got.Len())
	}
	for class, want := range [][]string{{"saw", "\x00root"}, {"tiger", "cats", "\x00root"}, {"lion", "cats", "\x00root"}, {"\x00none", "\x00root"}} {
		path, err := got.PathNames(got.Labels()[class])
		if err != nil || !slices.Equal(path, want) {
			t.Errorf("class %d: path %q, want %q (%v)", class, path, want, err)
		}
	}
}
