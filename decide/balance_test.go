package decide

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bayes returns the probability of each class given input x, from how frequent the classes
// are and how often an example of each is x.
func bayes(frequency []float64, likelihood [][]float64, x int) []float64 {
	p, sum := make([]float64, len(frequency)), 0.0
	for c, f := range frequency {
		p[c] = f * likelihood[c][x]
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// draw returns n positive numbers that sum to 1.
func draw(rng *rand.Rand, n int) []float64 {
	out, sum := make([]float64, n), 0.0
	for i := range out {
		out[i] = math.Exp(2 * rng.NormFloat64())
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// A classifier that is right about the frequencies of its training becomes one that is right
// about others, computed by Bayes' rule from the likelihoods.
func TestBalanceIsBayes(t *testing.T) {
	const k, inputs = 6, 20
	rng := rand.New(rand.NewPCG(1, 2))
	trained, used := draw(rng, k), draw(rng, k)
	var likelihood [][]float64
	for range k {
		likelihood = append(likelihood, draw(rng, inputs))
	}
	totals, counts := make([]float32, k), make([]float64, k)
	for c := range totals {
		totals[c], counts[c] = float32(40*trained[c]), 1e6*used[c] // units do not matter
	}
	b, err := NewBalance(counts, totals)
	if err != nil {
		t.Fatal(err)
	}
	for x := range inputs {
		p := make([]float32, k)
		for c, v := range bayes(trained, likelihood, x) {
			p[c] = float32(v)
		}
		some := []float32{p[4], p[1]}
		sum, odds := float64(some[0]+some[1]), bayes(used, likelihood, x)
		b.Apply(p)
		b.ApplyTo(some, []int32{4, 1})
		for c, want := range odds {
			if math.Abs(float64(p[c])-want) > 1e-6 {
				t.Errorf("input %d, class %d: %v, want %v", x, c, p[c], want)
			}
		}
		if want := sum * odds[4] / (odds[4] + odds[1]); math.Abs(float64(some[0])-want) > 1e-6 {
			t.Errorf("input %d, class 4 of 4 and 1: %v, want %v", x, some[0], want)
		}
	}
}

func TestBalanceOfTraining(t *testing.T) {
	b, err := NewBalance([]float64{30, 3, 0.3}, []float32{10, 1, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for _, balance := range []Balance{b, nil} {
		p := []float32{0.2, 0.7999, 0.0001}
		balance.Apply(p)
		for c, want := range []float64{0.2, 0.7999, 0.0001} {
			if math.Abs(float64(p[c])-want) > 1e-6 {
				t.Errorf("class %d: %v, want %v as before", c, p[c], want)
			}
		}
	}
}

func TestNewBalanceRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		used    []float64
		trained []float32
	}{
		"fewer classes":    {[]float64{1}, []float32{1, 1}},
		"zero":             {[]float64{1, 0}, []float32{1, 1}},
		"negative":         {[]float64{2, -1}, []float32{1, 1}},
		"NaN":              {[]float64{1, math.NaN()}, []float32{1, 1}},
		"infinite":         {[]float64{1, math.Inf(1)}, []float32{1, 1}},
		"none in training": {[]float64{1, 1}, []float32{1, 0}},
	} {
		if b, err := NewBalance(tc.used, tc.trained); err == nil {
			t.Errorf("%s: %v, want an error", name, b)
		}
	}
}
