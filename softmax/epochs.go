package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// updater moves the weights of a stochastic trainer. The loop calls, for each
// batch, prepare, then computes scores from the weights, then apply.
type updater[T matrix.Float] interface {
	beginEpoch(rate float64, steps int)
	// prepare makes the weights of these features current.
	prepare(threads int, features []int32)
	// apply makes a step with the mean gradient of the batch: row n of grad
	// belongs to features[n]; all other features have none.
	apply(threads int, features []int32, grad, gradBias []T)
	// endEpoch makes all weights current.
	endEpoch()
	// layer returns the classifier to use, a copy.
	layer() *Layer
	// arrays returns all numbers that the next step depends on.
	arrays() map[string][]T
	// setSteps sets the number of steps made before, on resuming.
	setSteps(steps int)
}

// epochLoop runs a stochastic trainer: shuffled passes in batches, a schedule,
// validation, early stopping, checkpoints.
type epochLoop[T matrix.Float] struct {
	name     string // the trainer with all its numbers, for checkpoints
	ex       Examples
	opts     Options
	monitor  Monitor
	epochs   int
	batch    int
	rate     float64
	schedule Schedule
	inOrder  bool // of the examples, in each epoch

	update    updater[T]
	weight    []T // d x outputs, what the scores are computed with
	bias      []T
	outputs   int
	newHead   func() *head[T]
	newKernel func() *sharing.Operator[T] // if set, gradients are multiplied by K
	family    *kernel.Family              // the same for a tree, a whole batch at a time
	sparse    *sparseSteps[T]             // if set, it is the update and needs no features
	dense     *denseSteps                 // if set, it is the update and makes the whole step

	design  *design[T]
	workers []*worker[T]
	scores  []T // batch x outputs
	losses  []float64
	group   byFeature
	grad    []T         // features of the batch x outputs, or one row a block of them
	panels  [][]float32 // memory of the K pass
	mean    float64     // weight of the examples
	about   Run         // set if there are checkpoints
}

// worker is what one goroutine of the loop needs.
type worker[T matrix.Float] struct {
	head     *head[T]
	kernel   *sharing.Operator[T]
	gradient []T
	p        []T
}

// batchGrain is the number of examples of a batch that one goroutine takes at
// a time.
const batchGrain = 8

// Streams of random numbers, so that a new use moves no other draw.
const streamShuffle = 1

// state is where a run stands between epochs.
type state struct {
	epoch     int // done
	steps     int
	best      *Layer
	bestEpoch int
	bestScore validation
	loss      float64
}

func (t *epochLoop[T]) run(ctx context.Context) (*Layer, Record, error) {
	if t.dense != nil {
		defer t.dense.close()
	}
	if err := t.checkMonitor(); err != nil {
		return nil, Record{}, err
	}
	t.design = newDesign[T](t.ex.X, false)
	t.batch = min(t.batch, t.design.rows)
	blocks := (t.batch + batchGrain - 1) / batchGrain
	t.workers = make([]*worker[T], blocks)
	for b := range t.workers {
		h := t.newHead()
		w := &worker[T]{head: h, gradient: make([]T, len(t.bias)), p: make([]T, h.targets)}
		if t.newKernel != nil {
			w.kernel = t.newKernel()
		}
		t.workers[b] = w
	}
	t.scores = make([]T, t.batch*t.outputs)
	t.losses = make([]float64, t.batch)
	t.mean = t.ex.totalWeight() / float64(t.design.rows)
	t.group.slot = make([]int32, t.design.dim)

	if t.monitor.Checkpoint != nil || t.monitor.Resume != nil {
		t.about = t.describe()
	}
	var s state
	if r := t.monitor.Resume; r != nil {
		if err := t.restore(&s, r); err != nil {
			return nil, Record{}, err
		}
	}
	order := make([]int32, t.design.rows)
	for s.epoch < t.epochs && !t.patienceOver(&s) {
		if err := t.epoch(ctx, &s, order); errors.Is(err, errDiverged) {
			return s.best, t.record(&s), err
		} else if err != nil {
			return t.result(&s), t.record(&s), err
		}
		if t.monitor.Checkpoint != nil {
			if err := t.monitor.Checkpoint(t.checkpoint(&s)); err != nil {
				return t.result(&s), t.record(&s), fmt.Errorf("softmax: checkpoint after epoch %d: %w", s.epoch, err)
			}
		}
		if t.opts.Progress != nil {
			done := float64(s.epoch) / float64(t.epochs)
			if t.patienceOver(&s) {
				done = 1
			}
			t.opts.Progress(Progress{Step: s.epoch, Loss: s.loss, Fraction: done})
		}
	}
	l := t.result(&s)
	if err := l.check(); err != nil {
		return nil, t.record(&s), fmt.Errorf("%w after %d epochs at the rate %g; take a smaller one: %w", err, s.epoch, t.rate, errDiverged)
	}
	return l, t.record(&s), nil
}

