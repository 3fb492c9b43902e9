package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

func plainCosts(tree *labeltree.Tree, lengths bool, p []float32) []float64 {
	costs, total := make([]float64, len(p)), 0.0
	for _, v := range p {
		total += float64(v)
	}
	for c := range costs {
		for other, v := range p {
			costs[c] += float64(v) / total * treetest.Apart(tree, lengths, c, other)
		}
	}
	return costs
}

func checkCosts(t *testing.T, d *Tree, lengths bool, p []float32) {
	t.Helper()
	want := plainCosts(d.LabelTree(), lengths, p)
	got := make([]float64, len(p))
	if err := ExpectedCosts(d, got, p); err != nil {
		t.Fatal(err)
	}
	for c := range want {
		if !near(got[c], want[c]) {
			t.Errorf("expected cost of class %d is %v, want %v", c, got[c], want[c])
		}
	}
	class, cost, err := LeastCost(d, p)
	if err != nil || cost != got[class] || !near(cost, slices.Min(want)) || cost < 0 {
		t.Errorf("least cost %v of class %d, %v; want %v", cost, class, err, slices.Min(want))
	}
	for c, v := range got {
		if v == cost && (p[c] > p[class] || p[c] == p[class] && c < class) {
			t.Errorf("class %d stands before %d at the same cost %v", c, class, cost)
		}
	}
}

// On figure 1, with a husky, a sheepdog and a bulldog at 0.2 each and a toaster
// at 0.4: the toaster costs 0.6 * 3, a husky 0.4 * 1 + 0.4 * 3.
func TestLeastCostWorkedByHand(t *testing.T) {
	d := figure1(t, labeltree.VTree)
	p := given(d, map[string]float64{"husky": 0.2, "sheepdog": 0.2, "bulldog": 0.2, "toaster": 0.4})
	class, cost, err := LeastCost(d, p)
	if err != nil || class != classOf(d, "bulldog") || !near(cost, 1.6) {
		t.Errorf("class %d at %v, %v; want the bulldog, first of three, at 1.6", class, cost, err)
	}
	if class, _, _ := Likely(p); class != classOf(d, "toaster") {
		t.Errorf("the most probable class is %d, want the toaster", class)
	}
	costs := make([]float64, 10)
	if err := ExpectedCosts(d, costs, p); err != nil {
		t.Fatal(err)
	}
	// A boxer is no less a dog: 0.6 * 1 + 0.4 * 3; a bear 0.6 * 2 + 0.4 * 3.
	for label, want := range map[string]float64{"toaster": 1.8, "boxer": 1.8, "bear": 2.4, "bus": 3} {
		if got := costs[classOf(d, label)]; !near(got, want) {
			t.Errorf("a %s costs %v, want %v", label, got, want)
		}
	}
}

func TestLeastCostOnStarIsLikely(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		k := 1 + rng.IntN(20)
		d := newTree(t, starTree(t, k), Options{})
		p := randomProbabilities(rng, k, i%2 == 0)
		got, cost, err := LeastCost(d, p)
		want, likely, _ := Likely(p)
		if err != nil || got != want || k > 1 && math.Abs(cost-(1-likely)) > 1e-6 {
			t.Errorf("class %d at %v, %v; want %d at %v", got, cost, err, want, 1-likely)
		}
	}
}

// A matrix that holds the costs of a tree decides as the tree does.
func TestMatrixAgreesWithTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for range 100 {
		k := 1 + rng.IntN(12)
		d := newTree(t, treetest.Random(t, rng, k), Options{})
		table := matrix.NewDense(k, k)
		for a := range k {
			for b := range k {
				table.Row(a)[b] = float32(treetest.Apart(d.LabelTree(), false, a, b))
			}
		}
		m, err := NewMatrix(table)
		if err != nil {
			t.Fatal(err)
		}
		p := randomProbabilities(rng, k, false)
		got, want := make([]float64, k), make([]float64, k)
		if err := ExpectedCosts(m, got, p); err != nil {
			t.Fatal(err)
		}
		if err := ExpectedCosts(d, want, p); err != nil {
			t.Fatal(err)
		}
		for c := range k {
			if !near(got[c], want[c]) {
				t.Errorf("class %d costs %v by the matrix, %v by the tree", c, got[c], want[c])
			}
		}
	}
}

// Sending a patient home is worse than keeping a healthy one: row is the
// answer, column the truth.
func TestMatrixThatIsNotSymmetric(t *testing.T) {
	m, err := NewMatrix(&matrix.Dense{Columns: 2, Data: []float32{0, 100, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	class, cost, err := LeastCost(m, []float64{0.95, 0.05})
	if err != nil || class != 1 || !near(cost, 0.95) {
		t.Errorf("class %d at %v, %v; want 1 at 0.95, as class 0 costs 5", class, cost, err)
	}
}

func TestCostsRefuse(t *testing.T) {
	for _, tc := range []struct {
		name string
		cost *matrix.Dense
		want string
	}{
		{"nil", nil, "empty matrix"}, {"empty", &matrix.Dense{}, "empty matrix"},
		{"not square", matrix.NewDense(2, 3), "2 rows and 3 columns"},
		{"NaN", &matrix.Dense{Columns: 1, Data: []float32{float32(math.NaN())}}, "want a finite number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := NewMatrix(tc.cost); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
	if _, err := NewTree(nil, Options{}); err == nil {
		t.Error("no tree: want an error")
	}
	d := newTree(t, starTree(t, 2), Options{})
	if err := ExpectedCosts(d, make([]float64, 3), []float32{1, 0}); err == nil {
		t.Error("room for 3 costs of 2 classes: want an error")
	}
}

// Goroutines that share a Tree get what one alone gets.
func TestTreeIsSafeToShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	d := newTree(t, treetest.Random(t, rng, 40), Options{})
	var wg sync.WaitGroup
	for range 8 {
		p := randomProbabilities(rng, 40, false)
		class, cost, _ := LeastCost(d, p)
		answer, _ := Hedge(d, p, 0.7)
		wg.Go(func() {
			for range 200 {
				if c, r, err := LeastCost(d, p); err != nil || c != class || r != cost {
					t.Errorf("class %d at %v, %v; want %d at %v", c, r, err, class, cost)
				}
				if a, err := Hedge(d, p, 0.7); err != nil || a != answer {
					t.Errorf("answer %+v, %v; want %+v", a, err, answer)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzLeastCost compares with all pairs of classes.
func FuzzLeastCost(f *testing.F) {
	f.Add(uint64(1), uint8(10), false, false)
	f.Add(uint64(2), uint8(1), true, true)
	f.Add(uint64(3), uint8(40), true, false)
	f.Fuzz(func(t *testing.T, seed uint64, k uint8, coarse, lengths bool) {
		rng := rand.New(rand.NewPCG(seed, 3))
		classes := 1 + int(k)%40
		d := newTree(t, treetest.Random(t, rng, classes), Options{Lengths: lengths})
		checkCosts(t, d, lengths, randomProbabilities(rng, classes, coarse))
	})
}

func BenchmarkLeastCost(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	d := newTree(b, treetest.Random(b, rng, 1000), Options{})
	p := randomProbabilities(rng, 1000, false)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := LeastCost(d, p); err != nil {
			b.Fatal(err)
		}
	}
}
