package train

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Streams keep the draws of one seed apart.
const (
	weightStream = 0x7765_6967
	orderStream  = 0x6f72_6465
)

// Start returns an initializer that draws weights here, in float32, and not on
// the backend, whose generators differ: so a seed starts the same network
// everywhere. Kernels and weights are normal with variance 2/inputs (He et al.
// 2015), vectors are 0. Each call continues the stream, so variables must be
// built in one order.
func Start(seed uint64) model.VariableInitializer {
	rng := rand.New(rand.NewPCG(seed, weightStream))
	return func(g *graph.Graph, shape shapes.Shape) *graph.Node {
		if shape.Rank() < 2 || shape.DType != dtypes.Float32 {
			return graph.Zeros(g, shape)
		}
		inputs := 1
		for _, d := range shape.Dimensions[:shape.Rank()-1] {
			inputs *= d
		}
		deviation := math.Sqrt(2 / float64(max(inputs, 1)))
		x := make([]float32, shape.Size())
		for i := range x {
			x[i] = float32(rng.NormFloat64() * deviation)
		}
		return graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(x, shape.Dimensions...))
	}
}

// order returns the examples of an epoch, shuffled. By seed and epoch alone: a run that goes
// on at epoch 7 has the order of one that was never interrupted.
func order(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed^orderStream, uint64(epoch))).Perm(n)
}
