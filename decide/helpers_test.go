package decide

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
)

func figure1(t testing.TB, kind labeltree.Kind) *Tree {
	t.Helper()
	return newTree(t, treetest.Figure1(t, kind), Options{})
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
