package softmax

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// pass visits each example once. It returns the sum of what each example had
// to do with the gap when it was met, and of the losses and penalties then.
func (t *dual[T]) pass(ctx context.Context, lambda float64) (gap, objective float64, err error) {
	clear(t.curvature)
	t.order = t.order[:0]
	for _, b := range t.visits.Perm(len(t.batches)) {
		t.order = append(t.order, &t.batches[b])
	}
	gap, objective, err = t.sweep(ctx, t.order, lambda, t.curvature)
	if err != nil {
		return 0, 0, err
	}
	gap += t.biasGap(lambda)
	if rate := t.biasRate(lambda); rate > 0 {
		for c, s := range t.residual {
			t.bias[c] += s * max(rate, t.inverseCurvature(c))
		}
	}
	return gap, objective, nil
}

// biasRate is 1/lambdaBias, 0 for a bias that stays.
func (t *dual[T]) biasRate(lambda float64) T {
	if t.noBias {
		return 0
	}
	penalty := float64(biasPenalty)
	if t.kernel != nil {
		penalty = sharedBiasPenalty
	}
	return T(t.length * t.reach / (penalty * lambda))
}

// revisit visits the examples of the largest gaps again, if they are few.
func (t *dual[T]) revisit(ctx context.Context, lambda float64) error {
	n := t.x.Rows()
	var total float64
	rows := make([]int, n)
	for i, gap := range t.gaps {
		rows[i] = i
		total += gap
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Or(cmp.Compare(t.gaps[b], t.gaps[a]), a-b) })
	var begin float64
	hard := 0
	for ; hard < n && begin < hardGap*total; hard++ {
		begin += t.gaps[rows[hard]]
	}
	if hard == 0 || float64(hard) > hardShare*float64(n) || !finite(total) {
		return nil
	}
	var batches []dualBatch
	for lo := 0; lo < hard; lo += batchRows {
		batches = append(batches, dualBatch{rows: rows[lo:min(lo+batchRows, hard)]})
	}
	t.prepare(batches)
	order := make([]*dualBatch, len(batches))
	for b := range batches {
		order[b] = &batches[b]
	}
	for round := 0; round < hardRounds && float64(round*hard) < hardVisits*float64(n); round++ {
		gap, _, err := t.sweep(ctx, order, lambda, t.delta) // of the curvature only a pass has a use
		if err != nil || gap <= hardGoal*begin {
			return err
		}
	}
	return nil
}

