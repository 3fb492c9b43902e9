package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/treeloss/treeloss/matrix"
)

// stepper moves the weights of a stochastic trainer. newSGD and newAdamW choose it.
type stepper[T matrix.Float] interface {
	// beginEpoch readies it for an epoch of so many steps.
	beginEpoch(rate float64, steps int)
	// makeStep makes a step on a batch and returns the sum of its losses, as they
	// were before.
	makeStep(batch []int32) float64
	// endEpoch makes what layer and arrays return current. More than one is one.
	endEpoch()
	// layer returns the classifier to use, a copy.
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
	ex       Examples
	opts     Options
	monitor  Monitor
	epochs   int
	batch    int
	rate     float64
	schedule Schedule
	inOrder  bool // of the examples, in each epoch
	stepper  stepper[T]
	about    Run // set if there are checkpoints
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
	order := make([]int32, t.ex.X.Rows())
	for s.epoch < t.epochs && !t.patienceOver(&s) {
		if err := t.epoch(ctx, &s, order); errors.Is(err, ErrDiverged) {
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
	if v.X.Cols() != t.ex.X.Cols() {
		return fmt.Errorf("softmax: validation examples have %d features, the others %d", v.X.Cols(), t.ex.X.Cols())
	}
	return nil
}

// ErrDiverged says that a trainer's numbers grew without bound: its rate is too
// large.
var ErrDiverged = errors.New("training diverged")

func (t *epochLoop[T]) patienceOver(s *state) bool {
	return t.monitor.Valid != nil && t.monitor.Patience > 0 && s.epoch-s.bestEpoch >= t.monitor.Patience && s.epoch > 0
}

func (t *epochLoop[T]) result(s *state) *Layer {
	if s.best != nil {
		return s.best
	}
	return t.stepper.layer()
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
	t.stepper.beginEpoch(rate, (len(order)+t.batch-1)/t.batch)
	defer t.stepper.endEpoch()
	var sum float64
	for at := 0; at < len(order); at += t.batch {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("softmax: stopped in epoch %d of %d, after %d of %d examples: %w", s.epoch+1, t.epochs, at, len(order), err)
		}
		l := t.stepper.makeStep(order[at:min(at+t.batch, len(order))])
		sum += l
		s.steps++
		if !finite(l) {
			return fmt.Errorf("softmax: the loss is %v in epoch %d at the rate %g; take a smaller one: %w", l, s.epoch+1, rate, ErrDiverged)
		}
	}
	s.epoch++
	s.loss = sum / t.ex.totalWeight()
	if t.monitor.Valid != nil {
		t.stepper.endEpoch() // averaged weights need current sums
		layer := t.stepper.layer()
		if err := layer.check(); err != nil {
			return fmt.Errorf("%w after epoch %d at the rate %g; take a smaller one: %w", err, s.epoch, rate, ErrDiverged)
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
