package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pairs computes the AUROC and its standard error from all pairs, and from the
// mean over pairs of each example (DeLong et al. 1988).
func pairs(in, out []float64) (auroc, se float64) {
	psi := func(x, y float64) float64 {
		switch {
		case x > y:
			return 1
		case x == y:
			return 0.5
		}
		return 0
	}
	m, n := float64(len(in)), float64(len(out))
	for _, x := range in {
		for _, y := range out {
			auroc += psi(x, y) / (m * n)
		}
	}
	var s10, s01 float64
	for _, x := range in {
		mean := 0.0
		for _, y := range out {
			mean += psi(x, y) / n
		}
		s10 += (mean - auroc) * (mean - auroc) / (m - 1)
	}
	for _, y := range out {
		mean := 0.0
		for _, x := range in {
			mean += psi(x, y) / m
		}
		s01 += (mean - auroc) * (mean - auroc) / (n - 1)
	}
	return auroc, math.Sqrt(s10/m + s01/n)
}

func randomSides(rng *rand.Rand, m, n, values int) (in, out []float64) {
	for range m {
		in = append(in, float64(rng.IntN(values)+rng.IntN(3)))
	}
	for range n {
		out = append(out, float64(rng.IntN(values)))
	}
	return in, out
}

func TestAUROCAgainstPairs(t *testing.T) {
	inf := math.Inf(1)
	rng := rand.New(rand.NewPCG(3, 1))
	many, few := randomSides(rng, 80, 50, 9)
	fine, finer := randomSides(rng, 40, 70, 1e9)
	for _, tc := range []struct {
		name    string
		in, out []float64
	}{
		{"apart", []float64{3, 4, 5}, []float64{1, 2}},
		{"the wrong way round", []float64{1, 2}, []float64{3, 4, 5}},
		{"all tied", []float64{1, 1, 1}, []float64{1, 1}},
		{"many ties", many, few}, {"no ties", fine, finer},
		{"infinite", []float64{inf, 0, 2}, []float64{-inf, inf, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, se := pairs(tc.in, tc.out)
			v, err := AUROC(tc.in, tc.out)
			got := v.Mean
			if err != nil || !near(got, want) || !near(v.SE, se) || v.Low < 0 || v.Low > got || v.High < got || v.High > 1 {
				t.Errorf("interval %+v, %v; want mean %v and error %v within 0 to 1", v, err, want, se)
			}
			mirrored, err := AUROC(tc.out, tc.in)
			if err != nil || !near(mirrored.Mean, 1-got) {
				t.Errorf("AUROC %v with the sides exchanged, want %v", mirrored.Mean, 1-got)
			}
		})
	}
}

// Of two out of scope, 0.8 is above both, 0.5 above one and tied with the other,
// 0.3 above one: (2 + 1.5 + 1)/6.
func TestAUROCWorkedByHand(t *testing.T) {
	in, out := []float64{0.5, 0.3, 0.8}, []float64{0.5, 0.2}
	before := slices.Clone(in)
	got, err := AUROC(in, out)
	if err != nil || got.Mean != 0.75 {
		t.Errorf("AUROC %v, %v; want 0.75", got.Mean, err)
	}
	if !slices.Equal(in, before) {
		t.Error("the caller's numbers were moved")
	}
	v, err := AUROC([]float64{1}, out)
	if err != nil || v.Mean != 1 || !math.IsNaN(v.SE) || !math.IsNaN(v.Low) {
		t.Errorf("one example in scope: %+v, %v; want mean 1 and no error", v, err)
	}
}

