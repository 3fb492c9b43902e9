package treeloss_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/wordvec"
)

func intents(each int) []treeloss.Example {
	var out []treeloss.Example
	for _, c := range []struct{ label, words string }{
		{"card_arrival", "where is my new card delivery post waiting"},
		{"card_lost", "lost stolen missing wallet block my card"},
		{"fee_charged", "why was a fee charged on my payment twice"},
	} {
		words := strings.Fields(c.words)
		for i := range each {
			out = append(out, treeloss.Example{Label: c.label,
				Text: fmt.Sprintf("%s %s %s %d", words[i%len(words)], words[(i+1)%len(words)], words[(i+3)%len(words)], i)})
		}
	}
	return out
}

func TestFitTexts(t *testing.T) {
	m, err := treeloss.Fit(context.Background(), intents(6), treeloss.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"the card was stolen from my wallet": "card_lost", "waiting for delivery": "card_arrival", "a fee was charged": "fee_charged"} {
		top, err := m.Predict(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		if top[0].Label != want {
			t.Errorf("%q is %v, want %s first", text, top, want)
		}
		if sum := top[0].Probability + top[1].Probability + top[2].Probability; sum < 1-1e-6 || sum > 1+1e-6 {
			t.Errorf("%q: probabilities sum to %v", text, sum)
		}
	}
	if _, err := m.PredictNumbers([]float64{1}, 1); err == nil {
		t.Error("a model of texts took numbers")
	}
	if len(m.Training.Candidates) == 0 {
		t.Error("the record of training has no candidates")
	}
}

func TestFitNumbers(t *testing.T) {
	var examples []treeloss.Example
	for i := range 30 {
		x := float64(i % 3)
		examples = append(examples, treeloss.Example{Numbers: []float64{10 * x, 5 - x + 0.01*float64(i)}, Label: "class " + string(rune('a'+i%3))})
	}
	m, err := treeloss.Fit(context.Background(), examples, treeloss.Options{Sharing: classinfo.Spec{classinfo.None}})
	if err != nil {
		t.Fatal(err)
	}
	top, err := m.PredictNumbers([]float64{20, 3}, 1)
	if err != nil || top[0].Label != "class c" {
		t.Errorf("got %v, %v, want class c", top, err)
	}
	if _, err := m.PredictNumbers([]float64{20}, 1); err == nil {
		t.Error("one number instead of two was taken")
	}
	if _, err := m.Predict("text", 1); err == nil {
		t.Error("a model of numbers took a text")
	}
}

func TestFitFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.csv")
	var b strings.Builder
	b.WriteString("text,label\n")
	for _, e := range intents(4) {
		fmt.Fprintf(&b, "%q,%s\n", e.Text, e.Label)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile, err := treeloss.FitFiles(context.Background(), []string{path}, treeloss.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	fromMemory, err := treeloss.Fit(context.Background(), intents(4), treeloss.Options{Seed: 3, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, b2 := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for p, m := range map[string]*treeloss.Model{a: fromFile, b2: fromMemory} {
		if err := m.Save(p); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := os.ReadFile(a)
	y, _ := os.ReadFile(b2)
	if string(x) != string(y) {
		t.Error("the same examples from a file and from memory gave different models")
	}
}

func TestFitRefuses(t *testing.T) {
	ok := intents(2)
	for _, tc := range []struct {
		name     string
		examples []treeloss.Example
		opts     treeloss.Options
		want     string
	}{
		{"no examples", nil, treeloss.Options{}, "no examples"},
		{"no label", append(ok[:1:1], treeloss.Example{Text: "x"}), treeloss.Options{}, "example 1 has no label"},
		{"texts and numbers", append(ok[:1:1], treeloss.Example{Numbers: []float64{1}, Label: "a"}), treeloss.Options{}, "cannot be mixed"},
		{"one class", ok[:2], treeloss.Options{}, "only one class"},
		{"unknown sharing", ok, treeloss.Options{Sharing: classinfo.Spec{"magic"}}, "unknown sharing"},
		{"unknown loss", ok, treeloss.Options{Loss: "hinge"}, `Loss is "hinge"`},
		{"no taxonomy", ok, treeloss.Options{Sharing: classinfo.Spec{classinfo.Taxonomy}}, "Options.Taxonomy"},
		{"missing taxonomy file", ok, treeloss.Options{Taxonomy: "nowhere.csv"}, "nowhere.csv"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := treeloss.Fit(context.Background(), tc.examples, tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := treeloss.Fit(ctx, ok, treeloss.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v on a cancelled context, want context.Canceled", err)
	}
	if _, err := treeloss.Load("nowhere.safetensors"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want os.ErrNotExist", err)
	}
}

func TestFitKnowing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	vectors := write("words.vec", "3 2\ncard 1 0\narrival 0.5 0.5\nlost 1 0.2\n")
	distances := write("distances.csv", "a,b,distance\ncard_arrival,card_lost,1\ncard_arrival,fee_charged,3\ncard_lost,fee_charged,3\n")
	taxonomy := write("taxonomy.csv", "child,parent\ncard_arrival,card\ncard_lost,card\nfee_charged,money\ncard,all\nmoney,all\n")
	ctx := context.Background()
	m, err := treeloss.Fit(ctx, intents(6), treeloss.Options{Sharing: classinfo.Spec{classinfo.Taxonomy}, Taxonomy: taxonomy})
	if err != nil {
		t.Fatal(err)
	}
	if m.Tree == nil || m.Training.Sharing != "taxonomy" {
		t.Errorf("tree %v, sharing %q", m.Tree, m.Training.Sharing)
	}
	model := filepath.Join(dir, "m.safetensors")
	if err := m.Save(model); err != nil {
		t.Fatal(err)
	}
	for sharing, o := range map[string]treeloss.Options{
		"distances": {Distances: distances},
		"weights":   {Weights: model},
		"vectors":   {Vectors: vectors, Unknown: wordvec.UnknownRoot},
	} {
		o.Sharing = classinfo.Spec{classinfo.Source(sharing)}
		if m, err = treeloss.Fit(ctx, intents(6), o); err != nil || m.Training.Sharing != sharing {
			t.Errorf("%s: %v", sharing, err)
		}
	}
	if _, err = treeloss.Fit(ctx, intents(6), treeloss.Options{Vectors: vectors}); err == nil || !strings.Contains(err.Error(), "fee") {
		t.Errorf("words without a vector: error %v, want one that names them", err)
	}
	if m, err = treeloss.Fit(ctx, intents(6), treeloss.Options{Vectors: vectors, Unknown: wordvec.UnknownDrop}); err != nil || len(m.Labels) != 2 {
		t.Errorf("a class dropped: %v", err)
	}
}

func TestFitWeights(t *testing.T) {
	once := intents(6)
	twice := append(intents(6), once[0])
	once[0].Weight = 2
	a, err := treeloss.Fit(context.Background(), once, treeloss.Options{Sharing: classinfo.Spec{classinfo.None}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := treeloss.Fit(context.Background(), intents(6), treeloss.Options{Sharing: classinfo.Spec{classinfo.None}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Training.Fit.Objective == b.Training.Fit.Objective {
		t.Error("a weight of 2 changed nothing")
	}
	twice[0].Weight = -1
	if _, err := treeloss.Fit(context.Background(), twice, treeloss.Options{}); !errors.Is(err, treeloss.ErrExample) {
		t.Errorf("a negative weight: error %v, want ErrExample", err)
	}
}

// A sentence encoder, here of word vectors, goes into the model; examples of numbers have
// no use for one.
func TestFitEncoder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.vec")
	if err := os.WriteFile(path, []byte("card 1 0\nfee 0 1\npayment 0.1 1\nlost 1 0.2\nwallet 0.9 0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := treeloss.Fit(t.Context(), intents(6), treeloss.Options{Seed: 1, Encoder: path})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	if err := errors.Join(m.Save(file), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	back, err := treeloss.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"my wallet is lost", "a payment", ""} {
		a, err := m.Predict(text, 3)
		b, also := back.Predict(text, 3)
		if err != nil || also != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q: %v, %v, of the file %v, %v", text, a, err, b, also)
		}
	}
	numbers := []treeloss.Example{{Numbers: []float64{1}, Label: "a"}, {Numbers: []float64{2}, Label: "b"}}
	for says, bad := range map[string][]treeloss.Example{"no such file": intents(2), "makes features of texts": numbers} {
		if _, err := treeloss.Fit(t.Context(), bad, treeloss.Options{Encoder: path}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
