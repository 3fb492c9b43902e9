package explain

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/softmax"
)

func labels() []string {
	return []string{"card lost", "card stolen", "opening hours", "late fee", "card arrival"}
}

// groups is a tree over the labels with an only child on the way.
func groups(t testing.TB) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.Read(strings.NewReader("((('card lost'[&class=0],'card stolen'[&class=1],'card arrival'[&class=4])cards)single,'opening hours'[&class=2],'late fee'[&class=3])root;"), "groups")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// records are some of each kind.
func records(kind dataset.Kind) []dataset.Example {
	switch kind {
	case dataset.Text:
		return []dataset.Example{{Text: "I lost my card"}, {Text: "when do you open"}, {Text: "my card did not arrive"}, {Text: "the fee is late"}, {Text: "xyzzy"}}
	case dataset.Numbers:
		return []dataset.Example{{Values: []float64{1, 2, -3}}, {Values: []float64{4, 2, 9}}, {Values: []float64{-1, 2, 0.5}}, {Values: []float64{0, 2, 0}}}
	}
	return []dataset.Example{
		{Index: []int32{0, 3}, Values: []float64{1, 2}}, {Index: []int32{1, 2, 7}, Values: []float64{-1, 0, 3}}, {Index: []int32{}, Values: []float64{}},
	}
}

// modelOf has random weights for the features of records.
func modelOf(t testing.TB, kind dataset.Kind, hierarchical bool) *softmax.Model {
	t.Helper()
	table := feature.NewTable(kind, nil)
	var rows []int
	for i, e := range records(kind) {
		if e.Text == "xyzzy" { // the model has not seen it
			continue
		}
		if err := table.Add(e); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, i)
	}
	set, err := table.Fit(rows, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	layer := &softmax.Layer{Classes: len(labels()), Features: set.Dim(), Bias: make([]float32, len(labels()))}
	m := &softmax.Model{Layer: layer, Features: set, Labels: labels()}
	if hierarchical {
		if layer.Hierarchy, err = loss.NewHierarchicalSoftmax(groups(t)); err != nil {
			t.Fatal(err)
		}
		layer.Bias = make([]float32, layer.Hierarchy.Scores())
	}
	random := rand.New(rand.NewPCG(4, uint64(kind)))
	for i := range layer.Bias {
		layer.Bias[i] = float32(random.NormFloat64() / 2)
	}
	for range layer.Features * len(layer.Bias) {
		layer.Weight = append(layer.Weight, float32(random.NormFloat64()))
	}
	return m
}

