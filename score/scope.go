package score

import (
	"fmt"
	"math"
	"slices"
)

// AUROC returns the area under the receiver operating characteristic of a
// confidence that is to be high for examples within the scope of a classifier,
// such as the probability of its answer, and low for others: the chance that it
// is higher for one of inScope than for one of outScope, a tie counting half.
// 1 tells them all apart, 0.5 none.
//
// Its standard error is that of DeLong, DeLong and Clarke-Pearson (1988) for a
// single curve, with the normal 95 % interval that follows, cut at 0 and 1. With
// one example on a side there is no error to be had: SE, Low and High are NaN.
// Where the two sides do not overlap the error is 0, which says more about the
// number of examples than about the truth.
//
// An empty side and a NaN are errors; infinities are not. It takes
// O(n log n) for n numbers in all, and leaves them in their order.
func AUROC(inScope, outScope []float64) (Interval, error) {
	in, out, err := sortedSides(inScope, outScope)
	if err != nil {
		return Interval{}, err
	}
	above, below := placements(in, out), placements(out, in)
	nan := math.NaN()
	v := Interval{Mean: above.mean, SE: nan, Low: nan, High: nan}
	if len(in) > 1 && len(out) > 1 {
		v.SE = math.Sqrt(above.variance/float64(len(in)) + below.variance/float64(len(out)))
		reach := math.Sqrt2 * math.Erfinv(confidence) * v.SE
		v.Low, v.High = max(v.Mean-reach, 0), min(v.Mean+reach, 1)
	}
	return v, nil
}

// sortedSides returns both sides in ascending order, in slices of their own.
func sortedSides(inScope, outScope []float64) (in, out []float64, err error) {
	if len(inScope) == 0 || len(outScope) == 0 {
		return nil, nil, fmt.Errorf("score: %d examples in scope and %d out of scope, want at least one of each", len(inScope), len(outScope))
	}
	for s, side := range [][]float64{inScope, outScope} {
		if i := slices.IndexFunc(side, math.IsNaN); i >= 0 {
			return nil, nil, fmt.Errorf("score: confidence %d of the examples %s scope is NaN, want a number", i, [...]string{"in", "out of"}[s])
		}
	}
	return slices.Sorted(slices.Values(inScope)), slices.Sorted(slices.Values(outScope)), nil
}

// moments are the mean and the variance, over n-1, of a list of numbers.
type moments struct{ mean, variance float64 }

// placements returns the moments, over x, of the share of y below each x, ties
// counting half. Both ascend, so one pass over both is enough. The mean is a
// ratio of whole numbers, rounded once.
func placements(x, y []float64) moments {
	var m moments
	halves := make([]int, len(x)) // twice the placement
	sum, less, upTo := 0, 0, 0    // of y: how many are below x, and how many not above
	for i, v := range x {
		for less < len(y) && y[less] < v {
			less++
		}
		for upTo < len(y) && y[upTo] <= v {
			upTo++
		}
		halves[i] = less + upTo
		sum += halves[i]
	}
	scale := 2 * float64(len(y))
	m.mean = float64(sum) / (scale * float64(len(x)))
	for _, h := range halves {
		d := float64(h)/scale - m.mean
		m.variance += d * d
	}
	m.variance /= float64(len(x) - 1) // of one number: NaN, which nobody asks for
	return m
}

// Detection says how well a threshold tells examples within the scope of a
// classifier from others: it answers those whose confidence reaches the
// threshold. Whether an answer then names the right class is the accuracy's
// matter.
type Detection struct {
	Threshold  float64 `json:"threshold"`
	Right      float64 `json:"right"`        // share of right decisions: in scope answered, out of scope not
	Answered   float64 `json:"answered"`     // share answered of the examples in scope
	Rejected   float64 `json:"rejected"`     // share not answered of those out of scope
	InScope    int     `json:"in_scope"`     // examples
	OutOfScope int     `json:"out_of_scope"` // examples
}

// DetectionAt returns what a threshold does. Right depends on how many examples
// are on each side; Answered and Rejected do not. An empty side and a NaN are
// errors. It takes O(n log n).
func DetectionAt(inScope, outScope []float64, threshold float64) (Detection, error) {
	if math.IsNaN(threshold) {
		return Detection{}, fmt.Errorf("score: the threshold is NaN, want a number")
	}
	in, out, err := sortedSides(inScope, outScope)
	if err != nil {
		return Detection{}, err
	}
	return newDetection(threshold, in, out), nil
}

// BestDetection returns the threshold with the largest share of right
// decisions, the lowest among equals, and what it does. Choose it on
// held-out examples and judge it with DetectionAt on others. An empty side and
// a NaN are errors. It takes O(n log n).
func BestDetection(inScope, outScope []float64) (Detection, error) {
	in, out, err := sortedSides(inScope, outScope)
	if err != nil {
		return Detection{}, err
	}
	// Between two numbers all thresholds do the same: each number, and one
	// above all, is all that there is to try.
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(in, out))))
	all = append(all, math.Nextafter(all[len(all)-1], math.Inf(1)))
	best := newDetection(all[0], in, out)
	for _, threshold := range all[1:] {
		if d := newDetection(threshold, in, out); d.Right > best.Right {
			best = d
		}
	}
	return best, nil
}

// newDetection returns what a threshold does with two sides that ascend.
func newDetection(threshold float64, in, out []float64) Detection {
	missed, _ := slices.BinarySearch(in, threshold)
	rejected, _ := slices.BinarySearch(out, threshold)
	answered := len(in) - missed
	return Detection{
		Threshold: threshold, InScope: len(in), OutOfScope: len(out),
		Right:    float64(answered+rejected) / float64(len(in)+len(out)),
		Answered: float64(answered) / float64(len(in)),
		Rejected: float64(rejected) / float64(len(out)),
	}
}
