package score

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func mustCount(t *testing.T, k int) *Counter {
	t.Helper()
	c, err := NewCounter(k, Options{KeepRows: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMixByHand(t *testing.T) {
	c := mustCount(t, 3)
	p := []float32{0.5, 0.25, 0.25}
	for _, err := range []error{
		Count(c, 0, Mix{Class: []int32{0, 2}, Share: []float32{0.75, 0.25}}, p, nil),
		Count(c, 0, Mix{Class: []int32{1, 2}, Share: []float32{0.5, 0.5}}, p, nil), // of equals the first
		Count(c, 0, Mix{Class: []int32{1}, Share: []float32{1}}, p, []float64{2, 1, 3}),
		c.Add(0, p),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := (0.75*math.Log(2) + 0.25*math.Log(4) + math.Log(4) + math.Log(4) + math.Log(2)) / 4
	r := c.Report()
	if r.Accuracy != 0.75 || math.Abs(r.LogLoss-want) > 1e-12 || !reflect.DeepEqual(c.Correct(), []bool{true, false, true, true}) {
		t.Errorf("%+v, %v, want a log loss of %v", r, c.Correct(), want)
	}
	if truth := (Mix{Class: []int32{1, 2}, Share: []float32{0.5, 0.5}}).Truth(); truth != 1 {
		t.Errorf("truth %d, want the first of equals", truth)
	}
}

// A mix of one class is that class; a probability of 0 is clipped once an
// example.
func TestMixOfOneClass(t *testing.T) {
	one, mix := mustCount(t, 3), mustCount(t, 3)
	for n, p := range [][]float32{{0.1, 0.7, 0.2}, {0, 1, 0}, {1, 0, 0}} {
		if err := one.Add(n%3, p); err != nil {
			t.Fatal(err)
		}
		if err := Count(mix, 0, Mix{Class: []int32{int32(n % 3)}, Share: []float32{1}}, p, nil); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := one.Report(), mix.Report(); a.LogLoss != b.LogLoss || a.Accuracy != b.Accuracy || a.Clipped != b.Clipped {
		t.Errorf("%+v\n%+v", a, b)
	}
	if err := Count(mix, 0, Mix{Class: []int32{1, 2}, Share: []float32{0.5, 0.5}}, []float32{1, 0, 0}, nil); err != nil || mix.Report().Clipped != one.Report().Clipped+1 {
		t.Errorf("%v, clipped %d", err, mix.Report().Clipped)
	}
}

func TestMixRefusals(t *testing.T) {
	p := []float32{0.5, 0.5}
	nan := float32(math.NaN())
	for _, tc := range []struct {
		name  string
		mix   Mix
		costs []float64
		want  string
	}{
		{"shares of nothing", Mix{Class: nil, Share: []float32{1}}, nil, "1 shares of 0 classes"},
		{"a share is missing", Mix{Class: []int32{0, 1}, Share: []float32{1}}, nil, "1 shares of 2 classes"},
		{"another class", Mix{Class: []int32{2}, Share: []float32{1}}, nil, "a share of class 2, want 0 to 1"},
		{"below 0", Mix{Class: []int32{0, 1}, Share: []float32{1.5, -0.5}}, nil, "class 1 has the share -0.5"},
		{"NaN", Mix{Class: []int32{0}, Share: []float32{nan}}, nil, "the share NaN"},
		{"too little", Mix{Class: []int32{0}, Share: []float32{0.5}}, nil, "sum to 0.5"},
		{"costs are missing", Mix{Class: []int32{0}, Share: []float32{1}}, []float64{1}, "1 costs"},
	} {
		c := mustCount(t, 2)
		if err := Count(c, 0, tc.mix, p, tc.costs); err == nil || !strings.Contains(err.Error(), tc.want) || c.Report().Examples != 0 {
			t.Errorf("%s: %v and %d examples, want an error with %q", tc.name, err, c.Report().Examples, tc.want)
		}
	}
}
