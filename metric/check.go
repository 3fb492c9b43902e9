package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// symmetryTolerance is how far two sides of a symmetric pair may differ, as a
// part of the larger: enough for numbers written with ten digits.
const symmetryTolerance = 1e-9

// triangleTolerance is how far a triangle may fail to close, as a part of its
// longest side: rounding, not a mistake in the distances.
const triangleTolerance = 1e-9

// PairError says that the distance of points I and J cannot be one. The caller
// knows the points' names and can print them from I and J.
type PairError struct {
	I, J     int
	Distance float64 // from I to J
	Reverse  float64 // from J to I, where the two differ; else equal to Distance
	Want     string  // what was wanted, as in "a finite number"
}

// Error names the pair, its distance and what was wanted.
func (e *PairError) Error() string {
	reverse := ""
	if e.Reverse != e.Distance && !math.IsNaN(e.Distance) {
		reverse = fmt.Sprintf(" but from %d to %d it is %v", e.J, e.I, e.Reverse)
	}
	return fmt.Sprintf("metric: distance from point %d to point %d is %v%s, want %s", e.I, e.J, e.Distance, reverse, e.Want)
}

// TriangleError says that the way from I to J over Via is shorter than the way
// straight from I to J.
type TriangleError struct {
	I, J, Via      int
	Distance       float64 // from I to J
	ToVia, FromVia float64 // from I to Via, from Via to J
}

// Error names the three points and their distances.
func (e *TriangleError) Error() string {
	return fmt.Sprintf("metric: distance from point %d to point %d is %v, more than %v + %v over point %d; want distances that meet the triangle inequality",
		e.I, e.J, e.Distance, e.ToVia, e.FromVia, e.Via)
}

// CheckPair returns a *PairError, with i and j in it, if d cannot be a
// distance: NaN, infinite or negative. It is for code that asks for distances
// one at a time and cannot afford Check.
func CheckPair(i, j int, d float64) error {
	switch {
	case math.IsNaN(d) || math.IsInf(d, 0):
		return &PairError{I: i, J: j, Distance: d, Reverse: d, Want: "a finite number"}
	case d < 0:
		return &PairError{I: i, J: j, Distance: d, Reverse: d, Want: "0 or more"}
	}
	return nil
}

// Check returns a *PairError for the first pair whose distance is NaN,
// infinite, negative, or differs between its two directions by more than 1e-9
// of the larger, or for a point that is not at 0 from itself. It takes k^2
// distances and does not look at the triangle inequality.
func Check(s Space) error {
	for i := range s.Len() {
		if d := s.Distance(i, i); d != 0 {
			return &PairError{I: i, J: i, Distance: d, Reverse: d, Want: "0 from a point to itself"}
		}
		for j := i + 1; j < s.Len(); j++ {
			d, reverse := s.Distance(i, j), s.Distance(j, i)
			if err := CheckPair(i, j, d); err != nil {
				return err
			}
			if err := CheckPair(j, i, reverse); err != nil {
				return err
			}
			if math.Abs(d-reverse) > symmetryTolerance*max(d, reverse) {
				return &PairError{I: i, J: j, Distance: d, Reverse: reverse, Want: "the same both ways"}
			}
		}
	}
	return nil
}

// CheckTriangle draws that many triples of points and returns a *TriangleError
// for the first that breaks the triangle inequality by more than 1e-9 of its
// longest side. With k <= 64 points it looks at every triple instead, where
// these are no more than the samples asked for.
func CheckTriangle(s Space, samples int, seed uint64) error {
	k := s.Len()
	if k < 3 {
		return nil
	}
	if k <= 64 && k*(k-1)*(k-2)/6 <= samples {
		for a := range k {
			for b := a + 1; b < k; b++ {
				for c := b + 1; c < k; c++ {
					if err := checkTriple(s, a, b, c); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range samples {
		if err := checkTriple(s, random.IntN(k), random.IntN(k), random.IntN(k)); err != nil {
			return err
		}
	}
	return nil
}

// checkTriple looks at the one way of three that can fail: the longest side
// against the two others.
func checkTriple(s Space, a, b, c int) error {
	ab, bc, ac := s.Distance(a, b), s.Distance(b, c), s.Distance(a, c)
	if bc > ab && bc >= ac { // turn the triangle so that ab is its longest side
		a, b, c, ab, bc, ac = b, c, a, bc, ac, ab
	} else if ac > ab {
		b, c, ab, ac = c, b, ac, ab
	}
	if ab-ac-bc > triangleTolerance*ab {
		return &TriangleError{I: a, J: b, Via: c, Distance: ab, ToVia: ac, FromVia: bc}
	}
	return nil
}
