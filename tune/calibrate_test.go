package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/decide"
)

func TestCalibrate(t *testing.T) {
	d, rows, test := topicData(t, 12, 6, same)
	taxonomyOfNames := classinfo.Spec{classinfo.VTree}
	for _, m := range []Method{{}, {Names: true}, {Sharing: taxonomyOfNames}, {Loss: HierarchicalSoftmax}} {
		t.Run(m.String(), func(t *testing.T) {
			opts := Options{Seed: 3, Threads: 1}
			r, err := fitOne(t.Context(), d, rows, m, opts)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Calibrate(t.Context(), d, rows, r, opts)
			if err != nil {
				t.Fatal(err)
			}
			if c.Rows != r.HeldOut || c.Rows != len(rows) {
				t.Errorf("calibrated on %d rows, the prior was chosen on %d of %d", c.Rows, r.HeldOut, len(rows))
			}
			if c.AtLimit || !(c.LogLossAfter <= c.LogLossBefore) {
				t.Errorf("%+v, want a temperature that lowers the log loss", c)
			}
			opts.Threads = 3
			again, err := Calibrate(t.Context(), d, rows, r, opts)
			if err != nil || again != c {
				t.Errorf("%+v with three threads (%v), want %+v", again, err, c)
			}

			// On given rows the result itself is measured: its own log loss.
			opts.Valid = test
			c, err = Calibrate(t.Context(), d, rows, r, opts)
			if err != nil {
				t.Fatal(err)
			}
			x, err := r.Features.Matrix(d.Table, test)
			if err != nil {
				t.Fatal(err)
			}
			losses := make([]float64, len(test))
			if err := r.Layer.PredictAll(x, 1, func(i int, p []float32) { losses[i] = -math.Log(float64(p[d.Class[test[i]]])) }); err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for _, l := range losses {
				want += l / float64(len(losses))
			}
			if c.Rows != len(test) || math.Abs(c.LogLossBefore-want) > 1e-5 {
				t.Errorf("log loss %v of %d rows before, want %v of %d", c.LogLossBefore, c.Rows, want, len(test))
			}
		})
	}
}

func TestCalibrateNumbers(t *testing.T) {
	d, rows := numbers(t, 8)
	r, err := fitOne(t.Context(), d, rows, Method{}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate(t.Context(), d, rows, r, Options{Seed: 1})
	if err != nil || c.Rows != len(rows) || c.Temperature < decide.MinTemperature {
		t.Errorf("%+v, %v; want all %d rows", c, err, len(rows))
	}
}

// The accuracy that answers can promise is lower by the examples of classes of which none is
// held out.
func TestCalibrateCountsRareClasses(t *testing.T) {
	d, rows, _ := topicData(t, 6, 1, same)
	left := 2
	rows = slices.DeleteFunc(rows, func(row int) bool {
		if d.Class[row] == 0 {
			left--
		}
		return d.Class[row] == 0 && left < 0
	})
	r, err := fitOne(t.Context(), d, rows, Method{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate(t.Context(), d, rows, r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.optimism + 2/float64(len(rows)); c.Rows != len(rows)-2 || c.Answers.Optimism != want {
		t.Errorf("optimism %v by %d of %d rows, want %v by all but two", c.Answers.Optimism, c.Rows, len(rows), want)
	}
}

func TestCalibrateWithoutHeldOut(t *testing.T) {
	d, rows, _ := topicData(t, 2, 1, same)
	r, err := fitOne(t.Context(), d, rows, Method{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Calibrate(t.Context(), d, rows, r, Options{}); !errors.Is(err, ErrNotHeldOut) {
		t.Errorf("two rows of each class: %v, want ErrNotHeldOut", err)
	}
}

func TestCalibrateIsCancelled(t *testing.T) {
	d, rows, _ := topicData(t, 6, 1, same)
	r, err := Settings{Method{}, 10}.Fit(t.Context(), d, rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx, d, rows, r, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

func TestEvery(t *testing.T) {
	rows := []int{5, 6, 7, 8, 9}
	for step, want := range map[int]int{0: 5, 1: 5, 2: 3, 3: 2, 9: 1} {
		if got := every(rows, step); len(got) != want || got[0] != 5 {
			t.Errorf("every %d: %v, want %d rows", step, got, want)
		}
	}
}

// The best of many attempts that guess is right by chance more often than any is on other
// rows; one attempt, and one that is the best everywhere, is not.
func TestOptimism(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(5, 1))
	guess := func(rate float64) *attempt {
		a := &attempt{correct: make([]bool, n)}
		for i := range a.correct {
			if a.correct[i] = rng.Float64() < rate; a.correct[i] {
				a.right++
			}
		}
		return a
	}
	sum, optimism := 0.0, 0.0
	const draws = 200
	for range draws {
		var all []*attempt
		for range 20 {
			all = append(all, guess(0.5))
		}
		best := bestOf(all)
		sum += float64(best.right)/n - 0.5
		optimism += optimismOf(best, all)
		if x := optimismOf(best, []*attempt{best}); x != 0 {
			t.Fatalf("optimism %v of one attempt", x)
		}
	}
	// The estimate has a bias of its own, towards what a choice on four fifths is worth.
	if got, want := optimism/draws, sum/draws; math.Abs(got-want) > 0.3*want {
		t.Errorf("mean optimism %v of the best of 20, want about %v", got, want)
	}
	good := guess(0.9)
	if x := optimismOf(good, []*attempt{guess(0.5), good, guess(0.6)}); x != 0 {
		t.Errorf("optimism %v of one that is the best in every group, want 0", x)
	}
}
