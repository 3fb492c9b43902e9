package evaluate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// hedger counts the hedged answers of one confidence.
type hedger struct {
	*hedging
	decider *decide.Decider
}

func (h hedger) add(truth int, p []float32) error {
	one, err := newHedge(h.decider, truth, p)
	if err == nil {
		h.hedging.add(one)
	}
	return err
}

func hedgingOf(t testing.TB, tree *labeltree.Tree, confidence float64) hedger {
	t.Helper()
	d, err := decide.NewDecider(decide.Rule{Confidence: confidence}, tree.Classes(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return hedger{newHedging(tree.Classes()), d}
}

// drawn returns probabilities of k classes, flat or peaked, and a class drawn from
// them.
func drawn(rng *rand.Rand, k int) (p []float32, class int) {
	p = make([]float32, k)
	sum, sharp := 0.0, math.Exp(min(2*rng.NormFloat64(), 3))
	wide := make([]float64, k)
	for c := range wide {
		wide[c] = math.Exp(sharp * rng.NormFloat64())
		sum += wide[c]
	}
	x, class := rng.Float64()*sum, -1
	for c, v := range wide {
		p[c] = float32(v / sum)
		if x -= v; x < 0 && class < 0 {
			class = c
		}
	}
	return p, max(class, 0)
}

// If the probabilities are true, hedged answers are right as often as asked for.
func TestHedgeKeepsItsPromise(t *testing.T) {
	const k, n = 30, 4000
	rng := rand.New(rand.NewPCG(7, 7))
	tree := treetest.Random(t, rng, k)
	wide := 1.0
	for _, confidence := range []float64{0.6, 0.8, 0.95} {
		h := hedgingOf(t, tree, confidence)
		claimed := 0.0
		for range n {
			p, truth := drawn(rng, k)
			if err := h.add(truth, p); err != nil {
				t.Fatal(err)
			}
			a, err := h.decider.Decide(p)
			if err != nil {
				t.Fatal(err)
			}
			claimed += a.Choices[0].Probability / n
		}
		r := h.report()
		if *r.Accuracy < confidence || math.Abs(*r.Accuracy-claimed) > 0.02 {
			t.Errorf("confidence %v: %v right, want at least that and about the mean probability %v", confidence, *r.Accuracy, claimed)
		}
		if *r.InformationShare >= wide {
			t.Errorf("confidence %v says %v, no less than a smaller one", confidence, *r.InformationShare)
		}
		wide = *r.InformationShare
	}
}

// Four answers over figure 1: a husky that is one, a dog that is a boxer, a dog
// that is a bear, and the root for a label never trained.
func TestHedgingWorkedByHand(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.VTree)
	class, p := map[string]int{}, make([]float32, 10)
	for c, label := range tree.Labels() {
		class[label] = c
	}
	p[class["husky"]], p[class["boxer"]], p[class["bus"]] = 0.6, 0.3, 0.1
	h := hedgingOf(t, tree, 0.6)
	for _, e := range []struct {
		truth      int
		confidence float64
	}{{class["husky"], 0.6}, {class["boxer"], 0.9}, {class["bear"], 0.9}, {score.Unknown, 0.95}} {
		one := hedgingOf(t, tree, e.confidence)
		one.hedging = h.hedging
		if err := one.add(e.truth, p); err != nil {
			t.Fatal(err)
		}
	}
	r, bits := h.report(), math.Log2(10)
	information := (bits + 2*math.Log2(10.0/4)) / 4
	for name, x := range map[string]struct {
		got  *float64
		want float64
	}{
		"accuracy": {r.Accuracy, 0.5}, "class share": {r.ClassShare, 0.25}, "class accuracy": {r.ClassAccuracy, 1}, "root share": {r.RootShare, 0.25},
		"below the root": {r.Answered, 0.75}, "right of these": {r.AnsweredAccuracy, 2. / 3},
		"mean depth": {r.MeanDepth, (3 + 2 + 2 + 0) / 4.0}, "mean information": {r.MeanInformation, information}, "information share": {r.InformationShare, information / bits},
	} {
		if x.got == nil || math.Abs(*x.got-x.want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, x.got, x.want)
		}
	}
	if r.Examples != 4 || r.Unknown != 1 {
		t.Errorf("%d examples, %d of unknown labels, want 4 and 1", r.Examples, r.Unknown)
	}
	data, err := json.Marshal(hedgingOf(t, tree, 0.5).report())
	if err != nil || string(data) != `{"accuracy":null,"class_share":null,"class_accuracy":null,"answered":null,"answered_accuracy":null,"root_share":null,"mean_depth":null,"mean_information":null,"information_share":null,"examples":0,"unknown_labels":0}` {
		t.Errorf("JSON of nothing: %s, %v", data, err)
	}
}

// The order of the examples changes not one bit.
func TestHedgingOrder(t *testing.T) {
	const k, n = 25, 600
	rng := rand.New(rand.NewPCG(6, 1))
	tree := treetest.Random(t, rng, k)
	truths, ps := make([]int, n), make([][]float32, n)
	for i := range n {
		ps[i], _ = drawn(rng, k)
		truths[i] = rng.IntN(k+1) - 1
	}
	fill := func(order []int) hedger {
		h := hedgingOf(t, tree, 0.6)
		for _, i := range order {
			if err := h.add(truths[i], ps[i]); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	order := rng.Perm(n)
	whole := fill(order)
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	if h := fill(order); !reflect.DeepEqual(h.report(), whole.report()) {
		t.Errorf("shuffled: %+v, want %+v", h.report(), whole.report())
	}
	right := 0
	for i, p := range ps {
		a, err := whole.decider.Decide(p)
		if err != nil {
			t.Fatal(err)
		}
		if truths[i] >= 0 && whole.decider.Holds(a, truths[i]) {
			right++
		}
	}
	if got := whole.report().Accuracy; *got != float64(right)/n {
		t.Errorf("accuracy %v, want %v", *got, float64(right)/n)
	}
}
