package softmax

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// solve runs from t.x until a Newton step, solved to lastAccuracy, promises to
// lower the objective by no more than lastGain times tolerance times itself;
// that step is still taken, and what is then left is about within tolerance. An
// objective next to 0, as of examples of one class, counts as 1e-7 nats an
// example. It calls progress after each step. On a cancelled context t.x is the
// best point so far.
func (t *newton[T]) solve(ctx context.Context, lambda, tolerance float64, maxSteps int, progress func(Progress)) (Record, error) {
	t.lambda = T(lambda)
	t.score(t.x, func(e example[T]) []T { return e.scores })
	t.differentiate()
	record := Record{Objective: t.objective}
	if !finite(t.objective) {
		return record, fmt.Errorf("softmax: the objective is %v before the first step; check the features for huge numbers", t.objective)
	}
	first, done := 0.0, 0.0
	for n := 1; n <= maxSteps; n++ {
		goal := lastGain * tolerance * max(t.objective, rounding[T]()*t.total)
		predicted, products := t.newtonStep(ctx, goal)
		record.Products += products
		if !finite(predicted) {
			return record, fmt.Errorf("softmax: Newton step %d is not finite; check the features for huge numbers", n)
		}
		cancelled := ctx.Err()
		if cancelled != nil && products == 0 {
			return record, stopped(n-1, cancelled)
		}
		lower := t.search()
		record.Steps, record.Objective = n, t.objective
		if cancelled != nil {
			return record, stopped(n, cancelled)
		}
		// Without anything lower to be found, rounding ends the work.
		record.Converged = predicted <= goal || !lower && predicted <= rounding[T]()*t.objective
		if n == 1 {
			first = predicted
		}
		switch {
		case record.Converged || !lower:
			done = 1
		case predicted < first: // predictions fall about geometrically
			done = max(done, math.Log(first/predicted)/math.Log(first/goal))
		}
		if progress != nil {
			progress(Progress{Step: n, Loss: t.objective / t.total, Fraction: done})
		}
		if done == 1 {
			break
		}
	}
	return record, nil
}

// stopped is the error of a cancelled solve; steps are those that are whole.
func stopped(steps int, err error) error {
	return fmt.Errorf("softmax: stopped after %d Newton steps: %w", steps, err)
}

// finite tells whether x is neither NaN nor infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// rounding is the relative change of an objective that may be mere rounding.
func rounding[T matrix.Float]() float64 {
	var zero T
	if unsafe.Sizeof(zero) == 4 {
		return 1e-7
	}
	return 1e-15
}

// Limits of the conjugate gradients and of the line search.
const (
	maxProducts = 300 // a Newton step

	// enough ends the conjugate gradients when a round gains less than this
	// share of the mean gain of the rounds so far (Nash and Sofer 1990): far from
	// the optimum a better minimiser of the model is worth little.
	enough = 0.5
	// lastAccuracy is the residual, as a share of the gradient, to which a step
	// that may be the last is solved: its promise has to be right.
	lastAccuracy = 0.1
	// lastGain is what the last step may promise, in tolerances. It was chosen on
	// the problems of TestConvergeFindsTheOptimum: there 3 leaves at most 0.8 of
	// the tolerance, 10 up to 2. It is no bound for other problems.
	lastGain = 3

	maxTrials = 12  // of lengths of one step
	flatness  = 0.1 // share of the slope at the start that may be left at the end
)

