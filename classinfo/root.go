package classinfo

import (
	"fmt"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// withVector returns the classes whose row of vectors is not 0, ascending.
func withVector(vectors *matrix.Dense) []int {
	var have []int
	for c := range vectors.Rows() {
		if vectors.SquaredNorm(c) > 0 {
			have = append(have, c)
		}
	}
	return have
}

// rooted makes the tree of a source over the classes have, which have a vector,
// and hangs the others right below its root. Left among the points of the
// metric, where they are as far from each other as from any, they would end up
// anywhere: a linkage joins them to a chain, a cover tree may start with one.
func rooted(source Source, c Info, have []int, opts Options) (*labeltree.Tree, error) {
	if len(have) == 0 {
		return nil, fmt.Errorf("sharing %s: none of the %d classes has a vector; use another file or another source", source, len(c.Labels))
	}
	labels := make([]string, len(have))
	for n, class := range have {
		labels[n] = c.Labels[class]
	}
	part := Info{Labels: labels, Vectors: c.Vectors.Select(have).(*matrix.Dense)}
	space, err := Metric(Vectors, part)
	if err != nil {
		return nil, err
	}
	t, err := treeOver(source, space, labels, opts)
	if err != nil {
		return nil, err
	}
	return hangAtRoot(t, have, c.Labels)
}

// hangAtRoot returns t, whose class n is class[n] of the labels, with the other
// labels as further children of the root. Their length in a weighted tree is
// that of the longest way down, the square of a linkage's height. A root that is a class and
// all of the tree gets a pseudoclass above it.
func hangAtRoot(t *labeltree.Tree, class []int, labels []string) (*labeltree.Tree, error) {
	taken := make(map[string]bool, len(labels))
	for _, label := range labels {
		taken[label] = true
	}
	// A pseudoclass must not be called like a class that is added now.
	free := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	var nodes []labeltree.Node
	// A tree of one class gets a root above it, which moves its node by one.
	shift := 0
	if t.Len() == 1 {
		shift = 1
		nodes = append(nodes, labeltree.Node{Name: free("root"), Parent: -1, Class: -1})
	}
	known := make([]bool, len(labels))
	for v := range t.Len() {
		n := labeltree.Node{Name: t.Name(v), Parent: t.Parent(v) + shift, Class: -1, Length: t.Length(v)}
		if own := t.Class(v); own >= 0 {
			n.Class = class[own]
			known[n.Class] = true
		} else {
			n.Name = free(n.Name)
		}
		nodes = append(nodes, n)
	}
	// As long as the longest path: such a class is as far from all others as any two can be.
	way := longestPath(t)
	if way == 0 {
		way = 1 // all others are at one place: it is no length to go by
	}
	for c, label := range labels {
		if !known[c] {
			nodes = append(nodes, labeltree.Node{Name: label, Class: c, Length: way})
		}
	}
	out, err := labeltree.New(nodes)
	if err != nil || t.Weighted() {
		return out, err
	}
	return out.WithLengths(nil)
}

// longestPath is the largest sum of lengths from below the root to a class.
func longestPath(t *labeltree.Tree) float64 {
	var longest float64
	way := make([]float64, t.Len())
	for v := 1; v < t.Len(); v++ {
		way[v] = way[t.Parent(v)] + t.Length(v)
		longest = max(longest, way[v])
	}
	return longest
}
