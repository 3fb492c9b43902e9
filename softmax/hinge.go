package softmax

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// SquaredHinge trains one linear classifier for each class against all others
// under the squared hinge loss, a support vector machine: for each class it
// minimises
//
//	½‖w‖² + τ² Σ_i max(0, 1 - y_i (w x_i + b))²,  y_i = 1 in the class, else -1,
//
// (an example of several labels, Examples.Labels, is in each of them)
//
// where b is a weight of a feature that is 1 in every example and x_i has mean
// squared length 1, so that Options.Prior is C of LIBLINEAR and scikit-learn's
// LinearSVC. It ascends the dual a coordinate at a time (Hsieh et al. 2008), all
// classes beside each other. The classes are independent, so it takes no sharing,
// no other loss and no mixes of classes.
//
// The scores are margins, not logits: a temperature fitted to held-out examples
// makes probabilities of them (decide.FitTemperature). With d features after equal ones
// are merged it takes d k + n k numbers of memory and time in proportion to k and the values
// in the examples for each pass.
type SquaredHinge struct {
	// Tolerance ends the passes: when one raises the dual objective by less than
	// this share of it. 0 means 1e-3.
	Tolerance float64
	// MaxPasses bounds the passes over the examples; 0 means 100.
	MaxPasses int
}

func (SquaredHinge) isTrainer() {}

// streamHinge is the stream of random numbers of the order of examples.
const streamHinge = 3

// hingeWidth is the number of classes in a block, whole cache lines: few enough
// that the weights of an example's features stay in the caches. It depends on k
// alone, as the passes over a block end by what they gain in all of its classes.
func hingeWidth(k int) int {
	if k <= 2*kernel.CacheLine {
		return kernel.CacheLine
	}
	return 2 * kernel.CacheLine
}

// check returns an error for what squared hinge cannot do.
func (h SquaredHinge) check(ex Examples, opts Options) error {
	_, unshared := opts.Sharing.(sharing.None)
	l, plain := opts.Loss.(loss.CrossEntropy)
	switch {
	case !(h.Tolerance >= 0) || h.MaxPasses < 0:
		return fmt.Errorf("softmax: tolerance %v, passes %d, want numbers of at least 0: %w", h.Tolerance, h.MaxPasses, ErrOptions)
	case !unshared || opts.Hierarchy != nil || !plain || l.Smoothing != 0:
		return fmt.Errorf("softmax: squared hinge trains each class by itself, it takes no sharing and no other loss: %w", ErrOptions)
	case ex.Mix != nil:
		return fmt.Errorf("softmax: squared hinge takes examples of one class each, no mixes: %w", ErrOptions)
	case opts.NoBias || opts.Init != nil:
		return fmt.Errorf("softmax: squared hinge starts at 0 and has a bias: %w", ErrOptions)
	}
	return nil
}

// hinge is the state of a fit: the classes in blocks that never meet.
type hinge struct {
	x       matrix.Matrix
	merged  *merged        // of the features of the examples into those of x; nil: the same
	class   []int32        // of each example; nil with labels
	labels  *matrix.Sparse // classes of each example; nil: one each
	weight  []float32
	scale   float32   // of the inputs
	square  []float32 // ‖x_i‖² + 1, of scaled inputs
	columns []int32   // all of them, for dense rows
	blocks  []*hingeBlock
	seed    uint64
}

// hingeBlock is the classes first..first+classes-1.
type hingeBlock struct {
	first, classes, width int       // width: classes padded to whole cache lines
	v, bias               []float32 // d x width, width: weights of scaled inputs
	dual                  []float32 // n x width
}

// trainHinge is FitPath for SquaredHinge. Each prior starts at the duals of the
// one before.
func trainHinge(ctx context.Context, ex Examples, k int, opts Options, trainer SquaredHinge, priors []float64, visit visitor) error {
	if err := trainer.check(ex, opts); err != nil {
		return err
	}
	if trainer.Tolerance == 0 {
		trainer.Tolerance = 1e-3
	}
	if trainer.MaxPasses == 0 {
		trainer.MaxPasses = 100
	}
	h := newHinge(ex, k, opts)
	if opts.Duals.has(ex.X.Rows(), k, true) {
		h.start(opts.Duals, k, opts.Threads)
	}
	for n, prior := range priors {
		record, err := h.solve(ctx, orDefault(prior), trainer, opts.atFit(n, len(priors)).Progress, opts.Threads)
		if opts.Duals != nil {
			h.keep(opts.Duals, k, prior, opts.Threads)
		}
		if err := visitFit(visit, prior, h.fold(ex.X.Cols(), k, opts.Threads), record, err); err != nil {
			return err
		}
	}
	return nil
}

