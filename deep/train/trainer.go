package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/internal/tensorboard"
)

// Trainer trains a Task on one backend. It is for one goroutine.
type Trainer struct {
	task        Task
	data, valid Data
	opts        Options
	store       *model.Store
	optimizer   optimizer.Interface
	step        *model.Exec
	evaluator   *Evaluator
	state       state
	best        *safetensors.File   // of a training without a folder
	events      *tensorboard.Writer // nil: none
	pace        pace
}

// Result says how a training ended.
type Result struct {
	Epochs    int     // that were trained, earlier ones of a resumed run too
	BestEpoch int     // the one whose weights the store holds: the best on valid, or the last
	Best      *Valid  // its evaluation; nil without valid
	Loss      float64 // of the last epoch's training
	Steps     int     // of this run
	Seconds   float64 // of this run
}

// New returns a trainer of a task on data. valid may be nil: then there is no
// evaluation, and no early stopping. Options that make no sense and labels out of
// range are errors, as is a folder with a checkpoint that is not to be resumed (ErrCheckpoint).
// Graphs are compiled at the first step, which takes seconds to minutes. Close the Trainer.
func New(b compute.Backend, task Task, data, valid Data, opts Options) (*Trainer, error) {
	opts = opts.withDefaults(data.Len())
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if valid == nil && opts.Patience > 0 {
		return nil, errors.New("train: patience needs examples to evaluate on")
	}
	if err := cmp.Or(task.check(data), task.check(valid)); err != nil {
		return nil, err
	}
	t := &Trainer{task: task, data: data, valid: valid, opts: opts, store: model.NewStore(), optimizer: opts.Optimizer}
	if t.optimizer == nil {
		t.optimizer = SGD{Rate: opts.Rate.Base, Momentum: opts.Momentum, Decay: opts.Decay, Nesterov: opts.Nesterov}
	}
	if err := t.begin(); err != nil {
		return nil, err
	}
	if opts.Start != nil && t.state.Epoch == 0 {
		if err := opts.Start(t.store); err != nil {
			return nil, err
		}
	}
	var err error
	if t.step, err = model.NewExec(b, t.store, t.stepGraph); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if valid != nil {
		if t.evaluator, err = NewEvaluator(b, t.store, task, opts.Batch); err != nil {
			return nil, err
		}
	}
	if err := t.openEvents(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// check refuses labels that are out of range. There may be no data.
func (t Task) check(data Data) error {
	if data == nil {
		return nil
	}
	for i := range data.Len() {
		if l := data.Label(i); l < 0 || l >= t.Classes {
			return fmt.Errorf("train: example %d: label %d, want 0 to %d", i, l, t.Classes-1)
		}
	}
	return nil
}

// Store returns the variables of the model.
func (t *Trainer) Store() *model.Store { return t.store }

// Close frees what the backend holds.
func (t *Trainer) Close() {
	if t.events != nil {
		t.events.Close() // each epoch is in the file already
	}
	t.step.Finalize()
	if t.evaluator != nil {
		t.evaluator.Close()
	}
}

// stepGraph takes the inputs and, last, labels [batch, 1]; it returns the loss
// and the number of examples that the logits get right, as scalars: what else the backend
// computes stays there.
func (t *Trainer) stepGraph(scope *model.Scope, in []*graph.Node) []*graph.Node {
	g, labels := in[0].Graph(), in[len(in)-1]
	t.store.SetTraining(g, true)
	logits := t.task.logits(scope.WithInitializer(Start(t.opts.Seed)), in[:len(in)-1])
	loss := t.task.Loss([]*graph.Node{labels}, []*graph.Node{logits})
	t.optimizer.UpdateGraph(scope, g, loss)
	right := graph.Equal(graph.ArgMax(logits, -1, dtypes.Int32), graph.Squeeze(labels, -1))
	return []*graph.Node{loss, graph.ReduceAllSum(graph.ConvertDType(right, dtypes.Float32))}
}

// logits builds the whole network: [batch, k].
func (t Task) logits(scope *model.Scope, inputs []*graph.Node) *graph.Node {
	return t.Head(scope.In(HeadScope), t.Features(scope, inputs))
}

// Run trains up to the last epoch, or until the patience is at an end, and leaves
// the best weights in the store. When ctx ends it returns with an error after the
// step at hand; the checkpoint is that of the last whole epoch.
func (t *Trainer) Run(ctx context.Context) (Result, error) {
	start, first := time.Now(), t.state.Step
	var err error
	for err == nil && !t.over() {
		if err = t.epoch(ctx); err != nil {
			err = fmt.Errorf("train: epoch %d of %d: %w", t.state.Epoch+1, t.opts.Epochs, err)
		}
	}
	if err == nil {
		err = t.takeBest()
	}
	s := t.state
	r := Result{Epochs: s.Epoch, BestEpoch: s.BestEpoch, Best: s.Best, Loss: s.Loss, Steps: s.Step - first, Seconds: time.Since(start).Seconds()}
	if s.Best == nil {
		r.BestEpoch = s.Epoch
	}
	return r, err
}

// over tells that the last epoch is done, or the patience is at an end.
func (t *Trainer) over() bool {
	return t.state.Epoch >= t.opts.Epochs || t.opts.Patience > 0 && t.state.Epoch-t.state.BestEpoch >= t.opts.Patience
}

// epochRate is the rate with which an epoch, from 1, begins.
func (t *Trainer) epochRate(epoch int) float64 { return t.opts.Rate.Rate(float64(epoch - 1)) }

// epoch trains one epoch, evaluates, and writes the checkpoint.
func (t *Trainer) epoch(ctx context.Context) error {
	start := time.Now()
	p := Progress{Epoch: t.state.Epoch + 1, Epochs: t.opts.Epochs, Steps: t.data.Len() / t.opts.Batch}
	evaluations := 0 // left, this epoch's among them
	if t.valid != nil {
		evaluations = p.Epochs - t.state.Epoch
	}
	batches, stop := prefetch(t.data, order(t.data.Len(), t.opts.Seed, t.state.Epoch), t.opts.Batch, t.state.Epoch)
	defer stop()
	var loss, right float64 // sums over the steps so far
	last := start
	for b := range batches {
		if err := cmp.Or(ctx.Err(), b.err); err != nil {
			return err
		}
		l, hits, err := t.takeStep(b, p)
		if err != nil {
			return err
		}
		loss, right = loss+l, right+hits
		p.Step++
		t.state.Step++
		n := float64(p.Step)
		p.Loss, p.Accuracy = loss/n, right/(n*float64(t.opts.Batch))
		now := time.Now()
		t.pace.step(now.Sub(last))
		last = now
		p.PerSecond = n * float64(t.opts.Batch) / now.Sub(start).Seconds()
		p.Left = t.pace.left(p.Steps-p.Step+(p.Epochs-p.Epoch)*p.Steps, evaluations)
		t.opts.Progress(p)
	}
	t.state.Epoch++
	t.state.Loss = p.Loss
	if t.valid != nil {
		v, err := t.evaluator.Evaluate(ctx, t.valid)
		if err != nil {
			return err
		}
		t.pace.evaluate = time.Since(last)
		p.Valid, p.Left = &v, t.pace.left((p.Epochs-p.Epoch)*p.Steps, evaluations-1)
		// Of epochs that are as good the first is the best: later ones are trained on for
		// nothing.
		if t.state.Best == nil || v.Accuracy > t.state.Best.Accuracy {
			t.state.Best, t.state.BestEpoch = &v, t.state.Epoch
		}
		t.opts.Progress(p)
	}
	return t.save(p, time.Since(start))
}

// takeStep makes one step at the rate of its place in the epoch, and returns its loss
// and how many examples the logits got right. A loss that is no number is an error: the
// weights are lost.
func (t *Trainer) takeStep(b step, p Progress) (loss, right float64, err error) {
	rate := t.opts.Rate.Rate(float64(t.state.Epoch) + float64(p.Step)/float64(p.Steps))
	if err := SetRate(t.store, rate); err != nil {
		return 0, 0, err
	}
	out, err := t.step.Call(b.inputs...)
	if err != nil {
		return 0, 0, err
	}
	loss = float64(tensors.ToScalar[float32](out[0]))
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, 0, fmt.Errorf("step %d: the loss is %v; a smaller learning rate than %g may help", p.Step+1, loss, rate)
	}
	return loss, float64(tensors.ToScalar[float32](out[1])), nil
}

// step is what one step of training takes: inputs and, last, labels.
type step struct {
	inputs []any
	err    error
}

// prefetch makes the batches of an epoch ahead of their use, on a goroutine of its own:
// pictures are decoded while the backend computes. The examples that are left over when
// the last whole batch is full are left out, as a batch of another size would have to be
// compiled again; the next epoch leaves out others. Two batches wait at most. Call the
// function to end it early.
func prefetch(data Data, rows []int, batch, epoch int) (<-chan step, func()) {
	out, done := make(chan step, 2), make(chan struct{})
	go func() {
		defer close(out)
		for chunk := range slices.Chunk(rows[:len(rows)/batch*batch], batch) {
			labels := make([]int32, batch)
			for i, r := range chunk {
				labels[i] = int32(data.Label(r))
			}
			inputs, err := data.Batch(chunk, epoch)
			s := step{append(anys(inputs), tensors.FromFlatDataAndDimensions(labels, batch, 1)), err}
			select {
			case out <- s:
			case <-done:
				return
			}
		}
	}()
	return out, func() { close(done) }
}
