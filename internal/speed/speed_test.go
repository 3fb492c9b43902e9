package speed

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

func TestMedian(t *testing.T) {
	for _, tc := range []struct {
		x    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := Median(tc.x); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.x, got, tc.want)
		}
	}
}

// TestMedians has a clock that the works move: every work gets its own time,
// and they take turns.
func TestMedians(t *testing.T) {
	var now time.Duration
	var order []int
	work := func(i int, takes time.Duration) func() {
		return func() { now += takes; order = append(order, i) }
	}
	got := Medians(func() time.Duration { return now }, 20*time.Millisecond, work(0, time.Millisecond), work(1, 3*time.Millisecond))
	if math.Abs(got[0]-1e-3) > 1e-12 || math.Abs(got[1]-3e-3) > 1e-12 {
		t.Errorf("%v, want 1 and 3 ms", got)
	}
	if len(order) < 4+6 || !slices.Equal(order[:4], []int{0, 0, 1, 1}) {
		t.Errorf("calls of %v", order)
	}
	for i := 4; i < len(order); i++ {
		if order[i] == order[i-1] && i > 4 {
			t.Errorf("work %d has two turns in a row", order[i])
		}
	}
	if got := Medians(func() time.Duration { return now }, 0, work(0, time.Microsecond)); math.Abs(got[0]-1e-6) > 1e-12 {
		t.Errorf("a short work: %v, want 1 us", got)
	}
}

func TestRun(t *testing.T) {
	var seen []Row
	report, err := Run(t.Context(), Options{Tiny: true, Threads: 2}, func(r Row) { seen = append(seen, r) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, report.Results) || report.Instructions != kernel.Instructions() || report.CPUs < 1 {
		t.Errorf("%d rows seen, report %+v", len(seen), report)
	}
	names := map[string]int{}
	for _, r := range report.Results {
		names[r.Name]++
		if !(r.Seconds > 0) || !(r.Rate > 0) || math.IsInf(r.Rate, 0) || r.Unit == "" || r.Size == "" || r.Threads < 1 {
			t.Errorf("row %+v", r)
		}
		if compared := r.Name == "softmax" || r.Name == "training step, tree"; compared != (r.Ratio > 0) {
			t.Errorf("row %+v: a ratio where there is nothing to compare, or none", r)
		}
	}
	for name, want := range map[string]int{
		"product X W^T": 6, "product G^T X": 6, "product G W": 6, "softmax": 1, "softmax by math.Exp": 1, "training step": 6, "training step, tree": 6,
		"epoch on sparse text": 2, "cover tree": 2, "predict a dense row": 1, "predict a text": 1,
	} {
		if names[name] != want {
			t.Errorf("%d rows %q, want %d", names[name], name, want)
		}
	}
}

func TestRunStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	report, err := Run(ctx, Options{Tiny: true, Threads: 1}, func(r Row) {
		if r.Name == "training step" {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || len(report.Results) == 0 || report.Results[len(report.Results)-1].Name != "training step, tree" {
		t.Errorf("%v after %+v", err, report.Results)
	}
}

// TestWork checks what the works are made of.
func TestWork(t *testing.T) {
	ex := Text(50, 3000, 7)
	x := ex.X.(*matrix.Sparse)
	if err := x.Check(); err != nil || x.Rows() != 50 || len(ex.Class) != 50 {
		t.Fatalf("%d rows, %v", x.Rows(), err)
	}
	for i := range x.Rows() {
		if norm := x.SquaredNorm(i); math.Abs(norm-1) > 1e-5 || ex.Class[i] >= 7 {
			t.Errorf("row %d of class %d has squared norm %v", i, ex.Class[i], norm)
		}
	}
	p := Points(500, 3)
	if err := p.Check(); err != nil || p.Rows() != 500 || p.Cols() != 3 {
		t.Fatal(err)
	}
	if !slices.Equal(p.Data, Points(500, 3).Data) || slices.Equal(Random(1, 9), Random(2, 9)) {
		t.Error("data is not that of its seed")
	}
	plain, fast, scores := make([]float32, 40), make([]float32, 40), Random(1, 40)
	PlainSoftmax(plain, scores)
	kernel.Softmax(fast, scores)
	for i := range plain {
		if math.Abs(float64(plain[i]-fast[i])) > 1e-6 {
			t.Errorf("softmax %v, want %v", fast[i], plain[i])
		}
	}
}

func TestShortTime(t *testing.T) {
	for seconds, want := range map[float64]string{2.345: "2.35 s", 0.0123: "12.3 ms", 4.5e-6: "4.5 us", 7e-8: "70 ns"} {
		if got := shortTime(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}
