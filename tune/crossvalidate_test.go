package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
)

// planned fits a plan in every fold.
func planned(d *corpus.Data, p Plan, opts Options) func(context.Context, int, []int) (*Result, error) {
	return func(ctx context.Context, _ int, train []int) (*Result, error) {
		return p.FitUnmeasured(ctx, d, train, opts)
	}
}

func TestCrossValidate(t *testing.T) {
	d, rows, _ := topicData(t, 6, 1, same)
	var trained [][]int
	v, err := CrossValidate(ctx, d, rows, FoldOptions{Folds: 4, Seed: 2, Similarity: similarityOfNames(t, d)},
		func(ctx context.Context, fold int, train []int) (*Result, error) {
			if fold != len(trained) {
				t.Errorf("fold %d comes after %d", fold, len(trained))
			}
			trained = append(trained, train)
			return Plan{}.Fit(ctx, d, train, Options{})
		})
	if err != nil {
		t.Fatal(err)
	}
	times := make([]int, len(rows))
	right, tested := 0.0, 0
	for n, f := range v.Folds {
		for _, row := range trained[n] {
			times[row]++
		}
		if f.Trained != len(trained[n]) || f.Trained+f.Report.Examples != len(rows) {
			t.Errorf("fold %d: %d rows trained and %d tested of %d", n+1, f.Trained, f.Report.Examples, len(rows))
		}
		right += f.Report.Accuracy * float64(f.Report.Examples)
		tested += f.Report.Examples
	}
	for row, n := range times {
		if n != 3 {
			t.Errorf("row %d was trained on %d times, want 3 of 4", row, n)
		}
	}
	if v.Pooled.Examples != tested || math.Abs(v.Pooled.Accuracy-right/float64(tested)) > 1e-12 {
		t.Errorf("pooled %v over %d rows, want %v over %d", v.Pooled.Accuracy, v.Pooled.Examples, right/float64(tested), tested)
	}
	for _, m := range Metrics() {
		if i := v.Over(m); math.IsNaN(i.Mean) || !(i.SE >= 0) {
			t.Errorf("%s: %+v", m, i)
		}
	}
	if v.Rare != nil || v.Single != nil {
		t.Errorf("rare %v, single %v: want none", v.Rare, v.Single)
	}
}

