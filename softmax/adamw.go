package softmax

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019). It is
// not linear, so it trains V itself: A matters beyond K, and a step costs
// O(d m).
type AdamW struct {
	Epochs      int     // passes over the examples; 0 means 20
	Batch       int     // examples a step; 0 means 32
	Rate        float64 // step size; 0 means 0.01
	Beta1       float64 // decay of the mean gradient; 0 means 0.9
	Beta2       float64 // decay of its square; 0 means 0.999
	Epsilon     float64 // added to its root; 0 means 1e-8
	WeightDecay float64 // of V a step, times the rate; 0 means 0.01, negative: none
	Schedule    Schedule

	Monitor
}

func (AdamW) isTrainer() {}

// trainAdamW fits V by AdamW. The prior is not used: the weight decay stands in for it.
// It holds three numbers for each of V (d x m) and of the bias: the weight and the two
// averages.
func trainAdamW[T matrix.Float](ctx context.Context, src *source, opts Options, adam AdamW, _ float64) (*Layer, Record, error) {
	loop, _, err := newAdamW[T](src, opts, adam)
	if err != nil {
		return nil, Record{}, err
	}
	return loop.run(ctx)
}

// newAdamW makes the loop of an AdamW run and the weights that it moves.
func newAdamW[T matrix.Float](src *source, opts Options, adam AdamW) (*epochLoop[T], *adamUpdate[T], error) {
	if err := adam.Check(); err != nil {
		return nil, nil, fmt.Errorf("softmax: AdamW: %w: %w", err, ErrOptions)
	}
	adam.Epochs, adam.Batch = positive(adam.Epochs, 20), min(positive(adam.Batch, 32), src.rows)
	for _, d := range []struct {
		field     *float64
		otherwise float64
	}{{&adam.Rate, 0.01}, {&adam.Beta1, 0.9}, {&adam.Beta2, 0.999}, {&adam.Epsilon, 1e-8}, {&adam.WeightDecay, 0.01}} {
		if *d.field == 0 {
			*d.field = d.otherwise
		}
	}
	adam.WeightDecay = max(adam.WeightDecay, 0)
	outputs := opts.Sharing.Rows()
	biases := opts.shared().Classes()
	if opts.Hierarchy != nil {
		outputs = biases
	}
	n := src.features * outputs
	u := &adamUpdate[T]{adam: adam, outputs: outputs, dim: src.features, threads: opts.Threads,
		scale:   T(1 / math.Sqrt(src.squaredNorm)),
		sharing: opts.Sharing, hierarchy: opts.Hierarchy, noBias: opts.NoBias,
		v: make([]T, n), mean: make([]T, n), square: make([]T, n),
		bias: make([]T, biases), biasMean: make([]T, biases), biasSquare: make([]T, biases),
		gradients: newGradients[T](src, opts, adam.Batch, opts.Sharing, sharing.None{K: outputs}),
		slot:      make([]int32, src.features),
	}
	if err := unfold(opts.Init, u.v, u.bias, 1, opts.Sharing, opts.Threads); err != nil {
		return nil, nil, err
	}
	loop := &epochLoop[T]{
		name: fmt.Sprintf("AdamW betas %v %v epsilon %v decay %v", adam.Beta1, adam.Beta2, adam.Epsilon, adam.WeightDecay),
		src:  src, opts: opts, monitor: adam.Monitor,
		epochs: adam.Epochs, batch: adam.Batch, rate: adam.Rate, schedule: adam.Schedule,
		stepper: u,
	}
	return loop, u, nil
}

// adamUpdate is AdamW on V.
type adamUpdate[T matrix.Float] struct {
	adam      AdamW
	scale     T // of the inputs
	dim       int
	outputs   int
	threads   int
	sharing   sharing.Sharing
	hierarchy *loss.HierarchicalSoftmax
	noBias    bool

	v, mean, square            []T
	bias, biasMean, biasSquare []T
	gradients                  *gradients[T]
	slot                       []int32 // 1 + place of a feature in the batch, 0 if absent
	steps                      int
	rate                       float64
}

