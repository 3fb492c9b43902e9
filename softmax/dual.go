package softmax

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// streamDual is the stream of random numbers of the order of examples.
const streamDual = 2

// dual finds the minimum of plain cross entropy over sparse examples by
// ascending its dual, a block of coordinates at a time (Shalev-Shwartz and
// Zhang 2013): each example i keeps a distribution p_i over the classes, and
//
//	V = scale/lambda Σ_i w_i (t_i - p_i) x_iᵀ     (d x k, feature-major)
//
// t_i its target. A visit to an example sets p_i to what maximises the dual
// with all others as they are. It touches the rows of V of the example's own
// features, so a pass over the examples is the work of one conjugate gradient
// round of Newton's method and moves much further.
//
// How far a point is from the minimum is known: the duality gap is
// Σ_i w_i KL(p_i ‖ softmax of the scores).
//
// The bias has no penalty. It is held to where the last pass left it by a
// penalty, lambdaBias/2 ‖b - b'‖², which then moves on: the method of
// multipliers. That is why Σ_i w_i (t_i - p_i), which has to end at 0, is in
// the gap too.
//
// Examples are visited in batches of fixed members, so that two threads can
// share the work and still do what one does: scores of a batch in parallel;
// then each example in turn, its scores corrected for the batch's earlier ones
// by their inner products; then the sum into V in parallel.
type dual[T matrix.Float] struct {
	x       *matrix.Sparse
	k       int
	scale   T       // of the inputs
	length  float64 // mean squared length of scaled inputs
	weight  []float32
	threads int
	total   float64 // sum of the weights
	target  func(i int, to []T)

	v, bias   []T // d x k, k
	logP      []T // n x k
	surplus   []T // k: Σ_i w_i (t_i - p_i)
	curvature []T // k: Σ_i w_i p_i (1 - p_i), of the last pass

	batches []dualBatch
	visits  *rand.Rand // the order of batches

	scores, p, moved []T // batchRows x k, of the batch at work
	centre           []T // k
}

// dualBatch is some examples and what is fixed about them.
type dualBatch struct {
	rows    []int
	inner   []float32 // len(rows)²: inner products of the inputs times scale²
	columns byFeature
}

const (
	batchRows = 32
	// noMass is the logarithm of a probability of 0 in every precision.
	noMass = -1e4

	// biasPenalty is how much more a bias is held back in a pass than a weight
	// of inputs as long. With less, examples of a pass undo each other's work on
	// the bias; with far more it is late.
	biasPenalty = 30

	// mostPasses go by before Newton's method is tried instead.
	mostPasses = 50
	// largestPrior is where the steps of a pass become too long to help.
	largestPrior = 1e4
	// stalled is the share of the gap of four passes before that ends the ascent:
	// Newton's method is then the better way.
	stalled = 0.9
)

// dualPays tells whether the dual is the way to the minimum of a problem.
func dualPays(ex Examples, opts Options, priors []float64) bool {
	_, plainLoss := opts.Loss.(loss.CrossEntropy)
	_, plainSharing := opts.Sharing.(sharing.None)
	_, sparse := ex.X.(*matrix.Sparse)
	return sparse && plainLoss && plainSharing && opts.Hierarchy == nil && opts.Init == nil && slices.Max(priors) <= largestPrior
}

