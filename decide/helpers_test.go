package decide

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
)

// figure1 is the left half of the paper's figure 1. Its V-tree is
//
//	pseudo1: pseudo2: tiger, skunk, pseudo3: bulldog, boxer, husky, sheepdog; bear
//	         pseudo4: truck, bus
//	         toaster
func figure1(t testing.TB, kind labeltree.Kind) *Tree {
	t.Helper()
	leaf := func(label string) labeltree.Nested { return labeltree.Nested{Label: label} }
	tree, err := labeltree.FromNested(labeltree.Nested{Label: "truck", Children: []labeltree.Nested{
		{Label: "boxer", Children: []labeltree.Nested{
			leaf("tiger"), leaf("skunk"),
			{Label: "boxer", Children: []labeltree.Nested{leaf("bulldog"), leaf("boxer"), leaf("husky"), leaf("sheepdog")}},
			leaf("bear"),
		}},
		{Label: "truck", Children: []labeltree.Nested{leaf("truck"), leaf("bus")}},
		leaf("toaster"),
	}}, kind)
	if err != nil {
		t.Fatal(err)
	}
	return newTree(t, tree, Options{})
}

func newTree(t testing.TB, tree *labeltree.Tree, options Options) *Tree {
	t.Helper()
	d, err := NewTree(tree, options)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// given returns probabilities by label.
func given(d *Tree, p map[string]float64) []float64 {
	out := make([]float64, d.Classes())
	for c, label := range d.LabelTree().Labels() {
		out[c] = p[label]
	}
	return out
}

func classOf(d *Tree, label string) int {
	for c, other := range d.LabelTree().Labels() {
		if label == other {
			return c
		}
	}
	return None
}

// randomTree returns a tree over k classes, of random shape, kind and lengths.
func randomTree(t testing.TB, rng *rand.Rand, k int) *labeltree.Tree {
	t.Helper()
	next := 0
	var grow func(leaves int) labeltree.Nested
	grow = func(leaves int) labeltree.Nested {
		if leaves == 1 {
			next++
			return labeltree.Nested{Label: strconv.Itoa(next)}
		}
		var n labeltree.Nested
		for left := leaves; left > 0; {
			take := min(1+rng.IntN(leaves-1), left)
			n.Children = append(n.Children, grow(take))
			left -= take
		}
		n.Label = n.Children[rng.IntN(len(n.Children))].Label
		return n
	}
	tree, err := labeltree.FromNested(grow(k), labeltree.Kind(rng.IntN(2)))
	if err != nil {
		t.Fatal(err)
	}
	length := make([]float64, tree.Len())
	for v := range length {
		length[v] = rng.ExpFloat64()
	}
	if tree, err = tree.WithLengths(length); err != nil {
		t.Fatal(err)
	}
	return tree
}

func starTree(t testing.TB, k int) *labeltree.Tree {
	t.Helper()
	star := labeltree.Nested{Label: "0"}
	for c := range k {
		star.Children = append(star.Children, labeltree.Nested{Label: strconv.Itoa(c)})
	}
	tree, err := labeltree.FromNested(star, labeltree.VTree)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// randomProbabilities draws from flat to peaked; coarse ones have ties and zeros.
func randomProbabilities(rng *rand.Rand, k int, coarse bool) []float32 {
	p, sum := make([]float64, k), 0.0
	sharp := math.Exp(min(2*rng.NormFloat64(), 3))
	for sum == 0 {
		for c := range p {
			if p[c] = math.Exp(sharp * rng.NormFloat64()); coarse {
				p[c] = float64(rng.IntN(3))
			}
			sum += p[c]
		}
	}
	out := make([]float32, k)
	for c, v := range p {
		out[c] = float32(v / sum)
	}
	return out
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}
