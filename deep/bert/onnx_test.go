package bert

import (
	"math"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// What Freezes says is what TestFineTune finds: tables stay on ONNX Runtime alone.
func TestFreezes(t *testing.T) {
	b := backendtest.Open(t)
	if got, want := Freezes(b), backendtest.OnONNX(); got != want {
		t.Errorf("%s freezes: %v, want %v", b.Name(), got, want)
	}
}

// On ONNX Runtime the gradients of all that is trained there are those of the go
// backend, 20 times: nothing but the frozen tables scatters.
func TestGradientsOnONNX(t *testing.T) {
	slow, fast := backendtest.Both(t)
	dir, _ := folder(t, vocabulary(plain), size{hidden: 96, layers: 2, heads: 4, inner: 128, positions: 32, types: 2}, "")
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	const batch = 40
	var texts []string
	rows := make([]int, batch)
	for i := range rows {
		texts, rows[i] = append(texts, plain[i%len(plain)]), i
	}
	data, err := e.Texts(texts, nil, 24)
	if err != nil {
		t.Fatal(err)
	}
	gradients := func(b compute.Backend) func() [][]float32 {
		store := model.NewStore()
		if err := e.Weights(store); err != nil {
			t.Fatal(err)
		}
		exec := model.MustNewExec(b, store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			store.SetTraining(in[0].Graph(), true)
			x := e.Features(scope, in)
			weight := make([]float32, x.Shape().Size())
			for i := range weight {
				weight[i] = float32(math.Sin(float64(i)))
			}
			var nodes []*graph.Node
			for _, w := range e.weights() { // in one order
				if w.path != tokenTable && w.path != positionTable && w.path != typeTable {
					nodes = append(nodes, store.GetVariable(w.path).NodeValue(x.Graph()))
				}
			}
			return graph.Gradient(graph.ReduceAllSum(graph.Mul(x, graph.ConstTensor(x.Graph(), tensors.FromFlatDataAndDimensions(weight, x.Shape().Dimensions...)))), nodes...)
		})
		return func() (out [][]float32) {
			in, err := data.Batch(rows, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range exec.MustCall(in[0], in[1]) {
				out = append(out, tensors.MustCopyFlatData[float32](g))
			}
			return out
		}
	}
	want := gradients(slow)()
	again := gradients(fast)
	for run := range 20 {
		for i, got := range again() {
			var most, scale float64
			for j, v := range want[i] {
				scale = max(scale, math.Abs(float64(v)))
				most = max(most, math.Abs(float64(got[j]-v)))
			}
			if !(most <= 1e-4*max(scale, 1)) {
				t.Fatalf("run %d: gradient %d of %d differs by %g of %g", run, i, len(want), most, scale)
			}
		}
	}
	if len(want) != len(e.weights())-3 {
		t.Errorf("%d gradients, want %d", len(want), len(e.weights())-3)
	}
}
