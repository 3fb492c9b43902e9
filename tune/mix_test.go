package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// doubtful returns texts of which every third is shared by its topic and the
// next one, and every fifteenth has a label of its own beside it, "other".
func doubtful(t *testing.T, n int) (*corpus.Corpus, []dataset.Example) {
	t.Helper()
	names := dataset.NewLabels(keys(topics())).Names()
	c := corpus.New(dataset.Text, nil)
	list := texts(n, 1, same)
	for i := range list {
		e := &list[i]
		e.Place = dataset.Place{File: "a.jsonl", Line: i + 1}
		next := names[(slices.Index(names, e.Label)+1)%len(names)]
		switch {
		case i%15 == 0:
			e.Mix = []dataset.Share{{Label: e.Label, Share: 0.75}, {Label: "other", Share: 0.25}}
		case i%3 == 0:
			e.Mix = []dataset.Share{{Label: e.Label, Share: 0.625}, {Label: next, Share: 0.375}}
		}
		slices.SortFunc(e.Mix, func(a, b dataset.Share) int { return strings.Compare(a.Label, b.Label) })
		if err := c.Add(*e); err != nil {
			t.Fatal(err)
		}
	}
	return c, list
}

// The bias has no penalty, so at the optimum the mean prediction is the mean
// target, class by class: with the weights of rows and classes, and whatever
// trains.
func TestMixIsTrainedOn(t *testing.T) {
	c, list := doubtful(t, 15)
	rows := dataset.Range(0, len(list))
	d, err := c.Data(ctx, rows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	k := len(d.Classes.Labels)
	weight := make([]float32, len(d.Class))
	for i := range weight {
		weight[i] = float32(1 + i%2)
	}
	classWeight := make([]float32, k)
	for i := range classWeight {
		classWeight[i] = float32(1 + i%3)
	}
	for _, tc := range []struct {
		name    string
		trainer softmax.Trainer
		method  Method
		weighed bool
		within  float64
	}{
		{"converge", softmax.Converge{Tolerance: 1e-7}, Method{}, false, 1e-4},
		{"weighed", softmax.Converge{Tolerance: 1e-7}, Method{}, true, 1e-4},
		{"shared", softmax.Converge{Tolerance: 1e-7}, Method{Sharing: classinfo.Spec{classinfo.Names}}, true, 1e-4},
		{"sgd", softmax.SGD{Epochs: 300, Batch: 1000}, Method{}, true, 0.01},
		{"adamw", softmax.AdamW{Epochs: 600, Batch: 1000, Rate: 0.02}, Method{}, true, 0.01},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.Weight, d.ClassWeight = nil, nil
			if tc.weighed {
				d.Weight, d.ClassWeight = weight, classWeight
			}
			r, err := Settings{tc.method, 10}.Fit(ctx, d, rows, Options{Trainer: tc.trainer})
			if err != nil {
				t.Fatal(err)
			}
			want, got, total := make([]float64, k), make([]float64, k), 0.0
			err = eachAnswer(d, rows, r.Features, r.Layer, 1, func(i int, p []float32) error {
				w, all := 1.0, 0.0
				if tc.weighed {
					w = float64(weight[i])
				}
				d.EachShare(i, func(c int, share float64) {
					cw := 1.0
					if tc.weighed {
						cw = float64(classWeight[c])
					}
					want[c] += w * cw * share
					all += w * cw * share
				})
				for c, q := range p {
					got[c] += all * float64(q)
				}
				total += all
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for c := range want {
				if math.Abs(want[c]-got[c]) > tc.within*total {
					t.Errorf("%s: predicted %.4f of the examples, its share of them is %.4f", d.Classes.Labels[c], got[c]/total, want[c]/total)
				}
			}
		})
	}
	d.Weight, d.ClassWeight = nil, nil
}

// Whatever measures takes the largest share as right and the cross entropy
// against all shares as loss; auto, search, folds and calibration run on mixes.
func TestMixIsMeasured(t *testing.T) {
	c, list := doubtful(t, 15)
	rows := dataset.Range(0, len(list))
	d, err := c.Data(ctx, rows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	k := len(d.Classes.Labels)
	p := make([]float32, k)
	for i := range p {
		p[i] = 1 / float32(k)
	}
	p[0], p[1] = p[0]+0.1, p[1]-0.1
	counter, err := score.NewCounter(k, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want float64
	for _, row := range rows {
		d.EachShare(row, func(c int, share float64) { want -= share * math.Log(float64(p[c])) / float64(len(rows)) })
		if err := d.Score(counter, row, p); err != nil {
			t.Fatal(err)
		}
	}
	if got := counter.Report().LogLoss; math.Abs(got-want) > 1e-6 {
		t.Errorf("log loss %v, want %v", got, want)
	}

	r, err := Plan{}.Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.HeldOut != len(rows) || accuracy(t, d, r, rows) < 0.8 {
		t.Errorf("%d of %d rows held out, accuracy %v", r.HeldOut, len(rows), accuracy(t, d, r, rows))
	}
	// The cross entropy of a row is no less than the entropy of its shares.
	least := math.Inf(1)
	for _, c := range r.Candidates {
		least = min(least, c.LogLoss)
	}
	var entropy float64
	for _, row := range rows {
		d.EachShare(row, func(_ int, s float64) { entropy -= s * math.Log(s) / float64(len(rows)) })
	}
	if least < entropy {
		t.Errorf("a log loss of %v below the entropy %v of the targets", least, entropy)
	}
	calibration, err := Calibrate(ctx, d, rows, r, Options{Seed: 1})
	if err != nil || calibration.Rows != len(rows) || calibration.LogLossAfter < entropy || calibration.LogLossAfter > calibration.LogLossBefore {
		t.Errorf("calibration %+v, %v", calibration, err)
	}
	v, err := CrossValidate(ctx, d, rows, FoldOptions{Folds: 3}, func(ctx context.Context, _ int, train []int) (*Result, error) {
		return fitOne(ctx, d, train, Method{}, Options{Priors: []float64{10}})
	})
	if err != nil || v.Pooled.Examples != len(rows) || v.Pooled.LogLoss < entropy {
		t.Errorf("folds %+v, %v", v, err)
	}
	space, err := (Plan{Sharing: spec("none"), Names: "off"}).Space(d)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(ctx, d, rows, space, SearchOptions{Trials: 2})
	if err != nil || found.Best().Report.LogLoss < entropy {
		t.Errorf("search %+v, %v", found, err)
	}
	// Validation rows with shares, on a trainer that watches them.
	opts := Options{Valid: rows[:30], Trainer: softmax.SGD{Epochs: 2, Monitor: softmax.Monitor{Patience: 1}}}
	if _, err := fitOne(ctx, d, rows[30:], Method{}, opts); err != nil {
		t.Error(err)
	}
}

// A kind of feature that is not text, and a class that has shares only: a
// quarter is half of each.
func TestMixOfNumbers(t *testing.T) {
	c := corpus.New(dataset.Numbers, []string{"x"})
	for i := range 40 {
		e := dataset.Example{Values: []float64{float64(i % 4)}, Label: "low", Weight: 1}
		switch i % 4 {
		case 3:
			e.Label = "high"
		case 1, 2:
			e.Mix = []dataset.Share{{Label: "low", Share: 0.5}, {Label: "mid", Share: 0.5}}
		}
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	d, err := c.Data(ctx, dataset.Range(0, 40), corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Settings{Method{}, 1e4}.Fit(ctx, d, dataset.Range(0, 40), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model(d.Classes.Labels, softmax.Training{})
	p, err := m.NewPredictor().Probabilities(dataset.Example{Values: []float64{1.5}})
	if err != nil || fmt.Sprint(m.Labels) != "[high low mid]" {
		t.Fatal(err, m.Labels)
	}
	if math.Abs(float64(p[2])-0.5) > 0.12 {
		t.Errorf("probabilities %v of a class that has only shares, want about half", p)
	}
}
