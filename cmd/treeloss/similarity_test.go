package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/matrix"
)

// similarityByHand is similarity accuracy from what evaluate says of each
// mistake: 1 for a right answer, the cosine for a wrong one.
func similarityByHand(t *testing.T, result map[string]any, cosine func(truth, predicted string) float64) float64 {
	t.Helper()
	examples := result["examples"].(float64)
	sum := examples * result["accuracy"].(float64)
	for _, c := range result["confusions"].([]any) {
		c := c.(map[string]any)
		sum += c["examples"].(float64) * cosine(c["true"].(string), c["predicted"].(string))
	}
	return sum / examples
}

// Label vectors that were given to train are stored and are what evaluate,
// compare and cv measure similarity by.
func TestSimilarityByStoredVectors(t *testing.T) {
	// Six classes on a half circle, 30 degrees apart.
	angle := map[string]float64{}
	var lines strings.Builder
	for i, label := range deskLabels {
		angle[label] = float64(i) * math.Pi / 6
	}
	for _, label := range deskLabels {
		whole := strings.ReplaceAll(label, " ", "_")
		fmt.Fprintf(&lines, "%s %f %f\n", whole, 3*math.Cos(angle[label]), 3*math.Sin(angle[label]))
	}
	vectors := file(t, "v.txt", "6 2\n"+lines.String())
	model := trainOn(t, "--data", desk, "--sharing", "none", "--label-vectors", vectors, "--prior", "0.01", "--names-as-examples", "off")
	// Test rows with the labels turned around have mistakes of every size.
	turned := "text,label\n"
	for i, row := range rowsOf(t, deskTest) {
		turned += `"` + row[0] + `",` + deskLabels[(i*5)%6] + "\n"
	}
	data := file(t, "turned.csv", turned)
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", data).out)
	if got["similarity_of"] != "label vectors" || len(got["confusions"].([]any)) < 3 {
		t.Fatalf("similarity of %v, %d confusions", got["similarity_of"], len(got["confusions"].([]any)))
	}
	want := similarityByHand(t, got, func(a, b string) float64 { return math.Cos(angle[a] - angle[b]) })
	if s := got["similarity_accuracy"].(float64); math.Abs(s-want) > 1e-5 {
		t.Errorf("similarity accuracy %v, want %v", s, want)
	}
	if o := succeed(t, "evaluate", "--model", model, "--data", data); !strings.Contains(o.out, "similarity accuracy (label vectors)") {
		t.Errorf("the table does not say what similarity is by:\n%s", o.out)
	}
	for _, args := range [][]string{
		{"compare", "--data", desk, "--test", deskTest, "--methods", "cross-entropy"},
		{"cv", "--data", desk, "--sharing", "none", "--folds", "2"},
	} {
		if r := parse(t, succeed(t, append(args, "--json", "--label-vectors", vectors)...).out); r["similarity_of"] != "label vectors" {
			t.Errorf("%s: similarity of %v", args[0], r["similarity_of"])
		}
	}

	// Without vectors the n-grams of the names are taken.
	plain := quickModel(t)
	got = parse(t, succeed(t, "evaluate", "--json", "--model", plain, "--data", data).out)
	names, err := feature.Names(deskLabels)
	if err != nil {
		t.Fatal(err)
	}
	index := map[string]int{}
	for i, label := range deskLabels {
		index[label] = i
	}
	want = similarityByHand(t, got, func(a, b string) float64 { return matrix.Cosine(names, index[a], index[b]) })
	if s := got["similarity_accuracy"].(float64); got["similarity_of"] != "name n-grams" || math.Abs(s-want) > 1e-6 {
		t.Errorf("similarity of %v: %v, want %v by name n-grams", got["similarity_of"], s, want)
	}
}

// Emojis and numbers have no letters: nothing tells how alike they are, and the
// answer is null. Vectors of the emojis tell.
func TestSimilarityOfNamesWithoutLetters(t *testing.T) {
	data := "text,label\n"
	for range 4 {
		data += "it is so funny,😂\nit burns so hot,🔥\ni love it so,❤\n"
	}
	path := file(t, "emoji.csv", data)
	model := trainOn(t, "--data", path, "--sharing", "none")
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", path).out)
	if s, there := got["similarity_accuracy"]; s != nil || !there || got["similarity_of"] != "" {
		t.Errorf("similarity accuracy %v by %q, want null and nothing", s, got["similarity_of"])
	}
	if o := succeed(t, "evaluate", "--model", model, "--data", path); strings.Contains(o.out, "similarity accuracy") {
		t.Errorf("a similarity of emojis:\n%s", o.out)
	}
	compared := parse(t, succeed(t, "compare", "--json", "--data", path, "--test", path, "--methods", "cross-entropy").out)
	if compared["similarity_of"] != nil {
		t.Errorf("compare: similarity of %v", compared["similarity_of"])
	}
	if o := call(t, "tune", "--quiet", "--data", path, "--trials", "1", "--metric", "similarity-accuracy"); o.status != 1 || !strings.Contains(o.log, "--label-vectors") {
		t.Errorf("tune for a similarity that is not known: status %d, %q", o.status, o.log)
	}
	vectors := file(t, "v.txt", "3 2\n😂 1 0\n🔥 0.6 0.8\n❤\ufe0f 0 1\n")
	with := filepath.Join(t.TempDir(), "m.safetensors")
	succeed(t, "train", "--quiet", "--data", path, "--model", with, "--sharing", "v-tree", "--label-vectors", vectors)
	if got = parse(t, succeed(t, "evaluate", "--json", "--model", with, "--data", path).out); got["similarity_of"] != "label vectors" || got["similarity_accuracy"] == nil {
		t.Errorf("with vectors: %v by %q", got["similarity_accuracy"], got["similarity_of"])
	}
}
