package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manyNumbers writes n rows of 200 numbers in two classes: with 64 MB there is room for
// some 10,000 of them.
func manyNumbers(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("label")
	for j := range 200 {
		fmt.Fprintf(&b, ",x%d", j)
	}
	for i := range n {
		fmt.Fprintf(&b, "\n%c", 'a'+i%2)
		for j := range 200 {
			fmt.Fprintf(&b, ",%d", (i*7+j*j*(1+i%2))%10)
		}
	}
	path := filepath.Join(t.TempDir(), "numbers.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Examples that do not fit --memory are trained on as a stream, from a file as from the
// standard input, to the same model; nothing is left beside it. Commands that need them
// in memory refuse them in one line.
func TestTrainStreams(t *testing.T) {
	path := manyNumbers(t, 13000)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o := succeed(t, "train", "--data", path, "--memory", "64MiB", "--model", model, "--epochs", "2", "--trainer", "sgd")
	for _, want := range []string{"as a stream", "examples of 2 classes", "memory: about "} {
		if !strings.Contains(o.log, want) {
			t.Errorf("the log is %q, want %q in it", o.log, want)
		}
	}
	if !strings.Contains(o.out, "calibrated on ") || !strings.Contains(o.out, "(a stream)") {
		t.Errorf("train prints %q", o.out)
	}
	first := content(t, model)
	o = callWith(t, string(content(t, path)), "train", "--data", "-", "--memory", "64MiB", "--model", model, "--epochs", "2", "--trainer", "sgd")
	if o.status != 0 || !bytes.Equal(first, content(t, model)) {
		t.Errorf("another model from the standard input: %s", o.log)
	}
	if left, err := os.ReadDir(filepath.Dir(model)); err != nil || len(left) != 1 {
		t.Errorf("%v is left beside the model: %v", left, err)
	}
	refuseCall(t, "--memory 1000000, want at least 68 MB", "train", "--data", path, "--memory", "1M", "--model", model)
	if o := call(t, "cv", "--data", path, "--memory", "64MiB"); o.status != 1 || strings.Count(o.log, "treeloss: ") != 1 || !strings.Contains(o.log, "raise it with --memory") {
		t.Errorf("cv: status %d, %q", o.status, o.log)
	}
}
