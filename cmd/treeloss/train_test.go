package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/treeloss/treeloss/softmax"
)

// The job of a newcomer: train, evaluate, predict, look at the tree.
func TestTheMainJob(t *testing.T) {
	model := filepath.Join(t.TempDir(), "desk.safetensors")
	o := succeed(t, "train", "--data", desk, "--model", model)
	for _, want := range []string{"method", "held-out accuracy", "cross-entropy", "names+examples", "chosen: ", "6 classes", "trained on 48 examples"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("train prints %q, want %q in it", o.out, want)
		}
	}
	e := parse(t, succeed(t, "evaluate", "--model", model, "--data", deskTest, "--json").out)
	if a := e["accuracy"].(float64); a < 0.7 {
		t.Errorf("accuracy %v on questions like those of the training, want 0.7 at least", a)
	}
	o = callWith(t, "Where can I give back my book?\n", "predict", "--model", model)
	if label, _, _ := strings.Cut(o.out, "\t"); o.status != 0 || label != "return a book" {
		t.Errorf("predict answers %q (%s), want return a book", o.out, o.log)
	}
	tree := trainOn(t, "--data", desk, "--sharing", "v-tree")
	o = succeed(t, "tree", "show", tree)
	for _, label := range []string{"(pseudo1)", "lost a card", "opening hours", "pay a fine", "renew a loan", "reserve a room", "return a book"} {
		if strings.Count(o.out, label) != 1 {
			t.Errorf("the tree is drawn as\n%swant %q in it once", o.out, label)
		}
	}
}

