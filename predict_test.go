package treeloss_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/wordvec"
)

func plainModel(t *testing.T) *treeloss.Model {
	t.Helper()
	m, err := treeloss.Fit(context.Background(), intents(4), treeloss.Options{Sharing: classinfo.Spec{classinfo.None}, Loss: "cross-entropy"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A rebalanced model predicts and is evaluated by other class frequencies, and what is saved
// has those of the training.
func TestRebalance(t *testing.T) {
	m := plainModel(t)
	text := intents(4)[0].Text
	top, err := m.Predict(text, 3)
	if err != nil {
		t.Fatal(err)
	}
	rare, err := m.Rebalance(map[string]float64{top[0].Label: 1e-6, "*": 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := rare.Predict(text, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := top[1].Probability / (1e-6*top[0].Probability + top[1].Probability + top[2].Probability)
	if got[0].Label != top[1].Label || math.Abs(got[0].Probability-want) > 1e-6 {
		t.Errorf("%v, want %v of %s", got, want, top[1].Label)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte("text,label\n"+text+","+top[0].Label+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, model := range map[float64]*treeloss.Model{0: rare, 1: m} {
		if r, err := model.Evaluate(t.Context(), []string{path}, treeloss.Options{}); err != nil || r.Report.Accuracy != want {
			t.Errorf("%+v %v, want an accuracy of %v", r, err, want)
		}
	}
	var file bytes.Buffer
	if err := rare.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := treeloss.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.Predict(text, 3); err != nil || !reflect.DeepEqual(again, top) {
		t.Errorf("saved: %v %v, want %v", again, err, top)
	}
	if _, err := m.Rebalance(map[string]float64{"nobody": 1, "*": 1}); !errors.Is(err, classify.ErrBalance) {
		t.Errorf("no such class: %v", err)
	}
	if _, err := new(treeloss.Model).Rebalance(nil); err == nil {
		t.Error("a model without weights is rebalanced")
	}
}

// PredictAll is Predict in order, also from many goroutines at once.
func TestPredictAll(t *testing.T) {
	m := plainModel(t)
	var texts []string
	var want [][]treeloss.Prediction
	for i := range 300 {
		text := fmt.Sprintf("card %s %d fee \xff", intents(4)[i%12].Text, i)
		top, err := m.NewPredictor().Predict(dataset.Example{Text: text}, 2)
		if err != nil {
			t.Fatal(err)
		}
		texts, want = append(texts, text), append(want, top)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got, err := m.PredictAll(context.Background(), texts, 2)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("differs from one after the other, error %v", err)
			}
		})
	}
	group.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := m.PredictAll(ctx, texts, 1); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %d answers, error %v", len(got), err)
	}
	if got, err := m.PredictAll(ctx, nil, 1); len(got) != 0 || err != nil {
		t.Errorf("no texts: %v, %v", got, err)
	}
	text, err := json.Marshal(treeloss.Prediction{Class: 1, Label: "a", Probability: 0.5})
	if want := `{"class":1,"label":"a","probability":0.5}`; err != nil || string(text) != want {
		t.Errorf("JSON %s, want %s", text, want)
	}
}

func TestPredictAllNumbers(t *testing.T) {
	var examples []treeloss.Example
	var rows [][]float64
	for i := range 40 {
		rows = append(rows, []float64{float64(i % 2), 1})
		examples = append(examples, treeloss.Example{Numbers: rows[i], Label: string(rune('a' + i%2))})
	}
	m, err := treeloss.Fit(context.Background(), examples, treeloss.Options{Sharing: classinfo.Spec{classinfo.None}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.PredictAllNumbers(context.Background(), rows, 1)
	if err != nil || got[4][0].Label != "a" || got[5][0].Label != "b" {
		t.Errorf("got %v, %v", got, err)
	}
	rows[7], rows[30] = []float64{1}, nil
	for range 5 {
		if _, err = m.PredictAllNumbers(context.Background(), rows, 1); !errors.Is(err, treeloss.ErrExample) || !strings.Contains(err.Error(), "example 7 of 0 to 39") {
			t.Errorf("error %v, want that of row 7, the first", err)
		}
	}
	if _, err := m.Predict("", 1); !errors.Is(err, treeloss.ErrExample) {
		t.Errorf("an empty text on a model of numbers: error %v", err)
	}
}

func TestReadAndWrite(t *testing.T) {
	m := plainModel(t)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := m.Write(&written); err != nil || !bytes.Equal(written.Bytes(), saved) {
		t.Errorf("Write and Save differ, error %v", err)
	}
	want, _ := m.Predict("lost card", 3)
	files := fstest.MapFS{"models/m": {Data: saved}, "models/short": {Data: saved[:len(saved)-9]}}
	for name, load := range map[string]func() (*treeloss.Model, error){
		"a byte at a time": func() (*treeloss.Model, error) { return treeloss.Read(iotest.OneByteReader(&written)) },
		"a file system":    func() (*treeloss.Model, error) { return treeloss.LoadFS(files, "models/m") },
	} {
		read, err := load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := read.Predict("lost card", 3); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: predicts %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := treeloss.LoadFS(files, "models/short"); !errors.Is(err, treeloss.ErrModelFile) || !strings.Contains(err.Error(), "models/short") {
		t.Errorf("a truncated file: error %v, want ErrModelFile with the name", err)
	}
	if _, err := treeloss.LoadFS(files, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	if _, err := treeloss.LoadFS(files, "models"); err == nil {
		t.Error("a folder was read as a model")
	}
	broken := errors.New("line cut")
	if _, err := treeloss.Read(io.MultiReader(bytes.NewReader(saved), iotest.ErrReader(broken))); !errors.Is(err, broken) || errors.Is(err, treeloss.ErrModelFile) {
		t.Errorf("a broken stream: error %v", err)
	}
	if _, err := treeloss.Read(bytes.NewReader(append(saved, 0))); !errors.Is(err, treeloss.ErrModelFile) {
		t.Errorf("a byte too many: error %v", err)
	}
}

// Whatever options and arguments come, an error answers.
func TestOutOfRange(t *testing.T) {
	ctx, m := context.Background(), plainModel(t)
	fit := func(o treeloss.Options) error { _, err := treeloss.Fit(ctx, intents(2), o); return err }
	files := func(o treeloss.Options) error {
		_, err := treeloss.FitFiles(ctx, []string{"testdata/questions.csv"}, o)
		return err
	}
	for _, tc := range []struct {
		name, option string // option "": another error
		err          error
	}{
		{"unknown policy", "Unknown", fit(treeloss.Options{Unknown: 99})},
		{"negative policy", "Unknown", files(treeloss.Options{Unknown: wordvec.Unknown(-1)})},
		{"negative threads", "Threads", fit(treeloss.Options{Threads: -1})},
		{"a billion threads", "Threads", files(treeloss.Options{Threads: 1 << 30})},
		{"no answers", "n", second(m.Predict("text", 0))},
		{"fewer than no answers", "n", second(m.Predict("text", -1))},
		{"nil numbers on a text model", "", second(m.PredictNumbers(nil, 1))},
		{"no answers to many", "n", second(m.PredictAll(ctx, []string{"a"}, 0))},
		{"a model without weights", "", second(new(treeloss.Model).Predict("text", 1))},
		{"half a model", "", second((&treeloss.Model{Model: &softmax.Model{}}).PredictAll(ctx, []string{"a"}, 1))},
		{"writing no model", "", new(treeloss.Model).Write(io.Discard)},
		{"names as ever", "Names", fit(treeloss.Options{Names: "ever"})},
		{"an empty sum", "", fit(treeloss.Options{Sharing: classinfo.Spec{"", ""}})},
		{"no files", "", second(treeloss.FitFiles(ctx, nil, treeloss.Options{}))},
		{"no such format", "", files(treeloss.Options{Data: dataset.Options{Format: 99}})},
		{"no such column", "", files(treeloss.Options{Data: dataset.Options{Label: "colour"}})},
		{"no columns of numbers", "", files(treeloss.Options{Data: dataset.Options{Columns: []string{"["}}})},
		{"training without labels", "Unlabelled", files(treeloss.Options{Data: dataset.Options{Unlabelled: true}})},
		{"a label that no file can hold", "", second(treeloss.Fit(ctx, []treeloss.Example{{Text: "a", Label: "\xff"}, {Text: "b", Label: "b"}}, treeloss.Options{}))},
		{"evaluating nothing", "", second(m.Evaluate(ctx, nil, treeloss.Options{}))},
		{"evaluating with nothing", "", second(new(treeloss.Model).Evaluate(ctx, []string{"testdata/questions.csv"}, treeloss.Options{}))},
		{"evaluating with -1 threads", "Threads", second(m.Evaluate(ctx, []string{"testdata/questions.csv"}, treeloss.Options{Threads: -1}))},
		{"rows of no numbers", "", second(treeloss.Fit(ctx, []treeloss.Example{{Numbers: []float64{}, Label: "a"}, {Numbers: []float64{}, Label: "b"}}, treeloss.Options{}))},
	} {
		var o *treeloss.OptionError
		if tc.err == nil || errors.As(tc.err, &o) != (tc.option != "") || o != nil && o.Name != tc.option {
			t.Errorf("%s: error %v, want one of option %q", tc.name, tc.err, tc.option)
		}
	}
	if top, err := m.Predict("text", 1<<30); err != nil || len(top) != 3 {
		t.Errorf("more answers than classes: %v, %v", top, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestFitFilesOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.csv")
	var b strings.Builder
	b.WriteString("ask,team,text\n")
	for _, e := range intents(4) {
		fmt.Fprintf(&b, "%q,%s,always the same\n", e.Text, e.Label)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stages, last := map[string]bool{}, 0.0
	m, err := treeloss.FitFiles(context.Background(), []string{path}, treeloss.Options{
		Data: dataset.Options{Text: "ask", Label: "team"},
		Progress: func(stage string, p softmax.Progress) {
			stages[stage] = true
			if last = p.Fraction; p.Step < 1 || p.Fraction < 0 || p.Fraction > 1 {
				t.Errorf("%s: %+v", stage, p)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if top, err := m.Predict("a fee was charged", 1); err != nil || top[0].Label != "fee_charged" {
		t.Errorf("got %v, %v: the columns of Data were not taken", top, err)
	}
	result, err := m.Evaluate(context.Background(), []string{path}, treeloss.Options{Data: dataset.Options{Text: "ask", Label: "team"}})
	if err != nil || result.Report.Accuracy != 1 || result.Report.Examples != 12 {
		t.Errorf("evaluated: %+v, %v, want 12 of 12 right", result, err)
	}
	result, err = m.Evaluate(context.Background(), []string{path}, treeloss.Options{Data: dataset.Options{Text: "text", Label: "team"}})
	if err != nil || result.Report.Accuracy != 1./3 {
		t.Errorf("one text for all three classes: %+v, %v, want a third right", result, err)
	}
	if len(stages) < 2 || last != 1 {
		t.Errorf("progress told of %v and ended at %v", stages, last)
	}
}
