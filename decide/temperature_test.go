package decide

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/score"
)

// drawRows returns n rows of scores and classes drawn from their softmax at a
// temperature.
func drawRows(rng *rand.Rand, n, k int, spread, temperature float64) (rows []float32, classes []int) {
	for range n {
		row, p, total := make([]float32, k), make([]float64, k), 0.0
		for c := range row {
			row[c] = float32(spread * rng.NormFloat64())
			p[c] = math.Exp(float64(row[c]) / temperature)
			total += p[c]
		}
		x, y := rng.Float64()*total, 0
		for y < k-1 && x >= p[y] {
			x -= p[y]
			y++
		}
		rows, classes = append(rows, row...), append(classes, y)
	}
	return rows, classes
}

// logLoss is the mean of -log p at a temperature, computed the long way.
func logLoss(rows []float32, k int, classes []int, temperature float64) float64 {
	sum := 0.0
	for i, y := range classes {
		row := rows[i*k : (i+1)*k]
		top, total := float64(slices.Max(row)), 0.0
		for _, s := range row {
			total += math.Exp((float64(s) - top) / temperature)
		}
		sum += math.Log(total) - (float64(row[y])-top)/temperature
	}
	return sum / float64(len(classes))
}

// goldenSection finds the minimum of the loss in the logarithm of T.
func goldenSection(f func(temperature float64) float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	low, high := math.Log(MinTemperature), math.Log(MaxTemperature)
	for high-low > 1e-9 {
		a, b := high-ratio*(high-low), low+ratio*(high-low)
		if f(math.Exp(a)) < f(math.Exp(b)) {
			high = b
		} else {
			low = a
		}
	}
	return math.Exp((low + high) / 2)
}

func TestFitTemperatureAgainstGoldenSection(t *testing.T) {
	for _, tc := range []struct {
		name                string
		n, k                int
		spread, temperature float64
	}{
		{"calibrated", 400, 10, 1, 1}, {"too sure", 400, 10, 8, 4}, {"not sure enough", 400, 10, 0.1, 0.05},
		{"two classes", 300, 2, 3, 2}, {"few rows", 5, 4, 1, 2}, {"large scores", 300, 5, 300, 60}, {"tiny scores", 300, 5, 1e-2, 0.02},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, classes := drawRows(rand.New(rand.NewPCG(2, 3)), tc.n, tc.k, tc.spread, tc.temperature)
			got, err := FitTemperature(rows, tc.k, classes, nil, 1)
			if err != nil || got.AtLimit {
				t.Fatalf("%+v, %v", got, err)
			}
			loss := func(x float64) float64 { return logLoss(rows, tc.k, classes, x) }
			want := goldenSection(loss)
			if math.Abs(got.Temperature/want-1) > 1e-4 || loss(got.Temperature) > loss(want)+1e-12*loss(want) {
				t.Errorf("temperature %v of loss %v, want %v of loss %v", got.Temperature, loss(got.Temperature), want, loss(want))
			}
			if clipped := tc.spread == 300; !clipped && (!near(got.LogLossBefore, loss(1)) || !near(got.LogLossAfter, loss(got.Temperature))) {
				t.Errorf("log loss %v before and %v after, want %v and %v", got.LogLossBefore, got.LogLossAfter, loss(1), loss(got.Temperature))
			}
			if got.LogLossAfter > got.LogLossBefore {
				t.Errorf("log loss rises from %v to %v", got.LogLossBefore, got.LogLossAfter)
			}
		})
	}
}

// With enough rows the temperature is the one that they were drawn at, and the
// probabilities are calibrated.
func TestFitTemperatureFindsTheTrueOne(t *testing.T) {
	rows, classes := drawRows(rand.New(rand.NewPCG(9, 3)), 20000, 8, 6, 3)
	got, err := FitTemperature(rows, 8, classes, nil, 0)
	if err != nil || math.Abs(got.Temperature-3) > 0.1 {
		t.Errorf("temperature %v, %v; want about 3", got.Temperature, err)
	}
	if got.CalibrationErrorAfter > 0.02 || got.CalibrationErrorBefore < 5*got.CalibrationErrorAfter || got.Rows != 20000 {
		t.Errorf("%+v: want the calibration error to all but vanish", got)
	}
}

