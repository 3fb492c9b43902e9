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

func validate(l *Layer, ex *Examples, threads int) (validation, error) {
	right, wrong := make([]bool, ex.X.Rows()), make([]float64, ex.X.Rows())
	err := l.PredictAll(ex.X, threads, func(i int, p []float32) {
		y := int(ex.Class[i])
		right[i] = Top(p) == y
		wrong[i] = ex.target(i).logLoss(p)
	})
	var v validation
	var total float64
	for i := range right {
		w := 1.0
		if ex.Weight != nil {
			w = float64(ex.Weight[i])
		}
		if right[i] {
			v.Right += w
		}
		v.Loss += w * wrong[i]
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
	best := 0
	for c, x := range p {
		if x > p[best] {
			best = c
		}
	}
	return best
}
