package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
)

// climb returns the nodes from that of a class up, the root left out.
func climb(tree *labeltree.Tree, c int) []int {
	path := tree.Path(c)
	return path[:len(path)-1]
}

// plainTree computes the fields of a Report that need a tree; costs, if not
// nil, rank the classes of each example.
func plainTree(r Report, examples []example, costs [][]float64, tree *labeltree.Tree) Report {
	var known, wrong, d1, d5, d20, both, truths, guesses float64
	for i, e := range examples {
		if e.truth == Unknown {
			continue
		}
		order := make([]int, len(e.p))
		for j := range order {
			order[j] = j
		}
		sort.SliceStable(order, func(a, b int) bool { return e.p[order[a]] > e.p[order[b]] })
		if costs != nil {
			sort.SliceStable(order, func(a, b int) bool { return costs[i][order[a]] < costs[i][order[b]] })
		}
		mean := func(n int) (sum float64) {
			first := order[:min(n, len(order))]
			for _, c := range first {
				sum += treetest.Apart(tree, e.truth, c) / float64(len(first))
			}
			return sum
		}
		known++
		if order[0] != e.truth {
			wrong++
		}
		d1, d5, d20 = d1+mean(1), d5+mean(5), d20+mean(20)
		a, b := climb(tree, e.truth), climb(tree, order[0])
		for _, v := range a {
			if slices.Contains(b, v) {
				both++
			}
		}
		truths, guesses = truths+float64(len(a)), guesses+float64(len(b))
	}
	over := func(a, b float64) float64 {
		if b == 0 {
			return math.NaN()
		}
		return a / b
	}
	r.MistakeSeverity = over(d1, wrong)
	r.HierarchicalDistance1, r.HierarchicalDistance5, r.HierarchicalDistance20 = over(d1, known), over(d5, known), over(d20, known)
	r.HierarchicalPrecision, r.HierarchicalRecall = over(both, guesses), over(both, truths)
	r.HierarchicalF1 = over(2*both, guesses+truths)
	return r
}

// compareTree compares what a tree measures.
func compareTree(t *testing.T, got, want Report) {
	t.Helper()
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"severity", got.MistakeSeverity, want.MistakeSeverity},
		{"distance at 1", got.HierarchicalDistance1, want.HierarchicalDistance1},
		{"distance at 5", got.HierarchicalDistance5, want.HierarchicalDistance5},
		{"distance at 20", got.HierarchicalDistance20, want.HierarchicalDistance20},
		{"precision", got.HierarchicalPrecision, want.HierarchicalPrecision},
		{"recall", got.HierarchicalRecall, want.HierarchicalRecall},
		{"F1", got.HierarchicalF1, want.HierarchicalF1},
	} {
		if !(math.Abs(f.got-f.want) <= 1e-9*(1+math.Abs(f.want)) || math.IsNaN(f.got) && math.IsNaN(f.want)) {
			t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
		}
	}
}

func TestHeightsOfFigure1(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.VTree)
	want := map[string]float64{"pseudo1": 3, "pseudo2": 2, "pseudo3": 1, "pseudo4": 1}
	for v, h := range Heights(tree) {
		if h != want[tree.Name(v)] {
			t.Errorf("height of %s is %v, want %v", tree.Name(v), h, want[tree.Name(v)])
		}
	}
}

// On figure 1: a bear taken for a boxer (2 up), a husky for a sheepdog (1), a
// truck for a toaster (3), a bus that is right, and a label never trained. The
// paths without the root have 2 nodes for a bear, a truck and a bus, 3 for a
// dog and 1 for a toaster; shared are 1, 2, 0 and 2.
func TestMistakesWorkedByHand(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.VTree)
	class := func(label string) int { return slices.Index(tree.Labels(), label) }
	c := counter(t, 10, Options{Tree: tree}, certain(10,
		[2]int{class("bear"), class("boxer")}, [2]int{class("husky"), class("sheepdog")},
		[2]int{class("truck"), class("toaster")}, [2]int{class("bus"), class("bus")}, [2]int{Unknown, class("bear")}))
	r := c.Report()
	want := Report{
		MistakeSeverity: 2, HierarchicalDistance1: 6.0 / 4,
		HierarchicalPrecision: 5.0 / 9, HierarchicalRecall: 5.0 / 9, HierarchicalF1: 5.0 / 9,
		HierarchicalDistance5: r.HierarchicalDistance5, HierarchicalDistance20: r.HierarchicalDistance20,
	}
	compareTree(t, r, want)
	// All ten classes are among the first 20, so that distance is the mean over
	// pairs: for a bear 6 at 2 and 3 at 3, and so on.
	if sum := (6*2 + 3*3) + (3*1 + 3*2 + 3*3) + 2*(1+8*3); !near(r.HierarchicalDistance20, float64(sum)/40) {
		t.Errorf("distance at 20 of ten classes is %v, want %v", r.HierarchicalDistance20, float64(sum)/40)
	}
	if r.Accuracy != 0.2 {
		t.Errorf("accuracy %v, want 0.2: the label never trained is among the examples", r.Accuracy)
	}
}

