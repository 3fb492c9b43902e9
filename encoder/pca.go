package encoder

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
)

// pcaBlock is the number of rows whose products are added at a time.
const pcaBlock = 1024

// PCA returns rows in their first dim principal components, less their mean: the directions
// of the most variance first, each turned so that its largest number is positive, as
// eigenvectors have no sign of their own. A dim above the columns gives all of them. No rows,
// and a dim below 1, are errors. It takes O(rows * columns² + columns³) time and, beside the
// result, a block of rows and a few times columns² numbers in float64:
//
//	C = 1/n Σ_i (x_i - mean)(x_i - mean)ᵀ = Q Λ Qᵀ        y_i = Q[:, :dim]ᵀ (x_i - mean)
//
// By the eigenvectors of C and not by singular values of the rows, which would need all of
// these in float64: there are many rows of few columns.
func PCA(x *matrix.Dense, dim int) (*matrix.Dense, error) {
	n, d := x.Rows(), x.Columns
	if n == 0 || dim < 1 {
		return nil, errors.New("principal components of nothing")
	}
	dim = min(dim, d)
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.Row(i) {
			mean[j] += float64(v) / float64(n)
		}
	}
	centred := func(from, to int) *mat.Dense {
		block := mat.NewDense(to-from, d, nil)
		for i := from; i < to; i++ {
			row := block.RawRowView(i - from)
			for j, v := range x.Row(i) {
				row[j] = float64(v) - mean[j]
			}
		}
		return block
	}
	covariance := mat.NewSymDense(d, nil)
	for from := 0; from < n; from += pcaBlock {
		block := centred(from, min(from+pcaBlock, n))
		covariance.SymRankK(covariance, 1/float64(n), block.T())
	}
	axes, err := principal(covariance, dim)
	if err != nil {
		return nil, err
	}
	out := matrix.NewDense(n, dim)
	for from := 0; from < n; from += pcaBlock {
		to := min(from+pcaBlock, n)
		var y mat.Dense
		y.Mul(centred(from, to), axes)
		for i := from; i < to; i++ {
			for c, v := range y.RawRowView(i - from) {
				out.Row(i)[c] = float32(v)
			}
		}
	}
	return out, nil
}

// principal returns the dim directions of the most variance, d x dim.
func principal(covariance *mat.SymDense, dim int) (*mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return nil, errors.New("the principal components of the vectors cannot be computed")
	}
	var all mat.Dense
	eigen.VectorsTo(&all) // by ascending variance
	d := covariance.SymmetricDim()
	directions := mat.NewDense(d, dim, nil)
	for c := range dim {
		column := mat.Col(nil, d-1-c, &all)
		largest := 0.0
		for _, v := range column {
			if v*v > largest*largest {
				largest = v
			}
		}
		for j, v := range column {
			if largest < 0 {
				v = -v
			}
			directions.Set(j, c, v)
		}
	}
	return directions, nil
}
