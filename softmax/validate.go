package softmax

import (
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// validation is how well a layer does on held-out examples.
type validation struct {
	Right float64 `json:"accuracy"`
	Loss  float64 `json:"log_loss"`
}

// better orders by accuracy, then by loss.
func (v validation) better(than validation) bool {
	if v.Right != than.Right {
		return v.Right > than.Right
	}
	return v.Loss < than.Loss
}

// Outcome is how a layer did on one example.
type Outcome struct {
	Right bool    // the class of the largest probability, the first of equals, is the example's
	Loss  float64 // cross entropy in nats, of the shares if the example has several classes; a probability below 1e-15 counts as that
}

// Outcomes tests the layer on each of the examples, in their order, whatever the
// number of threads; Weight is not looked at. Inputs of another width and targets
// that are none of the layer's classes are errors.
func (l *Layer) Outcomes(ex Examples, threads int) ([]Outcome, error) {
	if err := ex.checkTargets(l.Classes); err != nil {
		return nil, err
	}
	out := make([]Outcome, ex.X.Rows())
	err := l.PredictAll(ex.X, threads, func(i int, p []float32) {
		out[i] = Outcome{Right: Top(p) == int(ex.Class[i]), Loss: ex.target(i).logLoss(p)}
	})
	return out, err
}

// Accuracy returns the share 0..1 of the examples that Outcomes calls right, in less
// time: a flat layer over dense rows compares scores.
func (l *Layer) Accuracy(ex Examples, threads int) (float64, error) {
	right := make([]Outcome, ex.X.Rows())
	err := ex.checkTargets(l.Classes)
	if x, dense := ex.X.(*matrix.Dense); err == nil && dense && l.Hierarchy == nil && l.packed == nil && x.Columns == l.Features {
		l.predictDense(x, threads, true, func(i int, scores []float32) { right[i].Right = Top(scores) == int(ex.Class[i]) })
	} else if err == nil {
		right, err = l.Outcomes(ex, threads)
	}
	sum := 0.0
	for _, o := range right {
		if o.Right {
			sum++
		}
	}
	return sum / float64(len(right)), err
}

// validate returns the weighted means of the outcomes.
func validate(l *Layer, ex *Examples, threads int) (v validation, err error) {
	outcomes, err := l.Outcomes(*ex, threads)
	var total float64
	for i, o := range outcomes {
		w := ex.weightOf(i)
		if o.Right {
			v.Right += w
		}
		v.Loss += w * o.Loss
		total += w
	}
	v.Right /= total
	v.Loss /= total
	return v, err
}

// logLoss returns the cross entropy of the target and the probabilities, in nats.
func (t target) logLoss(p []float32) (sum float64) {
	if len(t.mix.Class) == 0 {
		return -math.Log(max(float64(p[t.class]), 1e-15))
	}
	for n, c := range t.mix.Class {
		sum -= float64(t.mix.Share[n]) * math.Log(max(float64(p[c]), 1e-15))
	}
	return sum
}

// Top returns the place of the largest number, the first of equals.
func Top[T matrix.Float](p []T) int {
	best, top := 0, p[0]
	for c, x := range p {
		if x > top {
			best, top = c, x
		}
	}
	return best
}
