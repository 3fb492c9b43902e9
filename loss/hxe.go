package loss

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// HXE is the hierarchical cross entropy of Bertinetto et al. (2020, Equation 3):
//
//	-Σ_v λ(v) log p(v | parent of v),   λ(v) = exp(-α h(v))
//
// over the nodes v on the path from a class to the root, where p(v | parent) is
// the ratio of the sums of the class probabilities below both, and h(v) the
// number of edges from v up to the children of the root. The paper calls h a
// height, but says that nodes further from the root count less, and its code
// counts from the root: so do we. Its code also scales all λ by one number; here
// λ is 1 for the children of the root, so that α = 0 is the cross entropy.
//
// Take it where a wrong answer next to the right one is better than one far
// off: the larger α, the less is asked of the classes within a group.
//
// With α > 0 it is not convex: it is a log-sum of all scores less a positive sum
// of log-sums over the nodes of the path. Curvature has a tangent in place of
// the latter, as for SimLoss. A HXE keeps O(nodes) numbers, is immutable and
// safe for concurrent use.
type HXE struct {
	// Classes in the order of the leaves of the tree: those below a node are
	// order[lo:hi]. A node with the classes of its parent is left out, as
	// log p(v | parent) is 0.
	order  []int32
	cycles []int32 // one place of each cycle of order, to undo it in place
	node   []int32 // of each class
	parent []int32 // of each node, -1 for the first, the root
	lo, hi []int32
	weight []float64 // λ
}

func (*HXE) isLoss() {}

// NewHXE makes the loss over a tree that has every class on a leaf, such as a
// taxonomy, a V-tree or a linkage; another one, and an alpha that is no finite
// number of at least 0, is an error. Lengths of edges do not matter.
func NewHXE(t *labeltree.Tree, alpha float64) (*HXE, error) {
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("loss: HXE alpha %v, want a finite number of at least 0", alpha)
	}
	k := t.Classes()
	below := make([]int32, t.Len()+1) // classes on the nodes before each
	for v := range t.Len() {
		below[v+1] = below[v]
		if t.Class(v) >= 0 {
			if !t.IsLeaf(v) {
				return nil, fmt.Errorf("loss: HXE needs each class on a leaf, %q has nodes below it; use a V-tree, a linkage or a taxonomy", t.Name(v))
			}
			below[v+1]++
		}
	}
	l := &HXE{order: make([]int32, k), node: make([]int32, k)}
	depth := make([]int, t.Len())
	place := make([]int32, t.Len()) // of the node here that has the classes of each
	top := 0                        // depth of the lowest node with all classes
	for v := range t.Len() {
		lo, hi := below[v], below[t.End(v)]
		u := t.Parent(v)
		if u >= 0 {
			depth[v] = depth[u] + 1
		}
		c := t.Class(v)
		switch {
		case u >= 0 && int(hi-lo) == k: // the first choice is made below
			top, place[v] = depth[v], 0
		case u >= 0 && lo == hi, // no classes
			u >= 0 && hi-lo == l.hi[place[u]]-l.lo[place[u]], // no choice
			u >= 0 && c < 0 && alpha == 0:                    // its choice counts as the one below: they are one
			place[v] = place[u]
		default:
			place[v] = int32(len(l.parent))
			parent := int32(-1)
			if u >= 0 {
				parent = place[u]
			}
			l.parent = append(l.parent, parent)
			l.lo, l.hi = append(l.lo, lo), append(l.hi, hi)
			l.weight = append(l.weight, math.Exp(-alpha*float64(max(depth[v]-top-1, 0))))
		}
		if c >= 0 {
			l.node[c], l.order[lo] = place[v], int32(c)
		}
	}
	l.findCycles()
	return l, nil
}

// findCycles lists one place of each cycle of the permutation order that is longer than 1:
// from these, scores are brought into the order of the tree and back without a copy.
func (l *HXE) findCycles() {
	seen := make([]bool, len(l.order))
	for i, j := range l.order {
		if int(j) != i && !seen[i] {
			l.cycles = append(l.cycles, int32(i))
		}
		for ; !seen[i]; i = int(l.order[i]) {
			seen[i] = true
		}
	}
}

// HXENode is a node of the tree of a HXE.
type HXENode struct {
	Parent int     // -1 for the root
	Class  int     // -1 for a node with others below it
	Weight float64 // λ; nothing for the root
}

// Nodes returns the nodes over which the loss sums, a parent right before all
// below it. It is the tree that NewHXE was given without the nodes whose
// log p(v | parent) is 0, and for α = 0 without all between root and classes: each
// class is on a leaf, each other node has at least two children.
func (l *HXE) Nodes() []HXENode {
	nodes := make([]HXENode, len(l.parent))
	for v := range nodes {
		nodes[v] = HXENode{Parent: int(l.parent[v]), Class: -1, Weight: l.weight[v]}
	}
	for c, v := range l.node {
		nodes[v].Class = c
	}
	return nodes
}

// Check returns an error if the loss was made for another number of classes.
func (l *HXE) Check(k int) error { return sameClasses("HXE", len(l.order), k) }

// hxe is O(k): each score is met on the lowest node of the path that it is below.
func hxe[T matrix.Float](l *HXE, p, grad, scores []T, y int) float64 {
	for i, c := range l.order {
		grad[i] = scores[c]
	}
	score := float64(scores[y])
	kernel.Softmax(p, scores)
	v := l.node[y]
	value, g := climb(l, grad, v, score, 0)
	grad[l.lo[v]] = T(g)
	for _, i := range l.cycles { // back to the order of the classes
		carry, j := grad[i], l.order[i]
		for ; j != i; j = l.order[j] {
			grad[j], carry = carry, grad[j]
		}
		grad[i] = carry
	}
	return value
}

// climb goes from node v, over whose scores the log-sum is s, to the root. It
// returns the loss of the edges above v, and g: the derivative of the whole loss
// in the score of a class just below v is g times its probability below v. On
// the way back it turns the scores beside v, in the order of the tree, to
// gradients. under is the weight of the edge below v, 0 for a class.
func climb[T matrix.Float](l *HXE, scores []T, v int32, s, under float64) (value, g float64) {
	u := l.parent[v]
	if u < 0 {
		return 0, under
	}
	left, right := scores[l.lo[u]:l.lo[v]], scores[l.hi[v]:l.hi[u]]
	a, b := kernel.Softmax(left, left), kernel.Softmax(right, right)
	high := max(s, a, b)
	inside, before, behind := math.Exp(s-high), math.Exp(a-high), math.Exp(b-high)
	sum := inside + before + behind
	value, g = climb(l, scores, u, high+math.Log(sum), l.weight[v])
	kernel.Scale(T(g*before/sum), left)
	kernel.Scale(T(g*behind/sum), right)
	return value + l.weight[v]*(high-s+math.Log(sum)), under - l.weight[v] + g*inside/sum
}
