package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/tune"
)

// questions makes rows whose words overlap with the names of their classes and
// of others, so that no method is right everywhere.
func questions(t *testing.T, train, test int) (d *corpus.Data, n int, testRows []int) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 3))
	labels := []string{"card_lost", "card_late", "fee_cash", "fee_card", "pin_lost"}
	c := corpus.New(dataset.Text, nil)
	for _, each := range []int{train, test} {
		for range each {
			for i, label := range labels {
				words := strings.Split(label, "_")
				other := strings.Split(labels[(i+1+random.IntN(3))%len(labels)], "_")
				text := fmt.Sprintf("%s %s word%d word%d", words[random.IntN(2)], other[random.IntN(2)], random.IntN(9), i+random.IntN(3))
				if err := c.Add(dataset.Example{Text: text, Label: label, Weight: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n == 0 {
			n = c.Table.Rows()
		}
	}
	testRows = dataset.Range(n, c.Table.Rows())
	d, err := c.Data(context.Background(), dataset.Range(0, n), corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d, n, testRows
}

// methods reads names of methods.
func methods(t *testing.T, names ...string) []Method {
	t.Helper()
	list, err := Methods(names, classinfo.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Cross entropy comes first, wherever it was named, and the others stay in order.
func TestMethodsInOrder(t *testing.T) {
	for _, names := range [][]string{{"names", tune.Baseline, "v-tree"}, {tune.Baseline, "names", "v-tree"}, {"names", "v-tree"}} {
		var got []string
		for _, m := range methods(t, names...) {
			got = append(got, m.Name)
		}
		if want := []string{tune.Baseline, "names", "v-tree"}; !slices.Equal(got, want) {
			t.Errorf("%v became %v, want %v", names, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	d, n, test := questions(t, 12, 20)
	splits, err := d.Shots(dataset.Range(0, n), 4, 3, test)
	if err != nil {
		t.Fatal(err)
	}
	e, err := feature.Names(d.Classes.Labels)
	if err != nil {
		t.Fatal(err)
	}
	similarity, err := score.NewSimilarity(e)
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string][]score.Report{}
	opts := Options{Tune: tune.Options{Priors: []float64{10}}, Similarity: similarity,
		Keep: func(method string, split int, r *tune.Result, s *score.Counter) {
			if split != len(reports[method]) {
				t.Errorf("%s: split %d after %d", method, split, len(reports[method]))
			}
			reports[method] = append(reports[method], s.Report())
		}}
	table, err := Run(context.Background(), d, splits, methods(t, "names", "v-tree", "auto"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Results[0].Method; got != tune.Baseline || len(table.Results) != 4 {
		t.Fatalf("%d results, first %s: want cross entropy put in front", len(table.Results), got)
	}
	base := reports[tune.Baseline]
	for _, r := range table.Results {
		// The second opinion: means and errors from the reports, by hand.
		var accuracy, f1, sa, difference, squares float64
		for s, report := range reports[r.Method] {
			accuracy += report.Accuracy / 3
			f1 += report.MacroF1 / 3
			sa += report.SimilarityAccuracy / 3
			difference += (report.Accuracy - base[s].Accuracy) / 3
		}
		for s, report := range reports[r.Method] {
			squares += math.Pow(report.Accuracy-base[s].Accuracy-difference, 2)
		}
		se := math.Sqrt(squares / 2 / 3)
		for _, x := range [][2]float64{{r.Accuracy, accuracy}, {r.MacroF1, f1}, {r.SimilarityAccuracy, sa}, {r.Difference, difference}, {r.DifferenceSE, se}} {
			if math.Abs(x[0]-x[1]) > 1e-12 {
				t.Errorf("%s: got %v, want %v", r.Method, x[0], x[1])
			}
		}
		hits := 0
		for _, c := range r.Total.Classes() {
			hits += int(math.Round(c.Recall * float64(c.Support)))
		}
		for _, c := range r.Total.Confusions(-1) {
			hits += c.Count
		}
		if rows := r.Total.Report().Examples; rows != 3*len(test) || hits != rows {
			t.Errorf("%s: %d rows counted, %d of them right or confused, want %d", r.Method, rows, hits, 3*len(test))
		}
		own, err := score.MeanInterval([]float64{reports[r.Method][0].Accuracy, reports[r.Method][1].Accuracy, reports[r.Method][2].Accuracy})
		if err != nil || r.Interval != own || r.DifferenceInterval.Mean != r.Difference || r.DifferenceInterval.SE != r.DifferenceSE {
			t.Errorf("%s: intervals %v and %v, want %v and one of %v +- %v; %v", r.Method, r.Interval, r.DifferenceInterval, own, r.Difference, r.DifferenceSE, err)
		}
		if len(r.Correct) != 3 || len(r.Correct[0]) != len(test) {
			t.Errorf("%s: outcomes of %d splits", r.Method, len(r.Correct))
		}
	}
	if r := table.Results[0]; r.Difference != 0 || r.DifferenceSE != 0 {
		t.Errorf("cross entropy differs from itself by %v +- %v", r.Difference, r.DifferenceSE)
	}
	if table.Results[3].Choice == "" {
		t.Error("auto does not say what it chose")
	}
	if table.Over != score.OverSplits {
		t.Errorf("errors over %q, want splits", table.Over)
	}
}

func TestOneSplitAndUnknownLabels(t *testing.T) {
	d, n, test := questions(t, 4, 10)
	d.Class[test[0]] = -1
	splits, err := d.Shots(dataset.Range(0, n), 0, 1, test)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(splits[0].Train, dataset.Range(0, n)) {
		t.Errorf("0 shots train on %d rows, want all %d", len(splits[0].Train), n)
	}
	table, err := Run(context.Background(), d, splits, methods(t, "names"), Options{Tune: tune.Options{Priors: []float64{10}}})
	if err != nil {
		t.Fatal(err)
	}
	r := table.Results[1]
	if table.Over != score.OverRows || r.Correct[0][0] {
		t.Errorf("errors over %q, unknown label right: %v", table.Over, r.Correct[0][0])
	}
	if want := math.Sqrt(r.Accuracy * (1 - r.Accuracy) / float64(len(test)-1)); math.Abs(r.AccuracySE-want) > 1e-9 {
		t.Errorf("standard error %v, want %v", r.AccuracySE, want)
	}
}

// Without test rows every split tests what it does not train on.
func TestShotsWithoutTestRows(t *testing.T) {
	d, n, _ := questions(t, 10, 1)
	for _, shots := range []int{0, 3} {
		splits, err := d.Shots(dataset.Range(0, n), shots, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range splits {
			all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Test)))
			if !slices.Equal(all, dataset.Range(0, n)) {
				t.Errorf("%d shots: %d training and %d test rows are not the %d rows", shots, len(s.Train), len(s.Test), n)
			}
		}
		if slices.Equal(splits[0].Test, splits[1].Test) {
			t.Errorf("%d shots: two seeds test the same rows", shots)
		}
	}
	if _, err := d.Shots(dataset.Range(0, n), 10, 1, nil); err == nil {
		t.Error("a split without test rows was taken")
	}
}

func TestRefusals(t *testing.T) {
	d, n, test := questions(t, 3, 2)
	if _, err := d.Shots(dataset.Range(0, n), 4, 1, test); err == nil {
		t.Error("4 rows were drawn of classes with 3")
	}
	splits, err := d.Shots(dataset.Range(0, n), 2, 1, test)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name    string
		ctx     context.Context
		splits  []corpus.Split
		methods []string
		want    string
	}{
		{"no splits", context.Background(), nil, []string{"names"}, "no splits"},
		{"unknown method", context.Background(), splits, []string{"magic"}, "magic"},
		{"method twice", context.Background(), splits, []string{"names", "names"}, "twice"},
		{"no taxonomy", context.Background(), splits, []string{"taxonomy"}, "give one with Options.Taxonomy"},
		{"cancelled", cancelled, splits, []string{"names"}, "canceled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list, err := Methods(tc.methods, classinfo.Options{}, 0)
			if err == nil {
				_, err = Run(tc.ctx, d, tc.splits, list, Options{})
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if tc.name == "cancelled" && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
		})
	}
}

// Cancelled, Run returns what is finished: whole splits, or methods of the first.
func TestRunKeepsWhatIsFinished(t *testing.T) {
	d, n, test := questions(t, 6, 4)
	splits, err := d.Shots(dataset.Range(0, n), 3, 3, test)
	if err != nil {
		t.Fatal(err)
	}
	list := methods(t, "names", "v-tree")
	opts := func(keep func(string, int)) Options {
		return Options{Tune: tune.Options{Priors: []float64{10}}, Keep: func(method string, split int, _ *tune.Result, _ *score.Counter) { keep(method, split) }}
	}
	whole, err := Run(t.Context(), d, splits[:1], list, opts(func(string, int) {}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		method         string
		split          int
		splits, finish int // kept
	}{{"cross-entropy", 0, 1, 1}, {"names", 0, 1, 2}, {"v-tree", 0, 1, 3}, {"names", 1, 1, 3}, {"names", 2, 2, 3}} {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := Run(ctx, d, splits, list, opts(func(method string, split int) {
			if method == tc.method && split == tc.split {
				cancel()
			}
		}))
		cancel()
		if !errors.Is(err, context.Canceled) || got == nil || got.Splits != tc.splits || len(got.Results) != tc.finish {
			t.Fatalf("after %s of split %d: %+v, %v", tc.method, tc.split, got, err)
		}
		for m, r := range got.Results {
			if tc.splits == 1 && (r.Accuracy != whole.Results[m].Accuracy || r.MacroF1 != whole.Results[m].MacroF1) {
				t.Errorf("%s: accuracy %v, without a cancel %v", r.Method, r.Accuracy, whole.Results[m].Accuracy)
			}
			if len(r.Correct) != tc.splits || r.Total.Report().Examples != tc.splits*len(test) {
				t.Errorf("%s: outcomes of %d splits, %d rows, want %d", r.Method, len(r.Correct), r.Total.Report().Examples, tc.splits)
			}
		}
	}
}
