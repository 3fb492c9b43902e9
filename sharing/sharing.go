package sharing

import (
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// Sharing is a matrix A (k x m) that is one of None, *Tree, *Features, *Dense
// and *Sum. Values are immutable and safe for concurrent use.
type Sharing interface {
	// Classes returns k, the number of rows of A and of W.
	Classes() int
	// Rows returns m, the number of columns of A and of rows of V.
	Rows() int

	isSharing()
}

// None is A = I: each of the K classes has parameters of its own.
type None struct{ K int }

// Features is A = E, k rows of sparse class features; see NewFeatures.
type Features struct{ E *matrix.Sparse }

// Dense is A as it stands: K x M finite numbers in row-major order, K at least
// 1. Another length of A is a bug in the caller.
type Dense struct {
	K, M int
	A    []float64
}

// Part is a block of columns of a Sum: Factor times Sharing.
type Part struct {
	Factor  float64
	Sharing Sharing
}

// Sum is A = [f1 A1, f2 A2, ...], so K = f1² K1 + f2² K2 + ....
type Sum struct{ parts []Part }

func (None) isSharing()      {}
func (*Tree) isSharing()     {}
func (*Features) isSharing() {}
func (*Dense) isSharing()    {}
func (*Sum) isSharing()      {}

// Classes returns k.
func (s None) Classes() int { return s.K }

// Rows returns m = k.
func (s None) Rows() int { return s.K }

// NewFeatures returns A = E after checking E, which must have a row for each
// class; a class without features has an empty one. E is kept, not copied.
func NewFeatures(e *matrix.Sparse) (*Features, error) {
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("sharing: class features: %w", err)
	}
	if e.Rows() == 0 {
		return nil, fmt.Errorf("sharing: class features have no rows, want one a class")
	}
	return &Features{E: e}, nil
}

// Classes returns k.
func (s *Features) Classes() int { return s.E.Rows() }

// Rows returns m, the number of features.
func (s *Features) Rows() int { return s.E.Cols() }

// Classes returns k.
func (s *Dense) Classes() int { return s.K }

// Rows returns m.
func (s *Dense) Rows() int { return s.M }

// NewSum puts one or more parts side by side. All must have the same number of
// classes, and finite factors.
func NewSum(parts ...Part) (*Sum, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("sharing: a sum of no parts, want at least one")
	}
	for i, p := range parts {
		if p.Sharing == nil {
			return nil, fmt.Errorf("sharing: part %d of a sum is nil, want a sharing", i)
		}
		if p.Sharing.Classes() != parts[0].Sharing.Classes() {
			return nil, fmt.Errorf("sharing: part %d of a sum has %d classes, part 0 has %d; make both from the same labels", i, p.Sharing.Classes(), parts[0].Sharing.Classes())
		}
		if math.IsNaN(p.Factor) || math.IsInf(p.Factor, 0) {
			return nil, fmt.Errorf("sharing: part %d of a sum has factor %v, want a finite number", i, p.Factor)
		}
	}
	return &Sum{parts: slices.Clone(parts)}, nil
}

// Parts returns the blocks of the sum, in a slice of its own.
func (s *Sum) Parts() []Part { return slices.Clone(s.parts) }

// Classes returns k.
func (s *Sum) Classes() int { return s.parts[0].Sharing.Classes() }

// Rows returns m, the sum of the parts' rows.
func (s *Sum) Rows() int {
	m := 0
	for _, p := range s.parts {
		m += p.Sharing.Rows()
	}
	return m
}
