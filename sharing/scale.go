package sharing

import (
	"fmt"
	"math"
)

// MeanEigenvalue returns the mean eigenvalue of C K C on the k-1 directions
// that it does not kill, C = I - 11ᵀ/k: how far one unit of penalty on V
// reaches in W, relative to None, which has 1. It is 0 for one class, and
// exactly 0 if all rows of A are equal. O(size of A).
func MeanEigenvalue(s Sharing) float64 {
	k := s.Classes()
	if k < 2 {
		return 0
	}
	return centredTrace(s) / float64(k-1)
}

// centredTrace returns the trace of C K C, the sum over the columns of A of the
// squared differences from the column's mean. Taken column by column it loses
// no digits to a large part that all classes share, such as a long root edge.
func centredTrace(s Sharing) float64 {
	k := float64(s.Classes())
	var sum float64
	switch s := s.(type) {
	case None:
		return k - 1
	case *None:
		return k - 1
	case *Tree:
		below := make([]float64, len(s.parent)) // classes at or below
		for _, v := range s.node {
			below[v]++
		}
		for v := len(s.parent) - 1; v > 0; v-- {
			below[s.parent[v]] += below[v]
		}
		for v, n := range below {
			sum += s.coef[v] * s.coef[v] * n * (k - n) / k
		}
	case *Features:
		mean := make([]float64, s.E.Cols())
		zeros := make([]float64, s.E.Cols())
		for j := range zeros {
			zeros[j] = k
		}
		for n, j := range s.E.Index {
			mean[j] += float64(s.E.Value[n])
			zeros[j]--
		}
		for j := range mean {
			mean[j] /= k
			sum += zeros[j] * mean[j] * mean[j]
		}
		for n, j := range s.E.Index {
			d := float64(s.E.Value[n]) - mean[j]
			sum += d * d
		}
	case *Dense:
		// Relative to the first row, so that equal rows differ by exactly 0.
		mean := make([]float64, s.M)
		for n, a := range s.A {
			mean[n%s.M] += (a - s.A[n%s.M]) / k
		}
		for n, a := range s.A {
			d := (a - s.A[n%s.M]) - mean[n%s.M]
			sum += d * d
		}
	case *Sum:
		for _, p := range s.parts {
			sum += p.Factor * p.Factor * centredTrace(p.Sharing)
		}
	}
	return sum
}

// Normalized returns s scaled so that its MeanEigenvalue is 1, which makes one
// penalty mean the same for every sharing. A tree stays a tree, its lengths
// divided by that mean; of a sum the factors change; other kinds become a sum of
// one part. One class comes back as it is. A sharing whose rows are all equal
// cannot tell classes apart and is an error, and so is one whose numbers are too
// large or not finite.
func Normalized(s Sharing) (Sharing, error) {
	if s.Classes() < 2 {
		return s, nil
	}
	mean := MeanEigenvalue(s)
	switch {
	case mean == 1:
		return s, nil
	case mean == 0:
		return nil, fmt.Errorf("sharing: all %d classes have the same features, so nothing tells them apart; use another sharing or none", s.Classes())
	case math.IsNaN(mean) || math.IsInf(mean, 0):
		return nil, fmt.Errorf("sharing: the class kernel of %d classes has the mean eigenvalue %v, want a finite number; scale the features or tree lengths down", s.Classes(), mean)
	}
	factor := 1 / math.Sqrt(mean)
	switch s := s.(type) {
	case *Tree:
		length := make([]float64, s.Rows())
		for v := range length {
			length[v] = s.tree.Length(v) / mean
		}
		t, err := s.tree.WithLengths(length)
		if err != nil {
			return nil, fmt.Errorf("sharing: tree lengths divided by their mean eigenvalue %v: %w", mean, err)
		}
		return NewTree(t), nil
	case *Sum:
		parts := s.Parts()
		for i := range parts {
			parts[i].Factor *= factor
		}
		return NewSum(parts...)
	}
	return NewSum(Part{Factor: factor, Sharing: s})
}
