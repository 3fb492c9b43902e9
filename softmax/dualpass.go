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

	t.target(i, moved)
	targetScore := float64(kernel.Dot(moved, s))
	copy(moved, p)
	logSum := kernel.Softmax(t.centre, s)
	gap = w * (logSum + float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s)))
	objective = w * (logSum - targetScore)

	q := T(w * (float64(b.inner[m*n+m])/lambda + 1/lambdaBias))
	kernel.Axpy(q, p, s)
	settle(p, logP, s, t.centre, q)
	for c, p := range p {
		t.curvature[c] += T(w) * p * (1 - p)
	}
	kernel.Axpy(-1, p, moved)
	kernel.Scale(T(w), moved)
	kernel.Add(moved, t.surplus)
	kernel.Axpy(T(1/lambdaBias), moved, t.bias)
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
// maximises the dual in one example, and logP to its logarithm. p comes as the
// distribution so far; spare is as long.
//
// With w = q p and ν for the constant this is w + log w = log q + c - ν, that
// is w e^w = z = q exp(c - ν): w is Lambert's function of z. For small z, as of
// most classes, a Padé approximation serves (to 1.3 %, far less below 0.3). An
// outer Newton iteration finds the ν for which p sums to 1. What errors are left make the
// step a little shorter or longer than the best; p and logP still agree.
func settle[T matrix.Float](p, logP, c, spare []T, q T) {
	copy(logP, c)
	kernel.Axpy(-q, p, logP)
	nu := kernel.Softmax(spare, logP)
	// The largest p is from 1/k to 1, which bounds ν.
	top := c[0]
	for _, x := range c {
		top = max(top, x)
	}
	logQ := math.Log(float64(q))
	low, high := float64(top-q), float64(top)+math.Log(float64(len(c)))
	for range 30 {
		nu = clamp(nu, low, high)
		for j, x := range c {
			spare[j] = x - T(nu)
		}
		kernel.Exp(spare, spare)
		var sum, slope T
		for j, x := range spare {
			z := q * x
			if z < 1 {
				p[j] = x * (1 + z*(4./3)) / (1 + z*(7./3+z*(5./6)))
			} else {
				p[j] = T(lambertOfLog(max(0, logQ+float64(c[j])-nu))) / q
			}
			sum += p[j]
			slope += p[j] / (1 + q*p[j])
		}
		step := math.Log(float64(sum)) * float64(sum/slope) // sum is about exponential in ν
		if math.Abs(step) < 1e-3 {
			break
		}
		if sum > 1 {
			low = nu
		} else {
			high = nu
		}
		if nu += step; !(nu > low && nu < high) {
			nu = (low + high) / 2
		}
	}
	copy(logP, c)
	kernel.Axpy(-q, p, logP)
	logSum := T(kernel.Softmax(p, logP))
	for j := range logP {
		logP[j] = max(logP[j]-logSum, noMass)
	}
}

// lambertOfLog returns the w with w + log w = x, Lambert's function of exp(x),
// to about 1e-3, for x of at least 0.
func lambertOfLog(x float64) float64 {
	w := 0.567 + 0.433*x
	if x > 1 {
		w = x - math.Log(x)
	}
	for range 20 {
		miss := x - w - math.Log(w)
		w *= 1 + miss/(1+w)
		if math.Abs(miss) < 1e-3 {
			break
		}
	}
	return w
}
