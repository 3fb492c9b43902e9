package evaluate_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/evaluate"
)

// What parts of the examples were counted by, in processes of their own, gives the result of
// all of them, to the last bit.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	in, out := random(rng, 100), random(rng, 20)
	for i := range out.label {
		out.label[i] = ""
	}
	part := func(r rows, from, to int) rows { return rows{r.label[from:to], r.p[from:to], r.block} }
	for _, o := range []evaluate.Options{
		{}, {UnknownLabels: evaluate.Skip},
		{Rule: decide.Rule{Cost: true, Confidence: 0.9, Reject: 0.6}, Confidences: []float64{0.5}},
	} {
		want := measure(t, o, in, out)
		merged, err := evaluate.New(classifier(t), o)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, cut := range [][4]int{{0, 0, 0, 0}, {0, 33, 0, 20}, {33, 100, 20, 20}} { // the first part is empty
			e, err := evaluate.New(classifier(t), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Count(t.Context(), part(in, cut[0], cut[1])); err != nil {
				t.Fatal(err)
			}
			if err := e.CountOutOfScope(t.Context(), part(out, cut[2], cut[3])); err != nil {
				t.Fatal(err)
			}
			if text, err = json.Marshal(e); err != nil {
				t.Fatal(err)
			}
			if err := merged.Merge(text); err != nil {
				t.Fatal(err)
			}
		}
		for n := range want.Unknown { // lines are counted by whoever reads the file
			want.Unknown[n].First = ""
		}
		got, err := merged.Result()
		if err != nil {
			t.Fatal(err)
		}
		for n := range got.Unknown {
			got.Unknown[n].First = ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: merged %+v, want %+v", o, got, want)
		}
		before, _ := json.Marshal(merged)
		for _, bad := range []string{`{}`, `null`, `{"counts":null}`, `{"right":"AA=="}`, string(text[:len(text)-9]), string(text[:len(text)-1]) + `,"hedging":[null,null,null]}`} {
			if merged.Merge([]byte(bad)) == nil {
				t.Errorf("%.60s was counted", bad)
			}
		}
		if after, _ := json.Marshal(merged); string(after) != string(before) {
			t.Error("what was refused was counted")
		}
	}
}
