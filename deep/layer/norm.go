package layer

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// Names of the variables of BatchNorm, all [channels]. The last two are not
// trained.
const (
	Scale    = "scale"
	Offset   = "offset"
	Mean     = "mean"
	Variance = "variance"
)

const (
	epsilon  = 1e-5 // added to the variance
	momentum = 0.1  // share of a batch in the moving averages
)

// BatchNorm normalises each channel, the last axis of x (Ioffe and Szegedy
// 2015): by the mean and variance of the batch while the graph trains, and by
// moving averages of these otherwise. The gradient flows through mean and
// variance. Constants are PyTorch's: 1e-5 is added to the variance, and a batch
// moves the averages by a tenth, with the variance as one estimated from a
// sample.
func BatchNorm(scope *model.Scope, x *graph.Node) *graph.Node {
	if x.Rank() < 2 {
		panic(fmt.Errorf("layer: batch norm: x has shape %s, want a batch and channels", x.Shape()))
	}
	g, dims := x.Graph(), x.Shape().Dimensions
	shape := shapes.Make(x.DType(), dims[len(dims)-1])
	ones, zeros := scope.WithInitializer(initializer.One), scope.WithInitializer(initializer.Zero)
	scale := ones.VariableWithShape(Scale, shape).NodeValue(g)
	offset := zeros.VariableWithShape(Offset, shape).NodeValue(g)
	movingMean := zeros.VariableWithShape(Mean, shape).SetTrainable(false)
	movingVariance := ones.VariableWithShape(Variance, shape).SetTrainable(false)
	mean, variance := movingMean.NodeValue(g), movingVariance.NodeValue(g)

	wide := func(c *graph.Node) *graph.Node { return graph.ExpandLeftToRank(c, x.Rank()) }
	if scope.IsTraining(g) {
		axes := make([]int, x.Rank()-1)
		n := 1
		for i := range axes {
			axes[i] = i
			n *= dims[i]
		}
		batchMean := graph.ReduceMean(x, axes...)
		x = graph.Sub(x, wide(batchMean)) // first, or the variance loses digits
		batchVariance := graph.ReduceMean(graph.Square(x), axes...)
		unbiased := graph.MulScalar(batchVariance, float64(n)/float64(max(n-1, 1)))
		move(movingMean, mean, batchMean)
		move(movingVariance, variance, unbiased)
		variance = batchVariance
	} else {
		x = graph.Sub(x, wide(mean))
	}
	factor := graph.Div(scale, graph.Sqrt(graph.AddScalar(variance, epsilon))) // Rsqrt has no gradient
	return graph.Add(graph.Mul(x, wide(factor)), wide(offset))
}

// move brings a moving average a tenth of the way to what a batch has. No gradient flows
// through it.
func move(v *model.Variable, old, batch *graph.Node) {
	v.SetNodeValue(graph.Add(graph.MulScalar(old, 1-momentum), graph.MulScalar(graph.StopGradient(batch), momentum)))
}