// newtonStep sets t.step to an approximate minimiser of the quadratic model
// and returns by how much the model says that it lowers the objective. If that
// is at most goal, the minimiser is close to the true one.
func (t *newton[T]) newtonStep(ctx context.Context, goal float64) (predicted float64, products int) {
	t.inParts(func(lo, hi int) {
		clear(t.step[lo:hi])
		for j := lo; j < hi; j++ {
			t.residual[j] = -t.grad[j]
		}
	})
	t.precondition(t.direction, t.residual)
	rr := t.dot(t.residual, t.direction)
	last := lastAccuracy * lastAccuracy * rr
	for products < maxProducts && rr > 0 && ctx.Err() == nil {
		t.multiply(t.product, t.direction)
		products++
		curvature := t.dot(t.direction, t.product)
		if curvature <= 0 { // rounding: the second derivative has none
			break
		}
		alpha := rr / curvature
		gain := alpha * rr / 2
		predicted += gain
		t.inParts(func(lo, hi int) {
			kernel.Axpy(T(alpha), t.direction[lo:hi], t.step[lo:hi])
			kernel.Axpy(T(-alpha), t.product[lo:hi], t.residual[lo:hi])
		})
		t.precondition(t.product, t.residual) // the product is not needed any more
		next := t.dot(t.residual, t.product)
		if predicted <= goal && next <= last || predicted > goal && float64(products)*gain <= enough*predicted {
			break
		}
		beta := T(next / rr)
		rr = next
		t.inParts(func(lo, hi int) {
			kernel.Scale(beta, t.direction[lo:hi])
			kernel.Add(t.product[lo:hi], t.direction[lo:hi])
		})
	}
	return predicted, products
}

// search moves x along the step to about the least objective there and tells
// whether it found one that is lower.
func (t *newton[T]) search() bool {
	t.score(t.step, func(e example[T]) []T { return e.along })
	v, _ := t.split(t.x)
	s, _ := t.split(t.step)
	lambda, vv, vs, ss := float64(t.lambda), t.dot(v, v), t.dot(v, s), t.dot(s, s)
	at := func(alpha float64) (value, slope float64) {
		value, slope = t.pass(0, func(h *head[T], e example[T]) (value, slope float64) {
			value, slope = h.along(e.scores, e.along, T(alpha), e.class)
			return float64(e.weight) * value, float64(e.weight) * slope
		})
		return value + lambda*(vv/2+alpha*vs+alpha*alpha*ss/2), slope + lambda*(vs+alpha*ss)
	}
	value0, slope0 := t.objective, t.dot(t.grad, t.step)
	noise := rounding[T]() * value0
	lo, hi, slopeLo, slopeHi := 0.0, math.Inf(1), slope0, 0.0
	alpha, best, least := 1.0, 0.0, value0
	for range maxTrials {
		value, slope := at(alpha)
		// Near the optimum the slope still tells what the value's rounding hides.
		if flat := math.Abs(slope) <= flatness*math.Abs(slope0); flat && value <= value0+noise {
			best = alpha
			break
		}
		if value < least {
			best, least = alpha, value
		}
		if slope < 0 && value < value0 {
			lo, slopeLo = alpha, slope
		} else {
			hi, slopeHi = alpha, slope
		}
		if alpha = 2 * lo; !math.IsInf(hi, 1) {
			// Where the line through both slopes is 0, off the ends.
			alpha = lo + (hi-lo)*clamp(slopeLo/(slopeLo-slopeHi), 0.1, 0.9)
		}
	}
	if best == 0 {
		return false
	}
	t.inParts(func(lo, hi int) { kernel.Axpy(T(best), t.step[lo:hi], t.x[lo:hi]) })
	kernel.Parallel(t.threads, len(t.scores), part, func(_, lo, hi int) {
		kernel.Axpy(T(best), t.along[lo:hi], t.scores[lo:hi])
	})
	t.differentiate()
	return true
}

// clamp returns x within lo..hi, the middle for NaN.
func clamp(x, lo, hi float64) float64 {
	if math.IsNaN(x) {
		return (lo + hi) / 2
	}
	return min(max(x, lo), hi)
}

// part is the length of vector that is worked on at a time, within the cache.
const part = 1 << 12

// inParts calls work for parts of all vectors, in parallel.
func (t *newton[T]) inParts(work func(lo, hi int)) {
	kernel.Parallel(t.threads, len(t.x), part, func(_, lo, hi int) { work(lo, hi) })
}
