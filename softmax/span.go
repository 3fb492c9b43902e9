package softmax

import (
	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// span writes few examples of many features in a basis of their own. The best
// V with an L2 penalty lies in the span of the rows of X, so for X = L Qᵀ with
// orthonormal columns in Q (d x n) the problem with inputs L (n x n) has the
// same minimum: V = Q V'. A trainer then finds n x r numbers, not d x r.
//
// L is the Cholesky factor of X Xᵀ, and Q is never formed: Q = Xᵀ L⁻ᵀ.
type span[T matrix.Float] struct {
	full  *design[T]
	lower []float64 // L, n x n
	n     int
}

// spanPays tells whether the n x n problem is less work a product than the
// sparse one: two passes over n² numbers that stay in the cache, against two
// over the nonzeros and about eight over the d rows of V.
func spanPays(x matrix.Matrix) bool {
	s, ok := x.(*matrix.Sparse)
	if !ok {
		return false
	}
	n := float64(x.Rows())
	return n*n/4 < float64(len(s.Value))/2+8*float64(x.Cols())
}

// newSpan returns the span of the examples and L, or nil and x if it does not
// pay. A nil span stands for the basis that x is written in.
func newSpan[T matrix.Float](x matrix.Matrix, threads int) (*span[T], matrix.Matrix) {
	if !spanPays(x) {
		return nil, x
	}
	s := &span[T]{full: newDesign[T](x, true), n: x.Rows()}
	gram := mat.NewSymDense(s.n, nil)
	rows := x.(*matrix.Sparse)
	kernel.Parallel(threads, s.n, 16, func(_, lo, hi int) {
		wide := make([]float64, x.Cols())
		for i := lo; i < hi; i++ {
			index, value := rows.Row(i)
			for m, f := range index {
				wide[f] = float64(value[m])
			}
			for j := i; j < s.n; j++ {
				var sum float64
				other, v := rows.Row(j)
				for m, f := range other {
					sum += wide[f] * float64(v[m])
				}
				gram.SetSym(i, j, sum)
			}
			for _, f := range index {
				wide[f] = 0
			}
		}
	})
	// Rows that repeat, or are empty, make the Gram matrix singular. A little of
	// the identity moves no score by more than float32 shows.
	jitter := 1e-9 * (mat.Trace(gram)/float64(s.n) + 1e-30)
	for i := range s.n {
		gram.SetSym(i, i, gram.At(i, i)+jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, x
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	s.lower = make([]float64, s.n*s.n)
	for i := range s.n {
		for j := range i + 1 {
			s.lower[i*s.n+j] = lower.At(i, j)
		}
	}
	small := matrix.NewDense(s.n, s.n)
	for i, v := range s.lower {
		small.Data[i] = float32(v)
	}
	return s, small
}

// newFull returns an array for the V (d x r) that the small one stands for.
func (s *span[T]) newFull(small []T, r int) []T {
	if s == nil {
		return small
	}
	return make([]T, s.full.dim*r)
}

// expand returns V (d x r) of V' (n x r): Xᵀ L⁻ᵀ V'.
func (s *span[T]) expand(small []T, r, threads int) []T {
	if s == nil {
		return small
	}
	u := make([]float64, s.n*r)
	for i, v := range small[:s.n*r] {
		u[i] = float64(v)
	}
	for i := s.n - 1; i >= 0; i-- {
		row := u[i*r : (i+1)*r]
		kernel.Scale(1/s.lower[i*s.n+i], row)
		for j := range i {
			kernel.Axpy(-s.lower[i*s.n+j], row, u[j*r:(j+1)*r])
		}
	}
	weights := make([]T, s.n*r)
	for i, v := range u {
		weights[i] = T(v)
	}
	out := s.newFull(small, r)
	s.full.gradient(threads, out, out, weights, r, 0)
	return out
}

// project sets V' (n x r) to the part of V (d x r) within the span: L⁻¹ X V.
func (s *span[T]) project(small, v []T, r int) {
	if s == nil {
		return
	}
	u := make([]float64, s.n*r)
	z := make([]T, r)
	for i := range s.n {
		s.full.scores(z, v, i)
		row := u[i*r : (i+1)*r]
		for c, x := range z {
			row[c] = float64(x)
		}
		for j := range i {
			kernel.Axpy(-s.lower[i*s.n+j], u[j*r:(j+1)*r], row)
		}
		kernel.Scale(1/s.lower[i*s.n+i], row)
	}
	for i, x := range u {
		small[i] = T(x)
	}
}