// rowsOf reads a table of ours, without its header.
func rowsOf(t *testing.T, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// npy writes an array of float64 in NumPy's format.
func npy(shape string, values []float64) string {
	header := "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }"
	header += strings.Repeat(" ", (64-(10+len(header)+1)%64)%64) + "\n"
	b := []byte("\x93NUMPY\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}

func TestEveryFormatTrains(t *testing.T) {
	var tsv, jsonl, fastText, libsvm, arrays, labels strings.Builder
	tsv.WriteString("text\tlabel\n")
	for _, row := range rowsOf(t, desk) {
		text, label := row[0], row[1]
		fmt.Fprintf(&tsv, "%s\t%s\n", text, label)
		line, err := json.Marshal(map[string]string{"text": text, "label": label})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&jsonl, "%s\n", line)
		fmt.Fprintf(&fastText, "__label__%s %s\n", strings.ReplaceAll(label, " ", "-"), text)
	}
	var values []float64
	bread := rowsOf(t, breads)
	for _, row := range bread {
		label, numbers := row[5], row[1:5]
		fmt.Fprintf(&libsvm, "%s", label)
		for j, n := range numbers {
			fmt.Fprintf(&libsvm, " %d:%s", j+1, n)
			v, err := strconv.ParseFloat(n, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		fmt.Fprintln(&libsvm)
		fmt.Fprintln(&labels, label)
		fmt.Fprintf(&arrays, `{"x": [%s], "y": %q}`+"\n", strings.Join(numbers, ", "), label)
	}
	x := npy(fmt.Sprintf("(%d, 4)", len(bread)), values)
	y := file(t, "y.txt", labels.String())
	for _, tc := range []struct {
		name, text string
		flags      []string
		accuracy   float64 // on the training rows themselves
	}{
		{"desk.csv", string(content(t, desk)), nil, 0.9},
		{"desk.tsv", tsv.String(), nil, 0.9},
		{"desk.jsonl", jsonl.String(), nil, 0.9},
		{"desk.ft", fastText.String(), nil, 0.9},
		{"desk.data", fastText.String(), []string{"--format", "fasttext"}, 0.9},
		{"marked.csv", "\ufeff" + strings.ReplaceAll(string(content(t, desk)), "\n", "\r\n"), nil, 0.9},
		{"breads.svm", libsvm.String(), nil, 0.9},
		{"breads.jsonl", arrays.String(), nil, 0.9},
		{"breads.npy", x, []string{"--labels", y}, 0.9},
		{"breads.csv", string(content(t, breads)), []string{"--label", "bread", "--features", "length,w*"}, 0.9},
	} {
		for _, packed := range []string{"", ".gz", ".zst"} {
			t.Run(tc.name+packed, func(t *testing.T) {
				data := file(t, tc.name+packed, pack(t, packed, tc.text))
				args := append([]string{"--data", data}, tc.flags...)
				model := trainOn(t, append(args, "--sharing", "none")...)
				e := parse(t, succeed(t, append([]string{"evaluate", "--quiet", "--json", "--model", model}, args...)...).out)
				if a := e["accuracy"].(float64); a < tc.accuracy {
					t.Errorf("accuracy %v on the training rows, want %v at least", a, tc.accuracy)
				}
				p := succeed(t, "predict", "--quiet", "--model", model, "--format", formatOf(tc.flags), data)
				if n := strings.Count(p.out, "\n"); n != len(bread) && n != 48 {
					t.Errorf("%d predictions, want one a row", n)
				}
			})
		}
	}
}

// formatOf returns what the flags say as --format.
func formatOf(flags []string) string {
	for i, f := range flags {
		if f == "--format" {
			return flags[i+1]
		}
	}
	return ""
}

func pack(t *testing.T, ending, text string) string {
	t.Helper()
	var b bytes.Buffer
	switch ending {
	case ".gz":
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		return text
	}
	return b.String()
}

func TestSameModelBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
	}{
		{"auto", []string{"--data", desk}},
		{"tree and names", []string{"--data", desk, "--sharing", "names+v-tree"}},
		{"hierarchical softmax", []string{"--data", desk, "--loss", "hierarchical-softmax", "--taxonomy", deskGroups}},
		{"simloss", []string{"--data", desk, "--loss", "simloss"}},
		{"soft labels", []string{"--data", desk, "--loss", "soft-labels", "--taxonomy", deskGroups}},
		{"hxe", []string{"--data", desk, "--loss", "hxe", "--taxonomy", deskGroups}},
		{"hxe of a V-tree", []string{"--data", desk, "--loss", "hxe", "--hxe-alpha", "0.5", "--sharing", "names"}},
		{"balanced", []string{"--data", desk, "--sharing", "none", "--class-weight", "balanced"}},
		{"smoothing", []string{"--data", desk, "--sharing", "none", "--label-smoothing", "0.1"}},
		{"sgd", []string{"--data", desk, "--sharing", "v-tree", "--trainer", "sgd", "--epochs", "3", "--momentum", "0.9", "--nesterov", "--schedule", "cosine", "--average"}},
		{"adamw", []string{"--data", desk, "--sharing", "u-tree", "--trainer", "adamw", "--epochs", "3", "--schedule", "step"}},
		{"numbers", []string{"--data", breads, "--label", "bread"}},
		{"means", []string{"--data", breads, "--label", "bread", "--sharing", "means"}},
		{"linkage of means", []string{"--data", breads, "--label", "bread", "--sharing", "linkage", "--from", "means"}},
		{"weights", []string{"--data", breads, "--label", "bread", "--weight", "weight", "--features", "length,height"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			one := trainOn(t, append(tc.args, "--threads", "1")...)
			two := trainOn(t, append(tc.args, "--threads", "2")...)
			if !bytes.Equal(content(t, one), content(t, two)) {
				t.Error("--threads 1 and 2 give different models")
			}
			again := trainOn(t, append(tc.args, "--threads", "2")...)
			if !bytes.Equal(content(t, two), content(t, again)) {
				t.Error("the same command gives different models")
			}
			if text := string(content(t, one)); strings.Contains(text, t.TempDir()) || strings.Contains(text, "testdata") {
				t.Error("the model holds a path")
			}
		})
	}
}

func TestSeedMatters(t *testing.T) {
	args := []string{"--data", desk, "--sharing", "none", "--trainer", "sgd", "--epochs", "2"}
	one, two := trainOn(t, args...), trainOn(t, append(args, "--seed", "2")...)
	if bytes.Equal(content(t, one), content(t, two)) {
		t.Error("seeds 1 and 2 give the same model")
	}
}

func TestTrainJSON(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	got := parse(t, succeed(t, "train", "--json", "--data", desk, "--model", model, "--base", "2", "--sharing", "u-tree").out)
	for _, key := range []string{"model", "examples", "classes", "features", "seconds", "training"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no key %q in %v", key, got)
		}
	}
	training := got["training"].(map[string]any)
	options := training["options"].(map[string]any)
	if len(options) != 2 || options["base"] != "2" || options["sharing"] != "u-tree" {
		t.Errorf("recorded options %v, want base and sharing, which are not the defaults, and nothing else", options)
	}
	m, err := softmax.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	if m.Training.Data == "" || !strings.HasPrefix(m.Training.Program, "treeloss ") || m.Training.Seed != 1 || m.Training.Examples != 48 {
		t.Errorf("training record %+v, want data, program, seed and examples", m.Training)
	}
}

func TestTrainFromStandardInput(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o := callWith(t, string(content(t, desk)), "train", "--quiet", "--data", "-", "--model", model, "--sharing", "none")
	if o.status != 0 {
		t.Fatal(o.log)
	}
	if !bytes.Equal(content(t, model), content(t, trainOn(t, "--data", desk, "--sharing", "none"))) {
		t.Error("the model differs from that of the same file")
	}
	o = callWith(t, string(content(t, desk)), "train", "--quiet", "--data", "-", "--model", model, "--valid", deskTest)
	if o.status != 0 {
		t.Fatalf("--valid with standard input: status %d, %q", o.status, o.log)
	}
	if m, err := softmax.Load(model); err != nil || m.Training.Options["valid"] != "given" {
		t.Errorf("training record %v, %v", m.Training.Options, err)
	}
}

func TestTrainWithValidation(t *testing.T) {
	o := succeed(t, "train", "--json", "--data", desk, "--valid", deskTest, "--model", filepath.Join(t.TempDir(), "m"),
		"--trainer", "sgd", "--epochs", "8", "--patience", "2", "--sharing", "none")
	training := parse(t, o.out)["training"].(map[string]any)
	if training["held_out"] != 12.0 {
		t.Errorf("measured on %v rows, want the 12 of --valid", training["held_out"])
	}
	train := func(valid string) outcome {
		return call(t, "train", "--data", desk, "--valid", valid, "--model", filepath.Join(t.TempDir(), "m"), "--sharing", "none")
	}
	strange := file(t, "strange.csv", string(content(t, deskTest))+"Is there coffee?,coffee\n")
	if o := train(strange); o.status != 0 || !strings.Contains(o.log, "warning: 1 of 13 rows of --valid") {
		t.Errorf("a label that is not trained: status %d, %q", o.status, o.log)
	}
	if o := train(file(t, "other.csv", "text,label\nIs there coffee?,coffee\n")); o.status != 1 || !strings.Contains(o.log, "other.csv") {
		t.Errorf("no label that is trained: status %d, %q", o.status, o.log)
	}
}

func TestTrainGoesOnFromAModel(t *testing.T) {
	first := trainOn(t, "--data", desk, "--sharing", "none", "--trainer", "sgd", "--epochs", "10")
	fresh := trainOn(t, "--data", desk, "--sharing", "none", "--trainer", "sgd", "--epochs", "1")
	on := trainOn(t, "--data", desk, "--sharing", "none", "--trainer", "sgd", "--epochs", "1", "--init-model", first)
	loss := func(model string) float64 {
		return parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", desk).out)["log_loss"].(float64)
	}
	if loss(on) >= loss(fresh) {
		t.Errorf("log loss %v from a trained model, %v from 0: want it to go on", loss(on), loss(fresh))
	}
	o := call(t, "train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), "--init-model", "missing.safetensors")
	if o.status != 1 || !strings.Contains(o.log, "missing.safetensors") {
		t.Errorf("a missing model to start from: status %d, %q", o.status, o.log)
	}
}

// endingContext counts how often it is asked, and is cancelled from the last
// of a number of times on: a kill at a moment that the test chooses.
type endingContext struct {
	context.Context
	asked atomic.Int64
	last  int64 // 0: never
}

func (c *endingContext) Err() error {
	if n := c.asked.Add(1); c.last > 0 && n >= c.last {
		return context.Canceled
	}
	return nil
}

// callUntil runs the program until the context has been asked so often. It
// also returns how often it was.
func callUntil(last int64, args ...string) (outcome, int64) {
	ctx := &endingContext{Context: context.Background(), last: last}
	var out, log bytes.Buffer
	status := execute(ctx, args, strings.NewReader(""), &out, &log)
	return outcome{status, out.String(), log.String()}, ctx.asked.Load()
}

func TestResume(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
	}{
		{"sgd", []string{"--trainer", "sgd", "--sharing", "none", "--momentum", "0.9", "--average"}},
		{"sgd on a tree with validation", []string{"--trainer", "sgd", "--sharing", "v-tree", "--valid", deskTest, "--schedule", "cosine"}},
		{"adamw", []string{"--trainer", "adamw", "--sharing", "none", "--names-as-examples", "on"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"train", "--data", desk, "--epochs", "6", "--batch", "16"}, tc.args...)
			whole := filepath.Join(t.TempDir(), "whole")
			o, total := callUntil(0, append(args, "--model", whole)...)
			if o.status != 0 {
				t.Fatal(o.log)
			}
			// The last fit asks before each of its 3 batches in 6 epochs.
			for _, before := range []int64{14, 8, 1} {
				model := filepath.Join(t.TempDir(), "m")
				with := append(args, "--model", model)
				o, _ := callUntil(total-before, with...)
				if o.status != 130 || !strings.Contains(o.log, "--resume") {
					t.Fatalf("stopped %d batches before the end: status %d, %q; want it to say how to go on", before, o.status, o.log)
				}
				if _, err := os.Stat(model); err == nil {
					t.Fatal("a training that was stopped left a model")
				}
				o = succeed(t, append(with, "--resume")...)
				if !strings.Contains(o.log, "going on after epoch") {
					t.Errorf("log %q, want that it goes on", o.log)
				}
				if !bytes.Equal(content(t, model), content(t, whole)) {
					t.Fatalf("stopped %d batches before the end and resumed: another model than without a stop", before)
				}
				if _, err := os.Stat(checkpointOf(model)); err == nil {
					t.Error("the checkpoint is still there")
				}
			}
		})
	}
}

