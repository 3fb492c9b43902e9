package sharing

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Operator applies a Sharing to blocks of columns. Matrices are row-major:
// class i (or row v of V) has its cols numbers together. The result is written
// over what stood there and must not overlap the argument; slices may be
// longer than needed, shorter ones are a bug in the caller and panic.
//
// An Operator keeps scratch memory between calls, so each goroutine needs one
// of its own. After the first call of a size, Expand, Pull and Kernel do not
// allocate.
type Operator[T matrix.Float] struct {
	s       Sharing
	coef    []T   // Tree: of each node; Dense: A
	width   []int // Dense: one past the last number of each row that is not 0
	parts   []*Operator[T]
	scratch []T
	inverse *inverse
}

// NewOperator returns an operator for s, in O(size of A).
func NewOperator[T matrix.Float](s Sharing) *Operator[T] {
	if p, ok := s.(*None); ok { // a pointer has the methods of None, too
		s = *p
	}
	o := &Operator[T]{s: s}
	switch s := s.(type) {
	case *Tree:
		o.coef = convert[T](s.coef)
	case *Dense:
		o.coef = convert[T](s.A)
		o.width = make([]int, s.K)
		for i := range o.width {
			n := s.M
			for n > 0 && s.A[i*s.M+n-1] == 0 {
				n--
			}
			o.width[i] = n
		}
	case *Sum:
		for _, p := range s.parts {
			o.parts = append(o.parts, NewOperator[T](p.Sharing))
		}
	}
	return o
}

// convert returns the numbers of x in another precision.
func convert[T, F matrix.Float](x []F) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

// buffer returns n numbers of any value that are the caller's until the next
// call.
func (o *Operator[T]) buffer(n int) []T {
	if cap(o.scratch) < n {
		o.scratch = make([]T, n)
	}
	return o.scratch[:n]
}

// row returns row i of the Dense A as far as it is not 0: what Compact makes is
// a triangle, half of which this saves.
func (o *Operator[T]) row(s *Dense, i int) []T {
	return o.coef[i*s.M : i*s.M+o.width[i]]
}

// Expand sets w = A v; w is k x cols, v is m x cols. It costs the size of A
// times cols; for a tree, whose A is never formed, that is the nodes times
// cols.
func (o *Operator[T]) Expand(w, v []T, cols int) {
	switch s := o.s.(type) {
	case None:
		copy(w[:s.K*cols], v[:s.K*cols])
	case *Tree:
		o.expandTree(s, w, v, cols)
	case *Features:
		clear(w[:s.E.Rows()*cols])
		for i := range s.E.Rows() {
			index, value := s.E.Row(i)
			if cols == 1 {
				var sum T
				for n, j := range index {
					sum += T(value[n]) * v[j]
				}
				w[i] = sum
				continue
			}
			kernel.CombineRows(index, value, v, cols, w[i*cols:(i+1)*cols])
		}
	case *Dense:
		clear(w[:s.K*cols])
		for i := range s.K {
			if cols == 1 {
				w[i] = kernel.Dot(o.row(s, i), v)
				continue
			}
			for j, a := range o.row(s, i) {
				kernel.Axpy(a, v[j*cols:], w[i*cols:(i+1)*cols])
			}
		}
	case *Sum:
		w = w[:s.Classes()*cols]
		part := o.buffer(len(w))
		clear(w)
		for i, p := range s.parts {
			n := p.Sharing.Rows() * cols
			o.parts[i].Expand(part, v[:n], cols)
			kernel.Axpy(T(p.Factor), part, w)
			v = v[n:]
		}
	}
}

// Pull sets v = Aᵀ g; v is m x cols, g is k x cols. It turns a gradient in W
// into the gradient in V, at the cost of Expand.
func (o *Operator[T]) Pull(v, g []T, cols int) {
	switch s := o.s.(type) {
	case None:
		copy(v[:s.K*cols], g[:s.K*cols])
	case *Tree:
		o.pullTree(s, v, g, cols)
	case *Features:
		clear(v[:s.Rows()*cols])
		for i := range s.E.Rows() {
			index, value := s.E.Row(i)
			for n, j := range index {
				if cols == 1 {
					v[j] += T(value[n]) * g[i]
					continue
				}
				kernel.Axpy(T(value[n]), g[i*cols:], v[int(j)*cols:(int(j)+1)*cols])
			}
		}
	case *Dense:
		clear(v[:s.M*cols])
		for i := range s.K {
			if row := o.row(s, i); cols == 1 {
				kernel.Axpy(g[i], row, v[:len(row)])
				continue
			}
			for j, a := range o.row(s, i) {
				kernel.Axpy(a, g[i*cols:], v[j*cols:(j+1)*cols])
			}
		}
	case *Sum:
		for i, p := range s.parts {
			n := p.Sharing.Rows() * cols
			o.parts[i].Pull(v[:n], g, cols)
			kernel.Scale(T(p.Factor), v[:n])
			v = v[n:]
		}
	}
}

// Kernel sets w = K g, K = A Aᵀ; both are k x cols. Adding K times the
// gradient to W is what a gradient step on V does to W = A V. It costs a Pull
// and an Expand, and holds m x cols numbers in between.
func (o *Operator[T]) Kernel(w, g []T, cols int) {
	switch s := o.s.(type) {
	case None:
		copy(w[:s.K*cols], g[:s.K*cols])
	case *Tree:
		o.kernelTree(s, w, g, cols)
	case *Sum:
		w = w[:s.Classes()*cols]
		part := o.buffer(len(w))
		clear(w)
		for i, p := range s.parts {
			o.parts[i].Kernel(part, g, cols)
			kernel.Axpy(T(p.Factor*p.Factor), part, w)
		}
	default:
		v := o.buffer(o.s.Rows() * cols)
		o.Pull(v, g, cols)
		o.Expand(w, v, cols)
	}
}
