package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The classic tables of Student's distribution, and R's qt for the digits.
func TestStudentQuantile(t *testing.T) {
	for _, tc := range []struct {
		p       float64
		freedom int
		want    float64
	}{
		{0.975, 1, 12.706204736}, {0.975, 2, 4.302652730}, {0.975, 3, 3.182446305}, {0.975, 4, 2.776445105},
		{0.975, 5, 2.570581836}, {0.975, 9, 2.262157163}, {0.975, 10, 2.228138852}, {0.975, 30, 2.042272456},
		{0.975, 100, 1.983971519}, {0.975, 1000, 1.962339081}, {0.95, 4, 2.131846786}, {0.995, 10, 3.169272673},
		{0.5, 3, 0}, {0.75, 1, 1}, // the quartile of Cauchy's distribution
		{0.975, 1_000_000, 1.959966357}, // all but the normal distribution, whose quantile is 1.959963985
	} {
		if got := student(tc.freedom).Quantile(tc.p); math.Abs(got-tc.want) > 2e-9*max(tc.want, 1) {
			t.Errorf("quantile %v for %d degrees of freedom: %.10f, want %.9f", tc.p, tc.freedom, got, tc.want)
		}
	}
}

// Probabilities against the integral of the density by Simpson's rule.
func TestStudentAgainstIntegral(t *testing.T) {
	for _, freedom := range []int{1, 2, 3, 4, 7, 12, 51} {
		n := float64(freedom)
		a, _ := math.Lgamma((n + 1) / 2)
		b, _ := math.Lgamma(n / 2)
		scale := math.Exp(a-b) / math.Sqrt(n*math.Pi)
		density := func(t float64) float64 { return scale * math.Pow(1+t*t/n, -(n+1)/2) }
		for _, x := range []float64{0, 0.5, 1, 3, 20} {
			const steps = 20000
			h, sum := x/steps, density(0)+density(x)
			for i := 1; i < steps; i++ {
				sum += density(float64(i)*h) * float64(2+2*(i%2))
			}
			if got, want := 1-2*student(freedom).Survival(x), 2*sum*h/3; math.Abs(got-want) > 1e-9 {
				t.Errorf("P(|T| <= %v) with %d degrees: %v, want %v", x, freedom, got, want)
			}
		}
	}
	for _, huge := range []float64{1e200, math.Inf(1)} {
		if got := student(3).Survival(huge); math.Abs(got) > 1e-12 {
			t.Errorf("P(T > %v) = %v, want 0", huge, got)
		}
	}
}