func TestResumeRefusesOtherRuns(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	args := []string{"train", "--quiet", "--data", desk, "--model", model, "--trainer", "sgd", "--epochs", "4", "--sharing", "none"}
	_, total := callUntil(0, args...)
	if o, _ := callUntil(total-1, args...); o.status != 130 {
		t.Fatalf("stopped at the end: status %d, %q", o.status, o.log)
	}
	checkpoint := content(t, checkpointOf(model))
	more := file(t, "more.csv", string(content(t, desk))+"Open late?,opening hours\n")
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"other data", "other data", []string{"--data", more}},
		{"other seed", `seed "1", now "2"`, []string{"--seed", "2"}},
		{"other rate", `rate "", now "0.5"`, []string{"--rate", "0.5"}},
		{"more epochs", `epochs "4", now "9"`, []string{"--epochs", "9"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := call(t, append(append(args, tc.args...), "--resume")...)
			if o.status != 1 || !strings.Contains(o.log, checkpointOf(model)) || !strings.Contains(o.log, tc.want) || !strings.Contains(o.log, "without --resume") {
				t.Errorf("status %d, %q; want the checkpoint's name and %q", o.status, o.log, tc.want)
			}
			if !bytes.Equal(content(t, checkpointOf(model)), checkpoint) {
				t.Error("the checkpoint has changed")
			}
		})
	}
	t.Run("no checkpoint", func(t *testing.T) {
		o := succeed(t, "train", "--data", desk, "--model", filepath.Join(t.TempDir(), "n"), "--trainer", "sgd", "--epochs", "1", "--sharing", "none", "--resume")
		if !strings.Contains(o.log, "starts at the beginning") {
			t.Errorf("log %q, want that there is nothing to go on from", o.log)
		}
	})
	t.Run("damaged checkpoint", func(t *testing.T) {
		if err := os.WriteFile(checkpointOf(model), checkpoint[:len(checkpoint)/2], 0o666); err != nil {
			t.Fatal(err)
		}
		o := call(t, append(args, "--resume")...)
		if o.status != 1 || !strings.Contains(o.log, "without --resume") {
			t.Errorf("status %d, %q", o.status, o.log)
		}
	})
}

