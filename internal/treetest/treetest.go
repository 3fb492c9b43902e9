// Package treetest has label trees for the tests of other packages, and what
// these compare with: distances worked out by walking.
package treetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
)

// Figure1 is the left half of the paper's figure 1. Its V-tree is
//
//	pseudo1: pseudo2: tiger, skunk, pseudo3: bulldog, boxer, husky, sheepdog; bear
//	         pseudo4: truck, bus
//	         toaster
func Figure1(t testing.TB, kind labeltree.Kind) *labeltree.Tree {
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
	return tree
}

// Random returns a tree over k classes, of random shape and kind. Its lengths
// are from below 2^-20 to 2^19, so that sums of them lose digits.
func Random(t testing.TB, rng *rand.Rand, k int) *labeltree.Tree {
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
		length[v] = math.Ldexp(rng.Float64(), rng.IntN(40)-20)
	}
	if tree, err = tree.WithLengths(length); err != nil {
		t.Fatal(err)
	}
	return tree
}

// Apart is the height of the lowest common ancestor of two classes, in edges, with
// all the ways down from it walked; 0 for one class.
func Apart(tree *labeltree.Tree, a, b int) float64 {
	if a == b {
		return 0
	}
	v := tree.Node(a)
	for !slices.Contains(tree.Path(b), v) {
		v = tree.Parent(v)
	}
	var down func(v int) float64
	down = func(v int) float64 {
		far := 0.0
		for _, c := range tree.Children(v) {
			far = max(far, 1+down(c))
		}
		return far
	}
	return down(v)
}

// LengthDistance is the space of the classes at the sum of the lengths of the edges
// on the way from one to the other.
func LengthDistance(tree *labeltree.Tree) metric.Space {
	down := make([]float64, tree.Len())
	for v := 1; v < tree.Len(); v++ {
		down[v] = down[tree.Parent(v)] + tree.Length(v)
	}
	return metric.Func(tree.Classes(), func(i, j int) float64 {
		a, b := tree.Node(min(i, j)), tree.Node(max(i, j))
		top := down[tree.LCA(a, b)]
		return (down[a] - top) + (down[b] - top)
	})
}
