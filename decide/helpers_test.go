package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
)

func newDecider(t testing.TB, rule Rule, tree *labeltree.Tree) *Decider {
	t.Helper()
	d, err := NewDecider(rule, tree.Classes(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// decided returns the answer, which is an error of the test if there is none.
func decided(t testing.TB, d *Decider, p []float32) Answer {
	t.Helper()
	a, err := d.Decide(p)
	if err != nil {
		t.Fatal(err)
	}
	a.Choices, a.Costs = slices.Clone(a.Choices), slices.Clone(a.Costs)
	return a
}

// given returns probabilities by label.
func given(tree *labeltree.Tree, p map[string]float64) []float32 {
	out := make([]float32, tree.Classes())
	for c, label := range tree.Labels() {
		out[c] = float32(p[label])
	}
	return out
}

func classOf(tree *labeltree.Tree, label string) int { return slices.Index(tree.Labels(), label) }

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
