package train

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// Optimizer changes the variables of a model to lower a loss; SGD and AdamW are.
type Optimizer interface {
	optimizer.Interface
	// SetRate sets the learning rate of the steps to come.
	SetRate(store *model.Store, rate float64) error
}

var (
	_ Optimizer = SGD{}
	_ Optimizer = AdamW{}
)

// adamScope holds the moments of each variable, under the variable's own path.
const adamScope = "/" + optimizer.Scope + "/adamw"

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019), in
// PyTorch's form: with m and v the moving averages of the gradient and of its
// square, each divided by 1 - beta^step,
//
//	w -= rate (m / (sqrt(v) + Epsilon) + Decay w)
//
// Variables of fewer than two axes do not decay. As SGD it leaves alone what is
// no float.
type AdamW struct {
	Rate    float64 // of the first step; 0 means 1e-3
	Beta1   float64 // 0 means 0.9
	Beta2   float64 // 0 means 0.999
	Epsilon float64 // 0 means 1e-8
	Decay   float64
	Clip    float64 // most that the norm of all gradients together may be; 0 means any
}

// UpdateGraph adds one step to the graph. It panics if the loss is no scalar.
func (o AdamW) UpdateGraph(scope *model.Scope, g *graph.Graph, loss *graph.Node) {
	if !loss.IsScalar() {
		panic(fmt.Errorf("train: adamw: loss has shape %s, want a scalar", loss.Shape()))
	}
	var variables []*model.Variable
	var values []*graph.Node
	for _, v := range trained(scope, g) {
		if isFloat(v) {
			variables, values = append(variables, v), append(values, v.NodeValue(g))
		}
	}
	gradients := graph.Gradient(loss, values...)
	if o.Clip > 0 {
		clip(gradients, o.Clip)
	}
	store := scope.Store()
	step := optimizer.IncrementGlobalStep(g, dtypes.Float32)
	rate := o.rateVariable(store).NodeValue(g)
	beta1, beta2 := orDefault(o.Beta1, 0.9), orDefault(o.Beta2, 0.999)
	// 1 - beta^step, as the graph has powers of e only.
	corrected := func(x *graph.Node, beta float64) *graph.Node {
		power := graph.Exp(graph.MulScalar(step, math.Log(beta)))
		return graph.Div(x, graph.ConvertDType(graph.OneMinus(power), x.DType()))
	}
	for i, v := range variables {
		value, gradient := values[i], gradients[i]
		own := store.Scope(adamScope + v.Path()).WithInitializer(initializer.Zero)
		average := func(name string, x *graph.Node, beta float64) *graph.Node {
			state := own.VariableWithShape(name, v.Shape()).SetTrainable(false)
			m := graph.Add(graph.MulScalar(state.NodeValue(g), beta), graph.MulScalar(x, 1-beta))
			state.SetNodeValue(m)
			return corrected(m, beta)
		}
		m := average("mean", gradient, beta1)
		s := average("square", graph.Square(gradient), beta2)
		change := graph.Div(m, graph.AddScalar(graph.Sqrt(s), orDefault(o.Epsilon, 1e-8)))
		if o.Decay != 0 && v.Shape().Rank() > 1 {
			change = graph.Add(change, graph.MulScalar(value, o.Decay))
		}
		v.SetNodeValue(graph.Sub(value, graph.Mul(change, graph.ConvertDType(rate, v.DType()))))
	}
}

// clip shortens gradients, as one vector, to at most a length.
func clip(gradients []*graph.Node, most float64) {
	var sum *graph.Node
	for _, x := range gradients {
		if s := graph.ConvertDType(graph.ReduceAllSum(graph.Square(x)), dtypes.Float32); sum == nil {
			sum = s
		} else {
			sum = graph.Add(sum, s)
		}
	}
	if sum == nil {
		return
	}
	scale := graph.MinScalar(graph.Div(graph.Const(sum.Graph(), float32(most)), graph.AddScalar(graph.Sqrt(sum), 1e-6)), 1)
	for i, x := range gradients {
		gradients[i] = graph.Mul(x, graph.ConvertDType(scale, x.DType()))
	}
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// Clear removes the moments, so that a model gets smaller or starts anew.
func (o AdamW) Clear(scope *model.Scope) error {
	return scope.Store().DeleteVariablesInScope(adamScope)
}

// SetRate sets the learning rate of the steps to come.
func (o AdamW) SetRate(store *model.Store, rate float64) error {
	return o.rateVariable(store).SetValue(tensors.FromScalar(float32(rate)))
}

func (o AdamW) rateVariable(store *model.Store) *model.Variable {
	return optimizer.LearningRateVar(store.RootScope(), dtypes.Float32, orDefault(o.Rate, 1e-3))
}