func TestFitTemperatureInvariances(t *testing.T) {
	const n, k = 500, 12
	rows, classes := drawRows(rand.New(rand.NewPCG(4, 3)), n, k, 5, 2)
	want, err := FitTemperature(rows, k, classes, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	threads, err := FitTemperature(rows, k, classes, nil, 5)
	if err != nil || threads != want {
		t.Errorf("with threads %+v, %v; want %+v", threads, err, want)
	}
	doubled, logs := make([]float32, len(rows)), make([]float32, len(rows))
	for i := range n {
		row, p := rows[i*k:(i+1)*k], make([]float64, k)
		for c, s := range row {
			doubled[i*k+c], p[c] = 2*s, float64(s)
		}
		total := kernel.Softmax(p, p)
		for c, s := range row {
			logs[i*k+c] = float32(float64(s) - total)
		}
	}
	got, err := FitTemperature(doubled, k, classes, nil, 1)
	if err != nil || !near(got.Temperature, 2*want.Temperature) {
		t.Errorf("twice the scores: temperature %v, %v; want %v", got.Temperature, err, 2*want.Temperature)
	}
	got, err = FitTemperature(logs, k, classes, nil, 1)
	if err != nil || math.Abs(got.Temperature/want.Temperature-1) > 1e-5 {
		t.Errorf("log probabilities: temperature %v, %v; want %v", got.Temperature, err, want.Temperature)
	}
	// What evaluate would say of the tempered probabilities is what was promised.
	counter, err := score.NewCounter(k, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float32, k)
	for i, y := range classes {
		if err := Softmax(p, rows[i*k:(i+1)*k], want.Temperature); err != nil {
			t.Fatal(err)
		}
		if err := counter.Add(y, p); err != nil {
			t.Fatal(err)
		}
	}
	if r := counter.Report(); math.Abs(r.LogLoss-want.LogLossAfter) > 1e-5 {
		t.Errorf("log loss %v of the tempered rows, want %v", r.LogLoss, want.LogLossAfter)
	}
	if _, err := json.Marshal(want); err != nil {
		t.Error(err)
	}
}

func TestFitTemperatureAtTheEdge(t *testing.T) {
	inf := float32(math.Inf(-1))
	for _, tc := range []struct {
		name    string
		rows    []float32
		k       int
		classes []int
		want    float64
		limit   bool
	}{
		{"all right: surer and surer", []float32{1, 0, 0, 1}, 2, []int{0, 1}, MinTemperature, true},
		{"all right by far", []float32{30, 0, 0, 30}, 2, []int{0, 1}, MinTemperature, true},
		{"all wrong", []float32{1, 0, 0, 1}, 2, []int{1, 0}, MaxTemperature, true},
		{"flat scores say nothing", []float32{3, 3, 3, 3}, 2, []int{1, 0}, 1, false},
		{"one class", []float32{5, -2}, 1, []int{0, 0}, 1, false},
		{"truth of probability 0 has no say", []float32{0, inf, inf, 0}, 2, []int{1, 0}, 1, false},
		// A probability of 3/4 takes a margin of log 3 = 1/T.
		{"three of four right", []float32{1, 0, 1, 0, 1, 0, 1, 0}, 2, []int{0, 0, 0, 1}, 1 / math.Log(3), false},
		{"and one of probability 0", []float32{1, 0, 1, 0, 1, 0, 1, 0, 0, inf}, 2, []int{0, 0, 0, 1, 1}, 1 / math.Log(3), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := FitTemperature(tc.rows, tc.k, tc.classes, nil, 1)
			if err != nil || !near(got.Temperature, tc.want) || got.AtLimit != tc.limit {
				t.Errorf("got %+v, %v; want %v, at a limit: %v", got, err, tc.want, tc.limit)
			}
		})
	}
}

func TestFitTemperatureRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tc := range []struct {
		name    string
		rows    []float32
		k       int
		classes []int
		want    string
	}{
		{"no rows", nil, 2, nil, "on 0 rows"}, {"no classes", nil, 0, []int{0}, "of 0 classes"},
		{"half a row", []float32{1, 2, 3}, 2, []int{0}, "3 scores for 1 rows of 2"},
		{"more rows than classes", []float32{1, 2, 3, 4}, 2, []int{0}, "4 scores for 1 rows"},
		{"class too large", []float32{1, 2}, 2, []int{2}, "row 0 has class 2"},
		{"never trained", []float32{1, 2}, 2, []int{-1}, "row 0 has class -1"},
		{"NaN", []float32{1, 2, nan, 1}, 2, []int{0, 1}, "row 1 is NaN"},
		{"infinite", []float32{inf, 2}, 2, []int{0}, "row 0 is +Inf"},
		{"all -Inf", []float32{-inf, -inf}, 2, []int{0}, "row 0 is -Inf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := FitTemperature(tc.rows, tc.k, tc.classes, nil, 1); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	for range 200 {
		k := 1 + rng.IntN(30)
		scores, plain, p := make([]float32, k), make([]float32, k), make([]float32, k)
		for c := range scores {
			scores[c] = float32(4 * rng.NormFloat64())
		}
		kernel.Softmax(plain, scores)
		if err := Softmax(p, scores, 1); err != nil || !slices.Equal(p, plain) {
			t.Errorf("at temperature 1 %v, %v; want %v", p, err, plain)
		}
		temperature := math.Exp(rng.NormFloat64())
		if err := Softmax(p, scores, temperature); err != nil {
			t.Fatal(err)
		}
		tempered, total := make([]float64, k), 0.0 // p^(1/T), normalised
		for c, v := range plain {
			tempered[c] = math.Pow(float64(v), 1/temperature)
			total += tempered[c]
		}
		for c := range tempered {
			tempered[c] /= total
		}
		total = 0
		for c := range p {
			if math.Abs(float64(p[c])-tempered[c]) > 1e-5 {
				t.Errorf("class %d has %v from scores and %v from probabilities", c, p[c], tempered[c])
			}
			total += float64(p[c])
		}
		if math.Abs(total-1) > 1e-5 {
			t.Errorf("the sum is %v, want 1", total)
		}
		d, err := NewDecider(Rule{}, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, after := decided(t, d, plain).Choices[0].Class, decided(t, d, p).Choices[0].Class
		if before != after && plain[before] != plain[after] {
			t.Errorf("the answer moved from %d to %d", before, after)
		}
	}
	// Log 1/4 and log 3/4 at T = 1/2: squares 1 and 9.
	p := []float64{math.Log(0.25), math.Log(0.75), math.Inf(-1)}
	if err := Softmax(p, p, 0.5); err != nil || !near(p[0], 0.1) || !near(p[1], 0.9) || p[2] != 0 {
		t.Errorf("squared: %v, %v; want 0.1, 0.9, 0", p, err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, temperature := range []float64{0, -1, nan, inf} {
		if Softmax(p, p, temperature) == nil {
			t.Errorf("temperature %v: want an error", temperature)
		}
	}
	for _, scores := range [][]float64{{}, {nan}, {1, inf}, {-inf, -inf}} {
		if err := Softmax(make([]float64, len(scores)), scores, 1); err == nil {
			t.Errorf("scores %v: want an error", scores)
		}
	}
	if err := Softmax(make([]float64, 1), []float64{1, 2}, 1); err == nil {
		t.Error("room for one of two: want an error")
	}
	if err := Softmax(make([]float32, 2), []float32{3e38, 0}, 0.01); err == nil {
		t.Error("a score that overflows once divided: want an error")
	}
}

// FuzzFitTemperature compares with golden section.
func FuzzFitTemperature(f *testing.F) {
	f.Add(uint64(1), uint8(50), uint8(5), 1.0, 1.0)
	f.Add(uint64(2), uint8(3), uint8(2), 20.0, 5.0)
	f.Add(uint64(3), uint8(9), uint8(0), 1e-3, 0.1)
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint8, spread, temperature float64) {
		if !(math.Abs(spread) < 1e6) || !(temperature > 1e-3 && temperature < 1e6) {
			return
		}
		classes := 1 + int(k)%16
		rows, truths := drawRows(rand.New(rand.NewPCG(seed, 1)), 1+int(n), classes, spread, temperature)
		got, err := FitTemperature(rows, classes, truths, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		loss := func(x float64) float64 { return logLoss(rows, classes, truths, x) }
		want := goldenSection(loss)
		if loss(got.Temperature) > loss(want)+1e-9*(1+loss(want)) || !(got.Temperature >= MinTemperature && got.Temperature <= MaxTemperature) {
			t.Errorf("temperature %v of loss %v, want %v of loss %v", got.Temperature, loss(got.Temperature), want, loss(want))
		}
	})
}
