package decide

import (
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// Reject is Likely where the probability reaches the threshold, and else
// returns None with the probability that was too low. The threshold is a
// fraction, compared in the precision of p, so that a float32 of 0.9 reaches
// 0.9. A threshold outside 0..1 is an error, too. It takes O(k).
func Reject[T matrix.Float](p []T, threshold float64) (class int, probability float64, err error) {
	if err := checkFraction("threshold", threshold); err != nil {
		return None, 0, err
	}
	if err := check(p, len(p)); err != nil {
		return None, 0, err
	}
	best := argmax(p)
	if p[best] < T(threshold) {
		return None, float64(p[best]), nil
	}
	return best, float64(p[best]), nil
}

// CostThreshold returns the threshold for Reject that costs least on average
// where a wrong answer costs wrong, none costs none and a right one nothing: 1 -
// none/wrong, and 0 if no answer is as dear as a wrong one (Chow 1970). That
// holds for calibrated probabilities. Costs that are negative or not finite,
// and a wrong of 0, are errors.
func CostThreshold(wrong, none float64) (float64, error) {
	if !(wrong > 0) || !(none >= 0) || math.IsInf(wrong, 1) || math.IsInf(none, 1) {
		return 0, fmt.Errorf("decide: a wrong answer costs %v and none costs %v, want finite costs above 0 and from 0", wrong, none)
	}
	return max(1-none/wrong, 0), nil
}

// AccuracyThreshold returns the lowest threshold for Reject at which the
// answers can be expected to be right at least as often as the accuracy says,
// and the share of examples that then get an answer. It needs no labels:
// probabilities are those of the most probable class of each example, and of a
// calibrated classifier a share of p of the answers at p is right. So the
// accuracy at a threshold is the mean of those that reach it.
//
// If no threshold does, none is answered: the accuracy itself is then returned,
// which no example reaches. No probabilities, one outside 0..1 and such an
// accuracy are errors. It takes O(n log n) and leaves probabilities as they are.
func AccuracyThreshold(probabilities []float64, accuracy float64) (threshold, answered float64, err error) {
	if err := checkFraction("accuracy", accuracy); err != nil {
		return 0, 0, err
	}
	if len(probabilities) == 0 {
		return 0, 0, fmt.Errorf("decide: threshold from no probabilities, want that of the answer to each of some examples")
	}
	for i, v := range probabilities {
		if !(v >= 0 && v <= 1+slack) {
			return 0, 0, fmt.Errorf("decide: probability %v of example %d, want a number from 0 to 1", v, i)
		}
	}
	p := slices.Sorted(slices.Values(probabilities))
	slices.Reverse(p)
	threshold, sum := accuracy, 0.0
	for i, v := range p {
		sum += v
		if last := i+1 == len(p) || p[i+1] < v; last && sum >= accuracy*float64(i+1) { // equals go together
			threshold, answered = min(v, 1), float64(i+1)/float64(len(p))
		}
	}
	return threshold, answered, nil
}
