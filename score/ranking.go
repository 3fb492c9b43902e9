package score

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// ranking is the order of the classes of one example: by cost if there is one,
// the lowest first, then by probability, the highest first, then by index.
type ranking[T matrix.Float] struct {
	p    []T
	cost []float64 // nil for none
}

// before tells whether class i stands before class j.
func (r ranking[T]) before(i, j int) bool {
	if r.cost != nil && r.cost[i] != r.cost[j] {
		return r.cost[i] < r.cost[j]
	}
	if r.p[i] != r.p[j] {
		return r.p[i] > r.p[j]
	}
	return i < j
}

// best returns the first class.
func (r ranking[T]) best() int {
	best := 0
	for j := range r.p {
		if r.before(j, best) {
			best = j
		}
	}
	return best
}

// place returns how many classes stand before class i.
func (r ranking[T]) place(i int) int {
	before := 0
	for j := range r.p {
		if r.before(j, i) {
			before++
		}
	}
	return before
}

// First appends the first classes of one example to an empty list, as many as there
// are and as it has room for: by cost if there is one, the lowest first, then by
// probability, the highest first, then by number. Once the list is full, most
// classes cost one comparison with its last, so that it takes about O(k).
func First[T matrix.Float](list []int, p []T, cost []float64) []int {
	r := ranking[T]{p, cost}
	for from := 0; from < len(p); from += firstBlock {
		end := min(from+firstBlock, len(p))
		if cost == nil && len(list) > 0 && len(list) == cap(list) {
			// By number, a class of as much as the last one comes behind it.
			if _, largest, _ := kernel.Extent(p[from:end]); largest <= p[list[len(list)-1]] {
				continue
			}
		}
		for j := from; j < end; j++ {
			if len(list) < cap(list) {
				list = append(list, j)
			} else if !r.before(j, list[len(list)-1]) {
				continue
			}
			n := len(list) - 1
			for ; n > 0 && r.before(j, list[n-1]); n-- {
				list[n] = list[n-1]
			}
			list[n] = j
		}
	}
	return list
}

// firstBlock is how many classes First passes over at a time where none of them counts.
const firstBlock = 1024

// CheckProbabilities returns an error unless p is a distribution over k classes.
func CheckProbabilities[T matrix.Float](p []T, k int) error {
	if len(p) != k {
		return fmt.Errorf("%d probabilities, want one for each of the %d classes", len(p), k)
	}
	const most = 1 + 1e-6 // rounding may lift a sure class above 1
	if least, largest, sum := kernel.Extent(p); least >= 0 && largest <= most && math.Abs(float64(sum)-1) < 1e-3/2 {
		return nil // what nearly all are; with float32 sums
	}
	sum := 0.0
	for j, v := range p {
		if !(v >= 0 && v <= most) {
			return fmt.Errorf("probability %v of class %d, want a number from 0 to 1", v, j)
		}
		sum += float64(v)
	}
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("the probabilities sum to %g, want 1 within 0.001; scores go through a softmax first", sum)
	}
	return nil
}