// newHinge begins at duals and weights of 0, in O(d k + n k) memory.
func newHinge(ex Examples, k int, opts Options) *hinge {
	scale := 1 / math.Sqrt(ex.meanSquaredNorm())
	h := &hinge{x: ex.X, class: ex.Class, labels: ex.Labels, weight: ex.Weight, scale: float32(scale), square: make([]float32, ex.X.Rows()), seed: opts.Seed}
	if s, sparse := ex.X.(*matrix.Sparse); sparse {
		h.x, h.merged = mergeFeatures(s)
	}
	n, d := h.x.Rows(), h.x.Cols()
	if _, dense := h.x.(*matrix.Dense); dense {
		h.columns = make([]int32, d)
		for j := range h.columns {
			h.columns[j] = int32(j)
		}
	}
	for i := range n {
		_, value := h.row(i)
		h.square[i] = float32(scale*scale*float64(kernel.Dot(value, value)) + 1)
	}
	width := hingeWidth(k)
	for first := 0; first < k; first += width {
		classes := min(width, k-first)
		w := (classes + kernel.CacheLine - 1) / kernel.CacheLine * kernel.CacheLine
		h.blocks = append(h.blocks, &hingeBlock{first: first, classes: classes, width: w,
			v: make([]float32, d*w), bias: make([]float32, w), dual: make([]float32, n*w)})
	}
	return h
}

// flip changes the signs of the numbers, one a class of the block, of those classes that an
// example is in.
func (h *hinge) flip(b *hingeBlock, i int, of []float32) {
	var own []int32
	if h.labels != nil {
		own, _ = h.labels.Row(i)
	} else {
		own = h.class[i : i+1]
	}
	for _, class := range own {
		if c := int(class) - b.first; c >= 0 && c < b.classes {
			of[c] = -of[c]
		}
	}
}

// row returns the features of an example and their values.
func (h *hinge) row(i int) ([]int32, []float32) {
	if s, ok := h.x.(*matrix.Sparse); ok {
		return s.Row(i)
	}
	return h.columns, h.x.(*matrix.Dense).Row(i)
}

// solve ascends the duals of all classes for one prior.
func (h *hinge) solve(ctx context.Context, prior float64, trainer SquaredHinge, progress func(Progress), threads int) (Record, error) {
	records := make([]Record, len(h.blocks))
	report := h.reporter(progress)
	kernel.Parallel(threads, len(h.blocks), 1, func(_, lo, hi int) {
		for b := lo; b < hi; b++ {
			records[b] = h.solveBlock(ctx, h.blocks[b], float32(1/(2*prior)), trainer, func(r Record, done float64) { report(b, r, done) })
		}
	})
	record := Record{Converged: true}
	for _, r := range records {
		record.Steps = max(record.Steps, r.Steps)
		record.Objective += r.Objective
		record.Converged = record.Converged && r.Converged
	}
	if progress != nil {
		progress(Progress{Step: record.Steps, Loss: record.Objective / float64(len(h.square)), Fraction: 1})
	}
	if err := ctx.Err(); err != nil {
		return record, fmt.Errorf("softmax: stopped after %d passes: %w", record.Steps, err)
	}
	return record, nil
}

// reporter returns what blocks, which may work beside each other, tell after each pass:
// their record so far and the share of their work that is done.
func (h *hinge) reporter(progress func(Progress)) func(block int, r Record, done float64) {
	if progress == nil {
		return func(int, Record, float64) {}
	}
	var mutex sync.Mutex
	all := Progress{}
	objective, share := make([]float64, len(h.blocks)), make([]float64, len(h.blocks))
	return func(block int, r Record, done float64) {
		mutex.Lock()
		defer mutex.Unlock()
		all.Step = max(all.Step, r.Steps)
		all.Loss += (r.Objective - objective[block]) / float64(len(h.square))
		all.Fraction = min(1, all.Fraction+max(0, done-share[block])/float64(len(h.blocks)))
		objective[block], share[block] = r.Objective, max(done, share[block])
		progress(all)
	}
}

