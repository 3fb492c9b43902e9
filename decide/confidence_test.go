package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/score"
)

// confidenceLossOf is the loss of FitConfidence, the long way.
func confidenceLossOf(t *testing.T, c *Calibration, rows []float32, k int, classes []int) float64 {
	t.Helper()
	loss, p := 0.0, make([]float32, k)
	for i, y := range classes {
		if _, err := Probabilities(c, p, rows[i*k:(i+1)*k]); err != nil {
			t.Fatal(err)
		}
		top, rest := 0, 0.0
		for c := range p {
			if p[c] > p[top] {
				top = c
			}
		}
		for c, v := range p {
			if c != top {
				rest += float64(v)
			}
		}
		if top == y {
			loss -= math.Log(float64(p[top]))
		} else {
			loss -= math.Log(rest)
		}
	}
	a, b := math.Log(c.ConfidenceScale), c.ConfidencePower
	return loss + confidencePenalty*(a*a+b*b)/2
}

// Rows whose own temperature depends on their confidence: no single temperature
// calibrates them, the fit does.
func TestFitConfidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const n, k = 6000, 6
	truth := &Calibration{Temperature: 1.5, ConfidenceScale: 1.2, ConfidencePower: -0.35}
	var rows []float32
	var classes []int
	p := make([]float64, k)
	for range n {
		scores := make([]float64, k)
		for c := range scores {
			scores[c] = 3 * rng.NormFloat64()
			rows = append(rows, float32(scores[c]))
		}
		if _, err := Probabilities(truth, p, scores); err != nil {
			t.Fatal(err)
		}
		x, y := rng.Float64(), 0
		for y < k-1 && x >= p[y] {
			x -= p[y]
			y++
		}
		classes = append(classes, y)
	}
	plain, err := FitTemperature(rows, k, classes, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := FitConfidence(plain, rows, k, classes, nil, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.CalibrationErrorAfter > 0.02 || plain.CalibrationErrorAfter < 2*got.CalibrationErrorAfter {
		t.Errorf("calibration error %v, by a temperature alone %v: want far less, and at most 0.02", got.CalibrationErrorAfter, plain.CalibrationErrorAfter)
	}
	if math.Abs(got.ConfidencePower-truth.ConfidencePower) > 0.1 {
		t.Errorf("power %v, want about %v", got.ConfidencePower, truth.ConfidencePower)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	// A minimum: no neighbour has a lower loss.
	least := confidenceLossOf(t, &got, rows, k, classes)
	for _, d := range [][2]float64{{0.02, 0}, {-0.02, 0}, {0, 0.02}, {0, -0.02}, {0.02, 0.02}, {-0.02, 0.02}} {
		near := got
		near.ConfidenceScale *= math.Exp(d[0])
		near.ConfidencePower += d[1]
		if loss := confidenceLossOf(t, &near, rows, k, classes); loss < least {
			t.Errorf("loss %v at %v from the fit, whose loss is %v", loss, d, least)
		}
	}
	if threads, err := FitConfidence(plain, rows, k, classes, nil, 0, 3); err != nil || threads != got {
		t.Errorf("with three threads %+v (%v), want %+v", threads, err, got)
	}
	whole := make([]score.Mix, n)
	for i, y := range classes {
		whole[i] = score.Mix{Class: []int32{int32(y)}, Share: []float32{1}}
	}
	if mixed, err := FitConfidence(plain, rows, k, classes, whole, 0, 1); err != nil || math.Abs(mixed.ConfidencePower-got.ConfidencePower) > 1e-9 {
		t.Errorf("mixes of one class each: %+v (%v), want %+v", mixed, err, got)
	}
}

// The order of the classes never changes; the temperature that is returned is that
// of the row.
func TestProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 300 {
		k := 1 + rng.IntN(8)
		scores, p, q := make([]float64, k), make([]float64, k), make([]float64, k)
		for c := range scores {
			scores[c] = 40 * rng.NormFloat64()
		}
		c := &Calibration{Temperature: math.Exp(rng.NormFloat64()), ConfidenceScale: math.Exp(rng.NormFloat64()), ConfidencePower: -rng.Float64()}
		temperature, err := Probabilities(c, p, scores)
		if err != nil {
			t.Fatal(err)
		}
		if err := Softmax(q, scores, temperature); err != nil {
			t.Fatal(err)
		}
		for a := range p {
			if p[a] != q[a] {
				t.Errorf("class %d has %v, want %v, its softmax at %v", a, p[a], q[a], temperature)
			}
			for b := range p {
				if scores[a] > scores[b] && p[a] < p[b] {
					t.Errorf("%+v: scores %v have probabilities %v", c, scores, p)
				}
			}
		}
	}
	for _, bad := range []Calibration{{}, {Temperature: 1, ConfidenceScale: -1}, {Temperature: 1, ConfidenceScale: math.Inf(1)}, {Temperature: 1, ConfidencePower: math.NaN()}, {Temperature: 1, ConfidenceScale: 1, ConfidencePower: 9}} {
		if bad.Check() == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

// All rows right, all wrong, scores that differ by nothing, one class: finite, and
// within the range.
func TestFitConfidenceAtTheEdge(t *testing.T) {
	inf := float32(math.Inf(-1))
	for name, tc := range map[string]struct {
		rows    []float32
		k       int
		classes []int
	}{
		"all right":         {[]float32{30, 0, 0, 30}, 2, []int{0, 1}},
		"all wrong":         {[]float32{1, 0, 0, 1}, 2, []int{1, 0}},
		"flat":              {[]float32{3, 3, 3, 3}, 2, []int{1, 0}},
		"one class":         {[]float32{5, -2}, 1, []int{0, 0}},
		"probability 0":     {[]float32{0, inf, inf, 0, 1, 0}, 2, []int{1, 0, 1}},
		"three of four":     {[]float32{1, 0, 1, 0, 1, 0, 1, 0}, 2, []int{0, 0, 0, 1}},
		"one far too large": {[]float32{3e37, 0, 1, 0, 1, 0, 1, 0}, 2, []int{1, 0, 0, 1}},
	} {
		got, err := FitConfidence(Calibration{Temperature: 1, Rows: 1}, tc.rows, tc.k, tc.classes, nil, 0, 1)
		if err != nil || got.Check() != nil || math.IsNaN(got.LogLossAfter) {
			t.Errorf("%s: %+v, %v, %v", name, got, err, got.Check())
		}
	}
}

// What the best of many attempts has by chance is taken off the confidence, and no class
// changes its place.
func TestFitConfidenceLessOptimism(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	rows, classes := scored(rng, 3000, 7)
	plain, err := FitTemperature(rows, 7, classes, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(c *Calibration) float64 {
		sum, p := 0.0, make([]float32, 7)
		for i := range classes {
			if _, err := Probabilities(c, p, rows[i*7:(i+1)*7]); err != nil {
				t.Fatal(err)
			}
			sum += float64(slices.Max(p))
		}
		return sum / float64(len(classes))
	}
	fit := func(optimism float64, threads int) Calibration {
		c, err := FitConfidence(plain, rows, 7, classes, nil, optimism, threads)
		if err != nil || c.Check() != nil {
			t.Fatal(err, c.Check())
		}
		return c
	}
	none := fit(0, 1)
	for _, optimism := range []float64{0.001, 0.01, 0.05, 0.15} {
		got := fit(optimism, 1)
		if lower := mean(&none) - mean(&got); math.Abs(lower-optimism) > 1e-4 {
			t.Errorf("optimism %v: the mean confidence is lower by %v", optimism, lower)
		}
		if got != fit(optimism, 3) || got.ConfidencePower != none.ConfidencePower {
			t.Errorf("optimism %v: another calibration with three threads, or another power", optimism)
		}
	}
	if c := fit(1, 1); !(c.ConfidenceScale >= none.ConfidenceScale/4.001) {
		t.Errorf("more than there is to take off: %+v, want an end", c)
	}
}