// checkMonitor returns an error if the validation examples do not fit.
func (t *epochLoop[T]) checkMonitor() error {
	v := t.monitor.Valid
	if v == nil {
		return nil
	}
	if err := v.check(t.opts.Sharing.Classes()); err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	if v.X.Cols() != t.ex.X.Cols() {
		return fmt.Errorf("softmax: validation examples have %d features, the others %d", v.X.Cols(), t.ex.X.Cols())
	}
	return nil
}

// errDiverged says that a trainer's numbers grew without bound.
var errDiverged = errors.New("training diverged")

func (t *epochLoop[T]) patienceOver(s *state) bool {
	return t.monitor.Valid != nil && t.monitor.Patience > 0 && s.epoch-s.bestEpoch >= t.monitor.Patience && s.epoch > 0
}

func (t *epochLoop[T]) result(s *state) *Layer {
	if s.best != nil {
		return s.best
	}
	return t.update.layer()
}

func (t *epochLoop[T]) record(s *state) Record {
	return Record{Steps: s.epoch, Objective: s.loss * t.ex.totalWeight()}
}

// epoch makes one pass. On a cancelled context it stops between batches with
// all weights current.
func (t *epochLoop[T]) epoch(ctx context.Context, s *state, order []int32) error {
	for i := range order {
		order[i] = int32(i)
	}
	if !t.inOrder {
		random := rand.New(rand.NewPCG(t.opts.Seed, streamShuffle<<32|uint64(s.epoch)))
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}

	rate := t.rate
	if t.schedule != nil {
		rate *= t.schedule.Factor(s.epoch, t.epochs)
	}
	if !(rate >= 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("softmax: the schedule gives the rate %v in epoch %d, want a finite number of at least 0: %w", rate, s.epoch+1, ErrOptions)
	}
	t.update.beginEpoch(rate, (len(order)+t.batch-1)/t.batch)
	defer t.update.endEpoch()
	var sum float64
	for at := 0; at < len(order); at += t.batch {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("softmax: stopped in epoch %d of %d, after %d of %d examples: %w", s.epoch+1, t.epochs, at, len(order), err)
		}
		l := t.step(order[at:min(at+t.batch, len(order))])
		sum += l
		s.steps++
		if !finite(l) {
			return fmt.Errorf("softmax: the loss is %v in epoch %d at the rate %g; take a smaller one: %w", l, s.epoch+1, rate, errDiverged)
		}
	}
	s.epoch++
	s.loss = sum / t.ex.totalWeight()
	if t.monitor.Valid != nil {
		t.update.endEpoch() // averaged weights need current sums
		layer := t.update.layer()
		if err := layer.check(); err != nil {
			return fmt.Errorf("%w after epoch %d at the rate %g; take a smaller one: %w", err, s.epoch, rate, errDiverged)
		}
		v, err := validate(layer, t.monitor.Valid, t.opts.Threads)
		if err != nil {
			return err
		}
		if s.best == nil || v.better(s.bestScore) {
			s.best, s.bestEpoch, s.bestScore = layer, s.epoch, v
		}
	}
	return nil
}

