package deep

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
)

// groupTree has k classes in groups of n, the first group twice as large, below
// which each fourth class is alone under a node: leaves at several depths, nodes
// without a choice, classes in another order than the leaves.
func groupTree(t testing.TB, rng *rand.Rand, k, n int) *labeltree.Tree {
	t.Helper()
	labels, parents := names(k), map[string]string{}
	for i, c := range rng.Perm(k) {
		group := fmt.Sprint("g", max(i/n-1, 0))
		parents[group] = "root"
		if i%4 == 0 {
			alone := fmt.Sprint("alone", i)
			parents[alone] = group
			group = alone
		}
		parents[labels[c]] = group
	}
	parents["only one group"] = "root"
	tree, err := labeltree.FromParents(parents, labels)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// caterpillar is the tree of k classes that is as deep as can be.
func caterpillar(t testing.TB, k int) *labeltree.Tree {
	t.Helper()
	text := "c0"
	for c := 1; c < k; c++ {
		text = fmt.Sprintf("(%s,c%d)", text, c)
	}
	tree, err := labeltree.Read(strings.NewReader(text+";"), "caterpillar")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Values and gradients are those of package loss in float64, in each of many
// runs, on trees of every shape, for scores of every size: where all is in the
// last few digits of large numbers, where the true class or its whole group has no
// chance, and where all scores are the same.
func TestHXEEqualsPackageLoss(t *testing.T) {
	b := backendtest.Open(t)
	const batch = 8
	for _, k := range []int{2, 3, 40, 250} {
		rng := newRand(uint64(k))
		all := trees(t, rng, k)
		delete(all, "u-tree") // has classes on inner nodes
		all["groups"], all["caterpillar"] = groupTree(t, rng, k, 7), caterpillar(t, k)
		if k > 100 {
			delete(all, "caterpillar") // some seconds on ONNX Runtime
		}
		for name, tree := range all {
			for _, alpha := range []float64{0.4, 0, 5}[:min(3, 1+100/k)] {
				l, err := loss.NewHXE(tree, alpha)
				if err != nil {
					t.Fatal(err)
				}
				fn, err := Loss(l, k)
				if err != nil {
					t.Fatal(err)
				}
				exec := model.MustNewExec(b, model.NewStore(), func(_ *model.Scope, in []*graph.Node) []*graph.Node {
					value := fn([]*graph.Node{in[1]}, []*graph.Node{in[0]})
					return []*graph.Node{value, graph.Gradient(graph.MulScalar(value, batch), in[0])[0]}
				})
				place := make([]float32, k) // from left to right
				for c := range k {
					place[c] = float32(tree.Node(c)) / float32(tree.Len())
				}
				rng := newRand(uint64(k)) // not in the order of a map
				for _, size := range []struct {
					name  string
					score func(c int) float32
				}{
					{"small", func(int) float32 { return float32(rng.NormFloat64()) }},
					{"around 5000", func(int) float32 { return 5000 + float32(rng.NormFloat64()) }},
					{"thousands apart", func(int) float32 { return 1000 * float32(rng.NormFloat64()) }},
					{"groups far apart", func(c int) float32 { return 2000*float32(int(4*place[c])%2) - 5000 + float32(rng.NormFloat64()) }},
					{"one far above the others", func(c int) float32 { return 1000 * float32(c/(k-1)) }},
					{"all the same", func(int) float32 { return -1000 }},
				} {
					logits, labels := make([]float32, batch*k), make([]int32, batch)
					for i := range logits {
						logits[i] = size.score(i % k)
					}
					for n := range labels {
						labels[n] = int32(rng.IntN(k))
					}
					if problem := compareHXE(t, exec, l, logits, labels, k); problem != "" {
						t.Errorf("%s of %d classes, alpha %v, scores %s: %s", name, k, alpha, size.name, problem)
					}
				}
				exec.Finalize()
			}
		}
	}
}

// compareHXE runs a graph of the loss, and of the gradient of the sum over the
// batch, many times.
func compareHXE(t *testing.T, exec *model.Exec, l *loss.HXE, logits []float32, labels []int32, k int) (problem string) {
	t.Helper()
	batch := len(labels)
	var want float64
	gradient := make([]float64, batch*k)
	for n, y := range labels {
		scores := make([]float64, k)
		for c := range k {
			scores[c] = float64(logits[n*k+c])
		}
		want += loss.Evaluate(l, make([]float64, k), gradient[n*k:(n+1)*k], scores, int(y)) / float64(batch)
	}
	for range 20 { // a race may go well once
		out := exec.MustCall(tensor(logits, batch, k), tensor(labels, batch, 1))
		if got := flat(t, out[0]); !(apart(got, []float64{want}) <= 1e-5) {
			return fmt.Sprintf("loss %v, want %v", got, want)
		}
		if d := apart(flat(t, out[1]), gradient); !(d <= 1e-5) {
			return fmt.Sprintf("gradient differs by %g", d)
		}
	}
	return ""
}

// A mask beside the labels is refused, and one class alone costs nothing.
func TestHXELabels(t *testing.T) {
	b := backendtest.Open(t)
	for _, k := range []int{1, 4} {
		l, err := loss.NewHXE(trees(t, newRand(2), k)["linkage"], 0.3)
		if err != nil {
			t.Fatal(err)
		}
		fn, err := Loss(l, k)
		if err != nil {
			t.Fatal(err)
		}
		logits, labels := tensor(make([]float32, 2*k), 2, k), tensor([]int32{int32(k - 1), 0}, 2, 1)
		call := func(labelTensors int) (float32, error) {
			value, err := model.CallOnce(b, model.NewStore(), func(_ *model.Scope, logits, labels *graph.Node) *graph.Node {
				return fn([]*graph.Node{labels, labels}[:labelTensors], []*graph.Node{logits})
			}, logits, labels)
			if err != nil {
				return 0, err
			}
			return flat(t, value)[0], nil
		}
		if value, err := call(1); err != nil || (value == 0) != (k == 1) {
			t.Errorf("%d classes: loss %v, error %v", k, value, err)
		}
		if _, err := call(2); k > 1 && (err == nil || !strings.Contains(err.Error(), "masks and weights")) {
			t.Errorf("with a mask: error %v", err)
		}
		if _, err := Loss(l, k+1); err == nil {
			t.Errorf("a loss of %d classes fits %d", k, k+1)
		}
	}
}