// Labels of the held rows must not reach the fit, auto's choice included: with
// random labels nothing is better than chance.
func TestCrossValidateOfNoise(t *testing.T) {
	d, rows, _ := topicData(t, 10, 1, same)
	for i, row := range rows {
		d.Class[row] = int32(i % len(d.Classes.Labels))
	}
	v, err := CrossValidate(ctx, d, rows, FoldOptions{}, planned(d, Plan{}, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if a := v.Pooled.Accuracy; a > 0.4 {
		t.Errorf("accuracy %.2f on random labels, chance is 0.17", a)
	}
	if i := v.Over(SimilarityAccuracy); !math.IsNaN(i.Mean) {
		t.Errorf("similarity accuracy %v without a similarity", i.Mean)
	}
}

// A fixed method and prior need no row held out, and cv agrees with a search
// over the same folds.
func TestCrossValidateFixed(t *testing.T) {
	d, rows, _ := topicData(t, 6, 1, same)
	plan := Plan{Sharing: spec("names"), Names: "on"}
	v, err := CrossValidate(ctx, d, rows, FoldOptions{Folds: 4, Seed: 1}, func(ctx context.Context, _ int, train []int) (*Result, error) {
		r, err := plan.FitUnmeasured(ctx, d, train, Options{Seed: 1, Priors: []float64{30}})
		if err == nil && r.HeldOut != 0 {
			t.Errorf("%d rows held out with nothing to choose", r.HeldOut)
		}
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	m := Method{Sharing: v.Folds[0].Method.Sharing, Names: true}
	space := Space{Methods: []Method{m}, Prior: 30, Fixed: Fixed{true, true, true, true}}
	found, err := Search(ctx, d, rows, space, SearchOptions{Folds: 4, Tune: Options{Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := v.Pooled, found.Best().Report; a.Accuracy != b.Accuracy || math.Abs(a.LogLoss-b.LogLoss) > 1e-2 {
		t.Errorf("cv: accuracy %v, log loss %v; the search over the same folds: %v, %v", a.Accuracy, a.LogLoss, b.Accuracy, b.LogLoss)
	}
	r, err := found.Best().Fit(ctx, d, rows, Options{Seed: 1})
	if err != nil || r.Prior != 30 || r.Method.String() != "names+examples" {
		t.Errorf("trained %v, %v", r, err)
	}
}

func TestCrossValidateRareClasses(t *testing.T) {
	d, rows, _ := topicData(t, 5, 1, same)
	// Class 0 keeps one row, class 1 keeps three.
	kept := map[int32]int{0: 1, 1: 3}
	var some []int
	for _, row := range rows {
		c := d.Class[row]
		n, limited := kept[c]
		if limited {
			kept[c]--
		}
		if !limited || n > 0 {
			some = append(some, row)
		}
	}
	v, err := CrossValidate(ctx, d, some, FoldOptions{}, planned(d, Plan{}, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Rare, []int{0, 1}) || !slices.Equal(v.Single, []int{0}) || v.Pooled.Examples != len(some) {
		t.Errorf("rare %v, single %v, %d rows tested of %d", v.Rare, v.Single, v.Pooled.Examples, len(some))
	}
}

func TestCrossValidateRefusals(t *testing.T) {
	d, rows, _ := topicData(t, 4, 1, same)
	for _, folds := range []int{1, -1, len(rows) + 1} {
		if _, err := CrossValidate(ctx, d, rows, FoldOptions{Folds: folds}, planned(d, Plan{}, Options{})); err == nil {
			t.Errorf("%d folds of %d rows were made", folds, len(rows))
		}
	}
	if _, err := (Plan{Sharing: spec("oak")}).FitUnmeasured(ctx, d, rows, Options{}); err == nil {
		t.Error("an unknown sharing was trained")
	}
	cancelled, cancel := context.WithCancel(ctx)
	v, err := CrossValidate(cancelled, d, rows, FoldOptions{Folds: 3}, func(ctx context.Context, fold int, train []int) (*Result, error) {
		if fold == 2 {
			cancel()
		}
		return fitOne(ctx, d, train, Method{}, Options{})
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "fold 3 of 3") || len(v.Folds) != 2 || v.Pooled.Examples == 0 {
		t.Errorf("cancelled: %d folds, %v", len(v.Folds), err)
	}
	var none CrossValidation
	if i := none.Over(Accuracy); !math.IsNaN(i.Mean) {
		t.Errorf("mean %v of no folds", i.Mean)
	}
}

// Rows of classes that were left out change nothing, wherever rows are given.
func TestRowsWithoutAClassAreIgnored(t *testing.T) {
	d, rows, _ := topicData(t, 5, 1, same)
	var own []int
	for n, row := range rows {
		if n%7 == 3 {
			d.Class[row] = -1
		} else {
			own = append(own, row)
		}
	}
	for name, what := range map[string]func(rows []int) (string, error){
		"Plan.Fit": func(rows []int) (string, error) {
			r, err := Plan{}.Fit(ctx, d, rows, Options{Seed: 1})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(r.Method, r.Prior, r.Layer.Bias, len(r.Layer.Weight)), nil
		},
		"CrossValidate": func(rows []int) (string, error) {
			v, err := CrossValidate(ctx, d, rows, FoldOptions{Folds: 3}, planned(d, Plan{}, Options{}))
			return fmt.Sprintf("%+v", v), err
		},
		"Search": func(rows []int) (string, error) {
			return fmt.Sprint(withoutSeconds(searched(t, d, rows, Plan{}, SearchOptions{Trials: 3}).Trials)), nil
		},
	} {
		got, err := what(rows)
		want, wantErr := what(own)
		if err != nil || wantErr != nil || got != want {
			t.Errorf("%s: %v, %v; without these rows %v, %v", name, got, err, want, wantErr)
		}
	}
}