func TestClassWeights(t *testing.T) {
	// Seven rows of a, one of b with the same text: b wins only if it counts.
	data := file(t, "uneven.csv", "text,label\n"+strings.Repeat("same words,a\n", 7)+"same words,b\nother words,b\n")
	best := func(args ...string) string {
		model := trainOn(t, append([]string{"--data", data, "--sharing", "none"}, args...)...)
		return callWith(t, "same words\n", "predict", "--quiet", "--model", model).out
	}
	if plain := best(); !strings.HasPrefix(plain, "a\t") {
		t.Errorf("without weights: %q, want a", plain)
	}
	if heavy := best("--class-weight", file(t, "w.csv", "label,weight\nb,50\n")); !strings.HasPrefix(heavy, "b\t") {
		t.Errorf("b counts 50 times: %q, want b", heavy)
	}
	weights := fmt.Sprintf("a,%v\nb,%v\n", 9.0/(2*7), 9.0/(2*2))
	if even, told := best("--class-weight", "balanced"), best("--class-weight", file(t, "w.csv", weights)); even != told {
		t.Errorf("balanced: %q, the same weights from a file: %q", even, told)
	}
	if tabbed := best("--class-weight", file(t, "w.tsv.gz", pack(t, ".gz", "label\tweight\nb\t50\n"))); !strings.HasPrefix(tabbed, "b\t") {
		t.Errorf("tabs, packed: %q, want b", tabbed)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"unknown label", "c,1\n", `w.csv: no training row has the label "c"`},
		{"no number", "a,much\n", `w.csv:1:3: the weight of "a", "much"`},
		{"below 0", "a,1\nb,-1\n", `w.csv:2:3: the weight of "b" is -1`},
		{"NaN", "a,NaN\n", `w.csv:1:3: the weight of "a", "NaN"`},
		{"beyond float32", "a,1e39\n", `w.csv: weight 1e+39 of label "a"`},
		{"all 0", "a,0\nb,0\n", "w.csv: every weight is 0"},
		{"twice", "a,1\na,2\n", `w.csv:2: class "a" has a weight already`},
		{"one cell", "a\n", "w.csv:1: 1 cell, want two"},
		{"open quote", "\"a\n", "w.csv:1"},
	} {
		o := call(t, "train", "--quiet", "--data", data, "--model", filepath.Join(t.TempDir(), "m"), "--class-weight", file(t, "w.csv", tc.text))
		if o.status != 1 || !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: status %d, %q; want %q", tc.name, o.status, o.log, tc.want)
		}
	}
	if o := call(t, "train", "--quiet", "--data", data, "--model", filepath.Join(t.TempDir(), "m"), "--class-weight", "even"); o.status != 1 || !strings.Contains(o.log, "balanced or a file") {
		t.Errorf("no such file: status %d, %q", o.status, o.log)
	}
}

