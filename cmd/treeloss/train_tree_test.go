package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manyTexts writes examples of k classes and returns the file.
func manyTexts(t *testing.T, k, each int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	for c := range k {
		for n := range each {
			fmt.Fprintf(&b, "own%d word%d of group%d and number%d,class %d\n", c, c, c/10, n, c)
		}
	}
	path := filepath.Join(t.TempDir(), "many.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A tree of softmaxes is trained, measured and asked as any model.
func TestModeTree(t *testing.T) {
	data := manyTexts(t, 120, 4)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o := succeed(t, "train", "--mode", "tree", "--data", data, "--model", model, "--names-as-examples", "off")
	for _, want := range []string{"2 leaves, 2 softmaxes", "120 classes", "trained on 480 examples"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("train prints %q, want %q in it", o.out, want)
		}
	}
	if e := parse(t, succeed(t, "evaluate", "--model", model, "--data", data, "--json").out); e["accuracy"].(float64) < 0.95 {
		t.Errorf("accuracy %v on the rows of the training", e["accuracy"])
	}
	for _, beam := range []string{"1", "2"} {
		o := callWith(t, "own77 word77 of group7\n", "predict", "--model", model, "--beam", beam)
		if label, _, _ := strings.Cut(o.out, "\t"); o.status != 0 || label != "class 77" {
			t.Errorf("beam %s: predict answers %q (%s)", beam, o.out, o.log)
		}
	}
	if o := succeed(t, "tree", "show", model); strings.Count(o.out, "class ") != 120 || !strings.Contains(o.out, "group 2") {
		t.Errorf("the tree is drawn as %q", o.out)
	}
	// A model may be replaced, and is known by its head.
	succeed(t, "train", "--mode", "tree", "--data", data, "--model", model, "--quiet", "--json")
	for _, wrong := range [][]string{
		{"explain", "--model", model, data},
		{"train", "--data", data, "--init-model", model, "--model", model + "2"},
	} {
		if o := call(t, wrong...); o.status != 1 || !strings.Contains(o.log, "--mode flat") {
			t.Errorf("%s: status %d, %q, want the way out", wrong[0], o.status, o.log)
		}
	}
}

// What a tree has no use for is refused where it was asked for, and trained flat by auto.
func TestModeTreeRefuses(t *testing.T) {
	data := manyTexts(t, 12, 3)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	for flag, value := range map[string]string{"--trainer": "sgd", "--loss": "squared-hinge", "--label-smoothing": "0.1", "--sharing": "v-tree"} {
		o := call(t, "train", "--mode", "tree", "--data", data, "--model", model, flag, value)
		if o.status == 0 || !strings.Contains(o.log, flag) {
			t.Errorf("%s %s: status %d, %q", flag, value, o.status, o.log)
		}
	}
	if o := call(t, "train", "--mode", "bush", "--data", data, "--model", model); o.status != 2 {
		t.Errorf("an unknown mode: status %d, %q", o.status, o.log)
	}
	if o := call(t, "predict", "--model", model, "--beam", "0", data); o.status != 2 {
		t.Errorf("a beam of none: status %d, %q", o.status, o.log)
	}
	if o := succeed(t, "train", "--data", data, "--model", model, "--prior", "10", "--sharing", "none"); strings.Contains(o.out, "leaves") {
		t.Errorf("a few classes are trained as a tree: %q", o.out)
	}
}

// The leaves, trained in parts, make the model of one training, to the byte.
func TestShardsOfTree(t *testing.T) {
	data := manyTexts(t, 250, 4)
	folder := t.TempDir()
	whole, joined := filepath.Join(folder, "whole.safetensors"), filepath.Join(folder, "joined.safetensors")
	args := []string{"train", "--mode", "tree", "--data", data, "--names-as-examples", "off", "--seed", "3"}
	want := succeed(t, append(args, "--model", whole)...)
	parts := inParts(t, 4, args...)
	o := succeed(t, "gather", parts, "--out", joined)
	if !bytes.Equal(content(t, joined), content(t, whole)) {
		t.Error("the parts make another model")
	}
	if got := strings.ReplaceAll(o.out, joined, whole); noSeconds(got) != noSeconds(want.out) {
		t.Errorf("gather prints %q, want %q", got, want.out)
	}
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"name the file to write with --out", []string{"gather", parts}},
		{"--mode tree", []string{"train", "--data", data, "--shard", "0/4", "--out", parts + "2"}},
		{"name it with --out", append(args, "--shard", "0/4")},
		{"give --shard i/n", append(args, "--out", parts, "--model", whole)},
	} {
		if o := call(t, tc.args...); o.status != 2 || !strings.Contains(o.log, tc.want) {
			t.Errorf("%v: status %d, %q, want %q", tc.args, o.status, o.log, tc.want)
		}
	}
}
