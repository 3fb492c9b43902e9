package decide

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

func TestHedgeFigure1(t *testing.T) {
	dogs := map[string]float64{"husky": 0.4, "sheepdog": 0.3, "boxer": 0.15, "bear": 0.05, "truck": 0.1}
	for _, tc := range []struct {
		name       string
		kind       labeltree.Kind
		p          map[string]float64
		confidence float64
		path       string
		single     bool
		p1         float64
		classes    int
	}{
		{"which breed?", labeltree.VTree, dogs, 0.8, "pseudo1 pseudo2 pseudo3", false, 0.85, 4},
		{"exactly what they have", labeltree.VTree, dogs, 0.85, "pseudo1 pseudo2 pseudo3", false, 0.85, 4},
		{"a dog or a bear", labeltree.VTree, dogs, 0.9, "pseudo1 pseudo2", false, 0.9, 7},
		{"anything", labeltree.VTree, dogs, 0.91, "pseudo1", false, 1, 10},
		{"a husky is enough", labeltree.VTree, dogs, 0.35, "pseudo1 pseudo2 pseudo3 husky", true, 0.4, 1},
		{"two of one depth reach it: the more probable", labeltree.VTree, dogs, 0.1, "pseudo1 pseudo2 pseudo3 husky", true, 0.4, 1},
		{"sure", labeltree.VTree, map[string]float64{"toaster": 1}, 1, "pseudo1 toaster", true, 1, 1},
		{"sure but for rounding", labeltree.VTree, map[string]float64{"toaster": 1 - 1e-7}, 1, "pseudo1 toaster", true, 1, 1},
		{"confidence 1 wants all", labeltree.VTree, map[string]float64{"truck": 0.5, "bus": 0.4999, "bear": 0.0001 - 1e-7}, 1, "pseudo1", false, 1, 10},
		{"a class on an inner node", labeltree.UTree, map[string]float64{"boxer": 0.95, "bear": 0.05}, 0.9, "truck boxer", true, 0.95, 1},
		{"that node as a group", labeltree.UTree, map[string]float64{"boxer": 0.5, "bear": 0.45, "bus": 0.05}, 0.9, "truck boxer", false, 0.95, 7},
		{"the class at the root", labeltree.UTree, map[string]float64{"truck": 0.95, "bear": 0.05}, 0.9, "truck", true, 0.95, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := figure1(t, tc.kind)
			got, err := Hedge(d, given(d, tc.p), tc.confidence)
			if err != nil {
				t.Fatal(err)
			}
			path := d.Path(got)
			if strings.Join(path, " ") != tc.path || math.Abs(got.Probability-tc.p1) > 1e-6 || got.Classes != tc.classes {
				t.Errorf("got %v at %v with %d classes; want %s at %v with %d", path, got.Probability, got.Classes, tc.path, tc.p1, tc.classes)
			}
			if single := got.Class == d.LabelTree().Class(got.Node) && got.Class != None; single != tc.single {
				t.Errorf("class %d of node %d; want a single class: %v", got.Class, got.Node, tc.single)
			}
		})
	}
}

