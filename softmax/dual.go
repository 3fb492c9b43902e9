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

// dual finds the minimum of the cross entropy over sparse examples, against
// classes or distributions over them, by ascending its dual, a block of
// coordinates at a time (Shalev-Shwartz and Zhang 2013): each example i keeps a
// distribution p_i over the classes, and
//
//	W = scale/lambda Σ_i K w_i (t_i - p_i) x_iᵀ     (d x k, feature-major)
//
// t_i its target, K = A Aᵀ the class kernel. The V of W = A V is never formed:
// lambda/2 ‖V‖² = ½ Σ_i w_i (t_i - p_i)·s_i, s_i the scores without bias. A visit
// to an example moves p_i towards what maximises the dual with all others as they
// are. It touches the rows of W of the example's own features, so a pass over the
// examples is the work of one conjugate gradient round of Newton's method, plus a
// product with K an example, and moves much further.
//
// How far a point is from the minimum is known: the duality gap is
// Σ_i w_i KL(p_i ‖ softmax of the scores). Towards the end it is that of a few
// examples, texts of which another class has nearly the same, so a pass is followed
// by visits to the examples of the largest gaps.
//
// The bias has no penalty. It is held to where the last pass left it by a
// penalty, lambdaBias/2 ‖b - b'‖², which then moves on: the method of
// multipliers. That is why Σ_i w_i (t_i - p_i), which has to end at 0, is in
// the gap too.
//
// Examples are visited in batches of fixed members, so that several threads can
// share the work and still do what one does: scores of a batch in parallel;
// then each example in turn, its scores corrected for the batch's earlier ones
// by their inner products; then the sum into W in parallel. A thread has some of
// the classes, the same in all of a fit: its part of W stays in the caches of its
// core, and what it adds to W is all that its scores of the next batch need.
type dual[T matrix.Float] struct {
	ex          Examples
	x           *matrix.Sparse // ex.X
	k           int
	scale       T       // of the inputs
	length      float64 // mean squared length of scaled inputs
	withinClass float64 // at most length: twice the mean inner product of two of one class
	threads     int
	team        *kernel.Team // while solve runs
	stride      int          // of W and all that has a row of k numbers
	total       float64      // sum of the weights
	noBias      bool
	soft        *loss.SoftLabels // nil: the target of a class is the class, smoothed
	certain     float64          // mass of a target that is not smoothed away
	elsewhere   T                // what smoothing gives each class

	kernel       *classKernel[T] // nil: K = I
	reach        float64         // mean eigenvalue of K
	slope        []T             // n x moves: δᵀKδ/δᵀδ of the last such move δ of each example, with a kernel
	from, shared []T             // k, with a kernel

	w, bias   []T       // d x stride, k
	logP      []T       // n x stride
	gaps      []float64 // n: what each example had to do with the gap when last met
	residual  []T       // k: Σ_i w_i (t_i - p_i)
	curvature []T       // k: Σ_i w_i p_i (1 - p_i), of the last pass

	batches []dualBatch
	visits  *rand.Rand   // the order of batches
	order   []*dualBatch // that of this pass

	scores, p, moved []T // batchRows x stride, of the batch at work
	updated, delta   []T // k
	earlier          []float32
}

// dualBatch is some examples and what is fixed about them.
type dualBatch struct {
	rows    []int
	inner   []float32 // len(rows)²: inner products of the inputs times scale²
	columns columns   // with longRows classes and more
}

const (
	batchRows = 64
	// longRows is the number of classes from where W is far larger than the caches.
	longRows = 512
	// noMass is the logarithm of a probability of 0 in every precision.
	noMass = -1e4

	// biasPenalty is how much more a bias is held back in a pass than a weight
	// of inputs as long. With less, examples of a pass undo each other's work on
	// the bias; with far more it is late.
	biasPenalty = 30
	// sharedBiasPenalty is biasPenalty behind a sharing, whose largest eigenvalue is
	// above the mean that counts as length.
	sharedBiasPenalty = 15

	// mostPasses go by before Newton's method is tried instead.
	mostPasses = 50
	// largestPrior is where the steps of a pass become too long to help.
	largestPrior = 1e4
	// restoredAbove is the prior from where rounding shows in W.
	restoredAbove = 300
	// stalled is the share of the gap of four passes before that ends the ascent
	// where Newton's method may be the better way.
	stalled        = 0.9
	newtonProducts = 2e7

	// After a pass the examples that make up hardGap of the gap are visited
	// again if they are no more than hardShare of all, hardRounds times at most
	// and in no more visits than hardVisits of a pass, until their gap has fallen
	// to hardGoal of itself.
	hardGap, hardShare, hardVisits, hardGoal = 0.8, 0.25, 0.5, 0.1
	hardRounds                               = 50
)