func newDual[T matrix.Float](ex Examples, k int, l loss.CrossEntropy, scale float64, seed uint64, threads int) *dual[T] {
	x := ex.X.(*matrix.Sparse)
	n := x.Rows()
	t := &dual[T]{
		x: x, k: k, scale: T(scale), length: scale * scale * ex.meanSquaredNorm(), weight: ex.Weight, threads: threads, total: ex.totalWeight(),
		v: make([]T, x.Columns*k), bias: make([]T, k), logP: make([]T, n*k), surplus: make([]T, k), curvature: make([]T, k),
		scores: make([]T, batchRows*k), p: make([]T, batchRows*k), moved: make([]T, batchRows*k),
		centre: make([]T, k), visits: rand.New(rand.NewPCG(seed, streamDual)),
	}
	t.target = func(i int, to []T) {
		for c := range to {
			to[c] = T(l.Smoothing / float64(k))
		}
		of := ex.target(i)
		if len(of.mix.Class) == 0 {
			to[of.class] += T(1 - l.Smoothing)
		}
		for n, c := range of.mix.Class {
			to[c] += T((1 - l.Smoothing) * float64(of.mix.Share[n]))
		}
	}
	order := rand.New(rand.NewPCG(seed, streamDual)).Perm(n)
	for lo := 0; lo < n; lo += batchRows {
		t.batches = append(t.batches, dualBatch{rows: order[lo:min(lo+batchRows, n)]})
	}
	kernel.Parallel(threads, len(t.batches), 16, func(_, lo, hi int) {
		slot := make([]int32, x.Columns)
		wide := make([]float32, x.Columns)
		for b := lo; b < hi; b++ {
			t.batches[b].prepare(x, scale*scale, slot, wide)
		}
	})
	// All weights 0: each example has its target.
	kernel.Parallel(threads, n, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := t.logP[i*k : (i+1)*k]
			t.target(i, row)
			for c, p := range row {
				row[c] = T(max(math.Log(float64(p)), noMass))
			}
		}
	})
	return t
}

// prepare sets what follows from the rows of a batch. slot and wide are
// scratch of zeros, one number a feature, and are left so.
func (b *dualBatch) prepare(x *matrix.Sparse, factor float64, slot []int32, wide []float32) {
	n := len(b.rows)
	b.inner = make([]float32, n*n)
	batch := make([]int32, n)
	for m, i := range b.rows {
		batch[m] = int32(i)
		index, value := x.Row(i)
		for e, f := range index {
			wide[f] = value[e]
		}
		for j := range m + 1 {
			var sum float64
			index, value := x.Row(b.rows[j])
			for e, f := range index {
				sum += float64(wide[f]) * float64(value[e])
			}
			b.inner[m*n+j] = float32(sum * factor)
		}
		for _, f := range index {
			wide[f] = 0
		}
	}
	b.columns.slot = slot
	b.columns.collect(&design[float32]{sparse: x}, batch)
	b.columns.slot = nil
}

// solve ascends until the duality gap is within tolerance times the objective.
// Converged is false in the record if that is not to be had in few passes.
func (t *dual[T]) solve(ctx context.Context, lambda, tolerance float64, maxPasses int, progress func(Progress)) (Record, error) {
	var record Record
	var first, done float64
	var gaps []float64
	for n := 1; n <= maxPasses; n++ {
		gap, objective, err := t.pass(ctx, lambda)
		if err != nil {
			return record, fmt.Errorf("softmax: stopped after %d passes: %w", n-1, err)
		}
		record.Steps, record.Objective = n, objective
		goal := tolerance * max(objective, rounding[T]()*t.total)
		// Each number of the gap was met before its example was visited, so
		// the gap is now smaller.
		if gap <= 2*goal {
			gap, objective = t.certify(lambda)
			goal = tolerance * max(objective, rounding[T]()*t.total)
			record.Objective, record.Converged = objective, gap <= goal
		}
		if n == 1 {
			first = gap
		}
		if record.Converged {
			done = 1
		} else if gap < first { // the gap falls about geometrically
			done = max(done, min(1, math.Log(first/gap)/math.Log(first/goal)))
		}
		if progress != nil {
			progress(Progress{Step: n, Loss: record.Objective / t.total, Fraction: done})
		}
		gaps = append(gaps, gap)
		if record.Converged || !finite(gap) || n > 6 && gap > stalled*gaps[n-5] {
			break
		}
	}
	return record, nil
}

