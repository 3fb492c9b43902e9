package deep

import (
	"fmt"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	gomlxloss "github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/sharing"
)

// Forward and backward of one head with cross entropy, in x and in all weights.
// The plain layer is GoMLX's; run both in turn and compare the ratio.
func BenchmarkHead(b *testing.B) {
	const batch, d, k = 256, 512, 1000
	rng := newRand(1)
	tree := sharing.NewTree(trees(b, rng, k)["v-tree"])
	backend := backendtest.Open(b)
	x := tensor(randoms(rng, batch*d), batch, d)
	labels := make([]int32, batch)
	for i := range labels {
		labels[i] = int32(rng.IntN(k))
	}
	y := tensor(labels, batch, 1)
	heads := []struct {
		name string
		head func(*model.Scope, *graph.Node) *graph.Node
	}{
		{"plain", func(s *model.Scope, x *graph.Node) *graph.Node { return layers.Dense(s, x, true, k) }},
		{fmt.Sprintf("tree-m%d", tree.Rows()), func(s *model.Scope, x *graph.Node) *graph.Node { return Dense(s, x, tree) }},
	}
	steps := make([]func(), len(heads))
	best := make([]time.Duration, len(heads))
	for i, h := range heads {
		steps[i] = headStep(backend, h.head, x, y)
		steps[i]()
		best[i] = time.Hour
	}
	for b.Loop() { // in turn, so that other load on the machine hits all alike
		for i, step := range steps {
			start := time.Now()
			step()
			best[i] = min(best[i], time.Since(start))
		}
	}
	for i, h := range heads {
		b.ReportMetric(best[i].Seconds()*1000, h.name+"-ms")
	}
	b.ReportMetric(best[1].Seconds()/best[0].Seconds(), "tree/plain")
}

func headStep(backend compute.Backend, head func(*model.Scope, *graph.Node) *graph.Node, x, y *tensors.Tensor) func() {
	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	exec := model.MustNewExec(backend, store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		logits := head(scope, in[0])
		value := gomlxloss.SparseCategoricalCrossEntropyLogits([]*graph.Node{in[1]}, []*graph.Node{logits})
		weights := []*graph.Node{in[0]}
		for v := range scope.IterVariables() {
			if v.InUseByGraph(in[0].Graph()) && v.DType().IsFloat() {
				weights = append(weights, v.NodeValue(in[0].Graph()))
			}
		}
		return append([]*graph.Node{value}, graph.Gradient(value, weights...)...)
	})
	return func() {
		for _, out := range exec.MustCall(x, y) {
			out.MustFinalizeAll()
		}
	}
}