// dualPays tells whether the dual is the way to the minimum of a problem. A small one
// goes to Newton's method where steps of the ascent would be too long to help, or where
// there is a layer to start from; for a large one Newton's method is no way at all.
func dualPays(ex Examples, opts Options, priors []float64) bool {
	x, sparse := ex.X.(*matrix.Sparse)
	if !sparse || opts.Hierarchy != nil {
		return false
	}
	switch opts.Loss.(type) {
	case loss.CrossEntropy, *loss.SoftLabels:
		near := slices.Max(priors)*max(1, sharing.MeanEigenvalue(opts.Sharing)) <= largestPrior
		return largeForNewton(x, opts.Sharing.Classes()) || near && opts.Init == nil
	}
	return false
}

// largeForNewton tells whether a pass over the examples has more multiplications than
// Newton's method, with its hundreds of passes, does in seconds.
func largeForNewton(x *matrix.Sparse, k int) bool {
	return float64(len(x.Value))*float64(k) > newtonProducts
}

// newDual begins at W = 0 and p_i = t_i, the bias at that of a layer to start from. The
// loss is one that dualPays knows.
func newDual[T matrix.Float](ex Examples, opts Options, scale float64) (*dual[T], error) {
	x, k, threads := ex.X.(*matrix.Sparse), opts.Sharing.Classes(), opts.Threads
	n, stride := x.Rows(), dualStride(k)
	t := &dual[T]{
		ex: ex, x: x, k: k, stride: stride, scale: T(scale), length: scale * scale * ex.meanSquaredNorm(), threads: threads, total: ex.totalWeight(),
		noBias: opts.NoBias, certain: 1, reach: 1,
		w: make([]T, x.Columns*stride), bias: make([]T, k), logP: make([]T, n*stride), gaps: make([]float64, n), residual: make([]T, k), curvature: make([]T, k),
		scores: make([]T, batchRows*stride), p: make([]T, batchRows*stride), moved: make([]T, batchRows*stride),
		updated: make([]T, k), delta: make([]T, k), earlier: make([]float32, 0, batchRows), visits: rand.New(rand.NewPCG(opts.Seed, streamDual)),
	}
	if opts.Init != nil {
		for c, b := range opts.Init.Bias {
			t.bias[c] = T(b)
		}
	}
	switch l := opts.Loss.(type) {
	case loss.CrossEntropy:
		t.certain, t.elsewhere = 1-l.Smoothing, T(l.Smoothing/float64(k))
	case *loss.SoftLabels:
		t.soft = l
	}
	if _, plain := opts.Sharing.(sharing.None); !plain && k > 1 {
		var err error
		if t.kernel, err = newClassKernel[T](opts.Sharing); err != nil {
			return nil, err
		}
		t.reach = sharing.MeanEigenvalue(opts.Sharing)
		t.slope, t.from, t.shared = make([]T, moves*n), make([]T, k), make([]T, k)
		for i := range t.slope {
			t.slope[i] = T(t.reach)
		}
	}
	kernel.HugePages(t.w)
	kernel.HugePages(t.logP)
	order := rand.New(rand.NewPCG(opts.Seed, streamDual)).Perm(n)
	for lo := 0; lo < n; lo += batchRows {
		t.batches = append(t.batches, dualBatch{rows: order[lo:min(lo+batchRows, n)]})
	}
	t.withinClass = min(t.length, 2*t.meanSimilarity(ex.Class))
	t.prepare(t.batches)
	t.eachTarget(func(_ int, logP, target []T) {
		for c, p := range target {
			logP[c] = logOf(p)
		}
	})
	return t, nil
}

// meanSimilarity is the mean inner product of two scaled inputs of one class.
func (t *dual[T]) meanSimilarity(class []int32) float64 {
	rows := make([]int, len(class))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return int(class[a]) - int(class[b]) })
	sum := make([]float64, t.x.Columns)
	var similarity float64
	for lo := 0; lo < len(rows); {
		hi := lo
		var weight, square float64
		for ; hi < len(rows) && class[rows[hi]] == class[rows[lo]]; hi++ {
			w := t.ex.weightOf(rows[hi])
			weight += w
			index, value := t.x.Row(rows[hi])
			for n, f := range index {
				sum[f] += w * float64(value[n])
			}
		}
		for _, i := range rows[lo:hi] {
			index, _ := t.x.Row(i)
			for _, f := range index {
				square += sum[f] * sum[f]
				sum[f] = 0
			}
		}
		if weight > 0 {
			similarity += square / weight
		}
		lo = hi
	}
	return similarity / t.total * float64(t.scale) * float64(t.scale)
}

