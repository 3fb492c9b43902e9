package decide

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/treetest"
)

func TestLikelyAndReject(t *testing.T) {
	for _, tc := range []struct {
		name      string
		p         []float32
		threshold float64
		likely    int
		answered  bool
	}{
		{"sure", []float32{0, 1, 0}, 1, 1, true},
		{"one class", []float32{1}, 0.5, 0, true},
		{"a tie goes to the lowest", []float32{0.2, 0.4, 0.4}, 0.3, 1, true},
		{"reaches the threshold as far as float32 can", []float32{0.9, 0.1}, 0.9, 0, true},
		{"just below", []float32{0.9, 0.1}, 0.9000001, 0, false},
		{"threshold 0 answers all", []float32{0.25, 0.25, 0.25, 0.25}, 0, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := decided(t, newDecider(t, Rule{Reject: tc.threshold}, starTree(t, len(tc.p))), tc.p)
			if c := a.Choices[0]; c.Class != tc.likely || c.Probability != float64(tc.p[c.Class]) || a.Rejected == tc.answered {
				t.Errorf("%+v; want %d, answered: %v", a, tc.likely, tc.answered)
			}
		})
	}
}

// The choices are the first classes of all in order.
func TestTopIsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 200 {
		k := 1 + rng.IntN(20)
		tree, p := treetest.Random(t, rng, k), randomProbabilities(rng, k, i%2 == 0)
		for _, cost := range []bool{false, true} {
			all := decided(t, newDecider(t, Rule{Cost: cost, Top: 2 * k}, tree), p)
			if !slices.IsSortedFunc(all.Choices, func(a, b Choice) int {
				switch {
				case a.Cost < b.Cost, a.Cost == b.Cost && a.Probability > b.Probability, a == b || a.Cost == b.Cost && a.Probability == b.Probability && a.Class < b.Class:
					return -1
				}
				return 1
			}) || len(all.Choices) != k {
				t.Fatalf("cost %v: %+v are not in order", cost, all.Choices)
			}
			few := decided(t, newDecider(t, Rule{Cost: cost, Top: 3}, tree), p)
			if !slices.Equal(few.Choices, all.Choices[:min(3, k)]) {
				t.Errorf("cost %v: %+v, want the first of %+v", cost, few.Choices, all.Choices)
			}
		}
	}
}

// Every rule refuses what is no distribution.
func TestProbabilitiesRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		k    int
		p    []float32
		want string
	}{
		{"none", 10, nil, "0 probabilities"},
		{"too few", 10, []float32{1}, "1 probabilities, want one for each of the 10"},
		{"NaN", 2, []float32{float32(math.NaN()), 1}, "probability NaN of class 0"},
		{"negative", 2, []float32{1, -0.5}, "probability -0.5 of class 1"},
		{"scores", 2, []float32{0.5, 3}, "probability 3 of class 1"},
		{"sum too small", 2, []float32{0.5, 0.25}, "sum to 0.75"},
	} {
		for _, rule := range []Rule{{}, {Reject: 0.5}, {Cost: true}, {Confidence: 0.5}} {
			_, err := newDecider(t, rule, starTree(t, tc.k)).Decide(tc.p)
			if err == nil || !strings.HasPrefix(err.Error(), "decide: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, %+v: got %v, want an error with %q", tc.name, rule, err, tc.want)
			}
		}
	}
}

func TestRulesRefused(t *testing.T) {
	tree := starTree(t, 2)
	for _, x := range []float64{-0.1, 1.1, math.NaN()} {
		for name, rule := range map[string]Rule{"Reject": {Reject: x}, "Confidence": {Confidence: x}} {
			var wrong *option.Error
			if _, err := NewDecider(rule, 2, tree); !errors.As(err, &wrong) || wrong.Name != name {
				t.Errorf("%+v: %v, want an option error for %s", rule, err, name)
			}
		}
	}
	for _, rule := range []Rule{{Confidence: 0.9, Reject: 0.5}, {Confidence: 0.9, Cost: true}, {Confidence: 0.9, Top: 2}} {
		var both *option.Misuse
		if _, err := NewDecider(rule, 2, tree); !errors.As(err, &both) || both.Names[0] != "Confidence" {
			t.Errorf("%+v: %v, want that they exclude each other", rule, err)
		}
	}
	for _, rule := range []Rule{{Cost: true}, {Confidence: 0.5}} {
		if _, err := NewDecider(rule, 2, nil); !errors.Is(err, ErrNoTree) {
			t.Errorf("%+v without a tree: %v", rule, err)
		}
		if _, err := NewDecider(rule, 3, tree); err == nil || !strings.Contains(err.Error(), "a tree of 2 classes for 3") {
			t.Errorf("%+v with a tree of other classes: %v", rule, err)
		}
	}
	if _, err := NewDecider(Rule{Top: -1}, 2, nil); err == nil {
		t.Error("-1 choices: want an error")
	}
}
