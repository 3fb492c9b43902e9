package train

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// Three steps on a small problem are those of the update written out, with
// decay on the matrix and none on the vector, by both entry points, and a
// trainable variable that is no float stays out of it.
func TestSGDSteps(t *testing.T) {
	b := backendtest.Open(t)
	for _, o := range []SGD{{}, {Rate: 0.2}, {Rate: 0.1, Momentum: 0.9, Decay: 0.05}, {Rate: 0.1, Momentum: 0.8, Decay: 0.01, Nesterov: true}} {
		for _, given := range []bool{false, true} {
			store := model.NewStore()
			store.VariableWithValue("/w", [][]float32{{1, -2}})
			store.VariableWithValue("/b", []float32{3})
			store.VariableWithValue("/n", []uint64{7})
			exec := model.MustNewExec(b, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
				g := x.Graph()
				w, c := store.GetVariable("/w").NodeValue(g), store.GetVariable("/b").NodeValue(g)
				noise := graph.MulScalar(graph.ConvertDType(store.GetVariable("/n").NodeValue(g), dtypes.Float32), 0)
				loss := graph.Add(graph.ReduceAllSum(graph.Square(graph.Mul(w, x))), graph.ReduceAllSum(graph.Square(graph.Add(c, noise))))
				if given {
					nodes := []*graph.Node{w, c}
					grads := append(graph.Gradient(loss, nodes...), graph.Zeros(g, store.GetVariable("/n").Shape()))
					o.UpdateGraphWithGradients(scope, grads, dtypes.Float32)
				} else {
					o.UpdateGraph(scope, g, loss)
				}
				return loss
			})
			value := []float64{1, -2, 3}
			momentum := make([]float64, 3)
			x := []float64{0.5, 2}
			rate := o.Rate
			if rate == 0 {
				rate = 0.1
			}
			for step := range 4 {
				if step == 2 {
					rate /= 4
					if err := SetRate(store, rate); err != nil {
						t.Fatal(err)
					}
				}
				exec.MustCall([][]float32{{0.5, 2}})
				for i, w := range value {
					gradient := 2 * w
					if i < 2 {
						gradient = 2*w*x[i]*x[i] + o.Decay*w
					}
					momentum[i] = o.Momentum*momentum[i] + gradient
					switch {
					case o.Nesterov:
						gradient += o.Momentum * momentum[i]
					case o.Momentum != 0:
						gradient = momentum[i]
					}
					value[i] -= rate * gradient
				}
			}
			w := tensors.MustCopyFlatData[float32](store.GetVariable("/w").MustValue())
			c := tensors.MustCopyFlatData[float32](store.GetVariable("/b").MustValue())
			for i, got := range append(w, c...) {
				if math.Abs(float64(got)-value[i]) > 1e-5 {
					t.Errorf("%+v, given gradients %v: number %d is %v, want %v", o, given, i, got, value[i])
				}
			}
			before := store.NumVariables()
			if err := o.Clear(store.RootScope()); err != nil {
				t.Fatal(err)
			}
			if gone := before - store.NumVariables(); o.Momentum != 0 && gone != 2 {
				t.Errorf("Clear removed %d variables, want 2", gone)
			}
		}
	}
}

func TestSchedule(t *testing.T) {
	s := Schedule{Base: 0.1, WarmUp: 2, Milestones: []float64{10, 20}}
	for _, tc := range []struct{ epoch, want float64 }{{0, 0.001}, {1, 0.0505}, {2, 0.1}, {9.99, 0.1}, {10, 0.01}, {25, 0.001}} {
		if got := s.Rate(tc.epoch); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("rate at epoch %v is %v, want %v", tc.epoch, got, tc.want)
		}
	}
	if got := (Schedule{Base: 1, Milestones: []float64{1}, Factor: 0.5}).Rate(1); got != 0.5 {
		t.Errorf("rate %v, want 0.5", got)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]Schedule{
		"no rate": {}, "NaN": {Base: math.NaN()}, "negative warm-up": {Base: 1, WarmUp: -1},
		"negative factor": {Base: 1, Factor: -1}, "descending": {Base: 1, Milestones: []float64{3, 2}},
	} {
		if bad.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