// logOf is the logarithm of a probability, or noMass.
func logOf[T matrix.Float](p T) T {
	if p == 0 { // most often
		return noMass
	}
	return T(max(math.Log(float64(p)), noMass))
}

// eachTarget calls visit with the logarithms of p_i and with t_i for all examples,
// in parallel. target is reused.
func (t *dual[T]) eachTarget(visit func(i int, logP, target []T)) {
	kernel.Parallel(t.threads, t.x.Rows(), rowGrain, func(_, lo, hi int) {
		target := make([]T, t.k)
		for i := lo; i < hi; i++ {
			t.target(i, target)
			visit(i, t.logP[i*t.stride:i*t.stride+t.k], target)
		}
	})
}

// prepare sets what follows from the rows of batches.
func (t *dual[T]) prepare(batches []dualBatch) {
	kernel.Parallel(t.threads, len(batches), 16, func(_, lo, hi int) {
		wide, next := make([]float32, t.x.Columns), make([]int32, t.x.Columns)
		for b := lo; b < hi; b++ {
			batches[b].prepare(t.x, float64(t.scale)*float64(t.scale), wide)
			if t.k >= longRows {
				collectColumns(&batches[b].columns, t.x, batches[b].rows, next)
			}
		}
	})
}

// dualStride is the distance of rows of k numbers: rows that begin with a cache
// line, where little memory is lost by that.
func dualStride(k int) int {
	if padded := (k + kernel.CacheLine - 1) / kernel.CacheLine * kernel.CacheLine; padded-k <= k/8 {
		return padded
	}
	return k
}

// lines is how many cache lines a row of W has.
func (t *dual[T]) lines() int { return (t.k + kernel.CacheLine - 1) / kernel.CacheLine }

// parts is how many threads a pass pays for: each has two lines of a row of W
// or more.
func (t *dual[T]) parts() int {
	return max(1, min(t.threads, t.lines()/2))
}

// classes returns the classes of a part of the work: whole lines.
func (t *dual[T]) classes(part int) (lo, hi int) {
	lines, parts := t.lines(), t.team.Threads()
	return part * lines / parts * kernel.CacheLine, min(t.k, (part+1)*lines/parts*kernel.CacheLine)
}

// prepare sets what follows from the rows of a batch. wide is scratch of zeros,
// one number a feature, and is left so.
func (b *dualBatch) prepare(x *matrix.Sparse, factor float64, wide []float32) {
	n := len(b.rows)
	b.inner = make([]float32, n*n)
	for m, i := range b.rows {
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
}

// solve ascends until the duality gap is within tolerance times the objective.
// Converged is false in the record if that is not to be had in maxPasses, or if it
// is far away and patient is not set.
func (t *dual[T]) solve(ctx context.Context, lambda, tolerance float64, maxPasses int, patient bool, progress func(Progress)) (Record, error) {
	t.team = kernel.NewTeam(t.parts())
	defer t.team.Close()
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
		if gap <= 2*goal || n == maxPasses {
			if t.length > restoredAbove*lambda {
				t.restore(lambda)
			}
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
		if record.Converged || !finite(gap) || !patient && n > 6 && gap > stalled*gaps[n-5] {
			break
		}
		if err := t.revisit(ctx, lambda); err != nil {
			return record, fmt.Errorf("softmax: stopped after %d passes: %w", n, err)
		}
	}
	return record, nil
}

// target sets to to the target of example i.
func (t *dual[T]) target(i int, to []T) {
	of := t.ex.target(i)
	if t.soft != nil {
		clear(to)
		t.softTarget(of, to)
		return
	}
	for c := range to {
		to[c] = t.elsewhere
	}
	if len(of.mix.Class) == 0 {
		to[of.class] += T(t.certain)
	}
	for n, c := range of.mix.Class {
		to[c] += T(t.certain * float64(of.mix.Share[n]))
	}
}

// softTarget adds to to the soft label of each class of a target.
func (t *dual[T]) softTarget(of target, to []T) {
	classes, share := of.mix.Class, of.mix.Share
	if len(classes) == 0 {
		classes, share = []int32{int32(of.class)}, []float32{1}
	}
	for n, y := range classes {
		for c, p := range t.soft.Target(int(y)) {
			to[c] += T(float64(share[n]) * p)
		}
	}
}

// targetScore is the mean of the scores s of example i over its target. spare is
// as long.
func (t *dual[T]) targetScore(i int, s, spare []T) float64 {
	of := t.ex.target(i)
	if t.soft == nil && t.elsewhere == 0 && len(of.mix.Class) == 0 {
		return float64(s[of.class])
	}
	t.target(i, spare)
	return float64(kernel.Dot(spare, s))
}
