package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/softmax"
)

// petFiles writes examples of four classes, of which zyx has no vector, test
// rows, vectors and a taxonomy in Newick form.
func petFiles(t *testing.T) (data, test, vectors, taxonomy string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := func(n int) string {
		var b strings.Builder
		b.WriteString("text,label\n")
		for range n {
			b.WriteString("it purrs and sleeps,cat\nit barks and runs,dog\nit drives in town,bus\nit is something else,zyx\n")
		}
		return b.String()
	}
	return write("train.csv", rows(4)), write("test.csv", rows(1)),
		write("v.vec", "3 2\nCat 1 0\ndog 0.9 0.1\nbus 0 1\n"), write("groups.nwk", "((cat,dog)pet,bus,zyx);")
}

func TestTrainWithLabelVectors(t *testing.T) {
	data, test, vectors, taxonomy := petFiles(t)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o := succeed(t, "train", "--data", data, "--model", model, "--label-vectors", vectors, "--unknown", "drop", "--sharing", "v-tree")
	for _, want := range []string{`cat as "Cat"`, "zyx unknown", "1 classes with 4 of 16 training rows"} {
		if !strings.Contains(o.log, want) {
			t.Errorf("log %q, want %q in it", o.log, want)
		}
	}
	m, err := softmax.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Labels) != 3 || m.Vectors == nil || m.Vectors.Rows() != 3 || m.Training.Examples != 12 {
		t.Errorf("labels %v, vectors %v, %d examples: want three classes without zyx", m.Labels, m.Vectors, m.Training.Examples)
	}
	var found struct {
		Names []struct{ Label, Fate string }
	}
	if err := json.Unmarshal([]byte(m.Training.Options["label-vectors-found"]), &found); err != nil {
		t.Fatal(err)
	}
	if m.Training.Options["unknown"] != "drop" || len(found.Names) != 4 || found.Names[3].Fate != "dropped" {
		t.Errorf("training record %v", m.Training.Options)
	}
	if by := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", test).out)["similarity_of"]; by != "label vectors" {
		t.Errorf("similarity of %v, want the label vectors", by)
	}
	root := filepath.Join(t.TempDir(), "root.safetensors")
	succeed(t, "train", "--quiet", "--data", data, "--model", root, "--label-vectors", vectors, "--unknown", "root", "--sharing", "linkage", "--taxonomy", taxonomy)
	if m, err = softmax.Load(root); err != nil {
		t.Fatal(err)
	}
	if v := m.Tree.Node(3); len(m.Labels) != 4 || m.Tree.Parent(v) != 0 {
		t.Errorf("zyx of %v is not below the root", m.Labels)
	}
}

func TestCompareWithLabelVectors(t *testing.T) {
	data, test, vectors, taxonomy := petFiles(t)
	o := succeed(t, "compare", "--json", "--data", data, "--test", test, "--label-vectors", vectors, "--unknown", "drop",
		"--taxonomy", taxonomy, "--methods", "vectors,names+taxonomy,auto", "--class-weight", "balanced", "--shots", "2")
	r := parse(t, o.out)
	if r["similarity_of"] != "label vectors" || r["classes"] != 3.0 || r["test_rows"] != 3.0 {
		t.Errorf("similarity of %v, %v classes, %v test rows", r["similarity_of"], r["classes"], r["test_rows"])
	}
	if !strings.Contains(o.log, "1 of 4 test rows") {
		t.Errorf("log %q does not tell of the test row that was left out", o.log)
	}
	o = succeed(t, "compare", "--quiet", "--data", data, "--test", test, "--methods", "cross-entropy")
	if !strings.Contains(o.out, "name n-grams") {
		t.Errorf("%q does not say what similarity is by", o.out)
	}
}

func TestTreeBuildWithLabelVectors(t *testing.T) {
	data, _, vectors, _ := petFiles(t)
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"drop", []string{"--unknown", "drop"}, "3 classes"},
		{"root", []string{"--unknown", "root", "--from", "vectors", "--kind", "linkage"}, "4 classes"},
	} {
		args := append([]string{"tree", "build", "--data", data, "--label-vectors", vectors}, tc.args...)
		if o := succeed(t, args...); !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: log %q, want %q", tc.name, o.log, tc.want)
		}
	}
	succeed(t, "tree", "build", "--data", data, "--from", "means")
}

func TestLabelVectorMistakes(t *testing.T) {
	data, _, vectors, _ := petFiles(t)
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"unknown names", []string{"tree", "build", "--data", data, "--label-vectors", vectors}, 1, "--unknown"},
		{"no such policy", []string{"tree", "build", "--data", data, "--label-vectors", vectors, "--unknown", "guess"}, 2, "average"},
		{"policy without vectors", []string{"compare", "--data", data, "--unknown", "drop"}, 2, "--label-vectors"},
		{"from vectors without vectors", []string{"compare", "--data", data, "--from", "vectors"}, 2, "--label-vectors"},
		{"vectors for another source", []string{"tree", "build", "--data", data, "--label-vectors", vectors, "--from", "names"}, 2, "--from vectors"},
		{"no such file", []string{"compare", "--data", data, "--label-vectors", "nowhere.bin"}, 1, "--label-vectors"},
		{"class weights of other labels", []string{"compare", "--data", data, "--class-weight", data}, 1, "weight"},
	} {
		o := callWith(t, "", tc.args...)
		if o.status != tc.status || !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: status %d, %q; want %d and %q", tc.name, o.status, o.log, tc.status, tc.want)
		}
	}
}
