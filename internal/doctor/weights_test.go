package doctor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// layerOf returns a layer with the rows of w, k x d, as weights.
func layerOf(w *matrix.Dense) *softmax.Layer {
	k, d := w.Rows(), w.Cols()
	l := &softmax.Layer{Classes: k, Features: d, Weight: make([]float32, k*d), Bias: make([]float32, k)}
	for c := range k {
		for f, x := range w.Row(c) {
			l.Weight[f*k+c] = x
		}
	}
	return l
}

// The paper's lambda is 1 exactly where the metric is that of the weights, in
// whatever unit.
func TestLambdaOfTheWeightsThemselves(t *testing.T) {
	w := matrix.NewDense(30, 300)
	random := rand.New(rand.NewPCG(1, 6))
	for i := range w.Data {
		w.Data[i] = float32(random.NormFloat64())
	}
	// more features than one block
	own, err := metric.Euclidean(w)
	if err != nil {
		t.Fatal(err)
	}
	sevenfold := metric.Func(30, func(i, j int) float64 { return 7 * own.Distance(i, j) })
	d := distortionOf(sevenfold, layerOf(w), 1)
	if d.Lambda == nil || math.Abs(*d.Lambda-1) > 1e-6 || math.Abs(d.Scale-1.0/7) > 1e-6 {
		t.Errorf("lambda %v, scale %v, want 1 and 1/7", d.Lambda, d.Scale)
	}
	if d.Correlation == nil || math.Abs(*d.Correlation-1) > 1e-6 {
		t.Errorf("correlation %v, want 1", d.Correlation)
	}
}

// The numbers of a report hang together as its comments say.
func TestWeights(t *testing.T) {
	const groups = "label,parent\ncard_lost,card\ncard_arrival,card\ntransfer_fee,money\ntransfer_pending,money\npin_blocked,pin\npin_change,pin\n"
	p := admit(t, texts(6, 0), groups)
	r := p.examine(t, Options{})
	w := r.Weights
	if w == nil || !w.Converged || len(w.Norms) != 4 || w.Base != 2 {
		t.Fatalf("%+v, want the four norms of a converged fit", w)
	}
	if r.Metric.Source != "taxonomy" {
		t.Errorf("metric from %s, want the taxonomy that is given", r.Metric.Source)
	}
	if math.Abs(w.Longest-math.Sqrt2) > 1e-5 {
		t.Errorf("rho %v, want sqrt(2): two blocks of unit length", w.Longest)
	}
	root := w.Longest / math.Sqrt(36)
	for _, n := range w.Norms {
		if math.Abs(n.Bound-n.Norm*root) > 1e-9 || math.Abs(n.Stretched-n.Bound*n.Stretch) > 1e-9 || n.Stretch < 1 {
			t.Errorf("%+v: bounds do not follow from the norm", n)
		}
	}
	normW, u, v := w.Norms[0], w.Norms[1], w.Norms[2]
	if normW.Norm > math.Sqrt(6)*w.Largest || *normW.Theory < normW.Bound || *u.Theory < u.Bound {
		t.Errorf("W %+v, U* %+v above the paper's bounds", normW, u)
	}
	if want := theory.NormLimit(6, *w.Distortion.Lambda, w.Largest, r.Metric.Dimension.Max) * root; math.Abs(*v.Theory-want) > 1e-9 {
		t.Errorf("Corollary 2: %v, want %v", *v.Theory, want)
	}
	if w.Norms[3].Theory != nil || w.Norms[3].Parameters != "V* of the taxonomy" {
		t.Errorf("%+v", w.Norms[3])
	}
}

// A cover tree of very many classes would take from minutes to hours: the report says that
// it is left out, and has the norm of the taxonomy all the same.
func TestCoverTreeOfManyClassesIsLeftOut(t *testing.T) {
	k := maxTreeClasses + 1
	labels, group := make([]string, k), make(map[string]string)
	w := matrix.NewDense(k, 1)
	for c := range labels {
		labels[c], w.Data[c] = fmt.Sprintf("the class %d", c), float32(c%7)
		group[labels[c]] = fmt.Sprintf("group %d", c%50)
	}
	compared := false
	space := metric.Func(k, func(i, j int) float64 { compared = true; return math.Abs(float64(i - j)) })
	taxonomy, err := labeltree.FromParents(group, labels)
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Classes: k, Metric: &Metric{}, Weights: &Weights{Distortion: &theory.Distortion{}}}
	if err := r.weighTrees(layerOf(w), &corpus.Data{Classes: classinfo.Info{Labels: labels, Taxonomy: taxonomy}}, space, 1, 2, 1); err != nil {
		t.Fatal(err)
	}
	if compared || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0], "U* and V*: the cover tree of more than 5000 classes") {
		t.Errorf("distances were asked for: %v; left out: %q", compared, r.Skipped)
	}
	if w := r.Weights; len(w.Norms) != 1 || w.Norms[0].Parameters != "V* of the taxonomy" || w.Base != 0 || strings.Contains(r.text(t), "Cover tree of base") {
		t.Errorf("%+v, want the norm of the taxonomy alone", w)
	}
}
