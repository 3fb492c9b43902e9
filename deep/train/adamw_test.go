package train

import (
	"cmp"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// Steps on a small problem are those of the update written out in float64, with
// clipping and without, decay on the matrix only, the rate changed on the way.
func TestAdamWSteps(t *testing.T) {
	b := backendtest.Open(t)
	for _, o := range []AdamW{{}, {Rate: 0.2, Decay: 0.1}, {Rate: 0.1, Beta1: 0.8, Beta2: 0.9, Epsilon: 1e-3, Decay: 0.05, Clip: 0.5}} {
		store := model.NewStore()
		store.VariableWithValue("/w", [][]float32{{1, -2}})
		store.VariableWithValue("/b", []float32{3})
		store.VariableWithValue("/n", []uint64{7})
		exec := model.MustNewExec(b, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
			g := x.Graph()
			w, c := store.GetVariable("/w").NodeValue(g), store.GetVariable("/b").NodeValue(g)
			noise := graph.MulScalar(graph.ConvertDType(store.GetVariable("/n").NodeValue(g), dtypes.Float32), 0)
			loss := graph.Add(graph.ReduceAllSum(graph.Square(graph.Mul(w, x))), graph.ReduceAllSum(graph.Square(graph.Add(c, noise))))
			o.UpdateGraph(scope, g, loss)
			return loss
		})
		value, x := []float64{1, -2, 3}, []float64{0.5, 2}
		m, s := make([]float64, 3), make([]float64, 3)
		rate, beta1, beta2, epsilon := cmp.Or(o.Rate, 1e-3), cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999), cmp.Or(o.Epsilon, 1e-8)
		for step := 1; step <= 5; step++ {
			if step == 3 {
				rate /= 4
				if err := SetRate(store, rate); err != nil {
					t.Fatal(err)
				}
			}
			exec.MustCall([][]float32{{0.5, 2}})
			gradient := []float64{2 * value[0] * x[0] * x[0], 2 * value[1] * x[1] * x[1], 2 * value[2]}
			if o.Clip > 0 {
				norm := math.Sqrt(gradient[0]*gradient[0] + gradient[1]*gradient[1] + gradient[2]*gradient[2])
				for i := range gradient {
					gradient[i] *= min(1, o.Clip/(norm+1e-6))
				}
			}
			for i, g := range gradient {
				m[i] = beta1*m[i] + (1-beta1)*g
				s[i] = beta2*s[i] + (1-beta2)*g*g
				change := m[i] / (1 - math.Pow(beta1, float64(step))) / (math.Sqrt(s[i]/(1-math.Pow(beta2, float64(step)))) + epsilon)
				if i < 2 {
					change += o.Decay * value[i]
				}
				value[i] -= rate * change
			}
		}
		w := tensors.MustCopyFlatData[float32](store.GetVariable("/w").MustValue())
		c := tensors.MustCopyFlatData[float32](store.GetVariable("/b").MustValue())
		for i, got := range append(w, c...) {
			if math.Abs(float64(got)-value[i]) > 2e-5 {
				t.Errorf("%+v: number %d is %v, want %v", o, i, got, value[i])
			}
		}
		before := store.NumVariables()
		if err := o.Clear(store.RootScope()); err != nil {
			t.Fatal(err)
		}
		if left := before - store.NumVariables(); left != 4 {
			t.Errorf("clearing removed %d variables, want 4", left)
		}
		exec.Finalize()
	}
	exec := model.MustNewExec(b, model.NewStore(), func(scope *model.Scope, x *graph.Node) *graph.Node {
		AdamW{}.UpdateGraph(scope, x.Graph(), x)
		return x
	})
	if _, err := exec.Call([]float32{1, 2}); err == nil {
		t.Error("a loss that is no scalar is taken")
	}
}

// AdamW brought to an end after a break gives the same bits as at one go.
func TestAdamWResumes(t *testing.T) {
	opts := Options{Epochs: 4, Batch: 8, Seed: 3, Optimizer: AdamW{Decay: 0.01, Clip: 1}, Rate: Schedule{Base: 0.02, WarmUp: 1}, Folder: t.TempDir()}
	whole, want, err := run(t, t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if want.Best.Accuracy < 0.8 {
		t.Errorf("best accuracy %v", want.Best.Accuracy)
	}
	opts.Folder = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	opts.Progress = func(p Progress) {
		if p.Epoch == 3 && p.Step == 2 {
			cancel()
		}
	}
	if _, _, err := run(t, ctx, opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("not broken off: %v", err)
	}
	opts.Progress, opts.Resume = nil, true
	resumed, _, err := run(t, t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if hash(t, resumed.Store()) != hash(t, whole.Store()) {
		t.Error("the weights differ")
	}
}
