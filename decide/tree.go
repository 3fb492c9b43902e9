package decide

import (
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// tree is a label tree with what decisions over it ask for.
type tree struct {
	*labeltree.Tree
	height []float64
	depth  []int // edges from the root
	below  []int // classes at or below
}

func newTree(t *labeltree.Tree) *tree {
	d := &tree{Tree: t, height: score.Heights(t), depth: score.Depths(t), below: make([]int, t.Len())}
	for v := t.Len() - 1; v >= 0; v-- {
		if t.Class(v) >= 0 {
			d.below[v]++
		}
		if v > 0 {
			d.below[t.Parent(v)] += d.below[v]
		}
	}
	return d
}

// masses sets mass, one number a node, to the probability of the classes at or
// below it. Children are added one after another, and no term is negative: so
// rounding never gives a node less than one of its children.
func (d *tree) masses(mass []float64, p []float32) {
	for v := range mass {
		mass[v] = 0
		if c := d.Class(v); c >= 0 {
			mass[v] = float64(p[c])
		}
	}
	for v := len(mass) - 1; v > 0; v-- {
		mass[d.Parent(v)] += mass[v]
	}
}

// belowRoot returns the largest mass of what is just below the root: a child of it, or the
// class that sits on it.
func (d *tree) belowRoot(mass []float64, p []float32) float64 {
	most := 0.0
	if c := d.Class(0); c >= 0 {
		most = float64(p[c])
	}
	for v := 1; v < d.Len(); v = d.End(v) {
		most = max(most, mass[v])
	}
	return most
}

// expect sets dst[c], one number a class, to the cost expected of the answer c,
//
//	R(c) = Σ_c' p_c' cost(c, c') / Σ_c' p_c',
//
// where cost is the height of the lowest common ancestor of c and c', 0 for
// c = c': what mistake severity measures. The class of least cost is the Bayes
// decision; Karthik et al. (2021) found that it makes the mistakes of a flat
// softmax less severe at hardly any loss of accuracy, with no training. Over a star
// it is the most probable class.
//
// It goes up the tree once and down once: O(nodes); work has two numbers a node.
// With P(v) the probability of the classes at or below v and h its height, the
// classes whose lowest common ancestor with a class below v is the parent u of v
// have probability P(u) - P(v). So what the classes outside v cost for an answer
// below v is
//
//	D(root) = 0,   D(v) = D(u) + h(u) (P(u) - P(v)),
//
// and R(c) = D(v) + h(v) (P(v) - p_c) for the node v of c: the last term is 0 on
// a leaf. No difference is negative: see masses.
func (d *tree) expect(dst []float64, p []float32, work []float64) {
	n := d.Len()
	mass, outside := work[:n], work[n:2*n]
	d.masses(mass, p)
	for v := range n {
		outside[v] = 0
		if u := d.Parent(v); u >= 0 {
			outside[v] = outside[u] + d.height[u]*(mass[u]-mass[v])
		}
		if c := d.Class(v); c >= 0 {
			dst[c] = (outside[v] + d.height[v]*(mass[v]-float64(p[c]))) / mass[0]
		}
	}
}
