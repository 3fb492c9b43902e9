package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
)

// plainCosts looks at all pairs of classes.
func plainCosts(tree *labeltree.Tree, p []float32) []float64 {
	costs, total := make([]float64, len(p)), 0.0
	for _, v := range p {
		total += float64(v)
	}
	for c := range costs {
		for other, v := range p {
			costs[c] += float64(v) / total * treetest.Apart(tree, c, other)
		}
	}
	return costs
}

func checkCosts(t *testing.T, tree *labeltree.Tree, p []float32) {
	t.Helper()
	want := plainCosts(tree, p)
	got := decided(t, newDecider(t, Rule{Cost: true}, tree), p)
	for c := range want {
		if !near(got.Costs[c], want[c]) {
			t.Errorf("expected cost of class %d is %v, want %v", c, got.Costs[c], want[c])
		}
	}
	class, cost := got.Choices[0].Class, got.Choices[0].Cost
	if cost != got.Costs[class] || !near(cost, slices.Min(want)) || cost < 0 {
		t.Errorf("least cost %v of class %d; want %v", cost, class, slices.Min(want))
	}
	for c, v := range got.Costs {
		if v == cost && (p[c] > p[class] || p[c] == p[class] && c < class) {
			t.Errorf("class %d stands before %d at the same cost %v", c, class, cost)
		}
	}
}

// On figure 1, with a husky, a sheepdog and a bulldog at 0.2 each and a toaster
// at 0.4: the toaster costs 0.6 * 3, a husky 0.4 * 1 + 0.4 * 3.
func TestLeastCostWorkedByHand(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.VTree)
	p := given(tree, map[string]float64{"husky": 0.2, "sheepdog": 0.2, "bulldog": 0.2, "toaster": 0.4})
	a := decided(t, newDecider(t, Rule{Cost: true}, tree), p)
	if c := a.Choices[0]; c.Class != classOf(tree, "bulldog") || math.Abs(c.Cost-1.6) > 1e-6 {
		t.Errorf("%+v; want the bulldog, first of three, at 1.6", c)
	}
	if c := decided(t, newDecider(t, Rule{}, tree), p).Choices[0].Class; c != classOf(tree, "toaster") {
		t.Errorf("the most probable class is %d, want the toaster", c)
	}
	// A boxer is no less a dog: 0.6 * 1 + 0.4 * 3; a bear 0.6 * 2 + 0.4 * 3.
	for label, want := range map[string]float64{"toaster": 1.8, "boxer": 1.8, "bear": 2.4, "bus": 3} {
		if got := a.Costs[classOf(tree, label)]; math.Abs(got-want) > 1e-6 {
			t.Errorf("a %s costs %v, want %v", label, got, want)
		}
	}
}

func TestLeastCostOnStarIsLikely(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		k := 1 + rng.IntN(20)
		tree := starTree(t, k)
		p := randomProbabilities(rng, k, i%2 == 0)
		got := decided(t, newDecider(t, Rule{Cost: true}, tree), p).Choices[0]
		want := decided(t, newDecider(t, Rule{}, tree), p).Choices[0]
		if got.Class != want.Class || k > 1 && math.Abs(got.Cost-(1-want.Probability)) > 1e-6 {
			t.Errorf("class %d at %v; want %d at %v", got.Class, got.Cost, want.Class, 1-want.Probability)
		}
	}
}

// FuzzLeastCost compares with all pairs of classes.
func FuzzLeastCost(f *testing.F) {
	f.Add(uint64(1), uint8(10), false)
	f.Add(uint64(2), uint8(1), true)
	f.Add(uint64(3), uint8(40), true)
	f.Fuzz(func(t *testing.T, seed uint64, k uint8, coarse bool) {
		rng := rand.New(rand.NewPCG(seed, 3))
		classes := 1 + int(k)%40
		checkCosts(t, treetest.Random(t, rng, classes), randomProbabilities(rng, classes, coarse))
	})
}

func BenchmarkDecide(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	tree := treetest.Random(b, rng, 1000)
	p := randomProbabilities(rng, 1000, false)
	for name, rule := range map[string]Rule{"likely": {}, "cost": {Cost: true}, "hedged": {Confidence: 0.9}} {
		d := newDecider(b, rule, tree)
		b.Run("rule="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decide(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
