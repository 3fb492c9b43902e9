package score

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// Unknown is the truth of an example whose label was never trained. It counts
// as wrong in every rate, has similarity 0 to whatever is predicted, and is
// left out of the log loss.
const Unknown = -1

// top is the number of guesses that top-5 accuracy allows.
const top = 5

// Options sets up a Counter. The zero value reports everything but the
// similarity accuracy and what takes a tree.
type Options struct {
	Similarity *Similarity     // of the k classes; nil leaves similarity accuracy out
	Tree       *labeltree.Tree // over the k classes; nil leaves mistake severity and its like out
	KeepRows   bool            // remember for each example whether it was right: one byte each
}

// Counter gathers what a Report needs, one example at a time. It is not safe
// for concurrent use: give each goroutine its own and Merge them.
type Counter struct {
	k       int
	options Options

	examples int
	unknown  int
	correct  int
	inTop    int

	support   []int                // examples of each class
	predicted []int                // predictions of each class
	hits      []int                // examples of each class that were right
	wrong     map[confusionKey]int // mistakes on known labels

	loss    ExactSum // -log p of the truth over known labels, in nats
	clipped int      // known labels whose probability was below minProbability
	bins    [calibrationBins]bin

	mistakes *mistakes // nil without a tree

	rows []bool
}

// confusionKey is a mistake: the true class and the one predicted.
type confusionKey struct{ truth, predicted int32 }

// NewCounter returns a Counter for k classes. A k below 1 or beyond 2^31 - 1,
// or a Similarity or Tree of another number of classes, is an error.
func NewCounter(k int, options Options) (*Counter, error) {
	if k < 1 || k > math.MaxInt32 {
		return nil, fmt.Errorf("score: %d classes, want 1 to %d", k, math.MaxInt32)
	}
	if s := options.Similarity; s != nil && s.Classes() != k {
		return nil, fmt.Errorf("score: the similarity is one of %d classes, want %d", s.Classes(), k)
	}
	c := &Counter{
		k: k, options: options,
		support: make([]int, k), predicted: make([]int, k), hits: make([]int, k),
		wrong: map[confusionKey]int{},
	}
	if t := options.Tree; t != nil {
		if t.Classes() != k {
			return nil, fmt.Errorf("score: the tree is one of %d classes, want %d", t.Classes(), k)
		}
		c.mistakes = newMistakes(t)
	}
	return c, nil
}

// Add counts one example: its true class, or Unknown, and the probability of
// each of the k classes: see Count.
func (c *Counter) Add(truth int, probabilities []float32) error {
	return Count(c, truth, Mix{}, probabilities, nil)
}

// Count counts one example: its true class, or Unknown; the mix, where several
// classes share the truth; the probability of each of the k classes; and costs, nil
// for none.
//
// The prediction is the class with the highest probability, the lowest index among
// equals; the same order decides what the top 5 and 20 are. With costs, such as
// those of a decide.Answer, it is the class of lowest cost, among equals the one
// that it would be without, and classes are ranked in that order; log loss and
// confidence stay those of the probabilities. With a mix that has classes, its
// Truth is the true class in every rate and distance, and the log loss the cross
// entropy against the shares. It takes O(k) time, and with a Tree that of 20 LCAs.
//
// A truth outside -1..k-1, another number of probabilities, one that is no number
// from 0 to 1, a sum that is off 1 by more than 0.001 (as of scores that never went
// through a softmax), another number of costs, a cost that is NaN and shares that
// are no distribution over the k classes are errors; the Counter is then unchanged.
func Count[T matrix.Float](c *Counter, truth int, mix Mix, probabilities []T, costs []float64) error {
	err := CheckProbabilities(probabilities, c.k)
	switch {
	case err != nil:
	case len(mix.Class)+len(mix.Share) > 0:
		if err = checkMix(mix, c.k); err == nil {
			truth = mix.Truth()
		}
	case truth < Unknown || truth >= c.k:
		err = fmt.Errorf("true class %d, want 0 to %d or %d for a label never trained", truth, c.k-1, Unknown)
	}
	if err == nil && costs != nil {
		err = checkCosts(costs, c.k)
	}
	if err != nil {
		return fmt.Errorf("score: example %d: %w", c.examples, err)
	}
	r := ranking[T]{p: probabilities, cost: costs}
	p, predicted := r.p, r.best()
	right := predicted == truth
	c.examples++
	c.predicted[predicted]++
	c.bins[binOf(float64(p[predicted]))].add(float64(p[predicted]), right)
	if c.options.KeepRows {
		c.rows = append(c.rows, right)
	}
	if truth == Unknown {
		c.unknown++
		return nil
	}
	c.support[truth]++
	if right {
		c.correct++
		c.hits[truth]++
	} else {
		c.wrong[confusionKey{int32(truth), int32(predicted)}]++
	}
	if r.place(truth) < top {
		c.inTop++
	}
	if c.mistakes != nil {
		var first [most]int
		c.mistakes.add(truth, First(first[:0], p, costs))
	}
	if len(mix.Class) > 0 {
		addMixedLoss(c, mix, p)
	} else {
		c.addLoss(float64(p[truth]))
	}
	return nil
}

// checkCosts allows infinite costs: a class that must not be answered.
func checkCosts(costs []float64, k int) error {
	if len(costs) != k {
		return fmt.Errorf("%d costs, want one for each of the %d classes", len(costs), k)
	}
	for j, v := range costs {
		if math.IsNaN(v) {
			return fmt.Errorf("the cost of class %d is NaN, want a number", j)
		}
	}
	return nil
}

// Correct returns, for each example in the order it was added, whether it was
// predicted right; nil without Options.KeepRows. It aliases the Counter.
func (c *Counter) Correct() []bool { return c.rows }

// Merge adds all of other's examples behind those of c, as if they had been
// added to c one by one. Other numbers of classes and other Options are errors.
func (c *Counter) Merge(other *Counter) error {
	if c.k != other.k || c.options != other.options {
		return fmt.Errorf("score: merge a counter of %d classes and options %+v into one of %d and %+v, want the same",
			other.k, other.options, c.k, c.options)
	}
	c.examples += other.examples
	c.unknown += other.unknown
	c.correct += other.correct
	c.inTop += other.inTop
	for j := range c.k {
		c.support[j] += other.support[j]
		c.predicted[j] += other.predicted[j]
		c.hits[j] += other.hits[j]
	}
	for key, count := range other.wrong {
		c.wrong[key] += count
	}
	c.loss.Merge(other.loss)
	c.clipped += other.clipped
	for b := range c.bins {
		c.bins[b].merge(other.bins[b])
	}
	if c.mistakes != nil {
		c.mistakes.merge(other.mistakes)
	}
	c.rows = append(c.rows, other.rows...)
	return nil
}
