package resnet

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
)

// long asks for tests of more than some seconds.
var long = flag.Bool("long", false, "run tests that take long")

// parameters counts what is trained.
func parameters(store *model.Store) int {
	n := 0
	for v := range store.IterVariables() {
		if v.Trainable {
			n += v.Shape().Size()
		}
	}
	return n
}

func images(n, side int) *tensors.Tensor {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, n*side*side*3)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(x, n, side, side, 3)
}

func net(k int) func(*model.Scope, *graph.Node) *graph.Node {
	return func(scope *model.Scope, x *graph.Node) *graph.Node {
		return layers.Dense(scope, ResNet20(scope, x), true, k)
	}
}

// 269,722 is the published number for 10 classes; each further class has 64
// weights and a bias.
func TestResNet20Parameters(t *testing.T) {
	b := backendtest.Open(t)
	for k, want := range map[int]int{10: 269_722, 100: 275_572} {
		store := model.NewStore()
		out := model.MustCallOnce(b, store, net(k), images(1, 8))
		if got := parameters(store); got != want {
			t.Errorf("%d classes: %d trained parameters, want %d", k, got, want)
		}
		if d := out.Shape().Dimensions; d[0] != 1 || d[1] != k {
			t.Errorf("logits of shape %v", d)
		}
	}
}

// A few steps on two images bring the loss down, and move every variable.
func TestResNet20Trains(t *testing.T) {
	b := backendtest.Open(t)
	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	exec := model.MustNewExec(b, store, func(scope *model.Scope, x, y *graph.Node) *graph.Node {
		store.SetTraining(x.Graph(), true)
		value := loss.SparseCategoricalCrossEntropyLogits([]*graph.Node{y}, []*graph.Node{net(3)(scope, x)})
		train.SGD{Rate: 0.02, Momentum: 0.9}.UpdateGraph(scope, x.Graph(), value)
		return value
	})
	x := images(4, 8)
	y := tensors.FromFlatDataAndDimensions([]int32{0, 1, 2, 1}, 4, 1)
	first := tensors.ToScalar[float32](exec.MustCall1(x, y))
	before := map[string]*tensors.Tensor{}
	for v := range store.IterVariables() {
		if v.Trainable {
			copied, err := v.MustValue().Clone()
			if err != nil {
				t.Fatal(err)
			}
			before[v.Path()] = copied
		}
	}
	var last float32
	for range 8 {
		last = tensors.ToScalar[float32](exec.MustCall1(x, y))
	}
	if !(last < first/2) {
		t.Errorf("loss %v after %v, want less than half", last, first)
	}
	for path, old := range before {
		if store.GetVariable(path).MustValue().Equal(old) {
			t.Errorf("%s has not moved", path)
		}
	}
}
