package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fastTextLines are the examples of a CSV with columns text and label, as fastText has
// them, labels behind a prefix.
func fastTextLines(t *testing.T, path, prefix string) string {
	t.Helper()
	var out strings.Builder
	rows := csvRows(t, path)
	text, label := 0, 1
	if rows[0][0] == "label" {
		text, label = 1, 0
	}
	for _, row := range rows[1:] {
		out.WriteString(prefix + strings.ReplaceAll(row[label], " ", "_") + " " + row[text] + "\n")
	}
	return out.String()
}

// The files of fastText, as they come: lines without a label, other prefixes, several
// labels, several files, labelled files to predict.
func TestFastTextFiles(t *testing.T) {
	lines := fastTextLines(t, desk, "__label__")
	train := file(t, "train.ft", lines+"no label here\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o := call(t, "train", "--data", train, "--model", model)
	if o.status != 1 || !strings.Contains(o.log, "no label") || !strings.Contains(o.log, "--skip-bad") || !strings.Contains(o.log, "--label-prefix") {
		t.Errorf("a line without a label: status %d, %q", o.status, o.log)
	}
	if o = succeed(t, "train", "--data", train, "--model", model, "--skip-bad"); !strings.Contains(o.log, "left out because of --skip-bad: 1 row") {
		t.Errorf("the log does not count the line: %q", o.log)
	}
	want := file(t, "want.safetensors", "")
	if err := os.Remove(want); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", "--data", file(t, "all.ft", lines), "--model", want)
	same := func(what string) {
		t.Helper()
		a, b := succeed(t, "predict", "--model", model, deskTest).out, succeed(t, "predict", "--model", want, deskTest).out
		if a != b {
			t.Errorf("%s: predict says\n%s\nwant\n%s", what, a, b)
		}
	}
	same("without the line")

	hashed := file(t, "hashed.txt", fastTextLines(t, desk, "#"))
	succeed(t, "train", "--data", hashed, "--label-prefix", "#", "--model", model)
	same("with another prefix")
	if o = succeed(t, "predict", "--model", model, hashed); strings.Contains(o.out, "#") || !strings.Contains(o.log, "had a label, which the model does not see") {
		t.Errorf("the prefix of the training is not that of predict: %q, %.200q", o.log, o.out)
	}

	half := strings.Index(lines[len(lines)/2:], "\n") + len(lines)/2 + 1
	first, second := file(t, "first.ft", lines[:half]), file(t, "second.ft", lines[half:])
	succeed(t, "train", "--data", first, second, "--model", model)
	same("in two files")
	whole := succeed(t, "predict", "--model", model, train)
	if parts := succeed(t, "predict", "--model", model, first, second); parts.out != strings.TrimSuffix(whole.out, whole.out[strings.LastIndex(strings.TrimSpace(whole.out), "\n")+1:]) {
		t.Errorf("predict of two files:\n%s\nof one with the lines of both and one more:\n%s", parts.out, whole.out)
	}

	several := file(t, "several.ft", lines+"__label__a __label__b which of these\n")
	o = call(t, "train", "--data", several, "--model", model, "--multilabel=false")
	if o.status != 1 || !strings.Contains(o.log, "several.ft:") || !strings.Contains(o.log, "--first-label") || !strings.Contains(o.log, "--multilabel") {
		t.Errorf("several labels: status %d, %q", o.status, o.log)
	}
	if o = succeed(t, "train", "--data", several, "--model", model, "--first-label"); !strings.Contains(o.out, "classes") {
		t.Errorf("with --first-label: %q", o.out)
	}
}

func TestFastTextOutput(t *testing.T) {
	model := trainOn(t, "--data", desk)
	plain := strings.Split(succeed(t, "predict", "--model", model, "--top", "2", deskTest).out, "\n")
	lines := strings.Split(succeed(t, "predict", "--model", model, "--top", "2", "--output", "fasttext", deskTest).out, "\n")
	if len(lines) != len(plain) || len(lines) < 3 {
		t.Fatalf("%d lines, want %d", len(lines), len(plain))
	}
	for i, line := range lines[:len(lines)-1] {
		words, cells := strings.Fields(line), strings.Split(plain[i], "\t")
		if len(words) != 4 || !strings.HasPrefix(words[0], "__label__") || words[1] != cells[1] || words[3] != cells[3] {
			t.Errorf("line %q, want __label__ and the answers of %q", line, plain[i])
		}
		if _, err := strconv.ParseFloat(words[1], 64); err != nil {
			t.Error(err)
		}
	}
	o := succeed(t, "predict", "--model", model, "--output", "fasttext", "--label-prefix", "#", "--reject", "1", deskTest)
	if strings.Trim(o.out, "\n") != "" && !strings.HasPrefix(strings.TrimSpace(o.out), "#") {
		t.Errorf("another prefix: %q", o.out)
	}
}

// Those who type what they know are told what it is here.
func TestFastTextCommands(t *testing.T) {
	for _, tc := range []struct{ call, want string }{
		{"supervised -input a -output b", "treeloss train --data FILE"},
		{"test m.bin a.txt", "treeloss evaluate"},
		{"predict-prob m.bin a.txt 5", "treeloss predict"},
		{"nn m.bin", "treeloss vectors nearest"},
		{"quantize -input a", "not needed"},
		{"train -input a.txt", "--data FILE"},
		{"train -epoch 25", "--trainer sgd"},
		{"train -wordNgrams 2", "pairs of words"},
		{"train --data a -label #", "--label-prefix"},
	} {
		o := call(t, strings.Fields(tc.call)...)
		if o.status != 2 || !strings.Contains(o.log, "of fastText; here: ") || !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: status %d, %q, want %q", tc.call, o.status, o.log, tc.want)
		}
	}
	if o := call(t, "tree", "test"); strings.Contains(o.log, "fastText") {
		t.Errorf("tree test: %q", o.log)
	}
}