func (u *adamUpdate[T]) beginEpoch(rate float64, _ int) { u.rate = rate }
func (u *adamUpdate[T]) take(ex Examples)               { u.gradients.take(ex) }
func (u *adamUpdate[T]) close()                         {}
func (u *adamUpdate[T]) endEpoch()                      {}
func (u *adamUpdate[T]) setSteps(steps int)             { u.steps = steps }

// makeStep is Algorithm 2 of Loshchilov and Hutter (2019) with the mean gradient of the
// batch. Features that the batch does not have get a gradient of 0: their averages decay
// and go on moving the weights, so a step costs O(d m) and not O(nonzeros x m).
func (u *adamUpdate[T]) makeStep(batch []int32) float64 {
	all := u.gradients
	threads, features := all.threadsFor(batch, sharedWorkByRow), all.collect(batch)
	loss, gradBias := all.of(threads, batch, u.v, 1, u.bias)
	for n, f := range features {
		u.slot[f] = int32(n) + 1
	}
	u.steps++
	// Both averages start at 0 and are that much too small after some steps.
	step := adamStep[T]{
		rate:  T(u.rate / (1 - math.Pow(u.adam.Beta1, float64(u.steps)))),
		root:  T(1 / math.Sqrt(1-math.Pow(u.adam.Beta2, float64(u.steps)))),
		beta1: T(u.adam.Beta1), beta2: T(u.adam.Beta2), epsilon: T(u.adam.Epsilon),
	}
	r := u.outputs
	// In the scaled inputs the weights are V/scale and the gradient scale times
	// as large; Adam's step has the length of the rate either way.
	keep := T(1 - u.rate*u.adam.WeightDecay)
	all.reserve((u.dim + applyGrain - 1) / applyGrain)
	kernel.Parallel(u.threads, u.dim, applyGrain, func(block, lo, hi int) {
		for f := lo; f < hi; f++ {
			a, b := f*r, (f+1)*r
			var g []T
			if n := int(u.slot[f]); n > 0 {
				g = all.row(block, n-1)
			}
			step.move(u.v[a:b], u.mean[a:b], u.square[a:b], g, u.scale, keep)
		}
	})
	if !u.noBias {
		step.move(u.bias, u.biasMean, u.biasSquare, gradBias, 1, 1)
	}
	for _, f := range features {
		u.slot[f] = 0
	}
	return loss
}

// adamStep is what all numbers have in common in one step.
type adamStep[T matrix.Float] struct {
	rate, root, beta1, beta2, epsilon T
}

// move makes one step of a few numbers; a nil gradient is 0.
func (s *adamStep[T]) move(v, mean, square, grad []T, scale, keep T) {
	for j := range v {
		var g T
		if grad != nil {
			g = scale * grad[j]
		}
		mean[j] = s.beta1*mean[j] + (1-s.beta1)*g
		square[j] = s.beta2*square[j] + (1-s.beta2)*g*g
		length := s.root*T(math.Sqrt(float64(square[j]))) + s.epsilon
		v[j] = keep*v[j] - scale*s.rate*mean[j]/length
	}
}

// layer folds V into W = A V, in O(d m) at least.
func (u *adamUpdate[T]) layer() *Layer {
	return fold(u.v, u.bias, 1, u.dim, u.sharing, u.hierarchy, u.threads)
}

// arrays returns V, the bias and both averages of each; the number of steps, on which the
// correction of the averages depends, is in the checkpoint.
func (u *adamUpdate[T]) arrays() map[string][]T {
	return map[string][]T{"weight": u.v, "mean": u.mean, "square": u.square,
		"bias": u.bias, "bias_mean": u.biasMean, "bias_square": u.biasSquare}
}