// In a U-tree boxer is an ancestor of the bear, and truck of all.
func TestMistakesWithClassesOnInnerNodes(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.UTree)
	class := func(label string) int { return slices.Index(tree.Labels(), label) }
	r := counter(t, 10, Options{Tree: tree}, certain(10,
		[2]int{class("bear"), class("boxer")}, [2]int{class("boxer"), class("boxer")}, [2]int{class("truck"), class("truck")})).Report()
	// Height of boxer is 1; a truck is right and at distance 0 though its node is high.
	if r.MistakeSeverity != 1 || !near(r.HierarchicalDistance1, 1.0/3) {
		t.Errorf("severity %v and distance %v, want 1 and 1/3", r.MistakeSeverity, r.HierarchicalDistance1)
	}
	if r.HierarchicalPrecision != 1 || !near(r.HierarchicalRecall, 2.0/3) || !near(r.HierarchicalF1, 0.8) {
		t.Errorf("precision %v, recall %v, F1 %v; want 1, 2/3, 0.8", r.HierarchicalPrecision, r.HierarchicalRecall, r.HierarchicalF1)
	}
}

func TestMistakesNotKnown(t *testing.T) {
	tree := treetest.Figure1(t, labeltree.VTree)
	for _, tc := range []struct {
		name     string
		k        int
		tree     *labeltree.Tree
		examples []example
		severity bool // whether severity, distance and precision are known
		distance bool
		sets     bool
	}{
		{"no examples", 10, tree, nil, false, false, false},
		{"unknown labels only", 10, tree, certain(10, [2]int{Unknown, 3}), false, false, false},
		{"nothing wrong", 10, tree, certain(10, [2]int{3, 3}), false, true, true},
		{"something wrong", 10, tree, certain(10, [2]int{3, 4}), true, true, true},
		{"one class", 1, treetest.Random(t, rand.New(rand.NewPCG(1, 1)), 1), certain(1, [2]int{0, 0}), false, true, false},
		{"no tree", 10, nil, certain(10, [2]int{3, 4}), false, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := counter(t, tc.k, Options{Tree: tc.tree}, tc.examples).Report()
			for _, f := range []struct {
				name  string
				value float64
				known bool
			}{
				{"severity", r.MistakeSeverity, tc.severity}, {"distance", r.HierarchicalDistance20, tc.distance},
				{"precision", r.HierarchicalPrecision, tc.sets}, {"F1", r.HierarchicalF1, tc.sets},
			} {
				if math.IsNaN(f.value) == f.known {
					t.Errorf("%s is %v, want it known: %v", f.name, f.value, f.known)
				}
			}
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if !tc.severity != strings.Contains(string(data), `"mistake_severity":null`) {
				t.Errorf("JSON %s", data)
			}
			var back Report
			if err := json.Unmarshal(data, &back); err != nil || !identical(back, r) {
				t.Errorf("read back %+v, %v; want %+v", back, err, r)
			}
		})
	}
}

func TestTreeIdentities(t *testing.T) {
	const k = 12
	examples := randomExamples(8, 500, k)
	known := slices.DeleteFunc(examples, func(e example) bool { return e.truth == Unknown })
	star := labeltree.Nested{Label: "0"}
	for c := range k {
		star.Children = append(star.Children, labeltree.Nested{Label: strconv.Itoa(c)})
	}
	tree, err := labeltree.FromNested(star, labeltree.VTree)
	if err != nil {
		t.Fatal(err)
	}
	r := counter(t, k, Options{Tree: tree}, known).Report()
	if r.MistakeSeverity != 1 || !near(r.HierarchicalDistance1, 1-r.Accuracy) {
		t.Errorf("severity %v and distance %v on a star, want 1 and the error %v", r.MistakeSeverity, r.HierarchicalDistance1, 1-r.Accuracy)
	}
	if !near(r.HierarchicalDistance5, 1-r.Top5Accuracy/5) || !near(r.HierarchicalDistance20, 1-1.0/k) {
		t.Errorf("distances %v and %v on a star, want %v and %v", r.HierarchicalDistance5, r.HierarchicalDistance20, 1-r.Top5Accuracy/5, 1-1.0/k)
	}
	if !near(r.HierarchicalPrecision, r.Accuracy) || !near(r.HierarchicalRecall, r.Accuracy) || !near(r.HierarchicalF1, r.Accuracy) {
		t.Errorf("precision %v, recall %v, F1 %v on a star, want the accuracy %v", r.HierarchicalPrecision, r.HierarchicalRecall, r.HierarchicalF1, r.Accuracy)
	}
	// What needs no tree is the same to the last bit with one.
	with := r
	without := counter(t, k, Options{}, known).Report()
	without.MistakeSeverity, without.HierarchicalDistance1 = with.MistakeSeverity, with.HierarchicalDistance1
	without.HierarchicalDistance5, without.HierarchicalDistance20 = with.HierarchicalDistance5, with.HierarchicalDistance20
	without.HierarchicalPrecision, without.HierarchicalRecall, without.HierarchicalF1 = with.HierarchicalPrecision, with.HierarchicalRecall, with.HierarchicalF1
	if !identical(with, without) {
		t.Errorf("a tree changes %+v into %+v", without, with)
	}
}

