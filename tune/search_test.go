package tune

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

func similarityOfNames(t *testing.T, d *corpus.Data) *score.Similarity {
	t.Helper()
	e, err := feature.Names(d.Classes.Labels)
	if err != nil {
		t.Fatal(err)
	}
	s, err := score.NewSimilarity(e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func searched(t *testing.T, d *corpus.Data, rows []int, p Plan, opts SearchOptions) *Found {
	t.Helper()
	space, err := p.Space(d)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(ctx, d, rows, space, opts)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withoutSeconds returns trials without what no two runs share.
func withoutSeconds(trials []Trial) []Trial {
	out := slices.Clone(trials)
	for i := range out {
		out[i].Seconds = 0
		if math.IsNaN(out[i].Report.MistakeSeverity) { // NaN is not itself
			out[i].Report = score.Report{Accuracy: out[i].Report.Accuracy, LogLoss: out[i].Report.LogLoss, MacroF1: out[i].Report.MacroF1}
		}
	}
	return out
}

// Every trial is the work that Fit does to measure its method and prior.
func TestTrialsAreWhatFitMeasures(t *testing.T) {
	d, train, _ := topicData(t, 6, 1, same)
	found := searched(t, d, train, Plan{}, SearchOptions{Trials: 30, Tune: Options{Seed: 3}})
	if len(found.Trials) != 30 || found.Stop != StopTrials || found.HeldOut != len(train) {
		t.Fatalf("%d trials on %d rows, stopped by %s", len(found.Trials), found.HeldOut, found.Stop)
	}
	for _, trial := range found.Trials {
		r, err := fitOne(ctx, d, train, trial.Method, Options{Seed: 3, Priors: []float64{trial.Prior}})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Candidates[0]; c.Accuracy != trial.Report.Accuracy || math.Abs(c.LogLoss-trial.Report.LogLoss) > 1e-6 {
			t.Errorf("%v with prior %g: accuracy %v, log loss %v; Fit measures %+v", trial.Method, trial.Prior, trial.Report.Accuracy, trial.Report.LogLoss, c)
		}
	}
}

func TestSearchIsDeterministic(t *testing.T) {
	d, train, _ := topicData(t, 5, 1, same)
	few := searched(t, d, train, Plan{}, SearchOptions{Trials: 9})
	many := searched(t, d, train, Plan{}, SearchOptions{Trials: 25})
	again := searched(t, d, train, Plan{}, SearchOptions{Trials: 25, Tune: Options{Threads: 1}})
	if !reflect.DeepEqual(withoutSeconds(many.Trials), withoutSeconds(again.Trials)) {
		t.Error("the same search with another number of threads gave other trials")
	}
	byNumber := func(f *Found) []Trial {
		trials := withoutSeconds(f.Trials)
		slices.SortFunc(trials, func(a, b Trial) int { return a.Number - b.Number })
		return trials
	}
	if !reflect.DeepEqual(byNumber(few), byNumber(many)[:9]) {
		t.Error("more trials changed the first ones")
	}
}

func TestSearchSchedule(t *testing.T) {
	d, train, _ := topicData(t, 6, 1, same)
	for _, m := range Metrics() {
		found := searched(t, d, train, Plan{}, SearchOptions{Metric: m, Trials: 20, Similarity: similarityOfNames(t, d)})
		first := found.Default()
		if !first.Method.isPlain() || first.Prior != softmax.DefaultPrior || first.Difference != 0 {
			t.Errorf("%s: the baseline is %+v", m, first)
		}
		seen := map[string]bool{}
		for i, trial := range found.Trials {
			if seen[trial.key()] {
				t.Errorf("%s: %s twice", m, trial.key())
			}
			seen[trial.key()] = true
			if i > 0 && m.better(trial.Report, found.Trials[i-1].Report) {
				t.Errorf("%s: trial %d is better than the one before it", m, trial.Number)
			}
			if want := m.Of(trial.Report) - m.Of(first.Report); math.Abs(trial.Difference-want) > 1e-12 || !(trial.SE >= 0) || !(trial.DifferenceSE >= 0) {
				t.Errorf("%s: trial %d: difference %v +- %v, want %v", m, trial.Number, trial.Difference, trial.DifferenceSE, want)
			}
		}
		// Correcting for the choice cannot make the best look better.
		if m.better(found.Honest, found.Best().Report) {
			t.Errorf("%s: corrected %v, best of all %v", m, m.Of(found.Honest), m.Of(found.Best().Report))
		}
	}
}

func TestSearchEnds(t *testing.T) {
	d, train, _ := topicData(t, 4, 1, same)
	found := searched(t, d, train, Plan{Sharing: spec("names"), Names: "off"}, SearchOptions{})
	if found.Stop != StopConverged {
		t.Errorf("stopped by %s, want the end of all steps", found.Stop)
	}
	best := found.Best()
	fixed := Space{Methods: []Method{best.Method}, Prior: best.Prior, Fixed: Fixed{true, true, true, true}}
	one, err := Search(ctx, d, train, fixed, SearchOptions{})
	if err != nil || len(one.Trials) != 1 || one.Best().Report.Accuracy != best.Report.Accuracy {
		t.Errorf("a space of one point gave %+v, %v", one, err)
	}
}

// The clock moves a second at each look at it: no test waits.
func TestSearchKeepsToItsTime(t *testing.T) {
	d, train, _ := topicData(t, 5, 1, same)
	space, err := (Plan{}).Space(d)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for _, budget := range []time.Duration{1, 50, 500} {
		var now time.Time
		began := now
		clock := func() time.Time { now = now.Add(time.Second); return now }
		found, err := Search(ctx, d, train, space, SearchOptions{Time: budget * time.Second, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		if found.Stop != StopTime || len(found.Trials) < max(before, 1) {
			t.Errorf("%d s: %d trials, stopped by %s", budget, len(found.Trials), found.Stop)
		}
		// A trial under way ends at the next step of its trainer. The first
		// one has all the time that it needs.
		if spent := now.Sub(began); len(found.Trials) > 1 && spent > (budget+100)*time.Second {
			t.Errorf("%d s: the search took %v of the clock", budget, spent)
		}
		before = len(found.Trials)
	}
	if before < 5 {
		t.Errorf("%d trials in the largest time, want some", before)
	}
}

func TestSearchCancelled(t *testing.T) {
	d, train, _ := topicData(t, 5, 1, same)
	space, err := (Plan{}).Space(d)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	opts := SearchOptions{Tune: Options{Progress: func(stage string, _ softmax.Progress) {
		if strings.HasPrefix(stage, "trial 4,") {
			cancel()
		}
	}}}
	found, err := Search(cancelled, d, train, space, opts)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "after 3 trials") {
		t.Errorf("error %v", err)
	}
	if found == nil || len(found.Trials) != 3 || found.Stop != StopCancelled {
		t.Errorf("found %+v, want three trials", found)
	}
	if found, err = Search(cancelled, d, train, space, SearchOptions{}); found != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v, %v", found, err)
	}
}

func TestSearchHoldsOut(t *testing.T) {
	many, rows, valid := topicData(t, 4, 3, same)
	two, twoRows, _ := topicData(t, 2, 1, same)
	one, oneRows, _ := topicData(t, 1, 1, same)
	for _, tc := range []struct {
		name string
		d    *corpus.Data
		rows []int
		opts SearchOptions
		held int
		how  string
	}{
		{"as in training", many, rows, SearchOptions{}, len(rows), "5 folds, as in training"},
		{"folds", many, rows, SearchOptions{Folds: 4}, len(rows), "4 folds"},
		{"validation rows", many, rows, SearchOptions{Tune: Options{Valid: valid}}, len(valid), "validation rows"},
		{"two rows a class", two, twoRows, SearchOptions{}, len(twoRows), "fewer than 3 rows"},
	} {
		tc.opts.Trials = 2
		found := searched(t, tc.d, tc.rows, Plan{}, tc.opts)
		if found.HeldOut != tc.held || !strings.Contains(found.How, tc.how) {
			t.Errorf("%s: %d rows, %q; want %d, %q", tc.name, found.HeldOut, found.How, tc.held, tc.how)
		}
	}
	space, err := (Plan{}).Space(one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Search(ctx, one, oneRows, space, SearchOptions{}); !errors.Is(err, ErrNoHeldOut) {
		t.Errorf("one row a class: error %v", err)
	}
	for _, tc := range []struct {
		name  string
		space Space
		opts  SearchOptions
		want  string
	}{
		{"no methods", Space{}, SearchOptions{}, "no methods"},
		{"one fold", space, SearchOptions{Folds: 1}, "want at least 2"},
		{"no similarity", space, SearchOptions{Metric: SimilarityAccuracy}, "similarity-accuracy"},
		{"the one method fails", Space{Methods: []Method{{}, {Sharing: classinfo.Spec{classinfo.Taxonomy}}}, apart: true}, SearchOptions{}, "Options.Taxonomy"},
		{"baseline fails", Space{Methods: []Method{{Loss: "hinge"}}}, SearchOptions{}, "hinge"},
	} {
		if _, err := Search(ctx, many, rows, tc.space, tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", tc.name, err, tc.want)
		}
	}
}

// What the user asked for is the answer, be plain cross entropy better or not,
// and there is one whatever the budget.
func TestSearchAnswersWhatWasAsked(t *testing.T) {
	d, train, _ := topicData(t, 5, 1, permuted)
	for _, trials := range []int{1, 2, 12} {
		for _, p := range []Plan{{Sharing: spec("u-tree")}, {Loss: HierarchicalSoftmax, Names: "off"}, {Names: "on"}} {
			found := searched(t, d, train, p, SearchOptions{Trials: trials})
			best := found.Best()
			if best.Method.isPlain() || p.Sharing != nil && !slices.Equal(best.Method.Sharing, p.Sharing) || best.Method.Loss != p.Loss || p.Names == "on" && !best.Method.Names {
				t.Errorf("%+v, %d trials: the answer is %v", p, trials, best.Method)
			}
			if !found.Default().Baseline {
				t.Errorf("%+v: cross entropy is no baseline", p)
			}
		}
	}
}

// A method that the data does not allow is told, and the others go on.
func TestSearchSkips(t *testing.T) {
	d, train, _ := topicData(t, 4, 1, same)
	space := Space{Methods: []Method{{}, {Sharing: classinfo.Spec{classinfo.Taxonomy}}, {Sharing: classinfo.Spec{classinfo.Names}}}}
	found, err := Search(ctx, d, train, space, SearchOptions{Trials: 2})
	if err != nil || len(found.Trials) != 2 || len(found.Skipped) != 1 || !strings.HasPrefix(found.Skipped[0], "taxonomy: ") {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestSpace(t *testing.T) {
	text, _, _ := topicData(t, 4, 1, same)
	num, _ := numbers(t, 4)
	for _, tc := range []struct {
		name string
		d    *corpus.Data
		plan Plan
		want string
	}{
		{"texts", text, Plan{}, "[cross-entropy names names+examples none+examples means names+means+examples linkage v-tree]"},
		{"without names as examples", text, Plan{Names: "off"}, "[cross-entropy names means linkage v-tree]"},
		{"with names as examples", text, Plan{Names: "on"}, "[cross-entropy names+examples none+examples means+examples linkage+examples v-tree+examples]"},
		{"numbers", num, Plan{}, "[cross-entropy names means linkage v-tree]"},
		{"a sharing", text, Plan{Sharing: spec("v-tree")}, "[cross-entropy v-tree v-tree+examples]"},
		{"none", text, Plan{Sharing: spec("none")}, "[cross-entropy none+examples]"},
		{"a loss", text, Plan{Loss: SimLoss}, "[cross-entropy simloss]"},
	} {
		s, err := tc.plan.Space(tc.d)
		if err != nil || methodNames(s.Methods) != tc.want {
			t.Errorf("%s: %v, %v, want %s", tc.name, s.Methods, err, tc.want)
		}
	}
	rich := *text
	rich.Classes.Vectors, rich.Classes.Taxonomy = &matrix.Dense{}, &labeltree.Tree{}
	s, err := (Plan{Names: "off"}).Space(&rich)
	if want := "[cross-entropy names vectors taxonomy means linkage v-tree]"; err != nil || methodNames(s.Methods) != want {
		t.Errorf("with vectors and a taxonomy: %v, %v, want %s", s.Methods, err, want)
	}
	s, err = (Plan{}).Space(&rich)
	if all := methodNames(s.Methods); err != nil || !strings.Contains(all, "names+vectors+examples") || !strings.Contains(all, "names+taxonomy+examples") {
		t.Errorf("with vectors and a taxonomy: %v, %v, want their sums with names", s.Methods, err)
	}
	for _, tc := range []struct {
		d    *corpus.Data
		plan Plan
		want string
	}{{text, Plan{Names: "yes"}, "auto, on or off"}, {num, Plan{Names: "on"}, "numbers"}, {text, Plan{Sharing: spec("oak")}, "oak"}} {
		if _, err := tc.plan.Space(tc.d); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want %q in it", tc.plan, err, tc.want)
		}
	}
}

func TestNeighbours(t *testing.T) {
	s := Space{names: true}
	names := Settings{Method: Method{Sharing: classinfo.Spec{classinfo.Names}}, Prior: 10}
	tree := Settings{Method: Method{Sharing: classinfo.Spec{classinfo.VTree}}, Prior: 10}
	for _, tc := range []struct {
		name string
		x    Settings
		a    axis
		half int
		want []float64
	}{
		{"prior", names, priorAxis, 0, []float64{30, 3.33}},
		{"prior, half a step", names, priorAxis, 1, []float64{17.3, 5.77}},
		{"rho", names, rhoAxis, 0, []float64{0.3, 0.0333}},
		{"no rho of a tree", tree, rhoAxis, 0, nil},
		{"smoothing from 0", names, smoothingAxis, 1, []float64{0.05}},
		{"base", tree, baseAxis, 0, []float64{1.6, 1.15}},
		{"no base of names", names, baseAxis, 0, nil},
		{"no axis", names, axes, 0, nil},
	} {
		var got []float64
		for _, y := range s.neighbours(tc.x, tc.a, tc.half) {
			got = append(got, map[axis]float64{priorAxis: y.Prior, rhoAxis: y.rho(), smoothingAxis: y.Method.Smoothing, baseAxis: y.base()}[tc.a])
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	if y := s.neighbours(names, namesAxis, 0); len(y) != 1 || !y[0].Method.Names {
		t.Errorf("names as examples: %v", y)
	}
	s.Fixed = Fixed{true, true, true, true}
	for a := range axes {
		if y := s.neighbours(tree, a, 0); a != namesAxis && y != nil {
			t.Errorf("axis %d is fixed, but has %v", a, y)
		}
	}
}

// Of a mean the jackknife is the textbook's standard error.
func TestJackknife(t *testing.T) {
	x := []float64{1, 4, 2, 8, 5}
	without := make([]float64, len(x))
	for i := range x {
		for j, v := range x {
			if j != i {
				without[i] += v / 4
			}
		}
	}
	want, err := score.MeanInterval(x)
	if err != nil {
		t.Fatal(err)
	}
	if got := jackknife(without); math.Abs(got-want.SE) > 1e-12 {
		t.Errorf("standard error %v, want %v", got, want.SE)
	}
	if !math.IsNaN(jackknife(x[:1])) {
		t.Error("an error from one number")
	}
}

func TestMetrics(t *testing.T) {
	r := score.Report{Accuracy: 1, Top5Accuracy: 2, MacroF1: 3, SimilarityAccuracy: 4, LogLoss: 5, CalibrationError: 6}
	for i, m := range Metrics() {
		if err := (SearchOptions{Metric: m}).Check(); err != nil || m.Of(r) != float64(i+1) {
			t.Errorf("%s: %v, %v", m, err, m.Of(r))
		}
	}
	if err := (SearchOptions{}).Check(); err != nil || Metric("").Of(r) != r.Accuracy {
		t.Errorf("the default: %v, %v", Metric("").Of(r), err)
	}
	if err := (SearchOptions{Metric: "speed"}).Check(); err == nil || !strings.Contains(err.Error(), "macro-f1") {
		t.Errorf("error %v", err)
	}
	nan := score.Report{Accuracy: math.NaN(), LogLoss: math.NaN()}
	for _, m := range []Metric{Accuracy, LogLoss} {
		if m.better(nan, r) {
			t.Errorf("%s: what is not known is better", m)
		}
	}
	if !LogLoss.better(score.Report{LogLoss: 1}, r) || Accuracy.better(score.Report{Accuracy: 0.5}, r) {
		t.Error("the order is wrong")
	}
}
