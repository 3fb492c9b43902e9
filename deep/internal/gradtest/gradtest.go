// Package gradtest checks gradients of graphs against central differences.
package gradtest

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Func builds a graph in a store that trains; its result may have any shape.
type Func func(scope *model.Scope, x *graph.Node) *graph.Node

// Worst returns the largest difference between the gradient of Σ r f(x), r fixed
// random numbers, and central differences, in x and in each trainable variable,
// relative to the largest entry. x is float64 of the given shape. At most 40
// entries of each are tried.
func Worst(b compute.Backend, f Func, dims ...int) float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	x := draw(rng, dims)
	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(3))
	var weight *tensors.Tensor
	value := func(scope *model.Scope, x *graph.Node) *graph.Node {
		store.SetTraining(x.Graph(), true)
		y := f(scope, x)
		if weight == nil {
			weight = tensors.FromFlatDataAndDimensions(draw(rng, y.Shape().Dimensions), y.Shape().Dimensions...)
		}
		return graph.ReduceAllSum(graph.Mul(y, graph.ConstTensor(x.Graph(), weight)))
	}
	at := func(x []float64) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(x, dims...) }

	var variables []*model.Variable
	gradients := model.MustCallOnceN(b, store, func(scope *model.Scope, x *graph.Node) []*graph.Node {
		y := value(scope, x)
		nodes := []*graph.Node{x}
		variables = nil
		for v := range scope.IterVariables() {
			if v.Trainable && v.InUseByGraph(x.Graph()) && v.DType().IsFloat() {
				variables = append(variables, v)
				nodes = append(nodes, v.NodeValue(x.Graph()))
			}
		}
		return graph.Gradient(y, nodes...)
	}, at(x))

	exec := model.MustNewExec(b, store, value)
	call := func() float64 { return tensors.ToScalar[float64](exec.MustCall1(at(x))) }
	worst := difference(x, tensors.MustCopyFlatData[float64](gradients[0]), call)
	for i, v := range variables {
		values := tensors.MustCopyFlatData[float64](v.MustValue())
		set := func() float64 {
			if err := v.SetValue(tensors.FromFlatDataAndDimensions(append([]float64(nil), values...), v.Shape().Dimensions...)); err != nil {
				return math.NaN()
			}
			return call()
		}
		worst = max(worst, difference(values, tensors.MustCopyFlatData[float64](gradients[i+1]), set))
		set()
	}
	return worst
}

// difference compares gradient with central differences in x, which f reads.
func difference(x, gradient []float64, f func() float64) float64 {
	const h = 1e-5
	var worst, scale float64
	for _, g := range gradient {
		scale = max(scale, math.Abs(g))
	}
	stride := max(1, len(x)/40)
	for i := 0; i < len(x); i += stride {
		old := x[i]
		x[i] = old + h
		up := f()
		x[i] = old - h
		down := f()
		x[i] = old
		if d := math.Abs(gradient[i] - (up-down)/(2*h)); !(d <= worst) {
			worst = d
		}
	}
	return worst / max(scale, 1e-12)
}

// draw returns normal numbers for a tensor of that shape.
func draw(rng *rand.Rand, dims []int) []float64 {
	n := 1
	for _, d := range dims {
		n *= d
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
