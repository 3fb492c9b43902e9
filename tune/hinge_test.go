package tune

import (
	"math"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/softmax"
)

// The layer of the mean is the mean of the layers of its parts, each at its
// temperature.
func TestMeanOfLosses(t *testing.T) {
	d, rows, test := topicData(t, 6, 30, same)
	r, err := fitOne(ctx, d, rows, Method{Loss: CrossEntropyHinge}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := hold(d, rows, Options{Seed: 1})
	plain, err := h.path(ctx, Method{})
	if err != nil {
		t.Fatal(err)
	}
	hinges, err := h.try(ctx, Method{Loss: SquaredHinge}, hingePriors)
	if err != nil {
		t.Fatal(err)
	}
	p, q := bestOf(plain), bestOf(hinges)
	one, err := Settings{Method{}, p.prior}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	two, err := Settings{Method{Loss: SquaredHinge}, q.prior}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	pt, err := h.temperature(p)
	if err != nil {
		t.Fatal(err)
	}
	qt, err := h.temperature(q)
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range r.Layer.Weight {
		want := float64(one.Layer.Weight[j])/2/pt + float64(two.Layer.Weight[j])/2/qt
		if math.Abs(float64(w)-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("weight %d is %v, want %v", j, w, want)
		}
	}
	if a := accuracy(t, d, r, test); a < 0.6 {
		t.Errorf("accuracy %.2f on easy data", a)
	}
}

// A plan that leaves the loss open tries squared hinge and the mean; one that names
// a loss, a prior or a trainer does not.
func TestLossesTried(t *testing.T) {
	d, rows, _ := topicData(t, 25, 1, same)
	for _, tc := range []struct {
		name    string
		plan    Plan
		options Options
		hinge   bool
	}{
		{"open", Plan{Sharing: spec("none")}, Options{}, true},
		{"a sharing", Plan{Sharing: spec("names")}, Options{}, false},
		{"cross entropy", Plan{Sharing: spec("none"), Loss: CrossEntropy}, Options{}, false},
		{"smoothing", Plan{Sharing: spec("none"), Smoothing: 0.1}, Options{}, false},
		{"a prior", Plan{Sharing: spec("none")}, Options{Priors: []float64{10}}, false},
		{"SGD", Plan{Sharing: spec("none")}, Options{Trainer: softmax.SGD{Epochs: 1}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := tc.plan.Fit(ctx, d, rows, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, loss := range []Loss{SquaredHinge, CrossEntropyHinge} {
				tried := slices.ContainsFunc(r.Candidates, func(c softmax.Candidate) bool { return c.Method == string(loss) })
				if tried != tc.hinge {
					t.Errorf("%s tried: %v, want %v", loss, tried, tc.hinge)
				}
			}
		})
	}
}

func TestSquaredHingeTakesNoSharing(t *testing.T) {
	d, rows, _ := topicData(t, 4, 1, same)
	if _, err := fitOne(ctx, d, rows, Method{Loss: SquaredHinge, Sharing: classinfo.Spec{classinfo.Names}}, Options{}); err == nil {
		t.Error("no error")
	}
	if _, err := fitOne(ctx, d, rows, Method{Loss: SquaredHinge}, Options{Trainer: softmax.SGD{}}); err == nil {
		t.Error("no error for a trainer")
	}
}

// A search measures a method as the model that training with its settings makes.
func TestSearchMeasuresHingeAsTrained(t *testing.T) {
	d, rows, _ := topicData(t, 6, 2, same)
	for _, l := range []Loss{SquaredHinge, CrossEntropyHinge} {
		found, err := Search(t.Context(), d, rows, Space{Methods: []Method{{Loss: l}}}, SearchOptions{Trials: 1, Tune: Options{Seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		best := found.Best()
		train, held := d.HoldOut(rows, nil, 1)
		loss, n := 0.0, 0
		for part := range train {
			r, err := best.Settings.Fit(t.Context(), d, train[part], Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			err = eachAnswer(d, held[part], r.Features, r.Layer, 1, func(place int, p []float32) error {
				loss -= math.Log(float64(p[d.Class[held[part][place]]]))
				n++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := best.Report.LogLoss; math.Abs(got-loss/float64(n)) > 0.01*got {
			t.Errorf("%s: log loss %v in the search, %v of models trained with its settings", l, got, loss/float64(n))
		}
	}
}
