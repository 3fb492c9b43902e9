package treeloss_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/tune"
)

// wolves is a file of examples with two tags, one or none.
func wolves(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tags.csv")
	rows := "a grey wolf in the wood,wild;grey\na grey stone,grey\na red fox in the wood,wild\na red brick,\n"
	if err := os.WriteFile(path, []byte("text,tags\n"+strings.Repeat(rows, 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The library trains on several labels, answers with none or more, and comes back from a stream.
func TestSeveralLabels(t *testing.T) {
	o := treeloss.Options{Data: dataset.Options{LabelSeparator: ";"}}
	m, err := treeloss.FitFiles(context.Background(), []string{wolves(t)}, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	if m, err = treeloss.Read(&b); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"grey, in the wood": "grey wild", "a grey stone, grey": "grey", "a red brick": ""} {
		got, err := m.PredictLabels(text)
		var names []string
		for i, p := range got {
			names = append(names, p.Label)
			if i > 0 && p.Probability > got[i-1].Probability {
				t.Errorf("%q: %v is not in the order of probability", text, got)
			}
		}
		if strings.Join(names, " ") != want && strings.Join(names, " ") != "wild grey" || err != nil || (want == "") != (len(got) == 0) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
	if _, err := m.Evaluate(context.Background(), []string{wolves(t)}, o); !errors.Is(err, evaluate.ErrMultilabel) {
		t.Errorf("measured as one of one class: %v", err)
	}
	o.Loss = tune.SimLoss
	if _, err := treeloss.FitFiles(context.Background(), []string{wolves(t)}, o); err == nil {
		t.Error("a loss of one class an example was taken")
	} else if _, misuse := errors.AsType[*option.Misuse](err); !misuse {
		t.Errorf("a loss of one class an example: %v", err)
	}
	single, err := treeloss.FitFiles(context.Background(), []string{"testdata/questions.csv"}, treeloss.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := single.PredictLabels("where is my card"); !errors.Is(err, treeloss.ErrExample) {
		t.Errorf("labels of a model of one class: %v", err)
	}
}

func ExampleModel_PredictLabels() {
	path := filepath.Join(os.TempDir(), "treeloss-example-tags.jsonl")
	rows := `{"text":"a grey wolf in the wood","labels":["wild","grey"]}
{"text":"a grey stone","labels":["grey"]}
{"text":"a red fox in the wood","labels":["wild"]}
{"text":"a red brick","labels":[]}
`
	if err := os.WriteFile(path, []byte(strings.Repeat(rows, 10)), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(path)
	m, err := treeloss.FitFiles(context.Background(), []string{path}, treeloss.Options{Data: dataset.Options{Multilabel: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"a grey stone", "a red brick"} {
		labels, err := m.PredictLabels(text)
		fmt.Println(len(labels), err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
}
