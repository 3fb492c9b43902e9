package softmax

import (
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
)

// linearUpdate is SGD on W. For each number of W it keeps the velocity and,
// for averaging, the sum of its values so far. A step without a gradient maps
// (weight, velocity, sum) linearly, the same for every number; rows not
// touched for n steps catch up by the n-th power of that map.
//
// It is the common part of three steppers: denseSteps, sparseSteps and rowSteps.
type linearUpdate[T matrix.Float] struct {
	sgd       SGD
	square    T // 1 / mean squared input length
	dim       int
	outputs   int
	classes   int
	threads   int
	hierarchy *loss.HierarchicalSoftmax
	noBias    bool

	weight, velocity, sum       []T // velocity: nil without momentum; sum: nil without an average
	bias, biasVelocity, biasSum []T
	last                        []int32 // step of this epoch up to which a row is current
	step                        int32
	averaged                    int
	rate                        float64
	powers                      []linearMap[T] // of the map of a step without gradient
	gradToWeight                T              // what a gradient of 1 adds to the weight
	biasStep                    kernel.Step[T]
	factors                     kernel.Factors[T] // of a step with gradient
}

// linearMap takes (weight, velocity, sum) to its next values.
type linearMap[T matrix.Float] struct {
	ww, wv T // weight from weight and velocity
	vw, vv T // velocity
	sw, sv T // sum, beside the sum itself
}

// beginEpoch makes the powers of the step's map for an epoch of so many steps: six
// numbers for each, in float64 until they are all made, as a power is a product of
// thousands of factors next to 1.
func (u *linearUpdate[T]) beginEpoch(rate float64, steps int) {
	u.rate, u.step = rate, 0
	clear(u.last)
	// The map of a step without a gradient, η the rate, λ the decay, μ the momentum:
	//
	//	v' = λ w + μ v    w' = w - η v'    sum' = sum + w'
	//
	// and for Nesterov w' = w - η (λ w + μ v'). The bias has λ = 0.
	one := func(decay float64) [6]float64 {
		mu := u.sgd.Momentum
		vw, vv := decay, mu
		var ww, wv float64
		if u.sgd.Nesterov { // step = gradient + decay*weight + mu*velocity'
			ww, wv = 1-rate*(decay+mu*vw), -rate*mu*vv
		} else {
			ww, wv = 1-rate*vw, -rate*vv
		}
		return [6]float64{ww, wv, vw, vv, ww, wv}
	}
	u.gradToWeight = T(-rate)
	if u.sgd.Nesterov {
		u.gradToWeight = T(-rate * (1 + u.sgd.Momentum))
	}
	u.biasStep = stepOf(toMap[T](one(0)), u.gradToWeight, 1)
	if u.noBias {
		u.biasStep = kernel.Step[T]{WW: 1}
	}
	u.powers = u.powers[:0]
	m := one(u.sgd.WeightDecay)
	at := [6]float64{1, 0, 0, 1, 0, 0} // the identity
	for range steps + 1 {
		u.powers = append(u.powers, toMap[T](at))
		w, v := [2]float64{at[0], at[1]}, [2]float64{at[2], at[3]}
		at = [6]float64{
			m[0]*w[0] + m[1]*v[0], m[0]*w[1] + m[1]*v[1],
			m[2]*w[0] + m[3]*v[0], m[2]*w[1] + m[3]*v[1],
			at[4] + m[4]*w[0] + m[5]*v[0], at[5] + m[4]*w[1] + m[5]*v[1],
		}
	}
	u.factors = kernel.NewFactors(stepOf(u.powers[1], u.square*u.gradToWeight, u.square))
}

// stepOf is the map m of a step, with the gradient.
func stepOf[T matrix.Float](m linearMap[T], gradToWeight, gradToVelocity T) kernel.Step[T] {
	return kernel.Step[T]{WW: m.ww, WV: m.wv, WG: gradToWeight, VW: m.vw, VV: m.vv, VG: gradToVelocity}
}

// toMap rounds a map: its numbers are ww, wv, vw, vv, sw and sv.
func toMap[T matrix.Float](m [6]float64) linearMap[T] {
	return linearMap[T]{T(m[0]), T(m[1]), T(m[2]), T(m[3]), T(m[4]), T(m[5])}
}

// advance applies m to the numbers lo..hi-1.
func (u *linearUpdate[T]) advance(m linearMap[T], lo, hi int) {
	w := u.weight[lo:hi]
	var v []T
	if u.sgd.Momentum != 0 {
		v = u.velocity[lo:hi]
	}
	if u.sum != nil {
		kernel.Axpy(m.sw, w, u.sum[lo:hi])
	}
	switch {
	case u.sgd.Momentum != 0:
		if u.sum != nil {
			kernel.Axpy(m.sv, v, u.sum[lo:hi])
		}
		kernel.Advance(m.ww, m.wv, m.vw, m.vv, w, v)
	case m.ww != 1: // no momentum: nothing reads the velocity
		kernel.Scale(m.ww, w)
	}
}