func TestTreeOrderAndMergeChangeNothing(t *testing.T) {
	const k = 30
	rng := rand.New(rand.NewPCG(12, 1))
	examples := randomExamples(3, 400, k)
	options := Options{Tree: treetest.Random(t, rng, k)}
	whole := counter(t, k, options, examples)
	merged := counter(t, k, options, examples[:123])
	if err := merged.Merge(counter(t, k, options, examples[123:])); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(merged, whole) {
		t.Error("a merged counter differs from a whole one")
	}
	rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
	if got := counter(t, k, options, examples).Report(); !identical(got, whole.Report()) {
		t.Errorf("shuffled: %+v, want %+v", got, whole.Report())
	}
	without, err := NewCounter(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := without.Merge(whole); err == nil {
		t.Error("merge into a counter without a tree: want an error")
	}
}

func TestCosts(t *testing.T) {
	const k = 25
	rng := rand.New(rand.NewPCG(2, 9))
	examples := randomExamples(6, 200, k)
	tree := treetest.Random(t, rng, k)
	costs := make([][]float64, len(examples))
	byCost, byP := counter(t, k, Options{Tree: tree}, nil), counter(t, k, Options{Tree: tree}, examples)
	same := counter(t, k, Options{Tree: tree}, nil)
	for i, e := range examples {
		costs[i] = make([]float64, k)
		for j := range costs[i] {
			costs[i][j] = float64(rng.IntN(4)) // ties, which probabilities and then indices break
		}
		if err := Count(byCost, e.truth, Mix{}, e.p, costs[i]); err != nil {
			t.Fatal(err)
		}
		if err := Count(same, e.truth, Mix{}, e.p, make([]float64, k)); err != nil {
			t.Fatal(err)
		}
	}
	got, p := byCost.Report(), byP.Report()
	compareTree(t, got, plainTree(Report{}, examples, costs, tree))
	if got.LogLoss != p.LogLoss {
		t.Errorf("log loss %v with costs, want %v as without", got.LogLoss, p.LogLoss)
	}
	if !identical(same.Report(), p) {
		t.Error("equal costs change what is predicted")
	}
	for name, costs := range map[string][]float64{"too few": {1}, "NaN": slices.Repeat([]float64{math.NaN()}, k)} {
		if err := Count(byCost, 0, Mix{}, examples[0].p, costs); err == nil || byCost.examples != len(examples) {
			t.Errorf("%s: %v, want an error and nothing counted", name, err)
		}
	}
}

func TestTreeOfOtherClasses(t *testing.T) {
	_, err := NewCounter(3, Options{Tree: treetest.Figure1(t, labeltree.VTree)})
	if err == nil || !strings.Contains(err.Error(), "of 10 classes, want 3") {
		t.Errorf("got %v, want an error with both numbers", err)
	}
}

// FuzzTree compares the measures with the plain computation.
func FuzzTree(f *testing.F) {
	f.Add(uint64(1), uint8(30), uint8(4))
	f.Add(uint64(2), uint8(3), uint8(1))
	f.Add(uint64(3), uint8(100), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint8) {
		classes := max(int(k)%64, 1)
		tree := treetest.Random(t, rand.New(rand.NewPCG(seed, 5)), classes)
		examples := randomExamples(seed, int(n), classes)
		r := counter(t, classes, Options{Tree: tree}, examples).Report()
		compareTree(t, r, plainTree(r, examples, nil, tree))
		if r.HierarchicalDistance1 > 0 && r.MistakeSeverity < r.HierarchicalDistance1*(1-1e-12) {
			t.Errorf("severity %v below the distance %v of all predictions", r.MistakeSeverity, r.HierarchicalDistance1)
		}
	})
}