func TestHedgeOneClass(t *testing.T) {
	d := newTree(t, starTree(t, 1), Options{})
	got, err := Hedge(d, []float32{1}, 1)
	if want := (Hedged{Node: d.LabelTree().Node(0), Class: 0, Probability: 1, Depth: d.LabelTree().Depth(d.LabelTree().Node(0)), Classes: 1}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// plainHedge looks at every answer there is.
func plainHedge(d *Tree, p []float32, confidence float64) Hedged {
	tree, total := d.LabelTree(), 0.0
	for _, v := range p {
		total += float64(v)
	}
	best := Hedged{Depth: -1}
	for v := range tree.Len() {
		below, mass := tree.ClassesBelow(v), 0.0
		for _, c := range below {
			mass += float64(p[c]) / total
		}
		list := []Hedged{{v, None, mass, tree.Depth(v), len(below)}}
		if c := tree.Class(v); tree.IsLeaf(v) {
			list[0].Class = c
		} else if c >= 0 {
			list = append(list, Hedged{v, c, float64(p[c]) / total, tree.Depth(v) + 1, 1})
		}
		for _, h := range list {
			if h.Probability >= confidence-1e-6 && (h.Depth > best.Depth || h.Depth == best.Depth && h.Probability > best.Probability+1e-12) {
				best = h
			}
		}
	}
	return best
}

// FuzzHedge checks the answer against all others, and that a larger confidence
// never says more.
func FuzzHedge(f *testing.F) {
	f.Add(uint64(1), uint8(10), false)
	f.Add(uint64(2), uint8(1), true)
	f.Add(uint64(3), uint8(60), true)
	f.Fuzz(func(t *testing.T, seed uint64, k uint8, coarse bool) {
		rng := rand.New(rand.NewPCG(seed, 9))
		classes := 1 + int(k)%60
		d := newTree(t, treetest.Random(t, rng, classes), Options{})
		p := randomProbabilities(rng, classes, coarse)
		levels := []float64{0, 0.5, 1}
		for range 10 {
			levels = append(levels, rng.Float64())
		}
		slices.Sort(levels)
		var last Hedged
		for i, confidence := range levels {
			got, err := Hedge(d, p, confidence)
			if err != nil {
				t.Fatal(err)
			}
			want := plainHedge(d, p, confidence)
			if !near(got.Probability, want.Probability) || got.Depth != want.Depth {
				t.Errorf("confidence %v: %+v, want %+v", confidence, got, want)
			}
			if got.Probability < confidence-1.01e-6 {
				t.Errorf("confidence %v: only %v", confidence, got.Probability)
			}
			if i > 0 && got.Depth > last.Depth {
				t.Errorf("confidence %v gives depth %d, a smaller one %d", confidence, got.Depth, last.Depth)
			}
			if i > 0 && levels[i-1] > 0.5+1e-5 {
				if got.Classes < last.Classes {
					t.Errorf("confidence %v leaves %d classes open, a smaller one %d", confidence, got.Classes, last.Classes)
				}
				for c := range classes {
					if d.Holds(last, c) && !d.Holds(got, c) {
						t.Errorf("confidence %v: class %d is in the answer to a smaller one only", confidence, c)
					}
				}
			}
			last = got
		}
	})
}

// If the probabilities are true, hedged answers are right as often as asked for.
func TestHedgeKeepsItsPromise(t *testing.T) {
	const k, n = 30, 4000
	rng := rand.New(rand.NewPCG(7, 7))
	d := newTree(t, treetest.Random(t, rng, k), Options{})
	wide := 1.0
	for _, confidence := range []float64{0.6, 0.8, 0.95} {
		h := NewHedging(d)
		claimed := 0.0
		for range n {
			p := randomProbabilities(rng, k, false)
			x, truth := rng.Float64(), 0
			for truth < k-1 && x >= float64(p[truth]) {
				x -= float64(p[truth])
				truth++
			}
			answer, err := Hedge(d, p, confidence)
			if err != nil {
				t.Fatal(err)
			}
			claimed += answer.Probability / n
			if err := h.Add(truth, answer); err != nil {
				t.Fatal(err)
			}
		}
		r := h.Report()
		if r.Accuracy < confidence || math.Abs(r.Accuracy-claimed) > 0.02 {
			t.Errorf("confidence %v: %v right, want at least that and about the mean probability %v", confidence, r.Accuracy, claimed)
		}
		if r.InformationShare >= wide {
			t.Errorf("confidence %v says %v, no less than a smaller one", confidence, r.InformationShare)
		}
		wide = r.InformationShare
	}
}

// Four answers over figure 1: a husky that is one, a dog that is a boxer, a dog
// that is a bear, and the root for a label never trained.
func TestHedgingWorkedByHand(t *testing.T) {
	d := figure1(t, labeltree.VTree)
	h := NewHedging(d)
	hedge := func(confidence float64) Hedged {
		answer, err := Hedge(d, given(d, map[string]float64{"husky": 0.6, "boxer": 0.3, "bus": 0.1}), confidence)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for _, e := range []struct {
		truth  int
		answer Hedged
	}{
		{classOf(d, "husky"), hedge(0.6)}, {classOf(d, "boxer"), hedge(0.9)},
		{classOf(d, "bear"), hedge(0.9)}, {score.Unknown, hedge(0.95)},
	} {
		if err := h.Add(e.truth, e.answer); err != nil {
			t.Fatal(err)
		}
	}
	r, bits := h.Report(), math.Log2(10)
	want := HedgingReport{
		Accuracy: 0.5, ClassShare: 0.25, ClassAccuracy: 1, RootShare: 0.25, MeanDepth: (3 + 2 + 2 + 0) / 4.0,
		MeanInformation: (bits + 2*math.Log2(10.0/4)) / 4, Examples: 4, Unknown: 1,
	}
	want.InformationShare = want.MeanInformation / bits
	got, expected := reflect.ValueOf(r), reflect.ValueOf(want)
	for i := range got.NumField() {
		if g, w := got.Field(i), expected.Field(i); g.CanFloat() && !near(g.Float(), w.Float()) || g.CanInt() && g.Int() != w.Int() {
			t.Errorf("%s = %v, want %v", got.Type().Field(i).Name, g, w)
		}
	}
	data, err := json.Marshal(NewHedging(d).Report())
	if err != nil || string(data) != `{"accuracy":null,"class_share":null,"class_accuracy":null,"root_share":null,"mean_depth":null,"mean_information":null,"information_share":null,"examples":0,"unknown_labels":0}` {
		t.Errorf("JSON of nothing: %s, %v", data, err)
	}
	for name, e := range map[string]struct {
		truth  int
		answer Hedged
	}{
		"no such class": {10, Hedged{Class: None}}, "below Unknown": {-2, Hedged{Class: None}},
		"no such node": {0, Hedged{Node: 14, Class: None}}, "negative node": {0, Hedged{Node: -1, Class: None}},
		"a class elsewhere": {0, Hedged{Node: 1, Class: 3}}, "a class that is none": {0, Hedged{Node: 0, Class: -7}},
	} {
		if err := h.Add(e.truth, e.answer); err == nil || h.Report() != r {
			t.Errorf("%s: %v, want an error and nothing counted", name, err)
		}
	}
}

// Order and merging change not one bit.
func TestHedgingOrderAndMerge(t *testing.T) {
	const k, n = 25, 600
	rng := rand.New(rand.NewPCG(6, 1))
	d := newTree(t, treetest.Random(t, rng, k), Options{})
	truths, answers := make([]int, n), make([]Hedged, n)
	for i := range n {
		answer, err := Hedge(d, randomProbabilities(rng, k, i%3 == 0), 0.6)
		if err != nil {
			t.Fatal(err)
		}
		truths[i], answers[i] = rng.IntN(k+1)-1, answer
	}
	fill := func(order []int) *Hedging {
		h := NewHedging(d)
		for _, i := range order {
			if err := h.Add(truths[i], answers[i]); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	whole, merged := fill(order), fill(order[:200])
	if err := merged.Merge(fill(order[200:])); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(whole, merged) {
		t.Error("a merged Hedging differs from a whole one")
	}
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	if got := fill(order).Report(); got != whole.Report() {
		t.Errorf("shuffled: %+v, want %+v", got, whole.Report())
	}
	right := 0
	for i, answer := range answers {
		if truths[i] >= 0 && d.Holds(answer, truths[i]) {
			right++
		}
	}
	if got := whole.Report().Accuracy; got != float64(right)/n {
		t.Errorf("accuracy %v, want %v", got, float64(right)/n)
	}
	if err := whole.Merge(NewHedging(newTree(t, starTree(t, k), Options{}))); err == nil {
		t.Error("merge over another tree: want an error")
	}
}
