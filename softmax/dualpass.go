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
	for _, b := range t.visits.Perm(len(t.batches)) {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		g, o := t.visit(&t.batches[b], lambda, lambdaBias)
		gap += g
		objective += o
	}
	gap += t.biasGap(lambda)
	for c, s := range t.surplus {
		t.bias[c] += s * max(T(1/lambdaBias), t.freedom(c))
	}
	return gap, objective + t.penalty(lambda), nil
}

// visit works on one batch.
func (t *dual[T]) visit(b *dualBatch, lambda, lambdaBias float64) (gap, objective float64) {
	t.meet(b)
	earlier := make([]float32, 0, batchRows)
	for m := range b.rows {
		g, o := t.ascend(b, m, earlier, lambda, lambdaBias)
		gap += g
		objective += o
	}
	t.spread(b, lambda)
	return gap, objective
}

// meet sets the scores without bias and the probabilities of the examples of a
// batch, as they are before it.
func (t *dual[T]) meet(b *dualBatch) {
	k := t.k
	kernel.Parallel(t.threads, len(b.rows), 8, func(_, lo, hi int) {
		for m := lo; m < hi; m++ {
			i := b.rows[m]
			s := t.scores[m*k : (m+1)*k]
			clear(s)
			index, value := t.x.Row(i)
			kernel.CombineRows(index, value, t.v, k, s)
			kernel.Scale(t.scale, s)
			kernel.Exp(t.p[m*k:(m+1)*k], t.logP[i*k:(i+1)*k])
		}
	})
}

// ascend maximises the dual in example m of a batch, and sets moved to the change
// of w (t_m - p_m). earlier is scratch.
func (t *dual[T]) ascend(b *dualBatch, m int, earlier []float32, lambda, lambdaBias float64) (gap, objective float64) {
	n, k, i := len(b.rows), t.k, b.rows[m]
	s, p, moved := t.scores[m*k:(m+1)*k], t.p[m*k:(m+1)*k], t.moved[m*k:(m+1)*k]
	logP := t.logP[i*k : (i+1)*k]
	w := t.weightOf(i)
	if w == 0 {
		clear(moved)
		return 0, 0
	}
	for _, product := range b.inner[m*n : m*n+m] {
		earlier = append(earlier, product/float32(lambda))
	}
	kernel.CombineAllRows(earlier, t.moved, k, s)
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

// rowsAhead is how far ahead rows of V are called for: they are not in the cache.
const rowsAhead = 4

// spread adds to V what the examples of a batch have moved.
func (t *dual[T]) spread(b *dualBatch, lambda float64) {
	k, factor := t.k, float32(float64(t.scale)/lambda)
	for m := range b.rows {
		kernel.Scale(T(factor), t.moved[m*k:(m+1)*k])
	}
	c := &b.columns
	kernel.Parallel(t.threads, len(c.features), 256, func(_, lo, hi int) {
		for e := lo; e < hi; e++ {
			f := int(c.features[e])
			if ahead := e + rowsAhead; ahead < hi {
				next := int(c.features[ahead]) * k
				kernel.Fetch(t.v[next : next+k])
			}
			from, to := c.start[e], c.start[e+1]
			kernel.CombineRows(c.example[from:to], c.value[from:to], t.moved, k, t.v[f*k:(f+1)*k])
		}
	})
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
