package score

import (
	"math"
	"math/bits"

	"github.com/treeloss/treeloss/matrix"
)

// minProbability is what log loss takes for a smaller probability: the
// smallest positive float32, 2^-149. A probability that underflowed to 0 then
// costs 103.28 nats and not infinity. Report.Clipped counts these.
const minProbability = math.SmallestNonzeroFloat32

// addLoss counts the probability of the truth of one example.
func (c *Counter) addLoss(p float64) {
	if p < minProbability {
		p = minProbability
		c.clipped++
	}
	c.loss.Add(max(-math.Log(p), 0))
}

// addMixedLoss counts the cross entropy of a mix and the probabilities.
func addMixedLoss[T matrix.Float](c *Counter, mix Mix, p []T) {
	sum, clipped := 0.0, false
	for n, class := range mix.Class {
		q := float64(p[class])
		if q < minProbability {
			q, clipped = minProbability, true
		}
		sum -= float64(mix.Share[n]) * math.Log(q)
	}
	if clipped {
		c.clipped++
	}
	c.loss.Add(max(sum, 0))
}

// calibrationBins is the number of bins of the calibration error.
const calibrationBins = 15

// bin holds the examples whose prediction had a probability in one range.
type bin struct {
	examples, correct int
	confidence        ExactSum // the sum of these probabilities
}

// binOf returns the bin of a confidence: b for b/15 <= confidence < (b+1)/15,
// and the last for 1.
func binOf(confidence float64) int {
	return min(int(confidence*calibrationBins), calibrationBins-1)
}

// add counts an example whose prediction had that probability.
func (b *bin) add(confidence float64, right bool) {
	b.examples++
	if right {
		b.correct++
	}
	b.confidence.Add(confidence)
}

// merge adds the examples of another bin of the same range.
func (b *bin) merge(other bin) {
	b.examples += other.examples
	b.correct += other.correct
	b.confidence.Merge(other.confidence)
}

// Bin is one bar of a reliability diagram: the examples whose prediction had a
// probability from Low to High, and what became of them.
type Bin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Examples   int     `json:"examples"`
	Confidence float64 `json:"confidence"` // mean probability of the predictions
	Accuracy   float64 `json:"accuracy"`   // how many of them were right
}

// Calibration returns 15 bins of equal width, from 0 to 1. An empty bin has
// confidence and accuracy 0.
func (c *Counter) Calibration() []Bin {
	list := make([]Bin, calibrationBins)
	for i := range c.bins {
		b := &c.bins[i]
		list[i] = Bin{
			Low: float64(i) / calibrationBins, High: float64(i+1) / calibrationBins, Examples: b.examples,
			Confidence: ratio(b.confidence.Value(), float64(b.examples)),
			Accuracy:   ratio(float64(b.correct), float64(b.examples)),
		}
	}
	return list
}

// calibrationError returns the mean over examples of the distance between
// confidence and accuracy of their bin, 0 without examples.
func (c *Counter) calibrationError() float64 {
	sum := 0.0
	for _, b := range c.Calibration() {
		sum += float64(b.Examples) * math.Abs(b.Accuracy-b.Confidence)
	}
	return ratio(sum, float64(c.examples))
}

// ratio returns a/b, and 0 for b = 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// ExactSum adds numbers from 0 to 2^20 in fixed point: 128 bits, 40 of them
// behind the point. Each is rounded once, by at most 2^-41, and the sum not at
// all, so the order of the additions cannot matter.
type ExactSum struct{ high, low uint64 }

// exactUnit is 1 in fixed point.
const exactUnit = 1 << 40

// Add adds x, at least 0, as a whole number of units.
func (s *ExactSum) Add(x float64) {
	s.Merge(ExactSum{low: uint64(math.Round(x * exactUnit))})
}

// Merge adds another sum.
func (s *ExactSum) Merge(other ExactSum) {
	low, carry := bits.Add64(s.low, other.low, 0)
	s.low = low
	s.high += other.high + carry
}

// Value returns the sum, rounded to a float64.
func (s *ExactSum) Value() float64 {
	return (math.Ldexp(float64(s.high), 64) + float64(s.low)) / exactUnit
}