func explainer(t testing.TB, m *softmax.Model, opts Options) *Explainer {
	t.Helper()
	e, err := New(m, opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// scoresOf are the scores of a record in float64, one output after the other.
func scoresOf(t *testing.T, m *softmax.Model, record dataset.Example) []float64 {
	t.Helper()
	index, value, err := feature.NewRower(m.Features).Row(record)
	if err != nil {
		t.Fatal(err)
	}
	outputs := m.Layer.Outputs()
	scores := make([]float64, outputs)
	for o := range scores {
		scores[o] = float64(m.Layer.Bias[o])
		for i, x := range value {
			f := i
			if index != nil {
				f = int(index[i])
			}
			scores[o] += float64(m.Layer.Weight[f*outputs+o]) * float64(x)
		}
	}
	return scores
}

func total(c Contrast) float64 {
	sum := c.Bias + c.Rest
	for _, x := range slices.Concat(c.Positive, c.Negative) {
		sum += x.Contribution
	}
	return sum
}

// checkContrast holds a contrast against the difference of scores, and its own
// parts.
func checkContrast(t *testing.T, c Contrast, want float64, features int) {
	t.Helper()
	const rounding = 1e-12
	if math.Abs(c.Difference-want) > rounding {
		t.Errorf("a difference of %v, the scores say %v", c.Difference, want)
	}
	if got := total(c); math.Abs(got-c.Difference) > rounding {
		t.Errorf("bias, contributions and rest add up to %v, want %v", got, c.Difference)
	}
	if len(c.Positive) > features || len(c.Negative) > features {
		t.Errorf("%d and %d features, want at most %d on a side", len(c.Positive), len(c.Negative), features)
	}
	for i, x := range c.Positive {
		if x.Contribution <= 0 || i > 0 && x.Contribution > c.Positive[i-1].Contribution || x.Feature == "" {
			t.Errorf("positive feature %d is %+v, want falling contributions above 0", i, x)
		}
	}
	for i, x := range c.Negative {
		if x.Contribution >= 0 || i > 0 && x.Contribution < c.Negative[i-1].Contribution || x.Feature == "" {
			t.Errorf("negative feature %d is %+v, want rising contributions below 0", i, x)
		}
	}
}

func TestFlatContributionsAddUp(t *testing.T) {
	for _, kind := range []dataset.Kind{dataset.Text, dataset.Numbers, dataset.Sparse} {
		for _, features := range []int{1, 3, 1000} {
			m := modelOf(t, kind, false)
			e := explainer(t, m, Options{Features: features})
			predictor := m.NewPredictor()
			for _, r := range records(kind) {
				x, err := e.Explain(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				top, err := predictor.Predict(r, 2)
				if err != nil {
					t.Fatal(err)
				}
				if x.Label != top[0].Label || x.Probability != top[0].Probability || len(x.Decisions) != 1 {
					t.Fatalf("%v: %d decisions for %q %v, want one for %+v", kind, len(x.Decisions), x.Label, x.Probability, top[0])
				}
				d := x.Decisions[0]
				if d.Rival.Name != top[1].Label || d.Rival.Probability != top[1].Probability || d.Choices != len(labels()) {
					t.Errorf("%v: rival %q %v among %d, want %+v", kind, d.Rival.Name, d.Rival.Probability, d.Choices, top[1])
				}
				s := scoresOf(t, m, r)
				var mean float64
				for _, score := range s {
					mean += score / float64(len(s))
				}
				checkContrast(t, d.Mean, s[top[0].Class]-mean, features)
				checkContrast(t, d.Rival.Contrast, s[top[0].Class]-s[top[1].Class], features)
				if features == 1000 && (d.Mean.Others != 0 || d.Mean.Rest != 0) {
					t.Errorf("%v: %d features left over although all were asked for", kind, d.Mean.Others)
				}
			}
		}
	}
}

func TestHierarchicalContributionsAddUp(t *testing.T) {
	m := modelOf(t, dataset.Text, true)
	tree := groups(t)
	e := explainer(t, m, Options{})
	deep := 0
	for _, r := range records(dataset.Text) {
		x, err := e.Explain(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.NearestByWeights) != 0 {
			t.Errorf("nearest by weights %v, but a hierarchical softmax has no weights of a class", x.NearestByWeights)
		}
		s := scoresOf(t, m, r)
		node := make(map[string]int)
		for v := range tree.Len() {
			node[tree.Name(v)] = v
		}
		product := 1.0
		deep = max(deep, len(x.Decisions))
		for _, d := range x.Decisions {
			product *= d.Probability
			v := node[d.Chosen]
			siblings := tree.Children(tree.Parent(v))
			if len(siblings) != d.Choices || d.Choices < 2 {
				t.Errorf("%q: %d choices, want the %d siblings", d.Chosen, d.Choices, len(siblings))
			}
			var mean float64
			for _, u := range siblings {
				mean += s[u-1] / float64(len(siblings))
				if u != v && s[u-1] > s[node[d.Rival.Name]-1] {
					t.Errorf("%q scores more than the rival %q", tree.Name(u), d.Rival.Name)
				}
			}
			checkContrast(t, d.Mean, s[v-1]-mean, 5)
			checkContrast(t, d.Rival.Contrast, s[v-1]-s[node[d.Rival.Name]-1], 5)
			odds := math.Log(d.Probability / d.Rival.Probability)
			if math.Abs(odds-d.Rival.Difference) > 1e-4 {
				t.Errorf("%q: probabilities %v and %v, log odds %v, the scores say %v", d.Chosen, d.Probability, d.Rival.Probability, odds, d.Rival.Difference)
			}
		}
		if math.Abs(product-x.Probability) > 1e-6 {
			t.Errorf("%q: the decisions have probability %v, the answer %v", r.Text, product, x.Probability)
		}
	}
	if deep != 2 {
		t.Errorf("at most %d decisions, want an answer below a group with 2: the only child is none", deep)
	}
}

// Calibration changes the probabilities; the scores stay what they were.
func TestCalibrated(t *testing.T) {
	for _, hierarchical := range []bool{false, true} {
		m := modelOf(t, dataset.Text, hierarchical)
		r := records(dataset.Text)[0]
		before, err := explainer(t, m, Options{}).Explain(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		m.Training.Calibration = &decide.Calibration{Temperature: 2}
		after, err := explainer(t, m, Options{}).Explain(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if before.Temperature != 1 || after.Temperature != 2 || after.Probability >= before.Probability {
			t.Errorf("temperatures %v and %v, probabilities %v and %v", before.Temperature, after.Temperature, before.Probability, after.Probability)
		}
		product := 1.0
		for i, d := range after.Decisions {
			product *= d.Probability
			if was := before.Decisions[i]; d.Mean.Difference != was.Mean.Difference || d.Rival.Difference != was.Rival.Difference {
				t.Errorf("%q: the differences of the scores have changed", d.Chosen)
			}
			if odds := math.Log(d.Probability / d.Rival.Probability); !hierarchical && math.Abs(2*odds-d.Rival.Difference) > 1e-4 {
				t.Errorf("log odds %v, want half of %v", odds, d.Rival.Difference)
			}
		}
		if math.Abs(product-after.Probability) > 1e-6 {
			t.Errorf("the decisions have probability %v, the answer %v", product, after.Probability)
		}
	}
}

func TestAgainst(t *testing.T) {
	for _, hierarchical := range []bool{false, true} {
		m := modelOf(t, dataset.Text, hierarchical)
		for _, against := range labels() {
			e := explainer(t, m, Options{Against: against})
			for _, r := range records(dataset.Text) {
				x, err := e.Explain(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				named := slices.ContainsFunc(x.Decisions, func(d Decision) bool {
					return d.Rival.Name == against || hierarchical && d.Rival.Name == "single"
				})
				if x.Label != against && !named {
					t.Errorf("%q against %q: %+v", r.Text, against, x.Decisions)
				}
				for _, d := range x.Decisions {
					if d.Rival.Name == d.Chosen {
						t.Errorf("%q is its own rival", d.Chosen)
					}
				}
			}
		}
	}
}

func TestPath(t *testing.T) {
	m := modelOf(t, dataset.Text, false)
	if p := explainer(t, m, Options{}).path(0); len(p) != 0 {
		t.Errorf("path %v without a tree", p)
	}
	m.Tree = groups(t)
	want := []Node{{"root", 5}, {"single", 3}, {"cards", 3}, {"card stolen", 1}}
	if p := explainer(t, m, Options{}).path(1); !slices.Equal(p, want) {
		t.Errorf("path %v, want %v", p, want)
	}
}

func TestNearestByWeights(t *testing.T) {
	m := modelOf(t, dataset.Numbers, false)
	k, d := m.Layer.Classes, m.Layer.Features
	// Brute force: rows less their mean, written out.
	rows := make([][]float64, k)
	for c := range rows {
		for f := range d {
			var mean float64
			for o := range k {
				mean += float64(m.Layer.Weight[f*k+o]) / float64(k)
			}
			rows[c] = append(rows[c], float64(m.Layer.Weight[f*k+c])-mean)
		}
	}
	dot := func(a, b int) (sum float64) {
		for f := range d {
			sum += rows[a][f] * rows[b][f]
		}
		return sum
	}
	e := explainer(t, m, Options{Nearest: 3})
	for c := range k {
		found, err := e.nearestByWeights(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 3 {
			t.Fatalf("%d classes, want 3", len(found))
		}
		for i, n := range found {
			other := slices.Index(labels(), n.Label)
			if want := dot(c, other) / math.Sqrt(dot(c, c)*dot(other, other)); other == c || math.Abs(n.Cosine-want) > 1e-12 {
				t.Errorf("%q: %q at %v, want %v", labels()[c], n.Label, n.Cosine, want)
			}
			if i > 0 && n.Cosine > found[i-1].Cosine {
				t.Errorf("%q: %v, want the nearest first", labels()[c], found)
			}
		}
	}
	// Another constant for all classes changes nothing: that is why they are centred.
	before, _ := e.nearestByWeights(t.Context(), 0)
	for i := range m.Layer.Weight {
		m.Layer.Weight[i] += 8
	}
	after, err := explainer(t, m, Options{Nearest: 3}).nearestByWeights(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if before[i].Label != after[i].Label || math.Abs(before[i].Cosine-after[i].Cosine) > 1e-5 {
			t.Errorf("%v became %v when the same was added to all weights", before, after)
		}
	}
}

func TestNearestByName(t *testing.T) {
	m := modelOf(t, dataset.Text, false)
	found := explainer(t, m, Options{}).nearestByName(0)
	var names []string
	for _, n := range found {
		names = append(names, n.Label)
	}
	if len(names) < 2 || names[0] != "card stolen" && names[0] != "card arrival" || slices.Contains(names, "opening hours") {
		t.Errorf("like %q are %v, want the other cards and nothing that shares no letters", labels()[0], found)
	}
	for c := range m.Labels {
		m.Labels[c] = strings.Repeat(" ", c+1)
	}
	if found := explainer(t, m, Options{}).nearestByName(0); len(found) != 0 {
		t.Errorf("blank names are like %v", found)
	}
}

func TestOneClass(t *testing.T) {
	m := modelOf(t, dataset.Numbers, false)
	m.Layer = &softmax.Layer{Classes: 1, Features: 3, Weight: []float32{1, 2, 3}, Bias: []float32{0}}
	m.Labels = []string{"all"}
	x, err := explainer(t, m, Options{}).Explain(t.Context(), records(dataset.Numbers)[0])
	if err != nil || x.Probability != 1 || len(x.Decisions) != 0 || len(x.NearestByWeights) != 0 {
		t.Errorf("%+v, %v: want the only class and no decision", x, err)
	}
}

// Equal classes have no weights beside the mean, and nothing decides.
func TestEqualClasses(t *testing.T) {
	m := modelOf(t, dataset.Numbers, false)
	clear(m.Layer.Weight)
	clear(m.Layer.Bias)
	x, err := explainer(t, m, Options{}).Explain(t.Context(), records(dataset.Numbers)[0])
	if err != nil {
		t.Fatal(err)
	}
	d := x.Decisions[0]
	if x.Label != labels()[0] || d.Rival.Name != labels()[1] || len(d.Mean.Positive)+len(d.Mean.Negative) > 0 || d.Mean.Difference != 0 {
		t.Errorf("%+v, want the first two classes and no reason", x)
	}
	for _, n := range x.NearestByWeights {
		if n.Cosine != 0 {
			t.Errorf("%+v, want cosine 0 of nothing", n)
		}
	}
	if _, err := json.Marshal(x); err != nil {
		t.Errorf("no JSON of it: %v", err)
	}
}

func TestRefused(t *testing.T) {
	good := modelOf(t, dataset.Text, false)
	short := modelOf(t, dataset.Text, false)
	short.Labels = short.Labels[:2]
	for _, tc := range []struct {
		name string
		m    *softmax.Model
		opts Options
		want string
	}{
		{"negative features", good, Options{Features: -1}, "-1 features"},
		{"negative classes", good, Options{Nearest: -2}, "-2 nearest"},
		{"unknown class", good, Options{Against: "coffee"}, `no class "coffee" among the 5`},
		{"model that does not fit", short, Options{}, "2 labels for 5 classes"},
	} {
		if _, err := New(tc.m, tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	e := explainer(t, modelOf(t, dataset.Numbers, false), Options{})
	place := dataset.Place{File: "x.csv", Line: 7}
	if _, err := e.Explain(t.Context(), dataset.Example{Values: []float64{1}, Place: place}); err == nil || !strings.Contains(err.Error(), "x.csv:7") {
		t.Errorf("a record of one number: %v, want its place", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Explain(ctx, records(dataset.Numbers)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := e.Explain(t.Context(), records(dataset.Numbers)[0]); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}