func (t *dual[T]) weightOf(i int) float64 {
	if t.weight == nil {
		return 1
	}
	return float64(t.weight[i])
}

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
	n, k := len(b.rows), t.k
	kernel.Parallel(t.threads, n, 8, func(_, lo, hi int) {
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
	earlier := make([]float32, 0, batchRows)
	for m, i := range b.rows {
		s, p, moved := t.scores[m*k:(m+1)*k], t.p[m*k:(m+1)*k], t.moved[m*k:(m+1)*k]
		logP := t.logP[i*k : (i+1)*k]
		w := t.weightOf(i)
		if w == 0 {
			clear(moved)
			continue
		}
		earlier = earlier[:0]
		for _, product := range b.inner[m*n : m*n+m] {
			earlier = append(earlier, product/float32(lambda))
		}
		kernel.CombineAllRows(earlier, t.moved, k, s)
		kernel.Add(t.bias, s)

		t.target(i, moved)
		targetScore := float64(kernel.Dot(moved, s))
		copy(moved, p)
		logSum := kernel.Softmax(t.centre, s)
		gap += w * (logSum + float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s)))
		objective += w * (logSum - targetScore)

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
	}
	factor := float32(float64(t.scale) / lambda)
	for m := range n {
		kernel.Scale(T(factor), t.moved[m*k:(m+1)*k])
	}
	c := &b.columns
	kernel.Parallel(t.threads, len(c.features), 256, func(_, lo, hi int) {
		for e := lo; e < hi; e++ {
			f := int(c.features[e])
			from, to := c.start[e], c.start[e+1]
			kernel.CombineRows(c.example[from:to], c.value[from:to], t.moved, k, t.v[f*k:(f+1)*k])
		}
	})
	return gap, objective
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

// certify returns the duality gap and the objective at V and b.
func (t *dual[T]) certify(lambda float64) (gap, objective float64) {
	n, k := t.x.Rows(), t.k
	blocks := (n + rowGrain - 1) / rowGrain
	gaps, losses := make([]float64, blocks), make([]float64, blocks)
	kernel.Parallel(t.threads, n, rowGrain, func(block, lo, hi int) {
		s, p, target := make([]T, k), make([]T, k), make([]T, k)
		for i := lo; i < hi; i++ {
			w := t.weightOf(i)
			clear(s)
			index, value := t.x.Row(i)
			kernel.CombineRows(index, value, t.v, k, s)
			kernel.Scale(t.scale, s)
			kernel.Add(t.bias, s)
			t.target(i, target)
			losses[block] -= w * float64(kernel.Dot(target, s))
			logP := t.logP[i*k : (i+1)*k]
			kernel.Exp(p, logP)
			gaps[block] += w * (float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s)))
			logSum := kernel.Softmax(p, s)
			losses[block] += w * logSum
			gaps[block] += w * logSum
		}
	})
	for b := range blocks {
		gap += gaps[b]
		objective += losses[b]
	}
	return gap + t.biasGap(lambda), objective + t.penalty(lambda)
}

// biasGap estimates from the bias's gradient, the surplus, how far it keeps the
// objective above its minimum, V following: ½ Σ_c surplus_c² (1/h_c + length/lambda),
// h the second derivative in the bias alone, and length the most by which
// inputs can stand in for a bias.
func (t *dual[T]) biasGap(lambda float64) float64 {
	var gap float64
	for c, s := range t.surplus {
		gap += float64(s) * float64(s) / 2 * (float64(t.freedom(c)) + t.length/lambda)
	}
	return gap
}

// freedom is 1/h_c.
func (t *dual[T]) freedom(c int) T { return 1 / max(t.curvature[c], 1e-20) }

// penalty is lambda/2 ‖V‖².
func (t *dual[T]) penalty(lambda float64) float64 {
	return lambda / 2 * kernel.ParallelSum(t.threads, len(t.v), func(lo, hi int) float64 {
		var sum float64
		for ; lo < hi; lo += 1024 { // float32 sums of 1024, added in float64
			block := t.v[lo:min(lo+1024, hi)]
			sum += float64(kernel.Dot(block, block))
		}
		return sum
	})
}

// rescale changes V for another lambda: the distributions stay.
func (t *dual[T]) rescale(from, to float64) {
	kernel.Parallel(t.threads, len(t.v), part, func(_, lo, hi int) { kernel.Scale(T(from/to), t.v[lo:hi]) })
}
