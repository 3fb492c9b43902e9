package deep

import (
	"math/bits"
	"slices"
)

// level is the nodes of one depth of a tree, those with most children first, leaves
// last. Backends compute a level at a time.
type level struct {
	nodes    []int
	families []family // of the nodes with children, in their order
	leaves   []int
}

// family is some nodes of a level with about as many children. Filled up to those of
// the widest, their children are a block that can be reduced along one axis, of at
// most twice as many rows as there are children.
type family struct {
	nodes    []int
	width    int   // children of the widest
	children []int // len(nodes) x width; -1 where a node has fewer
}

// newLevels takes the children of each node, node 0 the root, each parent before its
// children. at is the place of each node in its level. It takes O(nodes log nodes).
func newLevels(children [][]int) (levels []level, at []int) {
	depth := make([]int, len(children))
	for v, below := range children {
		if depth[v] == len(levels) {
			levels = append(levels, level{})
		}
		levels[depth[v]].nodes = append(levels[depth[v]].nodes, v)
		for _, c := range below {
			depth[c] = depth[v] + 1
		}
	}
	// size is 0 for a leaf, and n for a node with 2^(n-2)+1 to 2^(n-1) children.
	size := func(v int) int {
		if n := len(children[v]); n > 0 {
			return bits.Len(uint(n-1)) + 1
		}
		return 0
	}
	at = make([]int, len(children))
	for i := range levels {
		l := &levels[i]
		slices.SortStableFunc(l.nodes, func(a, b int) int { return size(b) - size(a) })
		l.leaves = l.nodes
		for i, v := range l.nodes {
			at[v] = i
		}
		for len(l.leaves) > 0 && size(l.leaves[0]) > 0 {
			n := 1
			for n < len(l.leaves) && size(l.leaves[n]) == size(l.leaves[0]) {
				n++
			}
			f := family{nodes: l.leaves[:n]}
			for _, v := range f.nodes {
				f.width = max(f.width, len(children[v]))
			}
			for _, v := range f.nodes {
				f.children = append(f.children, children[v]...)
				f.children = append(f.children, slices.Repeat([]int{-1}, f.width-len(children[v]))...)
			}
			l.families, l.leaves = append(l.families, f), l.leaves[n:]
		}
	}
	return levels, at
}

// inner returns the nodes with children.
func (l level) inner() []int { return l.nodes[:len(l.nodes)-len(l.leaves)] }

// each returns a number for each child of a family, and another where none is.
func each[T any](f family, none T, number func(child int) T) []T {
	out := make([]T, len(f.children))
	for i, c := range f.children {
		if out[i] = none; c >= 0 {
			out[i] = number(c)
		}
	}
	return out
}
