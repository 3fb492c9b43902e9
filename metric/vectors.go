package metric

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Euclidean returns the space of the rows of m, k x d, at their straight-line
// distances: sqrt(sum_c (m_ic - m_jc)^2), summed in float64. A distance takes
// O(d) time, or O(values in the two rows) if m is sparse. m is not copied and
// must not change. A NaN or an infinity is an error that names row and column.
//
// Dense rows go through the processor's vector units. The order of the sum is
// the same with AVX-512 and AVX2 and another in plain Go, which can change a
// distance by a factor of at most 1 + (d+2) 2^-53.
func Euclidean(m matrix.Matrix) (Space, error) {
	rows, err := newRows(m)
	if err != nil {
		return nil, err
	}
	return &euclidean{rows}, nil
}

// Cosine returns the space of the rows of m, k x d, at the angles between
// them, arccos(cos(m_i, m_j)), from 0 to pi radians. The angle is a metric; 1
// minus the cosine is not. A row of zeros points nowhere: it is pi/2 from
// every other row, another row of zeros too, so that labels of which nothing
// is known do not pass for alike.
//
// Rows that differ by a positive factor are 0 apart, or at most some 1e-8
// where rounding to float32 tells them apart. Cost, aliasing and errors are
// those of Euclidean.
func Cosine(m matrix.Matrix) (Space, error) {
	rows, err := newRows(m)
	if err != nil {
		return nil, err
	}
	scale := make([]float64, m.Rows())
	for i := range scale {
		if squared := m.SquaredNorm(i); squared > 0 {
			scale[i] = 1 / math.Sqrt(squared)
		}
	}
	return &cosine{rows: rows, scale: scale}, nil
}

// rows is a matrix in one of its two forms; the other is nil.
type rows struct {
	k      int
	dense  *matrix.Dense
	sparse *matrix.Sparse
}

// newRows checks a matrix: NaN and infinities are an error that names row and column.
func newRows(m matrix.Matrix) (rows, error) {
	if err := m.Check(); err != nil {
		return rows{}, fmt.Errorf("metric: vectors: %w", err)
	}
	return rowsOf(m), nil
}

// rowsOf is newRows for a matrix that is known to be good.
func rowsOf(m matrix.Matrix) rows {
	r := rows{k: m.Rows()}
	r.dense, _ = m.(*matrix.Dense)
	r.sparse, _ = m.(*matrix.Sparse)
	return r
}

// Len returns the number of rows.
func (r rows) Len() int { return r.k }

// pick returns a copy of the given rows.
func (r rows) pick(points []int32) rows {
	list := make([]int, len(points))
	for n, p := range points {
		list[n] = int(p)
	}
	if r.sparse != nil {
		return rowsOf(r.sparse.Select(list))
	}
	return rowsOf(r.dense.Select(list))
}

// euclidean is the Space of Euclidean.
type euclidean struct{ rows }

// Distance adds up in float64: float32 would lose the distance of two vectors that are
// much longer than they are apart.
func (e *euclidean) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	if e.sparse != nil {
		difference, _ := e.sparseSquares(i, j, 1, 1)
		return math.Sqrt(difference)
	}
	return math.Sqrt(kernel.SquaredDistance(e.dense.Row(i), e.dense.Row(j)))
}

// Distances is the Batch form of Distance.
func (e *euclidean) Distances(i int, to []int32, out []float64) {
	if e.sparse != nil {
		each(e, i, to, out)
		return
	}
	x := e.dense.Row(i)
	for n, j := range to {
		out[n] = math.Sqrt(kernel.SquaredDistance(x, e.dense.Row(int(j))))
	}
}

// Select copies the rows into their new order.
func (e *euclidean) Select(points []int32) Space { return &euclidean{e.pick(points)} }

// cosine is the Space of Cosine.
type cosine struct {
	rows
	scale []float64 // 1 / norm of each row, 0 for a row of zeros
}

// Distance works on the unit rows u and v: the angle is
// 2 atan2(|u - v|, |u + v|). Unlike arccos of their product this keeps all its
// digits for rows that are nearly parallel, is exactly 0 for equal rows, and
// needs no clamping.
func (c *cosine) Distance(i, j int) float64 {
	switch {
	case i == j:
		return 0
	case c.scale[i] == 0 || c.scale[j] == 0:
		return math.Pi / 2
	}
	var difference, sum float64
	if c.sparse != nil {
		difference, sum = c.sparseSquares(i, j, c.scale[i], c.scale[j])
	} else {
		difference, sum = kernel.ScaledSquares(c.scale[i], c.dense.Row(i), c.scale[j], c.dense.Row(j))
	}
	return 2 * math.Atan2(math.Sqrt(difference), math.Sqrt(sum))
}

// Distances is the Batch form of Distance.
func (c *cosine) Distances(i int, to []int32, out []float64) { each(c, i, to, out) }

// Select copies the rows into their new order.
func (c *cosine) Select(points []int32) Space {
	scale := make([]float64, len(points))
	for n, p := range points {
		scale[n] = c.scale[p]
	}
	return &cosine{rows: c.pick(points), scale: scale}
}

// sparseSquares returns the squared norms of a x_i - b x_j and a x_i + b x_j,
// walking both rows in the order of their columns.
func (r rows) sparseSquares(i, j int, a, b float64) (difference, sum float64) {
	columnI, valueI := r.sparse.Row(i)
	columnJ, valueJ := r.sparse.Row(j)
	for len(columnI) > 0 || len(columnJ) > 0 {
		var p, q float64
		takeI := len(columnJ) == 0 || len(columnI) > 0 && columnI[0] <= columnJ[0]
		takeJ := len(columnI) == 0 || len(columnJ) > 0 && columnJ[0] <= columnI[0]
		if takeI {
			p = float64(float64(valueI[0]) * a)
			columnI, valueI = columnI[1:], valueI[1:]
		}
		if takeJ {
			q = float64(float64(valueJ[0]) * b)
			columnJ, valueJ = columnJ[1:], valueJ[1:]
		}
		difference += (p - q) * (p - q)
		sum += (p + q) * (p + q)
	}
	return difference, sum
}
