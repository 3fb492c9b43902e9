package train

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Evaluator finds what a trained network says of examples.
type Evaluator struct {
	exec  *model.Exec
	batch int
}

// NewEvaluator returns an evaluator of the logits of a task whose variables are
// in the store; a variable that is not there is an error on first use.
func NewEvaluator(b compute.Backend, store *model.Store, task Task, batch int) (*Evaluator, error) {
	return newEvaluator(b, store, batch, task.logits)
}

// NewEmbedder returns an evaluator of the features of a task.
func NewEmbedder(b compute.Backend, store *model.Store, task Task, batch int) (*Evaluator, error) {
	return newEvaluator(b, store, batch, task.Features)
}

// newEvaluator compiles f on first use, for graphs that do not train.
func newEvaluator(b compute.Backend, store *model.Store, batch int, f func(*model.Scope, []*graph.Node) *graph.Node) (*Evaluator, error) {
	exec, err := model.NewExec(b, store, func(scope *model.Scope, in []*graph.Node) *graph.Node {
		store.SetTraining(in[0].Graph(), false)
		return f(scope.WithInitializer(missing), in)
	})
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return &Evaluator{exec: exec, batch: batch}, nil
}

// missing stands for the initializer of variables that must be there.
func missing(_ *graph.Graph, shape shapes.Shape) *graph.Node {
	panic(fmt.Errorf("train: a variable of shape %s is missing; train the model or load the right one", shape))
}

// Close frees what the backend holds.
func (e *Evaluator) Close() { e.exec.Finalize() }

// Each calls use with the output of each example of data, in order; the slice is
// used again. Batches have one size, the last of a set filled up with its first
// example, so that the backend compiles once: the size of the first set, if that is
// smaller than a batch. It ends at the first error, or with ctx.
func (e *Evaluator) Each(ctx context.Context, data Data, use func(i int, out []float32) error) error {
	// Each other size would have to be compiled anew, which takes seconds.
	e.batch = max(min(e.batch, data.Len()), 1)
	size := e.batch
	for from := 0; from < data.Len(); from += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := make([]int, size)
		for i := range rows {
			rows[i] = from
			if from+i < data.Len() {
				rows[i] = from + i
			}
		}
		batch, err := data.Batch(rows, -1)
		if err != nil {
			return err
		}
		var flat []float32
		out, err := e.exec.Call(anys(batch)...)
		if err == nil {
			flat, err = tensors.CopyFlatData[float32](out[0])
		}
		if err != nil {
			return fmt.Errorf("train: run the network: %w", err)
		}
		width := len(flat) / size
		for i := range min(size, data.Len()-from) {
			if err := use(from+i, flat[i*width:(i+1)*width]); err != nil {
				return err
			}
		}
	}
	return nil
}

// anys returns tensors as what GoMLX calls a graph with.
func anys(batch []*tensors.Tensor) []any {
	out := make([]any, len(batch))
	for i, x := range batch {
		out[i] = x
	}
	return out
}

// Evaluate returns accuracy and mean cross entropy in nats. Among equal logits the first
// class is the answer. Of logits z and the class y
//
//	loss = log Σ_c exp(z_c - max z) - (z_y - max z)
//
// in float64, whatever loss was trained with, so that losses can be compared.
func (e *Evaluator) Evaluate(ctx context.Context, data Data) (Valid, error) {
	var right, loss float64
	err := e.Each(ctx, data, func(i int, logits []float32) error {
		best := 0
		for c, v := range logits {
			if v > logits[best] {
				best = c
			}
		}
		y := data.Label(i)
		if best == y {
			right++
		}
		var sum float64
		for _, v := range logits {
			sum += math.Exp(float64(v - logits[best]))
		}
		loss += math.Log(sum) - float64(logits[y]-logits[best])
		return nil
	})
	n := float64(data.Len())
	return Valid{Accuracy: right / n, Loss: loss / n}, err
}
