package deep

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// A head alone on fixed inputs learns what package softmax learns: after some
// steps of the same SGD, with momentum and decay, on the same examples, W = A V and
// b are the same, under every sharing and every loss.
func TestDenseLearnsAsSoftmax(t *testing.T) {
	b := backendtest.Open(t)
	const n, d, k, steps = 11, 5, 7, 6
	const rate, momentum, decay = 0.2, 0.9, 0.05
	rng := newRand(12)
	x := randoms(rng, n*d)
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(rng.IntN(k))
	}
	examples := softmax.Examples{X: &matrix.Dense{Columns: d, Data: x}, Class: labels}
	all := losses(t, k)
	for sharingName, s := range sharings(t, 4, k) {
		for lossName, l := range all {
			if sharingName != "v-tree" && lossName != "cross entropy" {
				continue // a loss does not see where scores are from
			}
			want, _, err := softmax.Fit(context.Background(), examples, k, softmax.Options{Sharing: s, Loss: l,
				Trainer: softmax.SGD{Epochs: steps, Batch: n, Rate: rate, Momentum: momentum, WeightDecay: decay, RawInputs: true}})
			if err != nil {
				t.Fatal(err)
			}
			fn, err := Loss(l, k)
			if err != nil {
				t.Fatal(err)
			}
			store := model.NewStore()
			store.VariableWithValue("/dense/"+sharedName, tensor(make([]float32, s.Rows()*d), s.Rows(), d))
			store.VariableWithValue("/dense/"+biasesName, make([]float32, k))
			exec := model.MustNewExec(b, store, func(scope *model.Scope, x, y *graph.Node) *graph.Node {
				value := fn([]*graph.Node{y}, []*graph.Node{Dense(scope, x, s)})
				train.SGD{Rate: rate, Momentum: momentum, Decay: decay}.UpdateGraph(scope, x.Graph(), value)
				return value
			})
			for range steps {
				exec.MustCall(tensor(x, n, d), tensor(labels, n, 1))
			}
			exec.Finalize()
			w, bias, err := Weights(store, "/", s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := apart(w, kernel.Transposed(want.Weight, d, k)); !(diff <= 1e-5) {
				t.Errorf("%s, %s: weights differ by %g", sharingName, lossName, diff)
			}
			if diff := apart(bias, want.Bias); !(diff <= 1e-5) {
				t.Errorf("%s, %s: biases differ by %g", sharingName, lossName, diff)
			}
		}
	}
}