// The error from one sample is that between samples.
func TestAUROCErrorIsTheSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var values []float64
	claimed := 0.0
	const samples = 400
	for range samples {
		var in, out []float64
		for range 60 {
			in = append(in, 1+rng.NormFloat64())
		}
		for range 40 {
			out = append(out, rng.NormFloat64())
		}
		v, err := AUROC(in, out)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v.Mean)
		claimed += v.SE / samples
	}
	all, err := MeanInterval(values)
	if err != nil {
		t.Fatal(err)
	}
	if spread := all.SE * math.Sqrt(samples); math.Abs(claimed/spread-1) > 0.12 {
		t.Errorf("standard error %v, want about the spread %v of %d samples", claimed, spread, samples)
	}
	if truth := 0.5 * (1 + math.Erf(0.5)); math.Abs(all.Mean-truth) > 4*all.SE {
		t.Errorf("mean AUROC %v, want %v within four times %v", all.Mean, truth, all.SE)
	}
}

func TestDetection(t *testing.T) {
	in, out := []float64{0.9, 0.6, 0.6, 0.3}, []float64{0.5, 0.6}
	for _, tc := range []struct {
		name                      string
		threshold                 float64
		right, answered, rejected float64
	}{
		{"answers all", 0, 4.0 / 6, 1, 0},
		{"at a value: answered", 0.6, 4.0 / 6, 0.75, 0.5},
		{"between", 0.55, 4.0 / 6, 0.75, 0.5},
		{"above a value", 0.7, 3.0 / 6, 0.25, 1},
		{"answers nothing", math.Inf(1), 2.0 / 6, 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := DetectionAt(in, out, tc.threshold)
			want := Detection{tc.threshold, tc.right, tc.answered, tc.rejected, 4, 2}
			if err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		})
	}
	best, err := BestDetection(in, out)
	if err != nil || best.Threshold != 0.3 || best.Right != 4.0/6 {
		t.Errorf("best %+v, %v; want the lowest of the best thresholds, 0.3", best, err)
	}
	none, err := BestDetection([]float64{1}, []float64{2, 3, 3})
	if err != nil || none.Right != 0.75 || none.Answered != 0 {
		t.Errorf("best %+v, %v; want all rejected", none, err)
	}
	if _, err := json.Marshal(none); err != nil {
		t.Error(err)
	}
}

func TestScopeRefuses(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		name    string
		in, out []float64
		want    string
	}{
		{"none in scope", nil, []float64{1}, "0 examples in scope and 1 out of scope"},
		{"none out of scope", []float64{1}, nil, "1 examples in scope and 0 out of scope"},
		{"NaN in scope", []float64{1, nan}, []float64{1}, "confidence 1 of the examples in scope is NaN"},
		{"NaN out of scope", []float64{1}, []float64{nan}, "confidence 0 of the examples out of scope is NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, auroc := AUROC(tc.in, tc.out)
			_, at := DetectionAt(tc.in, tc.out, 0)
			_, best := BestDetection(tc.in, tc.out)
			for _, err := range []error{auroc, at, best} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want an error with %q", err, tc.want)
				}
			}
		})
	}
	if _, err := DetectionAt([]float64{1}, []float64{1}, nan); err == nil {
		t.Error("threshold NaN: want an error")
	}
}

// FuzzScope compares with all pairs and all thresholds.
func FuzzScope(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(3), uint8(4))
	f.Add(uint64(2), uint8(1), uint8(60), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, values uint8) {
		in, out := randomSides(rand.New(rand.NewPCG(seed, 2)), max(int(m), 1), max(int(n), 1), max(int(values), 1))
		want, se := pairs(in, out)
		got, err := AUROC(in, out)
		if err != nil || !near(got.Mean, want) || len(in) > 1 && len(out) > 1 && !near(got.SE, se) {
			t.Errorf("got %+v, %v; want %v and error %v", got, err, want, se)
		}
		best, err := BestDetection(in, out)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := DetectionAt(in, out, best.Threshold); err != nil || at != best {
			t.Errorf("the best threshold gives %+v, %v; want %+v", at, err, best)
		}
		for _, threshold := range slices.Concat(in, out, []float64{math.Inf(1)}) {
			d, err := DetectionAt(in, out, threshold)
			if err != nil || d.Right > best.Right || d.Right == best.Right && d.Threshold < best.Threshold {
				t.Errorf("%+v, %v is better than %+v", d, err, best)
			}
		}
	})
}
