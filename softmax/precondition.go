package softmax

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// columnsInverse is a preconditioner for dense inputs. The second derivative of output
// j is Σ_i h_ij x_i x_iᵀ + λ I, in which columns that are alike make conjugate gradients
// slow; with the mean curvature h_j of the examples and h of all outputs it is near
//
//	(h_j / h) P,  P = h XᵀX + λ I,
//
// whose inverse needs one matrix for all outputs. A product with it costs d² r, one
// with the second derivative 4 n d r.
type columnsInverse struct {
	columns   int       // d
	gram      []float32 // XᵀX, d x d
	trace     float64
	inverse   []float32 // of P
	h, lambda float64   // of P
}

// maxInvertedColumns bounds the three arrays of d x d, 48 MB.
const maxInvertedColumns = 2048

// newColumnsInverse returns the preconditioner of a dense design, nil for a sparse one
// and where it would cost more than it saves.
func newColumnsInverse[T matrix.Float](d *design[T], scale float64, threads int) *columnsInverse {
	if d.dense == nil || d.dim == 0 || d.dim > maxInvertedColumns || d.dim > 2*d.rows {
		return nil
	}
	n := d.dim
	c := &columnsInverse{columns: n, gram: make([]float32, n*n), inverse: make([]float32, n*n)}
	team := kernel.NewTeam(kernel.Threads(threads))
	defer team.Close()
	x := kernel.Rect{X: d.dense.Data, Rows: d.rows, Cols: n, Stride: n}
	kernel.NewProduct(team).TN(square(c.gram, n), x, x)
	kernel.Scale(float32(scale*scale), c.gram)
	for f := range n {
		c.trace += float64(c.gram[f*n+f])
	}
	if !(c.trace > 0) {
		return nil
	}
	return c
}

func square(x []float32, n int) kernel.Rect { return kernel.Rect{X: x, Rows: n, Cols: n, Stride: n} }

// remake makes the inverse anew if h or lambda moved far from what it was made for.
func (c *columnsInverse) remake(h, lambda float64, threads int) {
	near := func(a, b float64) bool { return a < 1.5*b && b < 1.5*a }
	if near(h, c.h) && near(lambda, c.lambda) {
		return
	}
	c.h, c.lambda = h, lambda
	n := c.columns
	// Single precision needs a ridge that rounding cannot turn around.
	ridge := lambda + 1e-6*h*c.trace
	lower := make([]float32, n*n) // P = L Lᵀ
	for i := range n {
		row := lower[i*n : (i+1)*n]
		for j := range i {
			other := lower[j*n : (j+1)*n]
			row[j] = (float32(h)*c.gram[i*n+j] - kernel.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := h*float64(c.gram[i*n+i]) + ridge - float64(kernel.Dot(row[:i], row[:i]))
		row[i] = float32(math.Sqrt(max(pivot, ridge)))
	}
	inverse := make([]float32, n*n) // of L, row by row: L_ii row_i = e_i - Σ_j<i L_ij row_j
	for i := range n {
		row, of := inverse[i*n:(i+1)*n], lower[i*n:(i+1)*n]
		kernel.CombineAllRows(of[:i], inverse, n, row)
		kernel.Scale(-1/of[i], row)
		row[i] = 1 / of[i]
	}
	team := kernel.NewTeam(kernel.Threads(threads))
	defer team.Close()
	kernel.NewProduct(team).TN(square(c.inverse, n), square(inverse, n), square(inverse, n))
}

// precondition sets out to M⁻¹ x, M being near the second derivative.
func (t *newton[T]) precondition(out, x []T) {
	if t.columns == nil {
		t.inParts(func(lo, hi int) {
			for j := lo; j < hi; j++ {
				out[j] = t.inverse[j] * x[j]
			}
		})
		return
	}
	d, r := t.design.dim, t.r
	kernel.Parallel(t.threads, d, 16, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			row := out[f*r : (f+1)*r]
			clear(row)
			kernel.CombineAllRows(t.columns.inverse[f*d:(f+1)*d], x, r, row)
			for j, s := range t.outputScale {
				row[j] *= s
			}
		}
	})
	for j := d * r; j < len(x); j++ {
		out[j] = t.inverse[j] * x[j]
	}
}

// curveColumns prepares the preconditioner of dense inputs for the diagonal of the
// second derivative without lambda, d x r.
func (t *newton[T]) curveColumns(diagonal []T) {
	sums := make([]float64, t.r)
	for f := 0; f < len(diagonal); f += t.r {
		for j, h := range diagonal[f : f+t.r] {
			sums[j] += float64(h)
		}
	}
	mean := 0.0
	for j := range sums {
		sums[j] = max(sums[j]/t.columns.trace, 1e-12)
		mean += sums[j] / float64(t.r)
	}
	t.outputScale = t.outputScale[:0]
	for _, h := range sums {
		t.outputScale = append(t.outputScale, T(mean/h))
	}
	t.columns.remake(mean, float64(t.lambda), t.threads)
}
