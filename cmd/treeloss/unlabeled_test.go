package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unlabeled writes the texts of the test questions without their labels.
func unlabeled(t *testing.T) string {
	t.Helper()
	text := "question\n"
	for _, row := range rowsOf(t, deskTest) {
		text += strconv.Quote(row[0]) + "\n"
	}
	path := filepath.Join(t.TempDir(), "unlabeled.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What came of unlabelled texts is printed, and is in the model file; the same model comes
// out of any number of threads.
func TestTrainOnUnlabeled(t *testing.T) {
	file, dir := unlabeled(t), t.TempDir()
	model, again := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	o := succeed(t, "train", "--data", desk, "--unlabeled", file, "--model", model, "--threads", "1")
	if !strings.Contains(o.out, "unlabelled examples: weight 0.") || !strings.Contains(o.log, "unlabelled: ") {
		t.Errorf("train prints %s, and logs %s", o.out, o.log)
	}
	j := parse(t, succeed(t, "train", "--data", desk, "--unlabeled", file, "--valid", deskTest, "--model", again, "--json").out)
	training := j["training"].(map[string]any)
	u := training["unlabelled"].(map[string]any)
	if u["used"].(float64) < 10 || u["transductive"] != u["examples"] || training["options"].(map[string]any)["unlabeled"] != "given" {
		t.Errorf("the record has %v of %v, want all of them used, as validation texts", u, training["options"])
	}
	succeed(t, "train", "--data", desk, "--unlabeled", file, "--model", again, "--threads", "2")
	if !bytes.Equal(content(t, model), content(t, again)) {
		t.Error("two threads write another model than one")
	}
	if a := parse(t, succeed(t, "evaluate", "--model", model, "--data", deskTest, "--json").out)["accuracy"].(float64); a < 0.7 {
		t.Errorf("accuracy %v", a)
	}
}

// The other commands that train take them too.
func TestUnlabeledEverywhere(t *testing.T) {
	file := unlabeled(t)
	o := succeed(t, "compare", "--data", desk, "--test", deskTest, "--shots", "4", "--unlabeled", file)
	for _, want := range []string{"cross-entropy", "auto (", "auto+unlabeled ("} {
		if !strings.Contains(o.out, want) {
			t.Errorf("compare prints %s, want %q in it", o.out, want)
		}
	}
	succeed(t, "cv", "--data", desk, "--folds", "2", "--unlabeled", file)
	if o := succeed(t, "tune", "--data", desk, "--trials", "2", "--unlabeled", file); !strings.Contains(o.out, "--unlabeled "+file) {
		t.Errorf("tune prints %s, want a command with the file", o.out)
	}
	if o := succeed(t, "doctor", "--data", desk, "--train=off", "--unlabeled", file); !strings.Contains(o.out, "as near to the labelled ones") {
		t.Errorf("doctor prints %s", o.out)
	}
}

// Calls that cannot be meant end in one line that says what to do.
func TestUnlabeledMistakes(t *testing.T) {
	file, model := unlabeled(t), filepath.Join(t.TempDir(), "m")
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"give --trainer converge", []string{"train", "--trainer", "sgd", "--data", desk, "--model", model, "--unlabeled", file}},
		{"--mode flat", []string{"train", "--mode", "tree", "--data", desk, "--model", model, "--unlabeled", file}},
		{"--network", []string{"train", "--network", "resnet20", "--data", "x", "--model", model, "--unlabeled", file}},
		{"standard input", []string{"train", "--data", "-", "--model", model, "--unlabeled", "-"}},
		{"no-such", []string{"train", "--data", desk, "--model", model, "--unlabeled", "no-such"}},
		{"auto+unlabeled", []string{"compare", "--data", desk, "--methods", "auto", "--unlabeled", file}},
		{"name a file with --unlabeled", []string{"compare", "--data", desk, "--methods", "auto+unlabeled"}},
	} {
		o := call(t, tc.args...)
		if o.status == 0 || !strings.Contains(o.log, tc.want) {
			t.Errorf("%v: status %d, %s, want %q", tc.args, o.status, o.log, tc.want)
		}
	}
}
