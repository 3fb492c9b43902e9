package classinfo

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// ClassMeans returns the mean row of each of k classes, k x d, sparse for sparse
// rows. A class without rows has a row of zeros; rows of class -1 are left out.
// class[i] is the class of row i; one that is not in -1..k-1 panics, as that is
// a bug in the caller. O(k d) for dense rows, O(values log values) for sparse.
func ClassMeans(x matrix.Matrix, class []int32, k int) matrix.Matrix {
	rows := make([][]int, k) // of each class
	for i, c := range class {
		if c != -1 {
			rows[c] = append(rows[c], i)
		}
	}
	switch x := x.(type) {
	case *matrix.Sparse:
		return sparseMeans(x, rows)
	case *matrix.Dense:
		return denseMeans(x, rows)
	}
	panic("classinfo: a matrix that is neither sparse nor dense")
}

// sparseMeans is ClassMeans of sparse rows. Sums are in float64, in the order of the rows.
func sparseMeans(x *matrix.Sparse, rows [][]int) *matrix.Sparse {
	out := &matrix.Sparse{Columns: x.Columns}
	sum := make([]float64, x.Columns)
	seen := make([]bool, x.Columns)
	for _, rows := range rows {
		// A class costs what its rows have, not all columns.
		var index []int32 // of the columns in these rows
		for _, i := range rows {
			columns, value := x.Row(i)
			for n, j := range columns {
				if !seen[j] {
					seen[j], index = true, append(index, j)
				}
				sum[j] += float64(value[n])
			}
		}
		slices.Sort(index)
		value := make([]float32, len(index))
		for n, j := range index {
			value[n] = float32(sum[j] / float64(len(rows)))
			sum[j], seen[j] = 0, false
		}
		out.AppendRow(index, value)
	}
	return out
}

// denseMeans is ClassMeans of dense rows. Sums are in float64, in the order of the rows.
func denseMeans(x *matrix.Dense, rows [][]int) *matrix.Dense {
	out := matrix.NewDense(len(rows), x.Columns)
	sum := make([]float64, x.Columns)
	for c, rows := range rows {
		if len(rows) == 0 {
			continue
		}
		clear(sum)
		for _, i := range rows {
			for j, v := range x.Row(i) {
				sum[j] += float64(v)
			}
		}
		for j, s := range sum {
			out.Row(c)[j] = float32(s / float64(len(rows)))
		}
	}
	return out
}

// meansSharing returns a factor of the positive part of C (M Mᵀ - D) C, M the
// class means, C the centring and D the part of a mean's squared length that
// is noise: v_c = sum over the class of ‖x - m_c‖² / (n_c (n_c - 1)), which is 0
// for a class of one row, as one row tells nothing about noise. Without D classes of
// few rows would look far from all others.
//
// A class without rows stands at the centre of the others, so that it shares
// with none: its mean is not known, and zeros would be a place like any other.
func meansSharing(x matrix.Matrix, class []int32, k int) (sharing.Sharing, error) {
	if err := checkGram(Means, k); err != nil {
		return nil, err
	}
	gram, size, err := meansGram(x, class, k)
	if err != nil {
		return nil, err
	}
	a, err := factor(Means, gram, size)
	if a == nil && err == nil {
		return nil, fmt.Errorf("sharing means: the class means do not differ by more than their noise; use another sharing")
	}
	return a, err
}

// meansGram returns C (M Mᵀ - D) C over the classes with rows, 0 elsewhere, and
// the sum of the squares of M.
func meansGram(x matrix.Matrix, class []int32, k int) (gram *mat.SymDense, size float64, err error) {
	means := ClassMeans(x, class, k)
	counts, squares := make([]float64, k), make([]float64, k)
	for i, c := range class {
		if c != -1 {
			counts[c]++
			squares[c] += x.SquaredNorm(i)
		}
	}
	var present []int
	gram = mat.NewSymDense(k, nil)
	for a := range k {
		if counts[a] == 0 {
			continue // its inner products are 0
		}
		present = append(present, a)
		for b := a; b < k; b++ {
			gram.SetSym(a, b, matrix.Dot(means, a, b))
		}
		size += gram.At(a, a)
		// E‖mean of the rows‖² = ‖true mean‖² + variance / n, and v_c estimates the latter.
		if n := counts[a]; n > 1 {
			within := max(0, squares[a]-n*gram.At(a, a)) // sum of ‖x - m_a‖²
			gram.SetSym(a, a, gram.At(a, a)-within/(n*(n-1)))
		}
	}
	if len(present) < 2 {
		return nil, 0, fmt.Errorf("sharing means: %d of %d classes have rows, want at least two; use another sharing", len(present), k)
	}
	centre(gram, present)
	return gram, size, nil
}

// centre replaces the rows and columns of g that are listed, all others being
// 0, by C g C, C = I - 11ᵀ/n over these n.
func centre(g *mat.SymDense, rows []int) {
	n := float64(len(rows))
	// (C g C)_ab = g_ab - mean_a - mean_b + mean, where mean_a is that of row a.
	rowMean := make([]float64, len(rows))
	var mean float64
	for i, a := range rows {
		for _, b := range rows {
			rowMean[i] += g.At(a, b) / n
		}
		mean += rowMean[i] / n
	}
	for i, a := range rows {
		for j := i; j < len(rows); j++ {
			b := rows[j]
			g.SetSym(a, b, g.At(a, b)-rowMean[i]-rowMean[j]+mean)
		}
	}
}
