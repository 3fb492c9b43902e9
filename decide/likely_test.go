package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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
			class, p, err := Likely(tc.p)
			if err != nil || class != tc.likely || p != float64(tc.p[class]) {
				t.Errorf("Likely gives %d at %v, %v; want %d", class, p, err, tc.likely)
			}
			want := tc.likely
			if !tc.answered {
				want = None
			}
			class, q, err := Reject(tc.p, tc.threshold)
			if err != nil || class != want || q != p {
				t.Errorf("Reject gives %d at %v, %v; want %d at %v", class, q, err, want, p)
			}
		})
	}
}

// Every way to an answer refuses what is no distribution.
func TestProbabilitiesRefused(t *testing.T) {
	d := figure1(t, 0)
	one := newTree(t, starTree(t, 2), Options{})
	for _, tc := range []struct {
		name string
		tree *Tree
		p    []float32
		want string
	}{
		{"none", d, nil, "0 probabilities"},
		{"NaN", one, []float32{float32(math.NaN()), 1}, "probability NaN of class 0"},
		{"negative", one, []float32{1, -0.5}, "probability -0.5 of class 1"},
		{"scores", one, []float32{0.5, 3}, "probability 3 of class 1"},
		{"sum too small", one, []float32{0.5, 0.25}, "sum to 0.75"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, likely := Likely(tc.p)
			_, _, reject := Reject(tc.p, 0.5)
			_, _, cost := LeastCost(tc.tree, tc.p)
			_, hedge := Hedge(tc.tree, tc.p, 0.5)
			before := slices.Clone(tc.p)
			temper := Temper(tc.p, 2)
			for _, err := range []error{likely, reject, cost, hedge, temper} {
				if err == nil || !strings.HasPrefix(err.Error(), "decide: ") || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want an error with %q", err, tc.want)
				}
			}
			for c, v := range tc.p {
				if math.Float32bits(v) != math.Float32bits(before[c]) {
					t.Error("the refused probabilities were changed")
				}
			}
		})
	}
	if _, err := Hedge(d, []float32{1}, 0.5); err == nil || !strings.Contains(err.Error(), "1 probabilities, want one for each of the 10") {
		t.Errorf("one probability for ten classes: %v", err)
	}
	for _, x := range []float64{-0.1, 1.1, math.NaN()} {
		if _, _, err := Reject([]float64{1}, x); err == nil {
			t.Errorf("threshold %v: want an error", x)
		}
		if _, err := Hedge(one, []float64{1, 0}, x); err == nil {
			t.Errorf("confidence %v: want an error", x)
		}
		if _, _, err := AccuracyThreshold([]float64{1}, x); err == nil {
			t.Errorf("accuracy %v: want an error", x)
		}
		if _, _, err := AccuracyThreshold([]float64{1, x}, 0.5); err == nil {
			t.Errorf("a probability %v: want an error", x)
		}
	}
	if _, _, err := AccuracyThreshold(nil, 0.5); err == nil {
		t.Error("no probabilities: want an error")
	}
}

// Of all thresholds, the one from costs is the best for what is calibrated.
func TestCostThreshold(t *testing.T) {
	for _, tc := range []struct{ wrong, none, want float64 }{{1, 0.1, 0.9}, {1, 0, 1}, {2, 1, 0.5}, {1, 3, 0}} {
		got, err := CostThreshold(tc.wrong, tc.none)
		if err != nil || !near(got, tc.want) {
			t.Errorf("wrong %v, none %v: %v, %v; want %v", tc.wrong, tc.none, got, err, tc.want)
		}
		cost := func(threshold float64) (sum float64) {
			for i := range 1000 {
				if p := float64(i) / 1000; p >= threshold {
					sum += (1 - p) * tc.wrong
				} else {
					sum += tc.none
				}
			}
			return sum
		}
		for i := range 101 {
			if other := float64(i) / 100; cost(other) < cost(got)-1e-9 {
				t.Errorf("wrong %v, none %v: threshold %v costs %v, %v only %v", tc.wrong, tc.none, got, cost(got), other, cost(other))
			}
		}
	}
	for _, tc := range [][2]float64{{0, 1}, {-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		if _, err := CostThreshold(tc[0], tc[1]); err == nil {
			t.Errorf("costs %v: want an error", tc)
		}
	}
}

func TestAccuracyThreshold(t *testing.T) {
	for _, tc := range []struct {
		name                string
		p                   []float64
		accuracy            float64
		threshold, answered float64
	}{
		{"all are good enough", []float64{0.9, 0.7}, 0.8, 0.7, 1},
		{"the worst are left out", []float64{0.5, 0.9, 0.7, 0.2}, 0.7, 0.5, 0.75},
		{"equals go together", []float64{0.9, 0.5, 0.5}, 0.65, 0.9, 1.0 / 3},
		{"none is good enough", []float64{0.5, 0.6}, 0.7, 0.7, 0},
		{"accuracy 0 takes all", []float64{0, 0.6}, 0, 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := slices.Clone(tc.p)
			threshold, answered, err := AccuracyThreshold(tc.p, tc.accuracy)
			if err != nil || threshold != tc.threshold || !near(answered, tc.answered) {
				t.Errorf("got %v answering %v, %v; want %v answering %v", threshold, answered, err, tc.threshold, tc.answered)
			}
			if !slices.Equal(tc.p, before) {
				t.Error("the caller's numbers were moved")
			}
		})
	}
	// Of calibrated probabilities, the answers are as often right as asked for.
	rng := rand.New(rand.NewPCG(5, 5))
	var p []float64
	var right []bool
	for range 20000 {
		v := rng.Float64()
		p, right = append(p, v), append(right, rng.Float64() < v)
	}
	threshold, answered, err := AccuracyThreshold(p, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	hits, all := 0.0, 0.0
	for i, v := range p {
		if v >= threshold {
			all++
			if right[i] {
				hits++
			}
		}
	}
	if math.Abs(hits/all-0.8) > 0.015 || all/20000 != answered {
		t.Errorf("%v of the answers above %v are right, and %v are answered; want 0.8 and %v", hits/all, threshold, all/20000, answered)
	}
}