// sweep visits the examples of batches in their order. It returns the sum of what
// each had to do with the gap when it was met, and of the losses and penalties
// then, and adds to curvature.
func (t *dual[T]) sweep(ctx context.Context, batches []*dualBatch, lambda float64, curvature []T) (gap, objective float64, err error) {
	next := batches[0]
	t.team.RunParts(func(part int) { t.meet(next, part) })
	for n, b := range batches {
		next = nil
		if n+1 < len(batches) {
			next = batches[n+1]
		}
		for m := range b.rows {
			g, o := t.ascend(b, m, lambda, curvature)
			t.gaps[b.rows[m]] = g
			gap += g
			objective += o
		}
		if err = ctx.Err(); err != nil {
			next = nil
		}
		t.team.RunParts(func(part int) {
			t.spread(b, part, lambda)
			if next != nil {
				t.meet(next, part)
			}
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return gap, objective, nil
}

// meet sets, for the classes of a part, the scores without bias and the
// probabilities of the examples of a batch, as they are before it.
func (t *dual[T]) meet(b *dualBatch, part int) {
	lo, hi := t.classes(part)
	for m, i := range b.rows {
		s, p := t.scores[m*t.stride+lo:m*t.stride+hi], t.p[m*t.stride+lo:m*t.stride+hi]
		clear(s)
		index, value := t.x.Row(i)
		kernel.CombineRows(index, value, t.w[lo:], t.stride, s)
		kernel.Scale(t.scale, s)
		kernel.Exp(p, t.logP[i*t.stride+lo:i*t.stride+hi])
	}
}

// spread adds to W, for the classes of a part, what the examples of a batch have moved:
// example by example, or, of many classes, a row of W after the other. Each then comes
// from main memory once, and what its examples have moved is in the caches. The sums are
// the same to the bit.
func (t *dual[T]) spread(b *dualBatch, part int, lambda float64) {
	lo, hi := t.classes(part)
	factor := T(float64(t.scale) / lambda)
	for m, i := range b.rows {
		moved := t.moved[m*t.stride+lo : m*t.stride+hi]
		kernel.Scale(factor, moved)
		if t.k < longRows {
			index, value := t.x.Row(i)
			kernel.AddToRows(index, value, t.w[lo:], t.stride, moved)
		}
	}
	for n, f := range b.columns.features {
		example, value := b.columns.of(n)
		kernel.CombineRows(example, value, t.moved[lo:], t.stride, t.w[int(f)*t.stride+lo:int(f)*t.stride+hi])
	}
}

// restore makes W anew of the distributions. Each visit rounds these, which moves W
// by 1/lambda times that.
func (t *dual[T]) restore(lambda float64) {
	clear(t.w)
	clear(t.residual)
	for n := range t.batches {
		b := &t.batches[n]
		for m, i := range b.rows {
			moved := t.moved[m*t.stride : m*t.stride+t.k]
			kernel.Exp(t.updated, t.logP[i*t.stride:i*t.stride+t.k])
			t.target(i, t.delta)
			kernel.Axpy(-1, t.updated, t.delta)
			kernel.Scale(T(t.ex.weightOf(i)), t.delta)
			kernel.Add(t.delta, t.residual)
			if t.kernel == nil {
				copy(moved, t.delta)
			} else {
				t.kernel.apply(t.team, moved, t.delta)
			}
		}
		t.team.RunParts(func(part int) { t.spread(b, part, lambda) })
	}
}

// ascend raises the dual in example m of a batch, to its maximum where K = I, and
// sets moved to the change of w K (t_m - p_m).
func (t *dual[T]) ascend(b *dualBatch, m int, lambda float64, curvature []T) (gap, objective float64) {
	n, k, at, i := len(b.rows), t.k, m*t.stride, b.rows[m]
	s, p, moved := t.scores[at:at+k], t.p[at:at+k], t.moved[at:at+k]
	logP := t.logP[i*t.stride : i*t.stride+k]
	w := t.ex.weightOf(i)
	if w == 0 {
		clear(moved)
		return 0, 0
	}
	earlier := t.earlier[:0]
	for _, product := range b.inner[m*n : m*n+m] {
		earlier = append(earlier, product/float32(lambda))
	}
	kernel.CombineAllRows(earlier, t.moved, t.stride, s)

	entropy := float64(kernel.Dot(p, logP))
	targetScore, ownScore := t.targetScore(i, s, moved), float64(kernel.Dot(p, s))
	objective = w * (targetScore - ownScore) / 2
	kernel.Add(t.bias, s)
	targetScore += t.targetScore(i, t.bias, moved)
	ownScore += float64(kernel.Dot(p, t.bias))
	logSum := kernel.Softmax(moved, s)
	gap = w * (logSum + entropy - ownScore)
	objective += w * (logSum - targetScore)

	rate := t.biasRate(lambda)
	length := w * float64(b.inner[m*n+m]) / lambda
	if t.kernel == nil {
		q := max(T(length)+T(w)*rate, leastStep)
		kernel.Axpy(q, p, s)
		maximise(t.updated, logP, s, q, logSum)
		kernel.MoveMass(moved, p, t.updated, T(w), rate, t.residual, t.bias, curvature)
		return gap, objective
	}
	t.maximiseShared(i, p, logP, s, moved, T(length), T(w)*rate, logSum, gap/w)
	kernel.Scale(T(w), moved)
	kernel.MoveMass(t.delta, p, t.updated, T(w), rate, t.residual, t.bias, curvature)
	return gap, objective
}

// leastStep keeps an example without features from a division by 0.
const leastStep = 1e-9

// maximiseShared sets updated to the distribution of example i after its visit, logP
// to its logarithm and moved to K (p - updated); s, the scores, follow. Where the dual
// has δᵀKδ for a move δ, maximise has a multiple of δᵀδ: the slope that K had for the
// last such move, which changes little between visits. A move that turns out to be
// much steeper, which could lower the dual, or much flatter is made anew. Moves follow
// each other until they have closed most of the example's gap: the first goes where K
// is steep, the next where it is flat.
func (t *dual[T]) maximiseShared(i int, p, logP, s, moved []T, length, bias T, logSum, gap float64) {
	from, delta, shared := t.from, t.delta, t.shared
	copy(from, p)
	clear(moved)
	for n := range moves {
		slope := &t.slope[moves*i+n]
		for try := range 6 {
			q := max(length**slope+bias, leastStep)
			copy(delta, s)
			kernel.Axpy(q, from, delta)
			maximise(t.updated, logP, delta, q, logSum)
			copy(delta, from)
			kernel.Axpy(-1, t.updated, delta)
			t.kernel.apply(t.team, shared, delta)
			square := kernel.Dot(delta, delta)
			if !(square > 0) {
				return
			}
			was, now := *slope, kernel.Dot(delta, shared)/square
			*slope = 1.05 * now
			if now <= steeper*was && (try > 0 || now*flatter >= was) {
				break
			}
		}
		kernel.Add(shared, moved)
		if n == moves-1 {
			return
		}
		kernel.Axpy(length, shared, s)
		kernel.Axpy(bias, delta, s)
		logSum = kernel.Softmax(shared, s)
		if logSum+float64(kernel.Dot(t.updated, logP))-float64(kernel.Dot(t.updated, s)) <= closed*gap {
			return
		}
		copy(from, t.updated)
	}
}

const (
	// moves is how many moves a visit makes at most behind a sharing.
	moves = 3
	// closed is the share of an example's gap that ends its visit.
	closed = 0.15
	// steeper and flatter are by how much the slope of a move may differ from the one it
	// was made for: up to twice as steep the dual rises all the same.
	steeper, flatter = 1.2, 4
)

// maximise sets p to about the distribution with log p + q p = c - const, which
// maximises the dual in one example, and logP to its logarithm. logSum is that of
// the exponentials of c less q times the distribution so far.
//
// With ν for the constant q p is Wright's ω(log q + c - ν). An outer Newton
// iteration finds the ν for which p sums to 1. What errors are left make the step
// a little shorter or longer than the best; p and logP still agree.
func maximise[T matrix.Float](p, logP, c []T, q T, logSum float64) {
	logQ := math.Log(float64(q))
	// Any distribution between 0 and 1 would move ν by no more.
	nu, low, high := logSum, logSum-float64(q), logSum+float64(q)
	for range 30 {
		sum, slope := kernel.WrightOmega(p, c, T(nu-logQ))
		step := (math.Log(float64(sum)) - logQ) * float64(sum/slope) // sum is about exponential in ν
		if math.Abs(step) < nuTolerance {
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

// nuTolerance is how near ν has to come, in nats. Nearer saves no pass.
const nuTolerance = 3e-3
