package deep

import (
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
	levels []level
	at     []int // of each node, its place in its level
}

// newTreeSum takes O(nodes log nodes), once a graph.
func newTreeSum(t *labeltree.Tree) *treeSum {
	children := make([][]int, t.Len())
	for v := range children {
		children[v] = t.Children(v)
	}
	s := &treeSum{tree: t}
	s.levels, s.at = newLevels(children)
	return s
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
	// The value is own + above, and all of the gradient goes through own: it is replaced
	// there by the sums over the subtrees, and above gives none.
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
	sums := []*graph.Node{graph.Zeros(h.Graph(), withRows(h, 1, h.Shape().Dimensions[1]))}
	place := make([]int, s.tree.Len()) // of a node with children, its row of all the sums
	next := 1
	for l, level := range s.levels {
		inner := level.inner()
		if len(inner) == 0 {
			break
		}
		sum := rows(h, inner)
		if l > 0 {
			parent := make([]int, len(inner))
			for i, v := range inner {
				parent[i] = s.at[s.tree.Parent(v)]
			}
			sum = graph.Add(sum, rows(sums[l], parent))
		}
		for i, v := range inner {
			place[v] = next + i
		}
		next += len(inner)
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
	columns := v.Shape().Dimensions[1]
	zeros := func(n int) *graph.Node { return graph.Zeros(v.Graph(), withRows(v, n, columns)) }
	var below *graph.Node // the sums of the level below, and a row of zeros
	var all []*graph.Node
	place := make([]int, s.tree.Len())
	next := 0
	for l := len(s.levels) - 1; l >= 0; l-- {
		level := s.levels[l]
		sum := rows(v, level.nodes)
		// Sums over the children, first of the nodes that have some, in their order.
		var parts []*graph.Node
		for _, f := range level.families {
			none := len(s.levels[l+1].nodes)
			part := rows(below, each(f, none, func(c int) int { return s.at[c] }))
			if f.width > 1 {
				part = graph.ReduceSum(graph.Reshape(part, len(f.nodes), f.width, columns), 1)
			}
			parts = append(parts, part)
		}
		if n := len(level.leaves); n > 0 && len(parts) > 0 {
			parts = append(parts, zeros(n))
		}
		if len(parts) > 0 {
			sum = graph.Add(sum, graph.Concatenate(parts, 0))
		}
		for i, node := range level.nodes {
			place[node] = next + i
		}
		next += len(level.nodes)
		all = append(all, sum)
		below = graph.Concatenate([]*graph.Node{sum, zeros(1)}, 0)
	}
	return rows(graph.Concatenate(all, 0), place)
}
