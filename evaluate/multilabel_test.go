package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/softmax"
)

// tags is a classifier of three labels whose probabilities are the numbers of an example.
type tags struct{ classify.Classifier }

func (tags) About() classify.About {
	return classify.About{Kind: classify.LinearModel, Labels: []string{"a", "b", "c"}, Like: classify.Like{Kind: dataset.Numbers, Several: true},
		Multilabel: &softmax.Multilabel{Threshold: []float32{0.5, 0.5, 0.2}, Count: []int32{50, 10, 1}, Examples: 100}}
}

func (tags) Probabilities(e dataset.Example) ([]float32, error) {
	var p []float32
	for _, v := range e.Values {
		p = append(p, float32(v))
	}
	return p, nil
}

// tagRows opens examples that are the probabilities of their labels.
func tagRows(t *testing.T, text string, threads int) classify.Examples {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("p,q,r,label\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Open(path, dataset.Options{LabelSeparator: ";", Columns: []string{"p", "q", "r"}})
	if err != nil {
		t.Fatal(err)
	}
	return classify.PredictRecords(r, classify.Input{Paths: []string{path}, Threads: threads}, func() classify.Predictor { return tags{} })
}

// Answers are those of the thresholds; labels that were never trained count as missed, or not
// at all; and threads do not matter.
func TestMultilabel(t *testing.T) {
	text := strings.Repeat("0.9,0.1,0.1,a\n0.6,0.4,0.3,a;c\n0.1,0.1,0.1,\n0.2,0.8,0.1,a;x\n", 300)
	var first string
	for _, threads := range []int{1, 3} {
		r, err := Multilabel(context.Background(), tags{}, tagRows(t, text, threads), MultilabelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.Unknown[0].First = ""
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(got)
		}
		if string(got) != first {
			t.Errorf("%d threads:\n%s\nwant\n%s", threads, got, first)
		}
		// Of each four: answers a; a, c; none; b. Labels a; a, c; none; a, x.
		if rep := r.Report; rep.Answers != 4*300 || rep.Labels != 5*300 || math.Abs(rep.MicroF1-2*3/(4+5.0)) > 1e-12 || rep.SubsetAccuracy != 0.75 || rep.Precision[0] != 2/3.0 {
			t.Errorf("report %+v", rep)
		}
		if u := r.Unknown[0]; u.Label != "x" || u.Examples != 300 {
			t.Errorf("unknown %+v", u)
		}
		if worst := r.Worst(); len(worst) != 3 || worst[0].Label != "b" {
			t.Errorf("worst %+v", worst)
		}
	}
	r, err := Multilabel(context.Background(), tags{}, tagRows(t, text, 2), MultilabelOptions{Threshold: 0.35, UnknownLabels: Skip})
	if err != nil || r.Report.Unknown != 0 || r.Report.Labels != 4*300 || r.Report.Answers != 4*300 {
		t.Errorf("from 0.35 on, labels never trained left out: %+v, %v", r, err)
	}
	if _, err := Multilabel(context.Background(), tags{}, tagRows(t, text, 2), MultilabelOptions{UnknownLabels: Stop}); err == nil || !strings.Contains(err.Error(), `rows.csv:5: label "x"`) {
		t.Errorf("labels never trained are an error: %v", err)
	}
	for _, o := range []MultilabelOptions{{Threshold: 2}, {Threshold: math.NaN()}, {UnknownLabels: "none"}} {
		if _, err := Multilabel(context.Background(), tags{}, tagRows(t, text, 1), o); err == nil {
			t.Errorf("measured with %+v", o)
		}
	}
	if _, err := New(tags{}, Options{}); !errors.Is(err, ErrMultilabel) {
		t.Errorf("measured as one class an example: %v", err)
	}
}

// An answer has the classes that reach their threshold, the likeliest first, at most Top of
// them with a threshold of the rule; Top alone asks for the likeliest.
func TestAnswersOfSeveralLabels(t *testing.T) {
	for _, tc := range []struct {
		rule        decide.Rule
		labels, top string
	}{
		{decide.Rule{}, "a c", ""},
		{decide.Rule{Top: 2}, "a c", "a b"},
		{decide.Rule{Threshold: 0.35}, "a b", ""},
		{decide.Rule{Threshold: 0.1, Top: 2}, "a b", "a b"},
		{decide.Rule{Threshold: 0.95}, "", ""},
	} {
		a, err := classify.NewAnswerer(tags{}.About(), tc.rule, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Answer([]float32{0.9, 0.4, 0.3})
		names := func(list []classify.Answer) string {
			var names []string
			for _, x := range list {
				names = append(names, x.Label)
			}
			return strings.Join(names, " ")
		}
		if err != nil || got.Label != "a" || names(got.Labels) != tc.labels || names(got.Top) != tc.top || got.Labels == nil {
			t.Errorf("%+v: %+v, %v, want labels %q and top %q", tc.rule, got, err, tc.labels, tc.top)
		}
	}
	for _, rule := range []decide.Rule{{Reject: 0.5}, {Cost: true}, {Confidence: 0.9}, {Threshold: -1}} {
		if _, err := classify.NewAnswerer(tags{}.About(), rule, nil); err == nil {
			t.Errorf("%+v: an answerer of several labels", rule)
		}
	}
	one := tags{}.About()
	one.Multilabel = nil
	if _, err := classify.NewAnswerer(one, decide.Rule{Threshold: 0.5}, nil); err == nil {
		t.Error("a threshold with one class an example")
	}
}
