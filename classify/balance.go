package classify

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/input"
)

// OtherClasses is the label of the weight that all classes have which have none of their own.
const OtherClasses = "*"

// ErrBalance says that a model cannot answer by other class frequencies than those of its
// training.
var ErrBalance = errors.New("class frequencies cannot be given")

// A Balancer is a Classifier that can answer by other class frequencies.
type Balancer interface {
	Classifier
	// Totals returns what the training examples of each of the k classes weigh together;
	// nil: not known.
	Totals() []float32
	// Balanced returns the classifier with the probabilities of b, whatever b was before.
	Balanced(b decide.Balance) Classifier
}

// Rebalance returns a classifier that shares all else with c and answers as if the classes had
// been as frequent in training as the weights say, in any unit: see decide.Balance. Each class
// needs one, or OtherClasses. Probabilities are changed behind the calibration and before any
// rule looks at them. A model of several labels, a network and a model without the
// frequencies of its training are errors that wrap ErrBalance; so are classes without a
// weight, labels that are no class, and weights that are not finite and above 0. O(k).
func Rebalance(c Classifier, weights map[string]float64) (Classifier, error) {
	about := c.About()
	b, ok := c.(Balancer)
	switch {
	case about.Multilabel != nil:
		return nil, fmt.Errorf("%w to a model of several labels an example", ErrBalance)
	case !ok:
		return nil, fmt.Errorf("%w to %s", ErrBalance, about.Kind)
	case b.Totals() == nil:
		return nil, fmt.Errorf("%w to a model of an older version, which has none of its training; train it again", ErrBalance)
	}
	used, err := weightsOf(about.Labels, weights)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBalance, err)
	}
	for class, total := range b.Totals() {
		if total == 0 {
			return nil, fmt.Errorf("%w: no example of the class %q counted in training", ErrBalance, about.Labels[class])
		}
	}
	balance, err := decide.NewBalance(used, b.Totals())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBalance, err)
	}
	return b.Balanced(balance), nil
}

// weightsOf returns the weight of each label.
func weightsOf(labels []string, weights map[string]float64) ([]float64, error) {
	rest := maps.Clone(weights)
	other, others := weights[OtherClasses]
	delete(rest, OtherClasses)
	out := make([]float64, len(labels))
	var missing []string
	for c, label := range labels {
		w, own := weights[label]
		delete(rest, label)
		if out[c] = w; !own {
			out[c] = other
		}
		if !own && !others {
			missing = append(missing, strconv.Quote(label))
		} else if !(out[c] > 0) || math.IsInf(out[c], 1) {
			return nil, fmt.Errorf("the weight of %q is %g, want a number above 0: a small one where the class is hardly ever met", label, out[c])
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no weight for %s; give each class one, or %s one for all others", input.Some(missing, 3, len(missing)), OtherClasses)
	}
	if unknown := slices.Sorted(maps.Keys(rest)); len(unknown) > 0 {
		return nil, fmt.Errorf("the model has no class %q; correct or remove it", unknown[0])
	}
	return out, nil
}
