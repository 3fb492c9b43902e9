package decide

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/score"
)

// A mix with shares in tenths is ten rows, each of one class: the same
// temperature and losses. A mix of one class is that class.
func TestFitTemperatureToMixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const k = 5
	rows, classes := drawRows(rng, 60, k, 3, 2)
	single := make([]score.Mix, len(classes))
	for i, y := range classes {
		single[i] = score.Mix{Class: []int32{int32(y)}, Share: []float32{1}}
	}
	plain, err := FitTemperature(rows, k, classes, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FitTemperature(rows, k, make([]int, len(single)), single, 2); err != nil || math.Abs(got.Temperature-plain.Temperature) > 1e-9 || math.Abs(got.LogLossAfter-plain.LogLossAfter) > 1e-6 {
		t.Errorf("%+v, %v, want %+v", got, err, plain)
	}
	var mixes []score.Mix
	var again []float32
	var each []int
	for i := range classes {
		a, b, share := classes[i], (classes[i]+1+rng.IntN(k-1))%k, 5+rng.IntN(5)
		mixes = append(mixes, score.Mix{Class: []int32{int32(a), int32(b)}, Share: []float32{float32(share) / 10, float32(10-share) / 10}})
		for n := range 10 {
			again = append(again, rows[i*k:(i+1)*k]...)
			if y := a; n < share {
				each = append(each, y)
			} else {
				each = append(each, b)
			}
		}
	}
	want, err := FitTemperature(again, k, each, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := FitTemperature(rows, k, make([]int, len(mixes)), mixes, 1)
	if err != nil || math.Abs(got.Temperature-want.Temperature) > 1e-5*want.Temperature ||
		math.Abs(got.LogLossBefore-want.LogLossBefore) > 1e-5 || math.Abs(got.LogLossAfter-want.LogLossAfter) > 1e-5 || got.Rows != 60 {
		t.Errorf("%+v, %v, want as from ten rows for each, %+v", got, err, want)
	}
	if math.Abs(got.Temperature-plain.Temperature) < 0.01 {
		t.Errorf("temperature %v with and without shares: the test shows nothing", got.Temperature)
	}
	for _, bad := range []score.Mix{{}, {Class: []int32{k}, Share: []float32{1}}, {Class: []int32{0, 1}, Share: []float32{1}}} {
		mixes[3] = bad
		if _, err := FitTemperature(rows, k, make([]int, len(mixes)), mixes, 1); err == nil || !strings.Contains(err.Error(), "row 3") {
			t.Errorf("%v: error %v, want one that names row 3", bad, err)
		}
	}
}
