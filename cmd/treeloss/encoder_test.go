package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/matrix"
)

// synonyms are words that mean the same, which no n-gram tells.
var synonyms = map[string][]string{
	"payment": {"fee", "charge", "bill", "invoice", "tariff", "dues", "levy", "toll", "rent", "fare"},
	"weather": {"rain", "snow", "wind", "storm", "hail", "sun", "fog", "cloud", "frost", "heat"},
	"food":    {"bread", "soup", "rice", "pasta", "salad", "cheese", "egg", "meat", "fish", "cake"},
}

// synonymFolder writes a sentence encoder in which words of a group lie near each other.
func synonymFolder(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	vocab := map[string]int{"[UNK]": 0}
	rows := &matrix.Dense{Columns: 8, Data: make([]float32, 8)}
	for g, group := range []string{"payment", "weather", "food"} {
		for _, w := range append([]string{group}, synonyms[group]...) {
			vocab[w] = len(vocab)
			for j := range 8 {
				v := 0.2 * rng.NormFloat64()
				if j == g {
					v++
				}
				rows.Data = append(rows.Data, float32(v))
			}
		}
	}
	text, err := json.Marshal(map[string]any{"normalizer": map[string]any{"type": "Lowercase"}, "pre_tokenizer": map[string]any{"type": "Whitespace"},
		"model": map[string]any{"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := encoder.New(text, rows, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "synonyms")
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// synonymFiles writes examples of some of the words of each group, and of the others.
func synonymFiles(t *testing.T) (train, test string) {
	t.Helper()
	var a, b strings.Builder
	fmt.Fprintln(&a, "text,label")
	fmt.Fprintln(&b, "text,label")
	for _, group := range []string{"payment", "weather", "food"} {
		for i, w := range synonyms[group] {
			to := &a
			if i >= 6 {
				to = &b
			}
			for _, text := range []string{"the %s is here", "a %s please", "why that %s"} {
				fmt.Fprintf(to, text+",%s\n", w, group)
			}
		}
	}
	return file(t, "train.csv", a.String()), file(t, "test.csv", b.String())
}

// An encoder tells classes apart by words that no example has; the model holds it, so that
// no other command needs the folder.
func TestEncoder(t *testing.T) {
	folder := synonymFolder(t)
	train, test := synonymFiles(t)
	accuracy := func(model string) float64 {
		return parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", test).out)["accuracy"].(float64)
	}
	if without := accuracy(trainOn(t, "--data", train)); without > 0.7 {
		t.Errorf("without the encoder %v", without)
	}
	model := trainOn(t, "--data", train, "--encoder", folder)
	again := filepath.Join(t.TempDir(), "again.safetensors")
	succeed(t, "train", "--data", train, "--encoder", folder, "--model", again, "--threads", "1")
	if a, b := content(t, model), content(t, again); !bytes.Equal(a, b) {
		t.Error("the same seed gives another file")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if with := accuracy(model); with < 0.95 {
		t.Errorf("with the encoder %v", with)
	}
	in := file(t, "in.txt", "Toll!\n\n"+strings.Repeat("toll ", 200_000)+"\n")
	if out := succeed(t, "predict", "--model", model, in).out; !strings.HasPrefix(out, "payment") || strings.Count(out, "\n") != 3 {
		t.Errorf("%.200q", out)
	}
	if out := succeed(t, "explain", "--model", model, file(t, "one.txt", "toll\n")).out; !strings.Contains(out, "sentence encoder at") {
		t.Errorf("explain: %s", out)
	}
	if o := failWith(t, 1, "export", "--model", model, "--format", "onnx", "--out", filepath.Join(t.TempDir(), "m.onnx")); !strings.Contains(o.log, "has a sentence encoder") {
		t.Errorf("export: %s", o.log)
	}
	succeed(t, "export", "--model", model, "--format", "csv", "--out", filepath.Join(t.TempDir(), "m.csv"))
}

// failWith runs a command that must fail with a status, in one line.
func failWith(t *testing.T, status int, args ...string) outcome {
	t.Helper()
	o := call(t, append(args, "--quiet")...)
	if o.status != status || strings.Count(strings.TrimSpace(o.log), "\n") > 1 {
		t.Errorf("treeloss %s: status %d, %s; want %d and a line", strings.Join(args, " "), o.status, o.log, status)
	}
	return o
}

// Other commands that train take the encoder too.
func TestEncoderElsewhere(t *testing.T) {
	folder := synonymFolder(t)
	train, test := synonymFiles(t)
	for _, args := range [][]string{
		{"compare", "--data", train, "--test", test, "--methods", "cross-entropy,vectors"},
		{"cv", "--data", train, "--folds", "3"},
		{"tune", "--data", train, "--trials", "12"},
		{"train", "--data", train, "--sharing", "vectors", "--model", filepath.Join(t.TempDir(), "v.safetensors")},
		{"train", "--data", train, "--trainer", "sgd", "--epochs", "3", "--model", filepath.Join(t.TempDir(), "s.safetensors")},
		{"train", "--data", train, "--mode", "tree", "--model", filepath.Join(t.TempDir(), "t.safetensors")},
	} {
		succeed(t, append(args, "--encoder", folder)...)
	}
	got := parse(t, succeed(t, "compare", "--json", "--data", train, "--test", test, "--methods", "cross-entropy", "--encoder", folder).out)
	if a := got["results"].([]any)[0].(map[string]any)["accuracy"].(float64); a < 0.95 {
		t.Errorf("compare: %v", a)
	}
}

func TestEncoderCommands(t *testing.T) {
	folder := synonymFolder(t)
	out := succeed(t, "encoder", "info", folder).out
	for _, want := range []string{"tokens         34", "dimensions     8", "normalized     yes", "longest text   512 tokens", "fingerprint    "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
	if got := parse(t, succeed(t, "encoder", "info", "--json", folder).out); got["dimensions"] != 8.0 || got["weights"] != false {
		t.Errorf("%v", got)
	}
	lines := strings.Split(succeed(t, "encoder", "nearest", folder, "snow", "--top", "5").out, "\n")
	if len(lines) != 6 || lines[0] != "snow\t1.000000" {
		t.Errorf("%q", lines)
	}
	if got := parse(t, succeed(t, "encoder", "nearest", "--json", folder, "snow").out); len(got["nearest"].([]any)) != 10 {
		t.Errorf("%v", got)
	}
	train, _ := synonymFiles(t)
	numbers := file(t, "numbers.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n")
	for _, tc := range []struct {
		code int
		says string
		args []string
	}{
		{1, "no such file", []string{"encoder", "info", filepath.Join(folder, "none")}},
		{1, "want word2vec", []string{"encoder", "info", train}},
		{1, "has no token with a vector", []string{"encoder", "nearest", folder, "zzz"}},
		{2, "takes a folder and a text", []string{"encoder", "nearest", folder}},
		{2, "takes one file", []string{"encoder", "info"}},
		{1, "no model.safetensors", []string{"train", "--data", train, "--encoder", t.TempDir(), "--model", filepath.Join(t.TempDir(), "m")}},
		{2, "--encoder makes features of texts", []string{"train", "--data", numbers, "--encoder", folder, "--model", filepath.Join(t.TempDir(), "m")}},
		{2, "--sharing vectors needs a file", []string{"train", "--data", train, "--sharing", "vectors", "--model", filepath.Join(t.TempDir(), "m")}},
	} {
		if o := failWith(t, tc.code, tc.args...); !strings.Contains(o.log, tc.says) {
			t.Errorf("%v: %s, want %q", tc.args, o.log, tc.says)
		}
	}
}

// A static encoder out of a BERT is read by all that reads one.
func TestEncoderDistill(t *testing.T) {
	from, out := bertFolder(t), filepath.Join(t.TempDir(), "static")
	words := file(t, "words.txt", "toll\t17\nnot one\nrain\n\n")
	o := succeed(t, "encoder", "distill", "--backend", "go", "--from", from, "--vocabulary", words, "--dim", "6", "--out", out)
	if !strings.Contains(o.out, "55 tokens, 6 dimensions") || !strings.Contains(o.log, `1 words such as "not one"`) {
		t.Errorf("%s%s", o.log, o.out)
	}
	if lines := succeed(t, "encoder", "nearest", out, "Toll").out; !strings.HasPrefix(lines, "toll\t1.000000\n") {
		t.Errorf("%q", lines)
	}
	train, _ := synonymFiles(t)
	trainOn(t, "--data", train, "--encoder", out)
	trainOn(t, "--data", train, "--encoder", file(t, "cards.vec", cardVectors)) // word vectors are one, too
	small := filepath.Join(t.TempDir(), "small")
	if got := parse(t, succeed(t, "encoder", "distill", "--json", "--backend", "go", "--from", from, "--vocabulary", "10", "--out", small).out); got["encoder"].(map[string]any)["tokens"] != 11.0 {
		t.Errorf("%v", got)
	}
	for _, tc := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "needs the folder of a BERT", []string{"--from", from}},
		{1, "is not empty", []string{"--from", from, "--out", from}},
		{1, "no such file", []string{"--from", from, "--vocabulary", filepath.Join(out, "none"), "--out", filepath.Join(out, "new")}},
		{1, "no words", []string{"--from", from, "--vocabulary", file(t, "blank.txt", "\n"), "--out", filepath.Join(out, "new")}},
		{1, "no config.json", []string{"--from", t.TempDir(), "--out", filepath.Join(out, "new")}},
	} {
		if o := failWith(t, tc.status, append([]string{"encoder", "distill", "--backend", "go"}, tc.args...)...); !strings.Contains(o.log, tc.says) {
			t.Errorf("%v: %s, want %q", tc.args, o.log, tc.says)
		}
	}
}
