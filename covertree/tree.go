package covertree

import (
	"math"

	"github.com/treeloss/treeloss/metric"
)

// Bottom is the level below all others, where the radius is 0: the level of
// leaves, and of nodes that only join points at distance 0.
const Bottom = math.MinInt

// Tree is a cover tree. It does not change once built and may be used by
// several goroutines at once. The space and the points are kept for tests, which compare them
// with the laws of the package comment.
type Tree struct {
	space     metric.Space
	base      float64
	scale     float64 // R, the largest distance from the root point
	root      int
	order     []int   // points in the order of insertion
	points    []point // by point
	nodes     []Node
	distances int
}

// point is what the tree knows of one point.
type point struct {
	top      int     // topmost level, Bottom if it is equal to its parent
	parent   int32   // -1 for the root
	rank     int32   // place in the order of insertion
	reach    float64 // largest distance to a point below, over R
	children []child // from the highest topmost level to the lowest
}

// child is one child of a point, with what decides whether to look at it: most
// children are passed over, and this way without a look at the points' table.
type child struct {
	toParent float64 // distance to the parent over R
	radius   float64 // base^top, the radius of the child's topmost level over R; -1 if it is equal to its parent
	reach    float64 // the child's reach
	point    int32
}

// Node is a point at a level, with the chain of single children above it that
// it stands for. Nodes are numbered from 0, the root, and a node comes before
// its children: the order is the preorder of the tree.
type Node struct {
	Point    int
	Level    int   // a child is within Radius(Level); Bottom for a leaf
	Parent   int   // a node, -1 for the root
	Children []int // nodes: first the same point again, then others in the order of insertion; nil for a leaf
}

// Len returns the number of points, k.
func (t *Tree) Len() int { return len(t.points) }

// Nodes returns all nodes, k to 2k-1 of them. The slice is the tree's own: do
// not change it.
func (t *Tree) Nodes() []Node { return t.nodes }

// Radius returns R base^level, in the unit of the metric, 0 for Bottom.
func (t *Tree) Radius(level int) float64 {
	if level == Bottom {
		return 0
	}
	return t.scale * power(t.base, level)
}

// Distances returns how many distances New asked the metric space for.
func (t *Tree) Distances() int { return t.distances }
