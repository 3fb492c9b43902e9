package decide

import (
	"fmt"
	"slices"
	"sync"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
)

// Options sets up a Tree.
type Options struct {
	Lengths bool // LeastCost measures heights in the lengths of edges, not in their number
}

// Tree decides over a label tree: LeastCost and Hedge. It may be used by
// several goroutines.
type Tree struct {
	tree   *labeltree.Tree
	height []float64
	depth  []int // edges from the root
	below  []int // classes at or below
	memory scratch
}

// NewTree prepares decisions over t, in O(nodes). A nil tree is an error.
func NewTree(t *labeltree.Tree, options Options) (*Tree, error) {
	if t == nil {
		return nil, fmt.Errorf("decide: no label tree; build one, or decide with Likely, which needs none")
	}
	d := &Tree{tree: t, height: score.Heights(t), depth: make([]int, t.Len()), below: make([]int, t.Len())}
	if options.Lengths {
		d.height = score.LengthHeights(t)
	}
	for v := 1; v < t.Len(); v++ {
		d.depth[v] = d.depth[t.Parent(v)] + 1
	}
	for v := t.Len() - 1; v >= 0; v-- {
		if t.Class(v) >= 0 {
			d.below[v]++
		}
		if up := t.Parent(v); up >= 0 {
			d.below[up] += d.below[v]
		}
	}
	return d, nil
}

// Classes returns k.
func (d *Tree) Classes() int { return d.tree.Classes() }

// LabelTree returns the tree that d decides over.
func (d *Tree) LabelTree() *labeltree.Tree { return d.tree }

// masses sets mass, one number a node, to the probability of the classes at or
// below it. Children are added one after another, and no term is negative: so
// rounding never gives a node less than one of its children.
func masses[T matrix.Float](d *Tree, mass []float64, p []T) {
	for v := range mass {
		mass[v] = 0
		if c := d.tree.Class(v); c >= 0 {
			mass[v] = float64(p[c])
		}
	}
	for v := len(mass) - 1; v > 0; v-- {
		mass[d.tree.Parent(v)] += mass[v]
	}
}

// scratch lends out memory, so that a decision allocates nothing.
type scratch struct{ pool sync.Pool }

// get returns n numbers of any value; give them back with put.
func (s *scratch) get(n int) *[]float64 {
	x, ok := s.pool.Get().(*[]float64)
	if !ok {
		x = new([]float64)
	}
	*x = slices.Grow((*x)[:0], n)[:n]
	return x
}

func (s *scratch) put(x *[]float64) { s.pool.Put(x) }
