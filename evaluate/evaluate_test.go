package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// fake classifies by a table.
type fake struct {
	about classify.About
}

func (f fake) About() classify.About                          { return f.about }
func (f fake) Open(classify.Input) (classify.Examples, error) { return nil, errors.New("not used") }
func (f fake) Close() error                                   { return nil }
func (f fake) Runners(int) ([]classify.Runner, error)         { return nil, errors.New("not used") }

// rows are examples with their probabilities, in blocks of some size.
type rows struct {
	label []string
	p     [][]float32
	block int
}

func (r rows) Describe() string { return "rows" }
func (r rows) Workers() int     { return 2 }
func (r rows) BlockSize() int   { return r.block }
func (r rows) Close() error     { return nil }

func (r rows) Each(_ context.Context, visit classify.Visit, done func([]dataset.Example) error) error {
	for from := 0; from < len(r.p); from += r.block {
		var block []dataset.Example
		for i := from; i < min(from+r.block, len(r.p)); i++ {
			x := dataset.Example{Label: r.label[i], Place: dataset.Place{File: "rows", Line: i + 1}}
			if err := visit(i%2, i-from, x, r.p[i]); err != nil {
				return err
			}
			block = append(block, x)
		}
		if err := done(block); err != nil {
			return err
		}
	}
	return nil
}

var labels = []string{"cat", "dog", "bus", "tram"}

func classifier(t *testing.T) fake {
	t.Helper()
	tree, err := labeltree.FromParents(map[string]string{"cat": "animal", "dog": "animal", "bus": "vehicle", "tram": "vehicle", "animal": "thing", "vehicle": "thing"}, labels)
	if err != nil {
		t.Fatal(err)
	}
	return fake{classify.About{Labels: labels, Tree: tree, Temperature: 1}}
}

func random(rng *rand.Rand, n int) (r rows) {
	r.block = 7
	for range n {
		p, sum := make([]float64, 4), 0.0
		for c := range p {
			p[c] = math.Exp(3 * rng.NormFloat64())
			sum += p[c]
		}
		narrow := make([]float32, 4)
		for c, v := range p {
			narrow[c] = float32(v / sum)
		}
		r.p, r.label = append(r.p, narrow), append(r.label, append(labels, "ship")[rng.IntN(5)])
	}
	return r
}

