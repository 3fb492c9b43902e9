package sharing

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxDense is the largest k for which a k x k matrix is formed, 1.3 GB.
const maxDense = 12800

// maxCompact bounds the O(k³) factor of Compact to a few seconds.
const maxCompact = 2000

// Gram returns K = A Aᵀ as a dense matrix, in k times the cost of Kernel on
// one column. It refuses k above 12,800.
func Gram(s Sharing) (*mat.SymDense, error) {
	k := s.Classes()
	if k > maxDense {
		return nil, fmt.Errorf("sharing: %d classes are too many for a dense class kernel, at most %d; use a tree", k, maxDense)
	}
	op := NewOperator[float64](s)
	unit, column := make([]float64, k), make([]float64, k)
	gram := mat.NewSymDense(k, nil)
	for j := range k {
		unit[j] = 1
		op.Kernel(column, unit, 1)
		unit[j] = 0
		for i := j; i < k; i++ {
			gram.SetSym(i, j, column[i])
		}
	}
	return gram, nil
}

// Compact returns a sharing with the same K, to rounding, and fewer than 2k
// rows, the fewer numbers for a trainer to find: any factor L with L Lᵀ = K
// trains the same classifier. What has fewer than 2k rows already comes back
// as it is, as None and all trees without chains of single children do; so
// does anything of more than 2,000 classes.
//
// Others become a Dense of as many rows as K has rank, from a Cholesky factor
// with pivoting: a K without inverse needs no jitter that way.
func Compact(s Sharing) (Sharing, error) {
	k := s.Classes()
	if s.Rows() < 2*k || k > maxCompact {
		return s, nil
	}
	gram, err := Gram(s)
	if err != nil {
		return nil, err
	}
	if t := mat.Trace(gram); math.IsNaN(t) || math.IsInf(t, 0) {
		return nil, fmt.Errorf("sharing: the class kernel of %d classes has the trace %v, want a finite number; scale the features down", k, t)
	}
	var chol mat.PivotedCholesky
	chol.Factorize(gram, -1) // "not ok" only says that the rank is below k
	rank := chol.Rank()
	upper := chol.RawU()
	dense := &Dense{K: k, M: max(rank, 1)}
	dense.A = make([]float64, k*dense.M)
	for i, class := range chol.ColumnPivots(nil) {
		for j := range min(i+1, rank) {
			dense.A[class*dense.M+j] = upper.At(j, i)
		}
	}
	return dense, nil
}
