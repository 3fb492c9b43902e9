package softmax

import (
	"context"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// pass visits each example once. It returns the sum of what each example had
// to do with the gap when it was met, and of the losses then plus the penalty.
func (t *dual[T]) pass(ctx context.Context, lambda float64) (gap, objective float64, err error) {
	lambdaBias := biasPenalty * lambda / t.length
	clear(t.curvature)
	order := t.visits.Perm(len(t.batches))
	next := &t.batches[order[0]]
	t.crew.Run(func(part int) { t.meet(next, part) })
	for n := range order {
		b := next
		if n+1 < len(order) {
			next = &t.batches[order[n+1]]
		} else {
			next = nil
		}
		for m := range b.rows {
			g, o := t.ascend(b, m, lambda, lambdaBias)
			gap += g
			objective += o
		}
		if err = ctx.Err(); err != nil {
			next = nil
		}
		t.crew.Run(func(part int) {
			t.spread(b, part, lambda)
			if next != nil {
				t.meet(next, part)
			}
		})
		if err != nil {
			return 0, 0, err
		}
	}
	gap += t.biasGap(lambda)
	for c, s := range t.surplus {
		t.bias[c] += s * max(T(1/lambdaBias), t.freedom(c))
	}
	return gap, objective + t.penalty(lambda), nil
}

// meet sets, for the classes of a part, the scores without bias and the
// probabilities of the examples of a batch, as they are before it.
func (t *dual[T]) meet(b *dualBatch, part int) {
	lo, hi := t.classes(part)
	for m, i := range b.rows {
		s, p := t.scores[m*t.stride+lo:m*t.stride+hi], t.p[m*t.stride+lo:m*t.stride+hi]
		clear(s)
		index, value := t.x.Row(i)
		kernel.CombineRows(index, value, t.v[lo:], t.stride, s)
		kernel.Scale(t.scale, s)
		kernel.Exp(p, t.logP[i*t.stride+lo:i*t.stride+hi])
	}
}

// spread adds to V, for the classes of a part, what the examples of a batch have moved.
func (t *dual[T]) spread(b *dualBatch, part int, lambda float64) {
	lo, hi := t.classes(part)
	factor := T(float64(t.scale) / lambda)
	for m, i := range b.rows {
		moved := t.moved[m*t.stride+lo : m*t.stride+hi]
		kernel.Scale(factor, moved)
		index, value := t.x.Row(i)
		kernel.AddToRows(index, value, t.v[lo:], t.stride, moved)
	}
}

// ascend maximises the dual in example m of a batch, and sets moved to the change
// of w (t_m - p_m).
func (t *dual[T]) ascend(b *dualBatch, m int, lambda, lambdaBias float64) (gap, objective float64) {
	n, k, at, i := len(b.rows), t.k, m*t.stride, b.rows[m]
	s, p, moved := t.scores[at:at+k], t.p[at:at+k], t.moved[at:at+k]
	logP := t.logP[i*t.stride : i*t.stride+k]
	w := t.weightOf(i)
	if w == 0 {
		clear(moved)
		return 0, 0
	}
	earlier := t.earlier[:0]
	for _, product := range b.inner[m*n : m*n+m] {
		earlier = append(earlier, product/float32(lambda))
	}
	kernel.CombineAllRows(earlier, t.moved, t.stride, s)
	kernel.Add(t.bias, s)

	targetScore := t.targetScore(i, s, moved)
	logSum := kernel.Softmax(moved, s)
	gap = w * (logSum + float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s)))
	objective = w * (logSum - targetScore)

	q := T(w * (float64(b.inner[m*n+m])/lambda + 1/lambdaBias))
	kernel.Axpy(q, p, s)
	settle(t.settled, logP, s, q, logSum)
	kernel.MoveMass(moved, p, t.settled, T(w), T(1/lambdaBias), t.surplus, t.bias, t.curvature)
	return gap, objective
}

// settle sets p to about the distribution with log p + q p = c - const, which
// maximises the dual in one example, and logP to its logarithm. logSum is that of
// the exponentials of c less q times the distribution so far.
//
// With ν for the constant q p is Wright's ω(log q + c - ν). An outer Newton
// iteration finds the ν for which p sums to 1. What errors are left make the step
// a little shorter or longer than the best; p and logP still agree.
func settle[T matrix.Float](p, logP, c []T, q T, logSum float64) {
	logQ := math.Log(float64(q))
	// Any distribution between 0 and 1 would move ν by no more.
	nu, low, high := logSum, logSum-float64(q), logSum+float64(q)
	for range 30 {
		sum, slope := kernel.WrightOmega(p, c, T(nu-logQ))
		step := (math.Log(float64(sum)) - logQ) * float64(sum/slope) // sum is about exponential in ν
		if math.Abs(step) < settled {
			break
		}
		if step > 0 {
			low = nu
		} else {
			high = nu
		}
		if nu += step; !(nu > low && nu < high) {
			nu = (low + high) / 2
		}
	}
	copy(logP, c)
	kernel.Axpy(-1, p, logP)
	kernel.SubtractAbove(T(kernel.Softmax(p, logP)), noMass, logP)
}

// settled is how near ν has to come, in nats. Nearer saves no pass.
const settled = 3e-3