func measure(t *testing.T, o evaluate.Options, in, out rows) *evaluate.Result {
	t.Helper()
	e, err := evaluate.New(classifier(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Count(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if err := e.CountOutOfScope(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	r, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// However examples are cut into blocks, the result is the same, and it is what one
// counter finds.
func TestResultDoesNotDependOnBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	in, out := random(rng, 100), random(rng, 20)
	for i := range out.label {
		out.label[i] = ""
	}
	o := evaluate.Options{Rule: decide.Rule{Cost: true, Confidence: 0.9, Reject: 0.6}}
	want := measure(t, o, in, out)
	in.block, out.block = 100, 3
	if got := measure(t, o, in, out); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nin one block, %+v in many", got, want)
	}
	similarity, _, err := score.SimilarityOf(labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := score.NewCounter(4, score.Options{Tree: classifier(t).about.Tree, Similarity: similarity})
	if err != nil {
		t.Fatal(err)
	}
	d, err := decide.NewDecider(decide.Rule{Cost: true}, 4, classifier(t).about.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range in.p {
		a, err := d.Decide(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := score.Count(counter, slices.Index(labels, in.label[i]), score.Mix{}, p, a.Costs); err != nil {
			t.Fatal(err)
		}
	}
	if got := counter.Report(); got != want.Report {
		t.Errorf("%+v, want %+v", want.Report, got)
	}
}

// JSON has every metric of the report, under its key, beside the other fields, and
// reads back.
func TestResultJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	out := rows{label: []string{"ship", ""}, p: [][]float32{{0.25, 0.25, 0.25, 0.25}, {0.5, 0.25, 0.25, 0}}, block: 1}
	r := measure(t, evaluate.Options{Rule: decide.Rule{Confidence: 0.9, Reject: 0.6}}, random(rng, 50), out)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	for _, m := range score.Metrics() {
		if got, ok := keys[m.Key].(float64); !ok || got != m.Of(r.Report) {
			t.Errorf("%s is %v, want %v", m.Key, keys[m.Key], m.Of(r.Report))
		}
	}
	for _, key := range []string{"tree", "decode", "hedged", "reject", "out_of_scope", "unknown", "per_class", "confusions", "calibration", "examples", "unknown_labels"} {
		if keys[key] == nil {
			t.Errorf("no %q", key)
		}
	}
	var back evaluate.Result
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("%+v, %v; want %+v", back, err, r)
	}
}

func TestUnknownLabels(t *testing.T) {
	in := rows{label: []string{"cat", "ship"}, p: [][]float32{{0.7, 0.1, 0.1, 0.1}, {0.7, 0.1, 0.1, 0.1}}, block: 2}
	for _, tc := range []struct {
		policy   evaluate.Policy
		accuracy float64
		skipped  int
	}{{"", 0.5, 0}, {evaluate.Wrong, 0.5, 0}, {evaluate.Skip, 1, 1}} {
		r := measure(t, evaluate.Options{UnknownLabels: tc.policy}, in, rows{block: 1})
		if r.Report.Accuracy != tc.accuracy || r.Skipped != tc.skipped || r.Report.Unknown != 1 || r.Unknown[0] != (evaluate.UnknownLabel{Label: "ship", Examples: 1, First: "rows:2"}) {
			t.Errorf("%q: %+v", tc.policy, r)
		}
	}
	e, err := evaluate.New(classifier(t), evaluate.Options{UnknownLabels: evaluate.Stop})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Count(t.Context(), in); err == nil || !strings.Contains(err.Error(), "rows:2") || !strings.Contains(err.Error(), "Options.UnknownLabels") {
		t.Errorf("%v, want the place of the label", err)
	}
	if _, err := evaluate.New(classifier(t), evaluate.Options{UnknownLabels: "guess"}); err == nil {
		t.Error("another policy: want an error")
	}
}

func TestScopeErrors(t *testing.T) {
	sure := [][]float32{{1, 0, 0, 0}}
	for name, tc := range map[string]struct{ in, out rows }{
		"a class out of scope": {rows{[]string{"cat"}, sure, 1}, rows{[]string{"dog"}, sure, 1}},
		"nothing in scope":     {rows{[]string{"ship"}, sure, 1}, rows{[]string{""}, sure, 1}},
	} {
		e, err := evaluate.New(classifier(t), evaluate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Count(t.Context(), tc.in); err != nil {
			t.Fatal(err)
		}
		err = e.CountOutOfScope(t.Context(), tc.out)
		if err == nil {
			_, err = e.Result()
		}
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// A classifier is measured on rows of its own.
func Example() {
	tree, err := labeltree.FromParents(map[string]string{"cat": "animal", "dog": "animal", "bus": "vehicle", "tram": "vehicle", "animal": "thing", "vehicle": "thing"}, labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := evaluate.New(fake{classify.About{Labels: labels, Tree: tree}}, evaluate.Options{Rule: decide.Rule{Reject: 0.6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	test := rows{label: []string{"cat", "cat", "bus"}, p: [][]float32{{0.8, 0.2, 0, 0}, {0.5, 0.5, 0, 0}, {0.1, 0.9, 0, 0}}, block: 8}
	if err := e.Count(context.Background(), test); err != nil {
		fmt.Println(err)
		return
	}
	r, err := e.Result()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy %.2f, a mistake is %.0f up the tree; %.2f answered, %.2f of these rightly\n",
		r.Report.Accuracy, r.Report.MistakeSeverity, *r.Selected.Answered, *r.Selected.Accuracy)
	// Output: accuracy 0.67, a mistake is 2 up the tree; 0.67 answered, 0.50 of these rightly
}

// Rows come in the order of the examples, however these are cut into blocks.
func TestRows(t *testing.T) {
	c := fake{classify.About{Labels: []string{"a", "b"}}}
	x := rows{label: []string{"a", "b", "c", "a", "b"}, p: [][]float32{{0.75, 0.25}, {0.5, 0.5}, {0.25, 0.75}, {0, 1}, {0.125, 0.875}}}
	for _, policy := range []evaluate.Policy{evaluate.Wrong, evaluate.Skip} {
		for _, x.block = range []int{1, 2, 5} {
			var got []string
			e, err := evaluate.New(c, evaluate.Options{UnknownLabels: policy, Rows: func(r evaluate.Row) {
				of := "unknown"
				if r.LabelProbability != nil {
					of = fmt.Sprint(*r.LabelProbability)
				}
				got = append(got, fmt.Sprint(r.Place, " ", r.Label, r.Predicted, " ", r.Right, " ", r.Probability, " ", of))
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Count(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			want := []string{"rows:1 aa true 0.75 0.75", "rows:2 ba false 0.5 0.5", "rows:3 cb false 0.75 unknown", "rows:4 ab false 1 0", "rows:5 bb true 0.875 0.875"}
			if policy == evaluate.Skip {
				want = slices.Delete(want, 2, 3)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, blocks of %d: %q, want %q", policy, x.block, got, want)
			}
		}
	}
}

// Without a tree the matrix is in the order of the labels; what was never trained is in
// no row.
func TestWriteConfusions(t *testing.T) {
	e, err := evaluate.New(fake{classify.About{Labels: []string{"b", "a,", "c"}}}, evaluate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := rows{label: []string{"b", "b", "a,", "other", "b", "b"}, block: 2,
		p: [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1}}}
	if err := e.Count(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := e.WriteConfusions(&got); err != nil {
		t.Fatal(err)
	}
	if want := "label,b,\"a,\",c\nb,1,2,1\n\"a,\",0,1,0\nc,0,0,0\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}