func TestWarningsBeforeTraining(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	const swapped, twice = "are --label and --text swapped?", "its rows are trained on"
	for _, tc := range []struct {
		name string
		args []string
		want string // "" for no warning
	}{
		{"as it should be", []string{"train", "--data", desk, "--valid", deskTest, "--model", model}, ""},
		{"one row a class", []string{"train", "--data", file(t, "one.csv", "text,label\n"+strings.Repeat("a b c,", 1)+"x y\nd e,z\n"), "--model", model}, ""},
		{"label and text swapped", []string{"train", "--data", desk, "--label", "text", "--text", "label", "--model", model}, swapped},
		{"validation on the training data", []string{"train", "--data", desk, "--valid", desk, "--model", model}, twice},
		{"test on the training data", []string{"compare", "--data", desk, "--test", desk, "--methods", "cross-entropy"}, twice},
	} {
		o := succeed(t, tc.args...)
		if got := strings.Contains(o.log, "warning"); got != (tc.want != "") || !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: the log is %q, want a warning: %q", tc.name, o.log, tc.want)
		}
	}
}

// With so many examples a class that names are not tried, train says why.
func TestTrainSaysWhyNoNames(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("label,text\n")
	for i := range 130 {
		fmt.Fprintf(&rows, "%s,%s word%d\n", []string{"red wine", "white wine"}[i%2], []string{"dark", "light"}[i%2], i%7)
	}
	const why = "no class information was tried: with 60 examples a class and more (here 65)"
	args := []string{"train", "--data", file(t, "wine.csv", rows.String()), "--model", filepath.Join(t.TempDir(), "m.safetensors")}
	if o := succeed(t, args...); !strings.Contains(o.out, why) || !strings.Contains(o.out, "--sharing names") {
		t.Errorf("train prints\n%s", o.out)
	}
	if o := succeed(t, append(args, "--sharing", "none")...); strings.Contains(o.out, "no class information") {
		t.Errorf("asked for no sharing, train prints\n%s", o.out)
	}
}
