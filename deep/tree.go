package deep

import (
	"math/bits"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/treeloss/treeloss/labeltree"
)

// treeSum is the matrix A of a label tree as graph operations on rows, one row a
// node. Its product goes down the tree level by level, its transpose up, and
// both only gather rows and add them.
//
// The transpose is a gradient of our own. GoMLX would scatter, and a scatter of
// rows that repeat adds some of them twice or not at all on ONNX Runtime (see
// TestScatterRace). Here the children of nodes with about as many children are
// gathered side by side and summed, which is exact everywhere, and faster.
type treeSum struct {
	tree   *labeltree.Tree
	levels [][]int // nodes by depth: those with children first, most children first
	inner  []int   // how many of each level have children
	at     []int   // of each node, its place in its level
}

func newTreeSum(t *labeltree.Tree) *treeSum {
	s := &treeSum{tree: t, at: make([]int, t.Len())}
	depth := make([]int, t.Len())
	for v := range t.Len() {
		if v > 0 {
			depth[v] = depth[t.Parent(v)] + 1
		}
		if depth[v] == len(s.levels) {
			s.levels = append(s.levels, nil)
			s.inner = append(s.inner, 0)
		}
	}
	for width := bits.Len(uint(t.Len())); width >= 0; width-- {
		for v := range t.Len() {
			if widthClass(t, v) == width {
				l := depth[v]
				s.at[v] = len(s.levels[l])
				s.levels[l] = append(s.levels[l], v)
				if width > 0 {
					s.inner[l]++
				}
			}
		}
	}
	return s
}

// widthClass is 0 for a leaf, and n for a node with 2^(n-2)+1 to 2^(n-1)
// children.
func widthClass(t *labeltree.Tree, v int) int {
	if n := len(t.Children(v)); n > 0 {
		return bits.Len(uint(n-1)) + 1
	}
	return 0
}

// apply returns A h: row c is the sum of sqrt(length) times the row of h over
// the path of class c. h is [nodes, columns], the result [classes, columns].
func (s *treeSum) apply(h *graph.Node) *graph.Node {
	if s.tree.Weighted() {
		h = graph.Mul(h, s.roots(h.Graph(), h.DType()))
	}
	classes := make([]int, s.tree.Classes())
	for c := range classes {
		classes[c] = s.tree.Node(c)
	}
	up := graph.IdentityWithCustomGradient(h, func(_, v *graph.Node) *graph.Node { return s.subtrees(v) })
	own := rows(up, classes)
	if s.tree.Len() == 1 {
		return own
	}
	return graph.Add(own, graph.StopGradient(s.above(h, classes)))
}

// roots returns the square roots of the lengths of the edges, [nodes, 1].
func (s *treeSum) roots(g *graph.Graph, dtype dtypes.DType) *graph.Node {
	length := make([]float64, s.tree.Len())
	for v := range length {
		length[v] = s.tree.Length(v)
	}
	return graph.Sqrt(constant(g, dtype, length, len(length), 1))
}

// above returns, for each of some nodes, the sum of the rows of h over the nodes
// above it: 0 for the root.
func (s *treeSum) above(h *graph.Node, nodes []int) *graph.Node {
	g, columns := h.Graph(), h.Shape().Dimensions[1]
	sums := []*graph.Node{graph.Zeros(g, withRows(h, 1, columns))}
	place := make([]int, s.tree.Len()) // of a node with children, its row of all the sums
	next := 1
	var last *graph.Node
	for l, level := range s.levels {
		level = level[:s.inner[l]]
		if len(level) == 0 {
			break
		}
		sum := rows(h, level)
		if l > 0 {
			parent := make([]int, len(level))
			for i, v := range level {
				parent[i] = s.at[s.tree.Parent(v)]
			}
			sum = graph.Add(sum, rows(last, parent))
		}
		for i, v := range level {
			place[v] = next + i
		}
		next += len(level)
		last = sum
		sums = append(sums, sum)
	}
	from := make([]int, len(nodes))
	for i, v := range nodes {
		if p := s.tree.Parent(v); p >= 0 {
			from[i] = place[p]
		}
	}
	return rows(graph.Concatenate(sums, 0), from)
}

// subtrees returns the sum of the rows of v at or below each node, [nodes,
// columns] as v.
func (s *treeSum) subtrees(v *graph.Node) *graph.Node {
	if s.tree.Len() == 1 {
		return v
	}
	var below *graph.Node // the sums of the level below, and a row of zeros
	var all []*graph.Node
	place := make([]int, s.tree.Len())
	next := 0
	zero := graph.Zeros(v.Graph(), withRows(v, 1, v.Shape().Dimensions[1]))
	for l := len(s.levels) - 1; l >= 0; l-- {
		sum := rows(v, s.levels[l])
		if n := s.inner[l]; n > 0 {
			children := s.childSums(below, s.levels[l][:n], len(s.levels[l+1]))
			if rest := len(s.levels[l]) - n; rest > 0 {
				children = graph.Concatenate([]*graph.Node{children, graph.Zeros(v.Graph(), withRows(v, rest, v.Shape().Dimensions[1]))}, 0)
			}
			sum = graph.Add(sum, children)
		}
		for i, node := range s.levels[l] {
			place[node] = next + i
		}
		next += len(s.levels[l])
		all = append(all, sum)
		below = graph.Concatenate([]*graph.Node{sum, zero}, 0)
	}
	return rows(graph.Concatenate(all, 0), place)
}

// childSums returns for each node the sum over its children of the rows of
// below, whose row none is 0. Nodes of one width class stand together; those
// with fewer children than the widest are filled up with the row of zeros, so at
// most twice as many rows are read as there are children.
func (s *treeSum) childSums(below *graph.Node, nodes []int, none int) *graph.Node {
	var parts []*graph.Node
	for len(nodes) > 0 {
		class := widthClass(s.tree, nodes[0])
		n, width := 0, 0
		for n < len(nodes) && widthClass(s.tree, nodes[n]) == class {
			width = max(width, len(s.tree.Children(nodes[n])))
			n++
		}
		from := make([]int, 0, n*width)
		for _, v := range nodes[:n] {
			children := s.tree.Children(v)
			for i := range width {
				if i < len(children) {
					from = append(from, s.at[children[i]])
				} else {
					from = append(from, none)
				}
			}
		}
		part := rows(below, from)
		if width > 1 {
			part = graph.ReduceSum(graph.Reshape(part, n, width, part.Shape().Dimensions[1]), 1)
		}
		parts = append(parts, part)
		nodes = nodes[n:]
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return graph.Concatenate(parts, 0)
}
