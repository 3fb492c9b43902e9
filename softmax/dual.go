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
// Examples are visited in batches of fixed members, so that several threads can
// share the work and still do what one does: scores of a batch in parallel;
// then each example in turn, its scores corrected for the batch's earlier ones
// by their inner products; then the sum into V in parallel. A thread has some of
// the classes, the same in all of a fit: its part of V stays in the caches of its
// core, and what it adds to V is all that its scores of the next batch need.
type dual[T matrix.Float] struct {
	x         *matrix.Sparse
	k         int
	scale     T       // of the inputs
	length    float64 // mean squared length of scaled inputs
	weight    []float32
	threads   int
	crew      *kernel.Crew // while solve runs
	stride    int          // of V and all that has a row of k numbers
	total     float64      // sum of the weights
	targets   func(i int) target
	certain   float64 // mass of a target that is not smoothed away
	elsewhere T       // what smoothing gives each class

	v, bias   []T // d x stride, k
	logP      []T // n x stride
	surplus   []T // k: Σ_i w_i (t_i - p_i)
	curvature []T // k: Σ_i w_i p_i (1 - p_i), of the last pass

	batches []dualBatch
	visits  *rand.Rand // the order of batches

	scores, p, moved []T // batchRows x stride, of the batch at work
	settled          []T // k
	earlier          []float32
}

// dualBatch is some examples and what is fixed about them.
type dualBatch struct {
	rows  []int
	inner []float32 // len(rows)²: inner products of the inputs times scale²
}

const (
	batchRows = 64
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

// dualPays tells whether the dual is the way to the minimum of a problem. Its passes
// are built around a bias.
func dualPays(ex Examples, opts Options, priors []float64) bool {
	_, plainLoss := opts.Loss.(loss.CrossEntropy)
	_, plainSharing := opts.Sharing.(sharing.None)
	_, sparse := ex.X.(*matrix.Sparse)
	return sparse && plainLoss && plainSharing && !opts.NoBias && opts.Hierarchy == nil && opts.Init == nil && slices.Max(priors) <= largestPrior
}

func newDual[T matrix.Float](ex Examples, k int, l loss.CrossEntropy, scale float64, seed uint64, threads int) *dual[T] {
	x := ex.X.(*matrix.Sparse)
	n, stride := x.Rows(), dualStride(k)
	t := &dual[T]{
		x: x, k: k, stride: stride, scale: T(scale), length: scale * scale * ex.meanSquaredNorm(), weight: ex.Weight, threads: threads, total: ex.totalWeight(),
		targets: ex.target, certain: 1 - l.Smoothing, elsewhere: T(l.Smoothing / float64(k)),
		v: make([]T, x.Columns*stride), bias: make([]T, k), logP: make([]T, n*stride), surplus: make([]T, k), curvature: make([]T, k),
		scores: make([]T, batchRows*stride), p: make([]T, batchRows*stride), moved: make([]T, batchRows*stride),
		settled: make([]T, k), earlier: make([]float32, 0, batchRows), visits: rand.New(rand.NewPCG(seed, streamDual)),
	}
	kernel.HugePages(t.v)
	kernel.HugePages(t.logP)
	order := rand.New(rand.NewPCG(seed, streamDual)).Perm(n)
	for lo := 0; lo < n; lo += batchRows {
		t.batches = append(t.batches, dualBatch{rows: order[lo:min(lo+batchRows, n)]})
	}
	kernel.Parallel(threads, len(t.batches), 16, func(_, lo, hi int) {
		wide := make([]float32, x.Columns)
		for b := lo; b < hi; b++ {
			t.batches[b].prepare(x, scale*scale, wide)
		}
	})
	// V = 0 goes with p_i = t_i for every example. Most classes of a target have
	// the same mass.
	logElse := T(max(math.Log(float64(t.elsewhere)), noMass))
	kernel.Parallel(threads, n, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := t.logP[i*stride : i*stride+k]
			t.target(i, row)
			for c, p := range row {
				if p == t.elsewhere {
					row[c] = logElse
				} else {
					row[c] = T(max(math.Log(float64(p)), noMass))
				}
			}
		}
	})
	return t
}

// dualStride is the distance of rows of k numbers: rows that begin with a cache
// line, where little memory is lost by that.
func dualStride(k int) int {
	if padded := (k + kernel.CacheLine - 1) / kernel.CacheLine * kernel.CacheLine; padded-k <= k/8 {
		return padded
	}
	return k
}

// lines is how many cache lines a row of V has.
func (t *dual[T]) lines() int { return (t.k + kernel.CacheLine - 1) / kernel.CacheLine }

// parts is how many threads a pass pays for: each has two lines of a row of V
// or more.
func (t *dual[T]) parts() int {
	return max(1, min(t.threads, t.lines()/2))
}

// classes returns the classes of a part of the work: whole lines.
func (t *dual[T]) classes(part int) (lo, hi int) {
	lines, parts := t.lines(), t.crew.Parts()
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
// Converged is false in the record if that is not to be had in few passes.
func (t *dual[T]) solve(ctx context.Context, lambda, tolerance float64, maxPasses int, progress func(Progress)) (Record, error) {
	t.crew = kernel.NewCrew(t.parts())
	defer t.crew.Close()
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

// target sets to to the target of example i.
func (t *dual[T]) target(i int, to []T) {
	for c := range to {
		to[c] = t.elsewhere
	}
	of := t.targets(i)
	if len(of.mix.Class) == 0 {
		to[of.class] += T(t.certain)
	}
	for n, c := range of.mix.Class {
		to[c] += T(t.certain * float64(of.mix.Share[n]))
	}
}

// targetScore is the mean of the scores s of example i over its target. spare is
// as long.
func (t *dual[T]) targetScore(i int, s, spare []T) float64 {
	of := t.targets(i)
	if t.elsewhere == 0 && len(of.mix.Class) == 0 {
		return float64(s[of.class])
	}
	t.target(i, spare)
	return float64(kernel.Dot(spare, s))
}

func (t *dual[T]) weightOf(i int) float64 {
	if t.weight == nil {
		return 1
	}
	return float64(t.weight[i])
}
