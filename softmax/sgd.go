package softmax

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// SGD is stochastic gradient descent with momentum, as PyTorch writes it:
// velocity = Momentum*velocity + gradient + WeightDecay*V; V -= rate*velocity.
//
// It is linear in V, so it is run on W = A V itself with the gradient
// multiplied by K = A Aᵀ: the same W to rounding, at the cost of plain cross
// entropy. Rows of features that a batch does not hold are brought up to date
// when they next occur, by a power of the step's linear map, so a step costs
// O(nonzeros x k) and not O(d k).
type SGD struct {
	Epochs      int      // passes over the examples; 0 means 20
	Batch       int      // examples a step; 0 means 32
	Rate        float64  // step size for the mean gradient of a batch; 0 means 1
	Momentum    float64  // in 0..below 1
	Nesterov    bool     // look ahead by the momentum
	WeightDecay float64  // 0 means that of the prior, 1/(nτ²); negative: none. The bias has none
	Schedule    Schedule // of the rate over epochs; nil: constant
	Average     bool     // return the mean of the weights after each step; the start does not count (Polyak)
	Last        *Layer   // if set, becomes the weights after the last step, beside the mean that Average returns
	RawInputs   bool     // take inputs and rate as they are, not as if scaled
	InOrder     bool     // take the examples as they come, not in a new order each epoch

	Monitor
}

func (SGD) isTrainer() {}

// trainSGD fits W by SGD; the prior sets the weight decay unless that is given.
func trainSGD[T matrix.Float](ctx context.Context, src *source, opts Options, sgd SGD, prior float64) (*Layer, Record, error) {
	loop, u, err := newSGD[T](src, opts, sgd, prior)
	if err != nil {
		return nil, Record{}, err
	}
	layer, record, err := loop.run(ctx)
	if sgd.Last != nil {
		*sgd.Last = *u.layerOf(u.weight, u.bias).clone()
	}
	return layer, record, err
}

// newSGD makes the loop of an SGD run and the weights that it moves.
func newSGD[T matrix.Float](src *source, opts Options, sgd SGD, prior float64) (*epochLoop[T], *linearUpdate[T], error) {
	if err := sgd.Check(); err != nil {
		return nil, nil, fmt.Errorf("softmax: SGD: %w: %w", err, ErrOptions)
	}
	sgd.Epochs, sgd.Batch = positive(sgd.Epochs, 20), min(positive(sgd.Batch, 32), src.rows)
	if sgd.Rate == 0 {
		sgd.Rate = 1
	}
	switch {
	case sgd.WeightDecay < 0:
		sgd.WeightDecay = 0
	case sgd.WeightDecay == 0:
		sgd.WeightDecay = 1 / (src.weight * orDefault(prior))
	}
	square := 1.0
	if !sgd.RawInputs {
		square = 1 / src.squaredNorm
	}
	outputs := opts.shared().Classes()
	u := &linearUpdate[T]{sgd: sgd, square: T(square), outputs: outputs, dim: src.features, threads: opts.Threads, hierarchy: opts.Hierarchy, noBias: opts.NoBias, classes: opts.Sharing.Classes()}
	n := u.dim * outputs
	u.weight, u.last = make([]T, n), make([]int32, u.dim)
	if sgd.Momentum != 0 {
		u.velocity = make([]T, n)
	}
	u.bias, u.biasVelocity = make([]T, outputs), make([]T, outputs)
	if sgd.Average {
		u.sum, u.biasSum = make([]T, n), make([]T, outputs)
	}
	if opts.Init != nil {
		for j, w := range opts.Init.Dense() {
			u.weight[j] = T(w)
		}
		for j, b := range opts.Init.Bias {
			u.bias[j] = T(b)
		}
	}
	loop := &epochLoop[T]{
		name: fmt.Sprintf("SGD momentum %v Nesterov %v decay %v average %v raw %v", sgd.Momentum, sgd.Nesterov, sgd.WeightDecay, sgd.Average, sgd.RawInputs),
		src:  src, opts: opts, monitor: sgd.Monitor,
		epochs: sgd.Epochs, batch: sgd.Batch, rate: sgd.Rate, schedule: sgd.Schedule, inOrder: sgd.InOrder,
		stepper: newStepper(src, opts, u),
	}
	return loop, u, nil
}

// newStepper picks the fastest way to make the steps of u.
func newStepper[T matrix.Float](src *source, opts Options, u *linearUpdate[T]) stepper[T] {
	_, dense := src.form.X.(*matrix.Dense)
	if u, ok := any(u).(*linearUpdate[float32]); ok && dense {
		return any(newDenseSteps(src, opts, u)).(stepper[T])
	}
	rows := rowSteps[T]{u, newGradients[T](src, opts, u.sgd.Batch, sharing.None{K: u.classes}, opts.shared())}
	if !dense && u.sgd.Momentum == 0 && !u.sgd.Average {
		return &sparseSteps[T]{rowSteps: rows, scale: 1}
	}
	return &rows
}

// shared returns what the scores of the loss share: those of nodes share nothing. It
// has as many classes as there are biases.
func (o Options) shared() sharing.Sharing {
	if o.Hierarchy != nil {
		return sharing.None{K: o.Hierarchy.Scores()}
	}
	return o.Sharing
}

// positive returns n, or what stands for n below 1.
func positive(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}