// solveBlock makes passes over the examples for the classes of a block, and reports each.
// diagonal is what the square of the loss adds to the quadratic form of the dual,
// 1/(2C), for an example of weight 1.
func (h *hinge) solveBlock(ctx context.Context, b *hingeBlock, diagonal float32, trainer SquaredHinge, report func(r Record, done float64)) (record Record) {
	order := rand.New(rand.NewPCG(h.seed, streamHinge))
	scores, moved := make([]float32, b.width), make([]float32, b.width)
	record.Objective = h.dualObjective(b, diagonal)
	var first float64 // rise
	for record.Steps < trainer.MaxPasses && ctx.Err() == nil && !record.Converged {
		var rise float64
		for _, i := range order.Perm(len(h.square)) {
			rise += h.visit(b, i, diagonal, scores, moved)
		}
		record.Steps++
		record.Objective += rise
		goal := trainer.Tolerance * record.Objective
		record.Converged = rise <= goal
		first = max(first, rise)
		done := 0.
		if record.Converged {
			done = 1
		} else if goal > 0 { // the rise falls about geometrically
			done = math.Log(first/rise) / math.Log(first/goal)
		}
		report(record, done)
	}
	return record
}

// visit sets the duals of one example to what maximises the dual objective with
// all others as they are, and returns by how much it rises.
func (h *hinge) visit(b *hingeBlock, i int, diagonal float32, scores, moved []float32) (rise float64) {
	if h.weight != nil {
		if h.weight[i] == 0 {
			return 0
		}
		diagonal /= h.weight[i]
	}
	index, value := h.row(i)
	clear(scores)
	kernel.CombineRows(index, value, b.v, b.width, scores)
	kernel.Scale(h.scale, scores)
	kernel.Add(b.bias, scores)
	h.flip(b, i, scores)
	dual := b.dual[i*b.width:][:b.classes]
	curvature := h.square[i] + diagonal
	step := 1 / curvature
	changed := false
	for c, a := range dual {
		slope := 1 + scores[c] - diagonal*a // of the dual objective: 1 - y s - a/(2C)
		change := max(-a, slope*step)
		moved[c] = -change
		if change == 0 {
			continue
		}
		changed = true
		dual[c] = a + change
		rise += float64(change * (slope - change*curvature/2))
	}
	if !changed {
		return 0
	}
	h.flip(b, i, moved)
	h.add(b, i, moved)
	return rise
}

// add adds to the weights of a block what the multipliers of an example have moved, which
// it scales.
func (h *hinge) add(b *hingeBlock, i int, moved []float32) {
	index, value := h.row(i)
	kernel.Add(moved, b.bias)
	kernel.Scale(h.scale, moved)
	kernel.AddToRows(index, value, b.v, b.width, moved)
}

// dualObjective returns Σ_i (a_i - a_i² diagonal/2) - ½‖w‖² over the classes of a block.
func (h *hinge) dualObjective(b *hingeBlock, diagonal float32) float64 {
	var sum float64
	for i := range h.square {
		d := float64(diagonal)
		if h.weight != nil {
			if h.weight[i] == 0 {
				continue
			}
			d /= float64(h.weight[i])
		}
		for _, a := range b.dual[i*b.width:][:b.classes] {
			sum += float64(a) - d/2*float64(a)*float64(a)
		}
	}
	for _, weights := range [][]float32{b.v, b.bias} {
		for _, w := range weights {
			sum -= float64(w) * float64(w) / 2
		}
	}
	return sum
}

// fold returns the weights as a layer of d features and k classes.
func (h *hinge) fold(d, k, threads int) *Layer {
	l := newLayer(k, d)
	for _, b := range h.blocks {
		copy(l.Bias[b.first:], b.bias[:b.classes])
	}
	kernel.Parallel(threads, d, foldGrain, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			of, factor := h.merged.place(f)
			if of < 0 {
				continue
			}
			row := l.Weight[f*k : (f+1)*k]
			scale := h.scale * float32(factor)
			for _, b := range h.blocks {
				for c, w := range b.v[of*b.width:][:b.classes] {
					row[b.first+c] = scale * w
				}
			}
		}
	})
	return l
}
