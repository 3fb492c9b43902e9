package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// Scopes of what the optimizers keep of each variable, under the variable's own path.
const (
	sgdScope  = "/" + optimizer.Scope + "/sgd"
	adamScope = "/" + optimizer.Scope + "/adamw"
)

var (
	_ optimizer.Interface = SGD{}
	_ optimizer.Interface = AdamW{}
)

// SetRate sets the learning rate of the steps to come, of SGD or AdamW. GoMLX's
// NewTrainer forgets it, so call it after that.
func SetRate(store *model.Store, rate float64) error {
	return rateVariable(store, rate).SetValue(tensors.FromScalar(float32(rate)))
}

// rateVariable returns the variable of the learning rate, made with a first value.
func rateVariable(store *model.Store, first float64) *model.Variable {
	return optimizer.LearningRateVar(store.RootScope(), dtypes.Float32, first)
}

// SGD is stochastic gradient descent with momentum and weight decay, in PyTorch's
// form:
//
//	g += Decay w;  m = Momentum m + g;  w -= rate m
//
// with Nesterov w -= rate (g + Momentum m). Variables of fewer than two axes, biases
// and what belongs to norms, do not decay. It implements GoMLX's
// optimizer.Interface; SetRate changes the rate between steps.
//
// Unlike GoMLX's own optimisers it leaves alone what is no float32 or float64: the
// random state comes back from a checkpoint as if it were to be trained.
type SGD struct {
	Rate     float64 // of the first step; 0 means 0.1
	Momentum float64
	Decay    float64
	Nesterov bool
}

// UpdateGraph adds one step to the graph. It panics if the loss is no scalar.
func (o SGD) UpdateGraph(scope *model.Scope, g *graph.Graph, loss *graph.Node) {
	variables := floats(trained(scope, g))
	o.update(g, variables, gradients(loss, variables))
}

// UpdateGraphWithGradients adds one step for given gradients, one for each
// trainable variable in use, as GoMLX's accumulation of gradients finds them.
func (o SGD) UpdateGraphWithGradients(scope *model.Scope, gradients []*graph.Node, _ dtypes.DType) {
	if len(gradients) == 0 {
		return
	}
	g := gradients[0].Graph()
	all := trained(scope, g)
	variables := floats(all)
	var own []*graph.Node
	for _, v := range variables {
		own = append(own, gradients[slices.Index(all, v)])
	}
	o.update(g, variables, own)
}

// update adds a step by a gradient for each variable.
func (o SGD) update(g *graph.Graph, variables []*model.Variable, gradients []*graph.Node) {
	store := model.GetStore(g)
	optimizer.IncrementGlobalStep(g, dtypes.Float32)
	rate := rateVariable(store, cmp.Or(o.Rate, 0.1)).NodeValue(g)
	for i, v := range variables {
		value, gradient := v.NodeValue(g), gradients[i]
		if o.Decay != 0 && v.Shape().Rank() > 1 {
			gradient = graph.Add(gradient, graph.MulScalar(value, o.Decay))
		}
		if o.Momentum != 0 {
			state := kept(store, sgdScope, v, "momentum")
			m := graph.Add(graph.MulScalar(state.NodeValue(g), o.Momentum), gradient)
			state.SetNodeValue(m)
			if o.Nesterov {
				gradient = graph.Add(gradient, graph.MulScalar(m, o.Momentum))
			} else {
				gradient = m
			}
		}
		v.SetNodeValue(graph.Sub(value, graph.Mul(gradient, graph.ConvertDType(rate, v.DType()))))
	}
}

// Clear removes the momentum, one number a weight, so that a model gets smaller or starts anew.
func (o SGD) Clear(scope *model.Scope) error {
	return scope.Store().DeleteVariablesInScope(sgdScope)
}

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
	variables, store := floats(trained(scope, g)), scope.Store()
	gradients := gradients(loss, variables)
	if o.Clip > 0 {
		clip(gradients, o.Clip)
	}
	step := optimizer.IncrementGlobalStep(g, dtypes.Float32)
	rate := rateVariable(store, cmp.Or(o.Rate, 1e-3)).NodeValue(g)
	beta1, beta2 := cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999)
	for i, v := range variables {
		average := func(name string, x *graph.Node, beta float64) *graph.Node {
			state := kept(store, adamScope, v, name)
			m := graph.Add(graph.MulScalar(state.NodeValue(g), beta), graph.MulScalar(x, 1-beta))
			state.SetNodeValue(m)
			// Divided by 1 - beta^step, as the graph has powers of e only.
			power := graph.Exp(graph.MulScalar(step, math.Log(beta)))
			return graph.Div(m, graph.ConvertDType(graph.OneMinus(power), m.DType()))
		}
		value, gradient := v.NodeValue(g), gradients[i]
		m := average("mean", gradient, beta1)
		s := average("square", graph.Square(gradient), beta2)
		change := graph.Div(m, graph.AddScalar(graph.Sqrt(s), cmp.Or(o.Epsilon, 1e-8)))
		if o.Decay != 0 && v.Shape().Rank() > 1 {
			change = graph.Add(change, graph.MulScalar(value, o.Decay))
		}
		v.SetNodeValue(graph.Sub(value, graph.Mul(change, graph.ConvertDType(rate, v.DType()))))
	}
}

// Clear removes the moments, two numbers a weight, so that a model gets smaller or starts anew.
func (o AdamW) Clear(scope *model.Scope) error {
	return scope.Store().DeleteVariablesInScope(adamScope)
}

// clip shortens gradients, as one vector, to at most a length; 1e-6 is added to theirs,
// as PyTorch's clip_grad_norm_ does.
func clip(gradients []*graph.Node, most float64) {
	if len(gradients) == 0 {
		return
	}
	sum := graph.Const(gradients[0].Graph(), float32(0))
	for _, x := range gradients {
		sum = graph.Add(sum, graph.ConvertDType(graph.ReduceAllSum(graph.Square(x)), dtypes.Float32))
	}
	scale := graph.MinScalar(graph.Div(graph.Const(sum.Graph(), float32(most)), graph.AddScalar(graph.Sqrt(sum), 1e-6)), 1)
	for i, x := range gradients {
		gradients[i] = graph.Mul(x, graph.ConvertDType(scale, x.DType()))
	}
}

// gradients returns those of a loss in variables. It panics if the loss is no scalar.
func gradients(loss *graph.Node, variables []*model.Variable) []*graph.Node {
	if !loss.IsScalar() {
		panic(fmt.Errorf("train: loss has shape %s, want a scalar", loss.Shape()))
	}
	values := make([]*graph.Node, len(variables))
	for i, v := range variables {
		values[i] = v.NodeValue(loss.Graph())
	}
	return graph.Gradient(loss, values...)
}

// trained returns the trainable variables in use, in the order of GoMLX's
// gradients.
func trained(scope *model.Scope, g *graph.Graph) []*model.Variable {
	var out []*model.Variable
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			out = append(out, v)
		}
	}
	return out
}

// floats returns those of some variables that an optimizer may change.
func floats(all []*model.Variable) []*model.Variable {
	return slices.DeleteFunc(slices.Clone(all), func(v *model.Variable) bool {
		return v.DType() != dtypes.Float32 && v.DType() != dtypes.Float64
	})
}

// kept returns what an optimizer keeps of a variable under a name, 0 at first. It is a
// variable of the store, hence part of a checkpoint, and never trained.
func kept(store *model.Store, scope string, v *model.Variable, name string) *model.Variable {
	return store.Scope(scope+v.Path()).WithInitializer(initializer.Zero).VariableWithShape(name, v.Shape()).SetTrainable(false)
}
