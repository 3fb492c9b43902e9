package decide

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// None is the class of an answer that names no class.
const None = -1

// Likely returns the most probable class, the lowest among equals, and its
// probability. It takes O(k).
func Likely[T matrix.Float](p []T) (class int, probability float64, err error) {
	if err := check(p, len(p)); err != nil {
		return None, 0, err
	}
	best := argmax(p)
	return best, float64(p[best]), nil
}

// check returns an error unless p is a distribution over k classes.
func check[T matrix.Float](p []T, k int) error {
	if len(p) != k || k == 0 {
		return fmt.Errorf("decide: %d probabilities, want one for each of the %d classes", len(p), max(k, 1))
	}
	sum := 0.0
	for c, v := range p {
		if !(v >= 0 && v <= 1+slack) {
			return fmt.Errorf("decide: probability %v of class %d, want a number from 0 to 1", v, c)
		}
		sum += float64(v)
	}
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("decide: the probabilities sum to %g, want 1 within 0.001; scores go through Softmax first", sum)
	}
	return nil
}

// argmax returns the index of the largest number, the lowest among equals.
func argmax[T matrix.Float](p []T) int {
	best := 0
	for c, v := range p {
		if v > p[best] {
			best = c
		}
	}
	return best
}

// slack is how far rounding may take a sum of probabilities in float32.
const slack = 1e-6

// checkFraction returns an error unless x is a number from 0 to 1.
func checkFraction(what string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("decide: %s %v, want a number from 0 to 1", what, x)
	}
	return nil
}
