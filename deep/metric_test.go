package deep

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/metric"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
)

// After any number of batches a metric is what package score makes of all rows,
// and after Reset it starts again.
func TestMetricsEqualPackageScore(t *testing.T) {
	b := backendtest.Open(t)
	const batch, k = 10, 8
	rng := newRand(3)
	tree := trees(t, rng, k)["v-tree"]
	similarity, err := score.NewSimilarity(&matrix.Dense{Columns: 3, Data: randoms(rng, 3*k)})
	if err != nil {
		t.Fatal(err)
	}
	metrics := []metric.Interface{Top(1), Top(5), Similarity(similarity), Severity(tree)}
	store := model.NewStore()
	exec := model.MustNewExec(b, store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		var out []*graph.Node
		for _, m := range metrics {
			out = append(out, m.UpdateGraph(scope, in[1:], in[:1]))
		}
		return out
	})
	for round := range 2 {
		counter, err := score.NewCounter(k, score.Options{Similarity: similarity, Tree: tree})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			logits := randoms(rng, batch*k)
			labels := make([]int32, batch)
			for n := range batch {
				labels[n] = int32(rng.IntN(k))
				p := make([]float64, k)
				var sum float64
				for c := range p {
					p[c] = math.Exp(float64(logits[n*k+c]))
					sum += p[c]
				}
				for c := range p {
					p[c] /= sum
				}
				if err := score.Count(counter, int(labels[n]), score.Mix{}, p, nil); err != nil {
					t.Fatal(err)
				}
			}
			out := exec.MustCall(tensor(logits, batch, k), tensor(labels, batch, 1))
			r := counter.Report()
			for i, want := range []float64{r.Accuracy, r.Top5Accuracy, r.SimilarityAccuracy, r.MistakeSeverity} {
				if got := float64(tensors.ToScalar[float32](out[i])); !(math.Abs(got-want) < 1e-5) {
					t.Errorf("round %d: %s is %v, want %v", round, metrics[i].Name(), got, want)
				}
			}
		}
		for _, m := range metrics {
			m.Reset(store.RootScope())
		}
	}
	if got := metrics[0].PrettyPrint(tensors.FromScalar(float32(0.125))); got != "12.50%" {
		t.Errorf("printed %q", got)
	}
	if got := metrics[3].PrettyPrint(tensors.FromScalar(float32(2.5))); got != "2.500" {
		t.Errorf("printed %q", got)
	}
	for v := range store.IterVariables() {
		if v.Trainable {
			t.Errorf("%s is trainable", v.Path())
		}
	}
}
