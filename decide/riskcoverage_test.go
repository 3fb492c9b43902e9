package decide

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
)

// scored draws n rows of k scores, and of each a class from its probabilities.
func scored(rng *rand.Rand, n, k int) (rows []float32, classes []int) {
	for range n {
		p := randomProbabilities(rng, k, false)
		x, y := rng.Float32(), 0
		for y < k-1 && x >= p[y] {
			x -= p[y]
			y++
		}
		for _, v := range p {
			rows = append(rows, float32(math.Log(max(float64(v), 1e-30))))
		}
		classes = append(classes, y)
	}
	return rows, classes
}

func groupsTree(t testing.TB) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.FromParents(map[string]string{
		"a": "abc", "b": "abc", "c": "abc", "d": "def", "ef": "def", "e": "ef", "f": "ef", "abc": "all", "def": "all",
	}, []string{"a", "b", "c", "d", "e", "f"})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// The counts are those of one decider for each threshold, and the same on any number of
// threads.
func TestCountAnswersByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	tree := groupsTree(t)
	k := tree.Classes()
	rows, classes := scored(rng, 15_000, k)
	c := Calibration{Temperature: 1.3, ConfidenceScale: 1.1, ConfidencePower: -0.2}
	for _, of := range []*labeltree.Tree{nil, tree} {
		got, err := CountAnswers(c, rows, k, classes, of, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Check(); err != nil {
			t.Error(err)
		}
		again, err := CountAnswers(c, rows, k, classes, of, 3)
		if err != nil || !slices.Equal(again.Answered, got.Answered) || !slices.Equal(again.Wrong, got.Wrong) || !slices.Equal(again.Expected, got.Expected) {
			t.Errorf("%v, or other counts on three threads", err)
		}
		p := make([]float32, k)
		for i, threshold := range Thresholds(of != nil) {
			d, err := NewDecider(thresholdRule(threshold, of != nil), k, of)
			if err != nil {
				t.Fatal(err)
			}
			answered, wrong, expected := 0, 0, 0.0
			for n, y := range classes {
				if _, err := Probabilities(&c, p, rows[n*k:(n+1)*k]); err != nil {
					t.Fatal(err)
				}
				a := decided(t, d, p)
				if a.Rejected {
					continue
				}
				answered++
				expected += 1 - a.Choices[0].Probability
				if of != nil && threshold > 0 && !d.Holds(a, y) || (of == nil || threshold == 0) && a.Choices[0].Class != y {
					wrong++
				}
			}
			// Of probabilities within rounding of a threshold a few may fall on either side.
			if math.Abs(float64(got.Answered[i]-answered)) > 3 || math.Abs(float64(got.Wrong[i]-wrong)) > 3 || math.Abs(got.Expected[i]-expected) > 3 {
				t.Errorf("tree %t, threshold %v: %d answers, %d wrong, %v expected; want %d, %d, %v",
					of != nil, threshold, got.Answered[i], got.Wrong[i], got.Expected[i], answered, wrong, expected)
			}
		}
	}
}

// Of many draws of held-out examples, the promise is broken by no larger a share than the
// confidence leaves: the true accuracy above a threshold is known here.
func TestPromisesAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const k = 5
	draws := 200
	if testing.Short() {
		draws = 50
	}
	tree := starTree(t, k)
	for _, tc := range []struct {
		name        string
		held        int
		target      float64
		temperature float64 // of the probabilities, where 1 is right
		tree        *labeltree.Tree
	}{
		{"calibrated", 400, 0.9, 1, nil},
		{"too sure", 400, 0.9, 0.5, nil},
		{"not sure enough", 400, 0.9, 2, nil},
		{"few", 100, 0.8, 1, nil},
		{"a tree", 300, 0.9, 1, tree},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Calibration{Temperature: tc.temperature}
			rows, classes := scored(rng, 20_000, k)
			all, err := CountAnswers(c, rows, k, classes, tc.tree, 2)
			if err != nil {
				t.Fatal(err)
			}
			thresholds := Thresholds(tc.tree != nil)
			broken, made := 0, 0
			for range draws {
				rows, classes := scored(rng, tc.held, k)
				r, err := CountAnswers(c, rows, k, classes, tc.tree, 1)
				if err != nil {
					t.Fatal(err)
				}
				p, ok, err := r.Promise(tc.target, 0.9)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					continue
				}
				made++
				if p.Lowest < tc.target || p.Answered > p.Examples || p.Right > p.Answered {
					t.Fatalf("promise %+v of %v", p, tc.target)
				}
				i := slices.Index(thresholds, p.Threshold)
				if float64(all.Wrong[i]) > (1-tc.target)*float64(all.Answered[i]) {
					broken++
				}
			}
			if share := float64(broken) / float64(draws); share > 0.145 || made < draws/4 {
				t.Errorf("%d of %d promises in %d draws are broken", broken, made, draws)
			}
		})
	}
}

