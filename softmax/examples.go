package softmax

import (
	"cmp"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
)

// Examples are n rows of features with their classes.
type Examples struct {
	X      matrix.Matrix // n x d
	Class  []int32       // n numbers in 0..k-1; with a Mix the class of the largest share
	Weight []float32     // n weights of at least 0, a weight of 2 is a row given twice; nil: all 1

	// Mix (n x k) has the targets that are distributions over classes: shares
	// above 0 that sum to 1 in the row of such an example, nothing in that of an
	// example which is of its Class alone. Training on it is training on one copy
	// of the example for each class, with the share as weight. nil: none.
	Mix *matrix.Sparse

	// Labels (n x k) has the classes of examples that may be of any number of them, none
	// included, each with the value 1; Class and Mix are then nil. SquaredHinge alone
	// trains on them: it makes a decision for each class by itself. nil: none.
	Labels *matrix.Sparse
}

// checkLabels returns an error unless Labels has sets of k classes, one an example.
func (ex Examples) checkLabels(k int) error {
	n := ex.X.Rows()
	switch {
	case ex.Class != nil || ex.Mix != nil:
		return fmt.Errorf("softmax: examples of several labels that have one class, too")
	case ex.Labels.Rows() != n || ex.Labels.Cols() != k:
		return fmt.Errorf("softmax: labels of %d examples and %d classes, want %d and %d", ex.Labels.Rows(), ex.Labels.Cols(), n, k)
	}
	if err := ex.Labels.Check(); err != nil {
		return fmt.Errorf("softmax: labels: %w", err)
	}
	for n, v := range ex.Labels.Value {
		if v != 1 {
			return fmt.Errorf("softmax: label %d has the value %v, want 1", n, v)
		}
	}
	return nil
}

// target is what one example is: a class, or a mix of several.
type target struct {
	class int
	mix   loss.Mix // no classes: of class alone
}

// target returns that of example i.
func (ex Examples) target(i int) target {
	t := target{class: int(ex.Class[i])}
	if ex.Mix != nil {
		t.mix.Class, t.mix.Share = ex.Mix.Row(i)
	}
	return t
}

// checkMix returns an error if a row is no distribution over the k classes.
func (ex Examples) checkMix(k int) error {
	if ex.Mix == nil {
		return nil
	}
	if ex.Mix.Rows() != len(ex.Class) || ex.Mix.Cols() != k {
		return fmt.Errorf("softmax: a mix of %d rows and %d classes for %d examples of %d", ex.Mix.Rows(), ex.Mix.Cols(), len(ex.Class), k)
	}
	if err := ex.Mix.Check(); err != nil {
		return fmt.Errorf("softmax: mix: %w", err)
	}
	for i := range ex.Class {
		_, share := ex.Mix.Row(i)
		var sum float64
		for _, s := range share {
			if s < 0 {
				return fmt.Errorf("softmax: example %d: a share of %v, want at least 0", i, s)
			}
			sum += float64(s)
		}
		if len(share) > 0 && math.Abs(sum-1) > 1e-4 {
			return fmt.Errorf("softmax: example %d: shares that sum to %v, want 1", i, sum)
		}
	}
	return nil
}

// checkTargets returns an error unless each example has a target among k classes.
func (ex Examples) checkTargets(k int) error {
	if ex.Labels != nil {
		return fmt.Errorf("softmax: examples of several labels where those of one are wanted: %w", ErrOptions)
	}
	if len(ex.Class) != ex.X.Rows() {
		return fmt.Errorf("softmax: %d classes for %d examples", len(ex.Class), ex.X.Rows())
	}
	for i, y := range ex.Class {
		if y < 0 || int(y) >= k {
			return fmt.Errorf("softmax: example %d: class %d, want 0 to %d", i, y, k-1)
		}
	}
	return ex.checkMix(k)
}

// maxSize is the largest length of inputs for which float32 has room on both
// sides, for weights and for gradients.
const maxSize = 1e12

// check returns an error if the parts of the examples do not fit together.
func (ex Examples) check(k int) error {
	if ex.X == nil {
		return fmt.Errorf("softmax: no examples")
	}
	n := ex.X.Rows()
	switch {
	case n == 0 || ex.X.Cols() == 0:
		return fmt.Errorf("softmax: %d examples of %d features, want at least one of each", n, ex.X.Cols())
	case k < 1:
		return fmt.Errorf("softmax: %d classes, want at least 1", k)
	}
	if err := ex.checkParts(k, true); err != nil {
		return err
	}
	if ex.totalWeight() == 0 {
		return fmt.Errorf("softmax: all %d examples have weight 0, want one above", n)
	}
	if size := math.Sqrt(ex.meanSquaredNorm()); size > maxSize || size < 1/maxSize {
		return fmt.Errorf("softmax: the examples have a root mean squared length of %.3g, want %g to %g: scale the features", size, 1/maxSize, maxSize)
	}
	return nil
}

// checkParts returns an error unless inputs, targets and weights are sound and belong
// together. Examples may be of several labels if a trainer for those is at work.
func (ex Examples) checkParts(k int, several bool) error {
	if err := ex.X.Check(); err != nil {
		return fmt.Errorf("softmax: examples: %w", err)
	}
	targets := ex.checkTargets
	if several && ex.Labels != nil {
		targets = ex.checkLabels
	}
	return cmp.Or(targets(k), ex.checkWeights())
}

// checkWeights returns an error unless each example has a weight of at least 0.
func (ex Examples) checkWeights() error {
	if n := ex.X.Rows(); ex.Weight != nil && len(ex.Weight) != n {
		return fmt.Errorf("softmax: %d weights for %d examples", len(ex.Weight), n)
	}
	for i, w := range ex.Weight {
		if !(w >= 0) || math.IsInf(float64(w), 1) {
			return fmt.Errorf("softmax: example %d: weight %v, want a finite number of at least 0", i, w)
		}
	}
	return nil
}

// weightOf returns the weight of example i.
func (ex Examples) weightOf(i int) float64 {
	if ex.Weight == nil {
		return 1
	}
	return float64(ex.Weight[i])
}

// totalWeight is the sum of the weights, n if there are none.
func (ex Examples) totalWeight() float64 {
	if ex.Weight == nil {
		return float64(ex.X.Rows())
	}
	var sum float64
	for _, w := range ex.Weight {
		sum += float64(w)
	}
	return sum
}

// meanSquaredNorm is the weighted mean of ‖x‖², 1 if all inputs are 0.
func (ex Examples) meanSquaredNorm() float64 {
	var sum float64
	for i := range ex.X.Rows() {
		sum += ex.weightOf(i) * ex.X.SquaredNorm(i)
	}
	if sum == 0 {
		return 1
	}
	return sum / ex.totalWeight()
}
