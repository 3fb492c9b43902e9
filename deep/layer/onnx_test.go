package layer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// The tests run on ONNX Runtime as well, where it is compiled in and at hand.
func TestMain(m *testing.M) { backendtest.Main(m) }

// On ONNX Runtime each layer and its gradients, in its input and in what it
// trains, are those of the go backend, whose gradients TestGradients checks: 20
// times, as a race may go well once.
func TestONNXEqualsGo(t *testing.T) {
	plain, fast := backendtest.Both(t)
	rng := rand.New(rand.NewPCG(1, 3))
	x := make([]float32, 3*4*6*3)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	in := func() *tensors.Tensor { return tensors.FromFlatDataAndDimensions(x, 3, 4, 6, 3) } // a tensor is for one backend
	for name, f := range cases() {
		store := model.NewStore()
		store.SetParam(model.ParamInitialSeed, int64(3))
		graphs := func(scope *model.Scope, x *graph.Node) []*graph.Node {
			scope.Store().SetTraining(x.Graph(), true)
			y := f(scope, x)
			weight := make([]float32, y.Shape().Size()) // else a norm's gradient is 0
			for i := range weight {
				weight[i] = float32(math.Sin(float64(i)))
			}
			nodes := []*graph.Node{x}
			for v := range scope.IterVariables() {
				if v.Trainable && v.InUseByGraph(x.Graph()) && v.DType().IsFloat() {
					nodes = append(nodes, v.NodeValue(x.Graph()))
				}
			}
			sum := graph.ReduceAllSum(graph.Mul(y, graph.ConstTensor(x.Graph(), tensors.FromFlatDataAndDimensions(weight, y.Shape().Dimensions...))))
			return append(graph.Gradient(sum, nodes...), y)
		}
		want := model.MustCallOnceN(plain, store, graphs, in())
		copied := model.NewStore() // what moves, the averages, no gradient depends on
		for v := range store.IterVariables() {
			if v.DType() == dtypes.Float32 {
				values := tensors.MustCopyFlatData[float32](v.MustValue())
				copied.VariableWithValue(v.Path(), tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)).SetTrainable(v.Trainable)
			}
		}
		exec := model.MustNewExec(fast, copied, graphs)
		for run := range 20 {
			for i, got := range exec.MustCall(in()) {
				if d := apart(tensors.MustCopyFlatData[float32](got), tensors.MustCopyFlatData[float32](want[i])); !(d <= 1e-5) {
					t.Fatalf("%s, run %d: output %d of %d differs by %g", name, run, i+1, len(want), d)
				}
			}
		}
		exec.Finalize()
	}
}

// apart returns the largest difference, relative to the largest number.
func apart(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var most, scale float64
	for i := range a {
		scale = max(scale, math.Abs(float64(b[i])))
		if d := math.Abs(float64(a[i]) - float64(b[i])); !(d <= most) { // NaN counts
			most = d
		}
	}
	return most / max(scale, 1)
}