func TestPromiseWorkedByHand(t *testing.T) {
	n := len(Thresholds(false))
	r := newRiskCoverage(n, false)
	r.Examples = 100
	// 60 answers from the 20th threshold on, 2 of them wrong; all 100 at the last, 30 wrong.
	for i := range n {
		if i >= 20 {
			r.Answered[i], r.Wrong[i], r.Expected[i] = 60, 2, 2
		}
	}
	r.Answered[n-1], r.Wrong[n-1], r.Expected[n-1] = 100, 30, 30
	// P(Binomial(60, 0.1) <= 2) = 0.9^60 + 60·0.1·0.9^59 + 1770·0.01·0.9^58 = 0.0530.
	if got := r.tail(20, 0.1); math.Abs(got-0.0530) > 1e-4 {
		t.Errorf("tail %v, want 0.0530", got)
	}
	for _, tc := range []struct {
		accuracy, confidence float64
		ok                   bool
		threshold            float64
	}{
		{0.9, 0.9, true, Thresholds(false)[n-2]},
		{0.9, 0.96, false, 0},
		{0.6, 0.9, true, 0},
	} {
		p, ok, err := r.Promise(tc.accuracy, tc.confidence)
		if err != nil || ok != tc.ok || p.Threshold != tc.threshold {
			t.Errorf("accuracy %v with confidence %v: %+v, %t, %v; want %t at %v", tc.accuracy, tc.confidence, p, ok, err, tc.ok, tc.threshold)
		}
		if ok && math.Abs(r.tail(slices.Index(Thresholds(false), p.Threshold), 1-p.Lowest)-(1-tc.confidence)) > 1e-9 {
			t.Errorf("accuracy %v: lowest %v is not where the tail is the level", tc.accuracy, p.Lowest)
		}
	}
	if best := r.Best(0.9); best < 0.9 || best > 0.93 {
		t.Errorf("best accuracy %v, want what 58 of 60 support", best)
	}
	for _, bad := range [][2]float64{{0, 0.9}, {1, 0.9}, {math.NaN(), 0.9}, {0.9, 1}, {0.9, -1}} {
		var refused *option.Error
		if _, _, err := r.Promise(bad[0], bad[1]); !errors.As(err, &refused) {
			t.Errorf("%v: %v, want an option.Error", bad, err)
		}
	}
}

// Examples that chose the best of many methods make promises that are broken, unless the
// chance in that choice is taken off. The methods are as good as each other here.
func TestPromisesOfAChoiceAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const k, held, methods, draws, target = 5, 200, 20, 40, 0.6
	c := Calibration{Temperature: 1}
	rows, classes := scored(rng, 20_000, k)
	all, err := CountAnswers(c, rows, k, classes, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	last := len(all.Wrong) - 1
	broken := func(honest bool) (n int) {
		for range draws {
			var best *RiskCoverage
			mean := 0.0
			for range methods {
				rows, classes := scored(rng, held, k)
				r, err := CountAnswers(c, rows, k, classes, nil, 1)
				if err != nil {
					t.Fatal(err)
				}
				mean += float64(r.Wrong[last]) / methods
				if best == nil || r.Wrong[last] < best.Wrong[last] {
					best = r
				}
			}
			if honest {
				best.Optimism = (mean - float64(best.Wrong[last])) / held
			}
			p, ok, err := best.Promise(target, PromiseConfidence)
			if err != nil {
				t.Fatal(err)
			}
			if i := slices.Index(Thresholds(false), p.Threshold); ok && float64(all.Wrong[i]) > (1-target)*float64(all.Answered[i]) {
				n++
			}
		}
		return n
	}
	if n := broken(true); n > draws*15/100 {
		t.Errorf("%d of %d promises are broken", n, draws)
	}
	if n := broken(false); n < draws*20/100 {
		t.Errorf("%d of %d promises are broken with the chance left in, want more", n, draws)
	}
}

func TestRiskCoverageCheck(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	rows, classes := scored(rng, 50, 4)
	for name, damage := range map[string]func(r *RiskCoverage){
		"short":         func(r *RiskCoverage) { r.Wrong = r.Wrong[1:] },
		"other tree":    func(r *RiskCoverage) { r.Tree = true },
		"no examples":   func(r *RiskCoverage) { r.Examples = 0 },
		"not all":       func(r *RiskCoverage) { r.Answered[len(r.Answered)-1]-- },
		"not ascending": func(r *RiskCoverage) { r.Answered[0] = 50 },
		"negative":      func(r *RiskCoverage) { r.Wrong[3] = -1 },
		"too many":      func(r *RiskCoverage) { r.Wrong[3] = r.Answered[3] + 1 },
		"optimism":      func(r *RiskCoverage) { r.Optimism = -0.1 },
		"NaN":           func(r *RiskCoverage) { r.Expected[3] = math.NaN() },
	} {
		r, err := CountAnswers(Calibration{Temperature: 1}, rows, 4, classes, nil, 1)
		if err != nil || r.Check() != nil {
			t.Fatal(err, r.Check())
		}
		if damage(r); r.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