func TestMeanInterval(t *testing.T) {
	// mean 3, sd sqrt(2.5), SE sqrt(0.5), t(4) 2.776445
	got, err := MeanInterval([]float64{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	reach := 2.776445105 * math.Sqrt(0.5)
	if !near(got.Mean, 3) || !near(got.SE, math.Sqrt(0.5)) || math.Abs(got.Low-(3-reach)) > 1e-8 || math.Abs(got.High-(3+reach)) > 1e-8 {
		t.Errorf("got %+v", got)
	}
	one, err := MeanInterval([]float64{0.25})
	if err != nil || one.Mean != 0.25 || !math.IsNaN(one.SE) {
		t.Errorf("one number: %+v, %v", one, err)
	}
	text, err := json.Marshal(one)
	if err != nil || string(text) != `{"mean":0.25,"se":null,"low":null,"high":null}` {
		t.Errorf("%s, %v", text, err)
	}
	var back Interval
	if err := json.Unmarshal(text, &back); err != nil || back.Mean != 0.25 || !math.IsNaN(back.High) {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"mean":"x"}`), &back); err == nil {
		t.Error("a text for a mean: want an error")
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1)}} {
		if _, err := MeanInterval(bad); err == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
}

// rows turns "1011" into booleans.
func rows(text string) []bool {
	list := make([]bool, len(text))
	for i := range text {
		list[i] = text[i] == '1'
	}
	return list
}

func TestAccuracyIntervalIsTheMeanOfRows(t *testing.T) {
	got, err := AccuracyInterval(rows("1101101110"))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := MeanInterval([]float64{1, 1, 0, 1, 1, 0, 1, 1, 1, 0})
	if !near(got.Mean, want.Mean) || !near(got.SE, want.SE) || !near(got.Low, want.Low) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := AccuracyInterval(nil); err == nil {
		t.Error("no rows: want an error")
	}
}

func TestPairedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		n := 2 + rng.IntN(60)
		first, second, d := make([]bool, n), make([]bool, n), make([]float64, n)
		for i := range n {
			first[i], second[i] = rng.IntN(3) > 0, rng.IntN(2) > 0
			if first[i] {
				d[i]++
			}
			if second[i] {
				d[i]--
			}
		}
		got, err := PairedRows(first, second)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := MeanInterval(d)
		if !near(got.Interval.Mean, want.Mean) || !near(got.Interval.SE, want.SE) || !near(got.Interval.Low, want.Low) || !near(got.Interval.High, want.High) {
			t.Errorf("n=%d: got %+v, want %+v", n, got.Interval, want)
		}
		back, _ := PairedRows(second, first)
		if back.Interval.Mean != -got.Interval.Mean || back.OnlyFirst != got.OnlySecond || back.PValue != got.PValue {
			t.Errorf("exchanged: %+v against %+v", back, got)
		}
	}
}

func TestMcNemar(t *testing.T) {
	for _, tc := range []struct {
		name   string
		first  string
		second string
		want   float64
	}{
		{"never differ", "1100", "1100", 1},
		{"one against none", "1", "0", 1},
		{"five against none", "11111", "00000", 2.0 / 32},
		{"one against five", "100000", "011111", 2 * (1 + 6) / 64.0},
		{"even", "1010", "0101", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := PairedRows(rows(tc.first), rows(tc.second))
			if err != nil || !near(got.PValue, tc.want) {
				t.Errorf("p = %v, %v; want %v", got.PValue, err, tc.want)
			}
		})
	}
	// For many throws the normal distribution: 2 (1 - Phi(3)) with continuity.
	if got, want := fairCoin(500000-1500, 500000+1500), math.Erfc((3000-1)/1000.0/math.Sqrt2); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("a million throws: %v, want about %v", got, want)
	}
}

func TestPairedSplits(t *testing.T) {
	first := [][]bool{rows("1110"), rows("1100"), rows("1111")}
	second := [][]bool{rows("1010"), rows("1100"), rows("0011")}
	got, err := PairedSplits(first, second)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := MeanInterval([]float64{0.25, 0, 0.5}) // mean 0.25, SE 0.25/sqrt(3)
	if got.Interval != want || got.Over != OverSplits || got.Splits != 3 || got.Rows != 12 || got.OnlyFirst != 3 || got.OnlySecond != 0 {
		t.Errorf("got %+v", got)
	}
	// t = sqrt(3) with 2 degrees of freedom: P(|T| > t) = 1 - t/sqrt(2+t^2).
	if p := 1 - math.Sqrt(3)/math.Sqrt(5); !near(got.PValue, p) {
		t.Errorf("p = %v, want %v", got.PValue, p)
	}
	text, err := json.Marshal(got)
	if err != nil || !strings.Contains(string(text), `"interval":{"mean":0.25,`) || !strings.Contains(string(text), `"over":"splits"`) {
		t.Errorf("%s, %v", text, err)
	}

	one, err := PairedSplits(first[:1], second[:1])
	rowsOnly, _ := PairedRows(first[0], second[0])
	if err != nil || one != rowsOnly || one.Over != OverRows {
		t.Errorf("one split: %+v, %v; want that of its rows", one, err)
	}
	same, err := PairedSplits(first, first)
	if err != nil || same.PValue != 1 || same.Interval.SE != 0 {
		t.Errorf("a method against itself: %+v, %v", same, err)
	}
	always, err := PairedSplits([][]bool{rows("1"), rows("1")}, [][]bool{rows("0"), rows("0")})
	if err != nil || always.PValue != 0 || always.Interval.Low != 1 {
		t.Errorf("always better: %+v, %v", always, err)
	}
}

func TestPairedRefuses(t *testing.T) {
	if _, err := PairedRows(nil, nil); err == nil {
		t.Error("no rows: want an error")
	}
	if _, err := PairedRows(rows("1"), rows("10")); err == nil || !strings.Contains(err.Error(), "over 1 and 2 rows") {
		t.Error(err)
	}
	if _, err := PairedSplits(nil, nil); err == nil {
		t.Error("no splits: want an error")
	}
	if _, err := PairedSplits([][]bool{rows("1"), rows("1")}, [][]bool{rows("1"), rows("11")}); err == nil || !strings.Contains(err.Error(), "split 2 of 2") {
		t.Error(err)
	}
}

// Wilson's interval by his formula, worked with R's binom.confint(method = "wilson").
func TestRateInterval(t *testing.T) {
	for _, tc := range []struct {
		hits, n   int
		low, high float64
	}{{0, 10, 0, 0.2775328}, {10, 10, 0.7224672, 1}, {5, 10, 0.2365931, 0.7634069}, {81, 263, 0.2552665, 0.3662031}} {
		i, err := RateInterval(tc.hits, tc.n)
		if err != nil || math.Abs(i.Low-tc.low) > 1e-4 || math.Abs(i.High-tc.high) > 1e-4 || i.Mean != float64(tc.hits)/float64(tc.n) {
			t.Errorf("%d of %d: %+v, %v; want %v to %v", tc.hits, tc.n, i, err, tc.low, tc.high)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 5}, {6, 5}} {
		if _, err := RateInterval(bad[0], bad[1]); err == nil {
			t.Errorf("%d of %d is a rate", bad[0], bad[1])
		}
	}
}