// step makes one step on a batch and returns the sum of its losses. The
// gradient is the mean over the batch, each example counted by its weight over
// the mean weight of all.
func (t *epochLoop[T]) step(batch []int32) (lossSum float64) {
	if t.dense != nil {
		return t.dense.step(t.ex, t.mean, batch)
	}
	direct, scale := t.sparse != nil && t.sparse.possible(), T(1)
	threads := t.threadsFor(batch, direct)
	var features []int32
	if direct {
		scale = T(t.sparse.scale)
	} else {
		features = t.group.collect(t.design, batch)
		t.update.prepare(threads, features)
	}
	r, size := t.outputs, t.mean*float64(len(batch))
	kernel.Parallel(threads, len(batch), batchGrain, func(block, lo, hi int) {
		w := t.workers[block]
		clear(w.gradient)
		for n := lo; n < hi; n++ {
			i, z := batch[n], t.scores[n*r:(n+1)*r]
			t.design.scores(z, t.weight, int(i))
			if scale != 1 {
				kernel.Scale(scale, z)
			}
			share := T(t.ex.weightOf(int(i)) / size)
			t.losses[n] = w.head.evaluate(z, w.p, t.bias, w.gradient, t.ex.target(int(i)), share) * size
			if w.kernel != nil {
				copy(w.head.grad, z)
				w.kernel.Kernel(z, w.head.grad, 1)
			}
		}
	})
	if t.family != nil {
		t.multiply(threads, len(batch))
	}
	gradBias := t.workers[0].gradient
	for _, w := range t.workers[1 : (len(batch)+batchGrain-1)/batchGrain] {
		kernel.Add(w.gradient, gradBias)
	}
	for _, l := range t.losses[:len(batch)] {
		lossSum += l
	}
	if direct {
		t.sparse.applyBatch(threads, t.design, batch, t.scores, gradBias)
		return lossSum
	}
	u, byRow := t.update.(*linearUpdate[T])
	byRow = byRow && t.design.sparse != nil
	need := len(features) * r
	if byRow {
		need = (len(features) + applyGrain - 1) / applyGrain * r
	}
	if cap(t.grad) < need {
		t.grad = make([]T, need)
	}
	if byRow {
		u.applyRows(threads, features, t.gradientRow, gradBias)
		return lossSum
	}
	grad := t.grad[:need]
	t.gradient(threads, grad, batch)
	t.update.apply(threads, features, grad, gradBias)
	return lossSum
}

// sharedWork is the number of multiply-adds of the scores from which a direct
// step is worth more than one goroutine, and of another step, which has more to
// do for each. Below, their start and weights that wander between the caches of
// two cores cost more than they save.
const sharedWork, sharedWorkByRow = 1 << 20, 1 << 18

// threadsFor returns how many goroutines share the step of a batch.
func (t *epochLoop[T]) threadsFor(batch []int32, direct bool) int {
	least := sharedWorkByRow
	if direct {
		least = sharedWork
	}
	if t.design.sparse != nil && t.design.nonzeros(batch)*t.outputs < least {
		return 1
	}
	return kernel.Threads(t.opts.Threads)
}

// kernelGrain is the number of examples of a batch in one panel of a K pass,
// at most.
const kernelGrain = 32

// multiply multiplies the gradients of a batch in the scores by K.
func (t *epochLoop[T]) multiply(threads, batch int) {
	z := any(t.scores).([]float32)
	for len(t.panels)*kernelGrain < batch {
		t.panels = append(t.panels, nil)
	}
	kernel.Parallel(threads, batch, kernelGrain, func(block, lo, hi int) {
		t.panels[block] = t.family.MultiplyRows(z[lo*t.outputs:hi*t.outputs], hi-lo, t.panels[block])
	})
}

// gradientRow returns the gradient of feature n of a batch of sparse rows, in
// memory of the block of features.
func (t *epochLoop[T]) gradientRow(block, n int) []T {
	row := t.grad[:cap(t.grad)][block*t.outputs : (block+1)*t.outputs]
	clear(row)
	a, b := t.group.start[n], t.group.start[n+1]
	kernel.CombineRows(t.group.example[a:b], t.group.value[a:b], t.scores, t.outputs, row)
	return row
}

// gradient sets row n of grad to the sum over the batch of feature n times the
// gradient in the scores, in the order of the batch.
func (t *epochLoop[T]) gradient(threads int, grad []T, batch []int32) {
	r := t.outputs
	clear(grad)
	if t.design.dense != nil {
		kernel.Parallel(threads, t.design.dim, 16, func(_, lo, hi int) {
			column := make([]float32, len(batch))
			for f := lo; f < hi; f++ {
				for m, i := range batch {
					column[m] = t.design.dense.Row(int(i))[f]
				}
				kernel.CombineAllRows(column, t.scores, r, grad[f*r:(f+1)*r])
			}
		})
		return
	}
	g := &t.group
	kernel.Parallel(threads, len(g.features), 64, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			a, b := g.start[f], g.start[f+1]
			kernel.CombineRows(g.example[a:b], g.value[a:b], t.scores, r, grad[f*r:(f+1)*r])
		}
	})
}
