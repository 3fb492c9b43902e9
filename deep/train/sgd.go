package train

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// sgdScope holds the momentum of each variable, under the variable's own path.
const sgdScope = "/" + optimizer.Scope + "/sgd"

// SGD is stochastic gradient descent with momentum and weight decay, in PyTorch's
// form: g += Decay w; m = Momentum m + g; w -= rate m (with Nesterov: w -= rate
// (g + Momentum m)). Variables of fewer than two axes, biases and what belongs to
// norms, do not decay. It implements GoMLX's optimizer.Interface; SetRate changes
// the rate between steps; GoMLX's NewTrainer forgets it, so call SetRate after that.
//
// Unlike GoMLX's own optimisers it leaves alone what is no float32 or float64: the
// random state comes back from a checkpoint as if it were to be trained.
type SGD struct {
	Rate     float64 // of the first step; 0 means 0.1
	Momentum float64
	Decay    float64
	Nesterov bool
}

var _ optimizer.Interface = SGD{}

// UpdateGraph adds one step to the graph. It panics if the loss is no scalar.
func (o SGD) UpdateGraph(scope *model.Scope, g *graph.Graph, loss *graph.Node) {
	if !loss.IsScalar() {
		panic(fmt.Errorf("train: sgd: loss has shape %s, want a scalar", loss.Shape()))
	}
	var values []*graph.Node
	for _, v := range trained(scope, g) {
		if isFloat(v) {
			values = append(values, v.NodeValue(g))
		}
	}
	o.update(scope, g, graph.Gradient(loss, values...))
}

// UpdateGraphWithGradients adds one step for given gradients, one for each
// trainable variable in use, as GoMLX's accumulation of gradients finds them.
func (o SGD) UpdateGraphWithGradients(scope *model.Scope, gradients []*graph.Node, _ dtypes.DType) {
	if len(gradients) == 0 {
		return
	}
	g := gradients[0].Graph()
	var float []*graph.Node
	for i, v := range trained(scope, g) {
		if isFloat(v) {
			float = append(float, gradients[i])
		}
	}
	o.update(scope, g, float)
}

func (o SGD) update(scope *model.Scope, g *graph.Graph, gradients []*graph.Node) {
	store := scope.Store()
	optimizer.IncrementGlobalStep(g, dtypes.Float32)
	rate := o.rateVariable(store).NodeValue(g)
	next := 0
	for _, v := range trained(scope, g) {
		if !isFloat(v) {
			continue
		}
		value, gradient := v.NodeValue(g), gradients[next]
		next++
		if o.Decay != 0 && v.Shape().Rank() > 1 {
			gradient = graph.Add(gradient, graph.MulScalar(value, o.Decay))
		}
		if o.Momentum != 0 {
			state := store.Scope(sgdScope+v.Path()).WithInitializer(initializer.Zero).VariableWithShape("momentum", v.Shape()).SetTrainable(false)
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

// Clear removes the momentum, so that a model gets smaller or starts anew.
func (o SGD) Clear(scope *model.Scope) error {
	return scope.Store().DeleteVariablesInScope(sgdScope)
}

// SetRate sets the learning rate of the steps to come.
func (o SGD) SetRate(store *model.Store, rate float64) error {
	return o.rateVariable(store).SetValue(tensors.FromScalar(float32(rate)))
}

func (o SGD) rateVariable(store *model.Store) *model.Variable {
	rate := o.Rate
	if rate == 0 {
		rate = 0.1
	}
	return optimizer.LearningRateVar(store.RootScope(), dtypes.Float32, rate)
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

func isFloat(v *model.Variable) bool {
	return v.DType() == dtypes.Float32 || v.DType() == dtypes.Float64
}
