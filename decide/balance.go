package decide

import (
	"fmt"
	"math"
)

// Balance brings probabilities to other class frequencies than those of the training: for each
// of k classes, its frequency where the model is used, divided by that in training. nil
// leaves them as they are.
type Balance []float64

// NewBalance makes a Balance of the k weights that the classes have where the model is used
// and of those that they had in training, each in a unit of its own: counts or shares.
// Numbers that are not finite and above 0, and different lengths, are errors.
func NewBalance(used []float64, trained []float32) (Balance, error) {
	if len(used) != len(trained) {
		return nil, fmt.Errorf("decide: weights of %d classes, the training has %d", len(used), len(trained))
	}
	b := make(Balance, len(used))
	var usedSum, trainedSum float64
	for c, w := range used {
		usedSum, trainedSum = usedSum+w, trainedSum+float64(trained[c])
	}
	for c, w := range used {
		if b[c] = (w / usedSum) / (float64(trained[c]) / trainedSum); !(b[c] > 0) || math.IsInf(b[c], 1) {
			return nil, fmt.Errorf("decide: class %d has weight %v, and %v in training; want finite numbers above 0", c, w, trained[c])
		}
	}
	return b, nil
}

// Apply changes k probabilities in place to
//
//	p'_c = b_c p_c / Σ_j b_j p_j,
//
// which is Bayes' rule where only the frequencies of the classes are others, not what the
// examples of a class are like: equation 4 of Saerens, Latinne and Decaestecker, "Adjusting
// the outputs of a classifier to new a priori probabilities", Neural Computation 14 (2002),
// with known frequencies. O(k).
func (b Balance) Apply(p []float32) {
	b.apply(p, func(place int) float64 { return b[place] })
}

// ApplyTo is Apply for the probabilities of some classes, which sum to what they did.
func (b Balance) ApplyTo(p []float32, classes []int32) {
	b.apply(p, func(place int) float64 { return b[classes[place]] })
}

func (b Balance) apply(p []float32, factor func(place int) float64) {
	if b == nil {
		return
	}
	var before, after float64
	for n, v := range p {
		before, after = before+float64(v), after+factor(n)*float64(v)
	}
	for n, v := range p {
		p[n] = float32(factor(n) * float64(v) * before / after)
	}
}
