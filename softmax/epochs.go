package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// stepper moves the weights of a stochastic trainer. newSGD and newAdamW choose it.
type stepper[T matrix.Float] interface {
	// take makes the next batches ones of these examples.
	take(ex Examples)
	// beginEpoch readies it for an epoch, or a block of one, of so many steps.
	beginEpoch(rate float64, steps int)
	// makeStep makes a step on a batch and returns the sum of its losses, as they
	// were before.
	makeStep(batch []int32) float64
	// endEpoch makes what layer and arrays return current. More than one is one.
	endEpoch()
	// layer returns the classifier to use. It may be made of the trainer's own
	// weights, which the next step changes.
	layer() *Layer
	// arrays returns all numbers that the next step depends on.
	arrays() map[string][]T
	// setSteps sets the number of steps made before, on resuming.
	setSteps(steps int)
	// close frees its goroutines.
	close()
}

// epochLoop runs a stochastic trainer: shuffled passes in batches, a schedule,
// validation, early stopping, checkpoints.
type epochLoop[T matrix.Float] struct {
	name     string // the trainer with all its numbers, for checkpoints
	src      *source
	opts     Options
	monitor  Monitor
	epochs   int
	batch    int
	rate     float64
	schedule Schedule
	inOrder  bool // of the examples, in each epoch
	stepper  stepper[T]
	about    Run     // set if there are checkpoints
	order    []int32 // of the examples of a block
}

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

// run makes the epochs that are left and returns the best layer on the validation
// examples, or the last one without these. After ErrDiverged that is the best so far, nil
// if there is none; after any other error the layer as it stands.
func (t *epochLoop[T]) run(ctx context.Context) (*Layer, Record, error) {
	defer t.stepper.close()
	if err := t.checkMonitor(); err != nil {
		return nil, Record{}, err
	}
	if t.monitor.Checkpoint != nil || t.monitor.Resume != nil {
		t.about = t.describe()
	}
	var s state
	if r := t.monitor.Resume; r != nil {
		if err := t.restore(&s, r); err != nil {
			return nil, Record{}, err
		}
	}
	for s.epoch < t.epochs && !t.patienceOver(&s) {
		if err := t.epoch(ctx, &s); errors.Is(err, ErrDiverged) {
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
			p := Progress{Step: s.epoch, Loss: s.loss, Fraction: done}
			if t.src.blocks > 1 {
				p.Rows = s.epoch * t.src.rows
			}
			t.opts.Progress(p)
		}
	}
	l := t.result(&s)
	if err := l.check(); err != nil {
		return nil, t.record(&s), fmt.Errorf("%w after %d epochs at the rate %g; take a smaller one: %w", err, s.epoch, t.rate, ErrDiverged)
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
	if v.X.Cols() != t.src.features {
		return fmt.Errorf("softmax: validation examples have %d features, the others %d", v.X.Cols(), t.src.features)
	}
	return nil
}

// ErrDiverged says that a trainer's numbers grew without bound: its rate is too
// large.
var ErrDiverged = errors.New("training diverged")

// patienceOver tells whether the last Patience epochs were no better than the best.
func (t *epochLoop[T]) patienceOver(s *state) bool {
	return t.monitor.Valid != nil && t.monitor.Patience > 0 && s.epoch-s.bestEpoch >= t.monitor.Patience && s.epoch > 0
}

// result returns the best layer if there is one, else the present one.
func (t *epochLoop[T]) result(s *state) *Layer {
	if s.best != nil {
		return s.best
	}
	return t.stepper.layer()
}

// record gives the losses as the last epoch met them: weights moved meanwhile, so it is
// no value of the objective at any one point.
func (t *epochLoop[T]) record(s *state) Record {
	return Record{Steps: s.epoch, Objective: s.loss * t.src.weight}
}

// epoch makes one pass. On a cancelled context it stops between batches with
// all weights current.
func (t *epochLoop[T]) epoch(ctx context.Context, s *state) error {
	random := rand.New(rand.NewPCG(t.opts.Seed, streamShuffle<<32|uint64(s.epoch)))
	defer t.stepper.endEpoch()
	var sum float64
	block, done := 0, 0 // blocks and examples
	for ex, err := range t.src.epoch(ctx, s.epoch) {
		if err != nil {
			return fmt.Errorf("softmax: epoch %d of %d, after %d of %d examples: %w", s.epoch+1, t.epochs, done, t.src.rows, err)
		}
		l, err := t.block(ctx, s, ex, block, done, random)
		sum += l
		if err != nil {
			return err
		}
		block++
		done += ex.X.Rows()
		if block < t.src.blocks && t.opts.Progress != nil {
			at := (float64(s.epoch) + float64(done)/float64(t.src.rows)) / float64(t.epochs)
			t.opts.Progress(Progress{Step: s.epoch + 1, Rows: s.epoch*t.src.rows + done, Loss: sum / (t.src.meanWeight() * float64(done)), Fraction: at})
		}
	}
	s.epoch++
	s.loss = sum / t.src.weight
	if t.monitor.Valid != nil {
		t.stepper.endEpoch() // averaged weights need current sums
		layer := t.stepper.layer()
		if err := layer.check(); err != nil {
			return fmt.Errorf("%w after epoch %d at the rate %g; take a smaller one: %w", err, s.epoch, t.rate, ErrDiverged)
		}
		v, err := validate(layer, t.monitor.Valid, t.opts.Threads)
		if err != nil {
			return err
		}
		if s.best == nil || v.better(s.bestScore) {
			s.best, s.bestEpoch, s.bestScore = layer.clone(), s.epoch, v
		}
	}
	return nil
}

// block makes the steps of one block of an epoch, its examples in random order,
// and returns the sum of their losses; done counts the examples before it.
func (t *epochLoop[T]) block(ctx context.Context, s *state, ex Examples, block, done int, random *rand.Rand) (sum float64, err error) {
	rate := t.rate * rateFactor(t.schedule, s.epoch, t.epochs, block, t.src.blocks)
	if !(rate >= 0) || math.IsInf(rate, 1) {
		return 0, fmt.Errorf("softmax: the schedule gives the rate %v in epoch %d, want a finite number of at least 0: %w", rate, s.epoch+1, ErrOptions)
	}
	t.order = slices.Grow(t.order[:0], ex.X.Rows())[:ex.X.Rows()]
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if !t.inOrder {
		random.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	}
	if block > 0 {
		t.stepper.endEpoch() // with the rate of the block before
	}
	t.stepper.take(ex)
	t.stepper.beginEpoch(rate, (len(t.order)+t.batch-1)/t.batch)
	for at := 0; at < len(t.order); at += t.batch {
		if err := ctx.Err(); err != nil {
			return sum, fmt.Errorf("softmax: stopped in epoch %d of %d, after %d of %d examples: %w", s.epoch+1, t.epochs, done+at, t.src.rows, err)
		}
		l := t.stepper.makeStep(t.order[at:min(at+t.batch, len(t.order))])
		sum += l
		s.steps++
		if !finite(l) {
			return sum, fmt.Errorf("softmax: the loss is %v in epoch %d at the rate %g; take a smaller one: %w", l, s.epoch+1, rate, ErrDiverged)
		}
	}
	return sum, nil
}
