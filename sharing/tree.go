package sharing

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
)

// Tree is a label tree: column v of A has sqrt(Length(v)) in the rows of the
// classes at or below node v, else 0. So K_ij is the length of the path that
// classes i and j have in common, counted from above the root.
type Tree struct {
	tree   *labeltree.Tree
	parent []int32   // of each node, -1 for the root; less than the node
	node   []int32   // of each class
	coef   []float64 // sqrt of the length of each node's edge
}

// NewTree returns the sharing of a label tree, root column included.
func NewTree(t *labeltree.Tree) *Tree {
	s := &Tree{
		tree:   t,
		parent: make([]int32, t.Len()),
		node:   make([]int32, t.Classes()),
		coef:   make([]float64, t.Len()),
	}
	for v := range t.Len() {
		s.parent[v] = int32(t.Parent(v))
		s.coef[v] = math.Sqrt(t.Length(v))
	}
	for c := range t.Classes() {
		s.node[c] = int32(t.Node(c))
	}
	return s
}

// LabelTree returns the tree that s was made from.
func (s *Tree) LabelTree() *labeltree.Tree { return s.tree }

// Classes returns k.
func (s *Tree) Classes() int { return len(s.node) }

// Rows returns m, the number of nodes.
func (s *Tree) Rows() int { return len(s.parent) }

// expandTree is Expand: a sum along each path, parents before children. One
// column, the training of one example, goes without calls for each node.
func (o *Operator[T]) expandTree(s *Tree, w, v []T, cols int) {
	at := o.buffer(len(s.parent) * cols)
	if cols == 1 {
		at[0] = o.coef[0] * v[0]
		for n := 1; n < len(at); n++ {
			at[n] = at[s.parent[n]] + o.coef[n]*v[n]
		}
		for i, n := range s.node {
			w[i] = at[n]
		}
		return
	}
	clear(at[:cols])
	for n, p := range s.parent {
		row := at[n*cols : (n+1)*cols]
		if p >= 0 {
			copy(row, at[int(p)*cols:])
		}
		kernel.Axpy(o.coef[n], v[n*cols:], row)
	}
	o.gather(s, w, at, cols)
}

// gather sets the row of each class in w to that of its node in at.
func (o *Operator[T]) gather(s *Tree, w, at []T, cols int) {
	for i, n := range s.node {
		copy(w[i*cols:(i+1)*cols], at[int(n)*cols:])
	}
}

// subtreeSums sets row n of v to the sum of g over the classes at or below
// node n, children before parents.
func (o *Operator[T]) subtreeSums(s *Tree, v, g []T, cols int) {
	clear(v[:len(s.parent)*cols])
	if cols == 1 {
		for i, n := range s.node {
			v[n] += g[i]
		}
		for n := len(s.parent) - 1; n > 0; n-- {
			v[s.parent[n]] += v[n]
		}
		return
	}
	for i, n := range s.node {
		kernel.Add(g[i*cols:], v[int(n)*cols:(int(n)+1)*cols])
	}
	for n := len(s.parent) - 1; n > 0; n-- {
		p := int(s.parent[n])
		kernel.Add(v[n*cols:], v[p*cols:(p+1)*cols])
	}
}

// pullTree is Pull.
func (o *Operator[T]) pullTree(s *Tree, v, g []T, cols int) {
	o.subtreeSums(s, v, g, cols)
	for n, c := range o.coef {
		kernel.Scale(c, v[n*cols:(n+1)*cols])
	}
}

// kernelTree is Kernel: both passes on one buffer. One column goes without calls for
// each node, as in expandTree, with the same sums.
func (o *Operator[T]) kernelTree(s *Tree, w, g []T, cols int) {
	at := o.buffer(len(s.parent) * cols)
	o.subtreeSums(s, at, g, cols)
	if cols == 1 {
		at[0] *= o.coef[0] * o.coef[0]
		for n := 1; n < len(at); n++ {
			at[n] = o.coef[n]*o.coef[n]*at[n] + at[s.parent[n]]
		}
		for i, n := range s.node {
			w[i] = at[n]
		}
		return
	}
	for n, p := range s.parent {
		row := at[n*cols : (n+1)*cols]
		kernel.Scale(o.coef[n]*o.coef[n], row)
		if p >= 0 {
			kernel.Add(at[int(p)*cols:], row)
		}
	}
	o.gather(s, w, at, cols)
}
