package decide

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
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
			tree := treetest.Figure1(t, tc.kind)
			d := newDecider(t, Rule{Confidence: tc.confidence}, tree)
			got := decided(t, d, given(tree, tc.p))
			path, choice := d.Path(got), got.Choices[0]
			if strings.Join(path, " ") != tc.path || math.Abs(choice.Probability-tc.p1) > 1e-6 || got.Classes != tc.classes {
				t.Errorf("got %v at %v with %d classes; want %s at %v with %d", path, choice.Probability, got.Classes, tc.path, tc.p1, tc.classes)
			}
			if single := choice.Class == tree.Class(got.Node) && choice.Class != None; single != tc.single {
				t.Errorf("class %d of node %d; want a single class: %v", choice.Class, got.Node, tc.single)
			}
		})
	}
}

func TestHedgeOneClass(t *testing.T) {
	tree := starTree(t, 1)
	got := decided(t, newDecider(t, Rule{Confidence: 1}, tree), []float32{1})
	node := tree.Node(0)
	if want := (Answer{Choices: []Choice{{Class: 0, Probability: 1}}, Node: node, Depth: tree.Depth(node), Classes: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// plainHedge looks at every answer there is, and returns its depth and probability.
func plainHedge(tree *labeltree.Tree, p []float32, confidence float64) (depth int, probability float64) {
	total := 0.0
	for _, v := range p {
		total += float64(v)
	}
	depth = -1
	take := func(d int, mass float64) {
		if mass >= confidence-1e-6 && (d > depth || d == depth && mass > probability+1e-12) {
			depth, probability = d, mass
		}
	}
	for v := range tree.Len() {
		mass := 0.0
		for _, c := range tree.ClassesBelow(v) {
			mass += float64(p[c]) / total
		}
		take(tree.Depth(v), mass)
		if c := tree.Class(v); !tree.IsLeaf(v) && c >= 0 {
			take(tree.Depth(v)+1, float64(p[c])/total)
		}
	}
	return depth, probability
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
		tree := treetest.Random(t, rng, classes)
		p := randomProbabilities(rng, classes, coarse)
		levels := []float64{1e-9, 0.5, 1}
		for range 10 {
			levels = append(levels, rng.Float64())
		}
		slices.Sort(levels)
		var last Answer
		for i, confidence := range levels {
			d := newDecider(t, Rule{Confidence: confidence}, tree)
			got := decided(t, d, p)
			depth, probability := plainHedge(tree, p, confidence)
			if !near(got.Choices[0].Probability, probability) || got.Depth != depth {
				t.Errorf("confidence %v: %+v, want %v at depth %d", confidence, got, probability, depth)
			}
			if got.Choices[0].Probability < confidence-1.01e-6 {
				t.Errorf("confidence %v: only %v", confidence, got.Choices[0].Probability)
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
