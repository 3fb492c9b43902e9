package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Weights of r outputs over d features are kept feature-major: row f of a
// d x r array holds what feature f adds to each output. One nonzero of an
// example then touches one contiguous row.

// rowGrain is the number of examples in a block of parallel work. It is part
// of the order of summation, so it is a constant.
const rowGrain = 64

// design is X, the examples as a trainer sees them.
type design[T matrix.Float] struct {
	sparse  *matrix.Sparse
	columns *matrix.Sparse // transpose of sparse, for the batch gradient
	dense   *matrix.Dense
	rows    int
	dim     int
}

// newDesign wraps x. The transpose of a sparse x is made when batch is set.
func newDesign[T matrix.Float](x matrix.Matrix, batch bool) *design[T] {
	d := &design[T]{rows: x.Rows(), dim: x.Cols()}
	switch x := x.(type) {
	case *matrix.Sparse:
		d.sparse = x
		if batch {
			d.columns = x.Transpose()
		}
	case *matrix.Dense:
		d.dense = x
	}
	return d
}

// scores sets out to the r scores of example i: V x.
func (d *design[T]) scores(out, v []T, i int) {
	clear(out)
	if d.sparse != nil {
		index, value := d.sparse.Row(i)
		kernel.CombineRows(index, value, v, len(out), out)
		return
	}
	kernel.CombineAllRows(d.dense.Row(i), v, len(out), out)
}

// gradient sets out (d x r) to lambda*v + Xᵀ g, where g (n x r) holds the
// gradient of each example in its scores. Each element is summed in the order
// of the examples, whatever the number of threads.
func (d *design[T]) gradient(threads int, out, v, g []T, r int, lambda T) {
	if single, ok := any(out).([]float32); ok && d.dense != nil {
		d.product(threads, single[:d.dim*r], any(g).([]float32), r)
		if lambda != 0 {
			kernel.Parallel(threads, d.dim*r, part, func(_, lo, hi int) { kernel.Axpy(lambda, v[lo:hi], out[lo:hi]) })
		}
		return
	}
	d.accumulate(threads, out, v, g, r, lambda, false)
}

// product sets out (d x r) to Xᵀ g of a dense X.
func (d *design[T]) product(threads int, out, g []float32, r int) {
	team := kernel.NewTeam(kernel.Threads(threads))
	defer team.Close()
	kernel.NewProduct(team).TN(kernel.Rect{X: out, Rows: d.dim, Cols: r, Stride: r},
		kernel.Rect{X: d.dense.Data, Rows: d.rows, Cols: d.dim, Stride: d.dim},
		kernel.Rect{X: g, Rows: d.rows, Cols: r, Stride: r})
}

// squares sets out (d x r) to the sum over examples of x² g, g being n x r.
func (d *design[T]) squares(threads int, out, g []T, r int) {
	d.accumulate(threads, out, out, g, r, 0, true)
}

// accumulate sets out to lambda*v plus, for each feature, the sum over examples
// of x g, or x² g. out may be v.
func (d *design[T]) accumulate(threads int, out, v, g []T, r int, lambda T, square bool) {
	kernel.Parallel(threads, d.dim, d.featureGrain(), func(_, lo, hi int) {
		block := out[lo*r : hi*r]
		if lambda == 0 {
			clear(block)
		} else {
			copy(block, v[lo*r:hi*r])
			kernel.Scale(lambda, block)
		}
		if d.columns == nil {
			d.denseColumns(lo, hi, square, func(f, first int, value []float32) {
				kernel.CombineAllRows(value, g[first*r:], r, out[f*r:(f+1)*r])
			})
			return
		}
		var squared []float32
		for f := lo; f < hi; f++ {
			index, value := d.columns.Row(f)
			if square {
				squared = appendSquares(squared[:0], value)
				value = squared
			}
			kernel.CombineRows(index, value, g, r, out[f*r:(f+1)*r])
		}
	})
}

// appendSquares appends the squares of x to dst.
func appendSquares(dst, x []float32) []float32 {
	for _, v := range x {
		dst = append(dst, v*v)
	}
	return dst
}

// denseColumns calls visit with the columns lo..hi-1 of a dense design, or
// their squares, in pieces of rows that begin at first.
func (d *design[T]) denseColumns(lo, hi int, square bool, visit func(f, first int, value []float32)) {
	buffer := make([]float32, (hi-lo)*min(columnPiece, d.rows))
	for first := 0; first < d.rows; first += columnPiece {
		n := min(columnPiece, d.rows-first)
		for i := range n {
			for f, x := range d.dense.Row(first + i)[lo:hi] {
				if square {
					x *= x
				}
				buffer[f*n+i] = x
			}
		}
		for f := range hi - lo {
			visit(lo+f, first, buffer[f*n:(f+1)*n])
		}
	}
}

// columnPiece is the number of rows whose columns are gathered at a time.
const columnPiece = 512

// featureGrain is the number of features in a block of parallel work.
func (d *design[T]) featureGrain() int {
	if d.dense != nil {
		return 16 // one cache line of each row
	}
	return 256
}