// catchUp brings the row of feature f to the current step.
func (u *linearUpdate[T]) catchUp(f int) {
	if behind := u.step - u.last[f]; behind > 0 {
		u.advance(u.powers[behind], f*u.outputs, (f+1)*u.outputs)
		u.last[f] = u.step
	}
}

// fetchAhead is how many rows before its turn a row is asked for, since rows of
// rare features come from main memory.
const fetchAhead = 4

// prepare makes the weights of these features current.
func (u *linearUpdate[T]) prepare(threads int, features []int32) {
	kernel.Parallel(threads, len(features), 64, func(_, lo, hi int) {
		for n := lo; n < hi; n++ {
			if ahead := n + fetchAhead; ahead < hi {
				f := int(features[ahead])
				kernel.Fetch(u.weight[f*u.outputs : (f+1)*u.outputs])
			}
			u.catchUp(int(features[n]))
		}
	})
}

// apply makes a step with the mean gradient of a batch: row makes that of
// features[n], told the number of the block of applyGrain features, too; all other
// features have none.
func (u *linearUpdate[T]) apply(threads int, features []int32, row func(block, n int) []T, gradBias []T) {
	r := u.outputs
	kernel.Parallel(threads, len(features), applyGrain, func(block, lo, hi int) {
		for n := lo; n < hi; n++ {
			f, g := int(features[n]), row(block, n)
			w := u.weight[f*r : (f+1)*r]
			if u.sgd.Momentum != 0 {
				u.factors.Apply(w, u.velocity[f*r:(f+1)*r], g)
			} else {
				kernel.ScaleAdd(u.powers[1].ww, w, u.square*u.gradToWeight, g)
			}
			u.last[f] = u.step + 1
			if u.sum != nil {
				kernel.Add(w, u.sum[f*r:(f+1)*r])
			}
		}
	})
	u.stepBias(gradBias)
	u.step++
}

// stepBias makes the step of the bias and counts it.
func (u *linearUpdate[T]) stepBias(gradBias []T) {
	s := u.biasStep
	for j, g := range gradBias {
		w, v := u.bias[j], u.biasVelocity[j]
		u.bias[j] = s.WW*w + s.WV*v + s.WG*g
		u.biasVelocity[j] = s.VW*w + s.VV*v + s.VG*g
		if u.biasSum != nil {
			u.biasSum[j] += u.bias[j]
		}
	}
	u.averaged++
}

// endEpoch makes all weights current.
func (u *linearUpdate[T]) endEpoch() {
	kernel.Parallel(u.threads, u.dim, 256, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			u.catchUp(f)
		}
	})
	clear(u.last)
	u.step = 0
}

// current returns the weights and biases to use: the mean of those after each
// step if asked for, else the last.
func (u *linearUpdate[T]) current() (weight, bias []T) {
	if !u.sgd.Average || u.averaged == 0 {
		return u.weight, u.bias
	}
	weight, bias = slices.Clone(u.sum), slices.Clone(u.biasSum)
	kernel.Scale(1/T(u.averaged), weight)
	kernel.Scale(1/T(u.averaged), bias)
	return weight, bias
}

// layer returns a copy of the weights to use, see current.
func (u *linearUpdate[T]) layer() *Layer {
	return u.layerOf(u.current())
}

// layerOf returns weights and biases as a layer.
func (u *linearUpdate[T]) layerOf(weight, bias []T) *Layer {
	return &Layer{Classes: u.classes, Features: u.dim, Hierarchy: u.hierarchy,
		Weight: toFloat32(weight), Bias: toFloat32(bias)}
}

// arrays returns weights, velocities and, with averaging, the sums of both weights and
// bias. The rows must be current (endEpoch): how far each is behind is not among them.
func (u *linearUpdate[T]) arrays() map[string][]T {
	a := map[string][]T{"weight": u.weight, "bias": u.bias, "bias_velocity": u.biasVelocity}
	if u.velocity != nil {
		a["velocity"] = u.velocity
	}
	if u.sum != nil {
		a["sum"], a["bias_sum"] = u.sum, u.biasSum
	}
	return a
}

func (u *linearUpdate[T]) close() {}

func (u *linearUpdate[T]) setSteps(steps int) { u.averaged = steps }

// rowSteps makes the steps of SGD on the rows of the features that a batch holds.
// It works for all examples and options; where another form does, that is faster.
type rowSteps[T matrix.Float] struct {
	*linearUpdate[T]
	gradients *gradients[T]
}

func (u *rowSteps[T]) take(ex Examples) { u.gradients.take(ex) }

// makeStep brings the rows of the batch's features up to date, finds the gradient at
// these weights, and moves the rows: O(nonzeros x k) beside the sharing.
func (u *rowSteps[T]) makeStep(batch []int32) float64 {
	g := u.gradients
	threads, features := g.threadsFor(batch, sharedWorkByRow), g.collect(batch)
	u.prepare(threads, features)
	loss, gradBias := g.of(threads, batch, u.weight, 1, u.bias)
	g.reserve((len(features) + applyGrain - 1) / applyGrain)
	u.apply(threads, features, g.row, gradBias)
	return loss
}
