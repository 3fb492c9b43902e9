package deep

import (
	"math"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	gomlxloss "github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
)

// losses returns one of each kind for k classes.
func losses(t *testing.T, k int) map[string]loss.Loss {
	t.Helper()
	similarity, err := loss.NewSimLoss(k, func(y, c int) float64 { return 1 / (1 + math.Abs(float64(y-c))) }, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	soft, err := loss.NewSoftLabels(classSpace(t, newRand(4), k), 5)
	if err != nil {
		t.Fatal(err)
	}
	hxe, err := loss.NewHXE(trees(t, newRand(5), k)["linkage"], 0.4)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]loss.Loss{
		"cross entropy": loss.CrossEntropy{}, "smoothed": loss.CrossEntropy{Smoothing: 0.1},
		"pointer": &loss.CrossEntropy{Smoothing: 0.2}, "SimLoss": similarity, "soft labels": soft, "HXE": hxe,
	}
}

// Losses and their gradients are those of package loss, for scores that are
// small and for scores that are far apart.
func TestLossEqualsPackageLoss(t *testing.T) {
	b := backendtest.Open(t)
	const batch, k = 6, 7
	for name, l := range losses(t, k) {
		for _, scale := range []float32{1, 60} {
			rng := newRand(8)
			logits := randoms(rng, batch*k)
			labels := make([]int32, batch)
			var want float64
			gradient := make([]float64, batch*k)
			for n := range batch {
				labels[n] = int32(rng.IntN(k))
				scores, p := make([]float64, k), make([]float64, k)
				for c := range k {
					logits[n*k+c] *= scale
					scores[c] = float64(logits[n*k+c])
				}
				want += loss.Evaluate(l, p, gradient[n*k:(n+1)*k], scores, int(labels[n])) / batch
			}
			for i := range gradient {
				gradient[i] /= batch
			}
			fn, err := Loss(l, k)
			if err != nil {
				t.Fatal(err)
			}
			out := graph.MustExecOnceN(b, func(logits, labels *graph.Node) []*graph.Node {
				value := fn([]*graph.Node{labels}, []*graph.Node{logits})
				return []*graph.Node{value, graph.Gradient(value, logits)[0]}
			}, tensor(logits, batch, k), tensor(labels, batch, 1))
			if d := apart(flat(t, out[0]), []float64{want}); !(d <= 1e-5) {
				t.Errorf("%s, scores times %v: loss differs by %g", name, scale, d)
			}
			if d := apart(flat(t, out[1]), gradient); !(d <= 1e-5) {
				t.Errorf("%s, scores times %v: gradient differs by %g", name, scale, d)
			}
		}
	}
	if _, err := Loss(losses(t, 5)["SimLoss"], k); err == nil {
		t.Error("a loss of 5 classes fits 7")
	}
}

// Log-probabilities, loss and gradient of the hierarchical softmax are those of
// package loss, also with a root alone.
func TestHierarchicalSoftmax(t *testing.T) {
	b := backendtest.Open(t)
	const batch, d = 3, 4
	for _, k := range []int{1, 2, 12} {
		for name, tree := range trees(t, newRand(6), k) {
			if name != "u-tree" {
				checkHierarchical(t, b, tree, batch, d)
			}
		}
	}
}

func checkHierarchical(t *testing.T, b compute.Backend, tree *labeltree.Tree, batch, d int) {
	t.Helper()
	rng := newRand(1)
	k, m := tree.Classes(), tree.Len()-1
	h, err := loss.NewHierarchicalSoftmax(tree)
	if err != nil {
		t.Fatal(err)
	}
	x, w, bias := randoms(rng, batch*d), randoms(rng, d*m), randoms(rng, m)
	labels := make([]int32, batch)
	var logs, dw []float64
	dw = make([]float64, d*m)
	var value float64
	for n := range batch {
		labels[n] = int32(rng.IntN(k))
		scores, p, grad := make([]float64, m), make([]float64, m), make([]float64, m)
		for v := range m {
			scores[v] = float64(bias[v])
			for j := range d {
				scores[v] += float64(w[j*m+v]) * float64(x[n*d+j])
			}
		}
		value += loss.EvaluateHierarchical(h, p, grad, scores, int(labels[n])) / float64(batch)
		for v := range m {
			for j := range d {
				dw[j*m+v] += grad[v] * float64(x[n*d+j]) / float64(batch)
			}
		}
		classes := make([]float64, k)
		loss.Probabilities(h, classes, p, scores)
		for _, q := range classes {
			logs = append(logs, math.Log(q))
		}
	}
	store := model.NewStore()
	if m > 0 {
		store.VariableWithValue("/dense/weights", tensor(w, d, m))
		store.VariableWithValue("/dense/biases", tensor(bias, m))
	}
	exec := model.MustNewExec(b, store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		got := HierarchicalSoftmax(scope, in[0], tree)
		if m == 0 {
			return []*graph.Node{got}
		}
		value := gomlxloss.SparseCategoricalCrossEntropyLogits([]*graph.Node{in[1]}, []*graph.Node{got})
		return []*graph.Node{got, value, graph.Gradient(value, store.GetVariable("/dense/weights").NodeValue(got.Graph()))[0]}
	})
	defer exec.Finalize()
	for range 20 { // a race may go well once
		out := exec.MustCall(tensor(x, batch, d), tensor(labels, batch, 1))
		for i, want := range [][]float64{logs, {value}, dw}[:len(out)] {
			if diff := apart(flat(t, out[i]), want); !(diff <= 1e-5) {
				t.Fatalf("%d classes, %d nodes: %s differs by %g", k, m+1, []string{"log-probability", "loss", "gradient"}[i], diff)
			}
		}
	}
}

// A tree with classes on inner nodes has no hierarchical softmax.
func TestHierarchicalSoftmaxRefusesInnerClasses(t *testing.T) {
	tree := trees(t, newRand(3), 6)["u-tree"]
	if _, err := loss.NewHierarchicalSoftmax(tree); err == nil {
		t.Fatal("this U-tree has all classes on leaves: it is none of what is refused")
	}
	_, err := model.CallOnce(backendtest.Open(t), model.NewStore(), func(scope *model.Scope, x *graph.Node) *graph.Node {
		return HierarchicalSoftmax(scope, x, tree)
	}, tensor(make([]float32, 2), 1, 2))
	if err == nil {
		t.Error("no error")
	}
}
