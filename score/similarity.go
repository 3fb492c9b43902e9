package score

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// Similarity is the cosine of the angle between the vectors of two classes:
// word vectors of their names, or their n-grams. It computes each pair when
// asked, so there is never a k x k matrix.
type Similarity struct {
	vectors matrix.Matrix
	norm    []float64 // of each row
}

// NewSimilarity returns the similarity of the rows of vectors (k x dimensions,
// *matrix.Dense or *matrix.Sparse), which it keeps: do not change them. A
// matrix without rows or with a NaN or infinity is an error. It takes O(values).
func NewSimilarity(vectors matrix.Matrix) (*Similarity, error) {
	if vectors == nil || vectors.Rows() == 0 {
		return nil, fmt.Errorf("score: similarity of no label vectors, want a row for each class")
	}
	if err := vectors.Check(); err != nil {
		return nil, fmt.Errorf("score: label vectors: %w", err)
	}
	s := &Similarity{vectors: vectors, norm: make([]float64, vectors.Rows())}
	for i := range s.norm {
		s.norm[i] = math.Sqrt(vectors.SquaredNorm(i))
	}
	return s, nil
}

// Classes returns k.
func (s *Similarity) Classes() int { return len(s.norm) }

// Cosine returns the cosine of the vectors of classes i and j, from -1 to 1.
// It is exactly 1 for i = j. A class whose vector is 0 has cosine 0 with every
// other. The cost is that of one dot product. It panics if i or j is no class.
func (s *Similarity) Cosine(i, j int) float64 {
	scale := s.norm[i] * s.norm[j]
	if i == j {
		return 1
	}
	if scale == 0 {
		return 0
	}
	return min(max(matrix.Dot(s.vectors, i, j)/scale, -1), 1) // rounding may leave the range
}
