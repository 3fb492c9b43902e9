package loss

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// HierarchicalSoftmax multiplies the softmaxes among siblings on the path from
// the root to a class (Morin and Bengio 2005). It has a score for each node
// but the root: node v of the tree is score v-1. The probability of an inner
// node is the sum of those of its classes. Immutable; safe for concurrent use.
type HierarchicalSoftmax struct {
	tree  *labeltree.Tree
	inner []int // the nodes with children, parents first
}

// NewHierarchicalSoftmax needs every class on a leaf, as in a V-tree, a linkage
// or a taxonomy; a U-tree that has classes on inner nodes is refused.
func NewHierarchicalSoftmax(t *labeltree.Tree) (*HierarchicalSoftmax, error) {
	for c := range t.Classes() {
		if v := t.Node(c); !t.IsLeaf(v) {
			return nil, fmt.Errorf("loss: hierarchical softmax needs each class on a leaf, %q has nodes below it; use a V-tree, a linkage or a taxonomy", t.Name(v))
		}
	}
	h := &HierarchicalSoftmax{tree: t}
	for v := range t.Len() {
		if !t.IsLeaf(v) {
			h.inner = append(h.inner, v)
		}
	}
	return h, nil
}

// Tree returns the tree that h was made from.
func (h *HierarchicalSoftmax) Tree() *labeltree.Tree { return h.tree }

// Classes returns k.
func (h *HierarchicalSoftmax) Classes() int { return h.tree.Classes() }

// Scores returns the number of node scores, one less than nodes.
func (h *HierarchicalSoftmax) Scores() int { return h.tree.Len() - 1 }

// EvaluateHierarchical returns the loss -log p_y of one example, in nats. It
// sets p to the probability of each node among its siblings and grad to the
// gradient in the node scores. Both are 0 but for the nodes on the path of y
// and their siblings, where grad sums to 0 among siblings. scores, p and grad
// have length Scores() and must not overlap; scores are finite. O(nodes), no
// allocation.
func EvaluateHierarchical[T matrix.Float](h *HierarchicalSoftmax, p, grad, scores []T, y int) float64 {
	clear(grad[:h.Scores()])
	clear(p[:h.Scores()])
	var value float64
	for v := h.tree.Node(y); v > 0; v = h.tree.Parent(v) {
		siblings := h.tree.Children(h.tree.Parent(v))
		top, sum := softmaxAmong(p, scores, siblings)
		value += top + math.Log(sum) - float64(scores[v-1])
		for _, s := range siblings {
			grad[s-1] = p[s-1]
		}
		grad[v-1] -= 1
	}
	return value
}

// softmaxAmong sets p to the softmax over the scores of some nodes. It returns the
// largest of these and the sum of exp(score - top).
func softmaxAmong[T matrix.Float](p, scores []T, nodes []int) (top, sum float64) {
	top = math.Inf(-1)
	for _, v := range nodes {
		top = max(top, float64(scores[v-1]))
	}
	for _, v := range nodes {
		e := math.Exp(float64(scores[v-1]) - top)
		p[v-1] = T(e)
		sum += e
	}
	for _, v := range nodes {
		p[v-1] /= T(sum)
	}
	return top, sum
}

// CurvatureHierarchical is Curvature for a HierarchicalSoftmax and class y: it
// sets out to H x, given the p that EvaluateHierarchical found. out must not
// overlap p or x. O(nodes).
func CurvatureHierarchical[T matrix.Float](h *HierarchicalSoftmax, out, p, x []T, y int) {
	clear(out[:h.Scores()])
	for v := h.tree.Node(y); v > 0; v = h.tree.Parent(v) {
		siblings := h.tree.Children(h.tree.Parent(v))
		var mean T
		for _, s := range siblings {
			mean += p[s-1] * x[s-1]
		}
		for _, s := range siblings {
			out[s-1] = p[s-1] * (x[s-1] - mean)
		}
	}
}

// Probabilities sets p (length k) to the class probabilities of node scores.
// They sum to 1 whatever the shape of the tree. scores are finite; scratch has
// their length, and may be scores but must not overlap p. O(nodes), no
// allocation.
func Probabilities[T matrix.Float](h *HierarchicalSoftmax, p, scratch, scores []T) {
	scratch = scratch[:h.Scores()]
	for _, v := range h.inner {
		siblings := h.tree.Children(v)
		top := T(math.Inf(-1))
		for _, s := range siblings {
			top = max(top, scores[s-1])
		}
		for _, s := range siblings {
			scratch[s-1] = scores[s-1] - top
		}
	}
	kernel.Exp(scratch, scratch) // of all nodes at once, in vectors
	for _, v := range h.inner {  // parents first: scratch[v-1] is final
		siblings := h.tree.Children(v)
		var sum float64
		for _, s := range siblings {
			sum += float64(scratch[s-1])
		}
		above := 1.0
		if v > 0 {
			above = float64(scratch[v-1])
		}
		share := T(above / sum)
		for _, s := range siblings {
			scratch[s-1] *= share
		}
	}
	var sum float64
	for c := range p[:h.Classes()] {
		p[c] = 1 // on the root, alone
		if v := h.tree.Node(c); v > 0 {
			p[c] = scratch[v-1]
		}
		sum += float64(p[c])
	}
	// Each level rounds; down a path of thousands of nodes that adds up. The
	// sum is near 1: the likeliest class has no less than 1/k of it.
	for c := range p[:h.Classes()] {
		p[c] = T(float64(p[c]) / sum)
	}
}
