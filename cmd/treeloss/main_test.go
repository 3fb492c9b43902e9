package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/tune"
)

// asProgram makes the test binary the program itself, for the tests that need
// a process: signals, limits.
const asProgram = "TREELOSS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		limitFiles()
		main()
		return
	}
	os.Exit(m.Run())
}

// Data of our own making: what people ask at the desk of a library, with six
// classes, and the size and weight of bread.
const (
	desk       = "testdata/desk.csv"
	deskTest   = "testdata/desk_test.csv"
	deskGroups = "testdata/desk_groups.csv"
	breads     = "testdata/breads.csv" // the class is in the column bread
)

// outcome is what a call of the program left.
type outcome struct {
	status   int
	out, log string
}

// call runs the program without standard input.
func call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t, "", args...)
}

func callWith(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, log bytes.Buffer
	status := execute(t.Context(), args, strings.NewReader(in), &out, &log)
	return outcome{status, out.String(), log.String()}
}

// succeed runs the program and fails the test if it fails.
func succeed(t *testing.T, args ...string) outcome {
	t.Helper()
	o := call(t, args...)
	if o.status != 0 {
		t.Fatalf("treeloss %s: status %d, %s", strings.Join(args, " "), o.status, o.log)
	}
	return o
}

// trainOn trains a model in a new folder and returns its path.
func trainOn(t *testing.T, args ...string) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "m.safetensors")
	succeed(t, append([]string{"train", "--quiet", "--model", model}, args...)...)
	return model
}

// quickModel trains without any choice, in a moment; it is not calibrated.
func quickModel(t *testing.T) string {
	t.Helper()
	return trainOn(t, "--data", desk, "--sharing", "none", "--loss", tune.Baseline, "--calibrate=false")
}

func breadModel(t *testing.T) string {
	t.Helper()
	return trainOn(t, "--data", breads, "--label", "bread", "--sharing", "none", "--loss", tune.Baseline, "--calibrate=false")
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// file writes a file into a new folder and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// parse reads one JSON document, and nothing behind it, into keys.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("no JSON: %v in %q", err, text)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more than one JSON document in %q", text)
	}
	return m
}

func TestVersion(t *testing.T) {
	of := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	if o := succeed(t, "--version"); !strings.HasPrefix(o.out, "treeloss version "+version()+" (") || !strings.Contains(o.out, of) || strings.Count(o.out, "\n") != 1 {
		t.Errorf("%q, want the version, and %q", o.out, of)
	}
}

func TestExitStatus(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		want   string // in the log
	}{
		{"help", []string{"help"}, 0, ""},
		{"nothing at all is help", nil, 0, ""},
		{"version", []string{"--version"}, 0, ""},
		{"unknown command", []string{"fly"}, 2, `unknown command "fly"; treeloss help lists the commands`},
		{"unknown command of tree", []string{"tree", "fell"}, 2, `unknown command "fell"; treeloss tree has build, check and show`},
		{"unknown flag", []string{"train", "--modle", "m"}, 2, "unknown flag --modle, do you mean --model? treeloss train --help lists the flags"},
		{"flag without value", []string{"evaluate", "--model"}, 2, "--model needs a value: model file"},
		{"no number", []string{"train", "--threads", "two"}, 2, `--threads "two", want a whole number`},
		{"train: no model", []string{"train", "--data", desk}, 2, "--model"},
		{"train: no data", []string{"train", "--model", "m"}, 2, "--data"},
		{"train: bad sharing", []string{"train", "--data", desk, "--model", "m", "--sharing", "nmes"}, 2, "--sharing"},
		{"train: repeated sharing", []string{"train", "--data", desk, "--model", "m", "--sharing", "names+names"}, 2, "--sharing"},
		{"train: bad loss", []string{"train", "--data", desk, "--model", "m", "--loss", "hinge"}, 2, "cross-entropy"},
		{"train: bad trainer", []string{"train", "--data", desk, "--model", "m", "--trainer", "lbfgs"}, 2, "auto, converge, sgd or adamw"},
		{"train: bad schedule", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--schedule", "up"}, 2, "constant, step or cosine"},
		{"train: bad smoothing", []string{"train", "--data", desk, "--model", "m", "--label-smoothing", "1"}, 2, "--label-smoothing"},
		{"train: smoothing of another loss", []string{"train", "--data", desk, "--model", "m", "--label-smoothing", "0.1", "--loss", "hxe"}, 2, "--label-smoothing goes with the loss cross-entropy"},
		{"train: alpha 0", []string{"train", "--data", desk, "--model", "m", "--loss", "hxe", "--hxe-alpha", "0"}, 2, "--hxe-alpha 0"},
		{"train: alpha of another loss", []string{"train", "--data", desk, "--model", "m", "--hxe-alpha", "0.2"}, 2, "--hxe-alpha goes with --loss hxe"},
		{"compare: alpha is no number", []string{"compare", "--data", desk, "--methods", "hxe", "--hxe-alpha", "NaN"}, 2, "--hxe-alpha NaN"},
		{"train: smoothing is no number", []string{"train", "--data", desk, "--model", "m", "--label-smoothing", "NaN"}, 2, "--label-smoothing"},
		{"train: bad names", []string{"train", "--data", desk, "--model", "m", "--names-as-examples", "yes"}, 2, "auto, on or off"},
		{"train: bad base", []string{"train", "--data", desk, "--model", "m", "--base", "1"}, 2, "--base"},
		{"train: bad source", []string{"train", "--data", desk, "--model", "m", "--from", "stars"}, 2, "--from"},
		{"train: bad threads", []string{"train", "--data", desk, "--model", "m", "--threads", "-1"}, 2, "--threads"},
		{"train: bad batch", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--batch", "0"}, 2, "treeloss: --batch 0, want at least 1\n"},
		{"train: bad epochs", []string{"train", "--data", desk, "--model", "m", "--epochs", "0"}, 2, "--epochs"},
		{"train: epochs for no trainer", []string{"train", "--data", desk, "--model", "m", "--epochs", "3"}, 2, "--epochs has no effect with --trainer auto; give --trainer sgd or adamw"},
		{"compare: momentum of another trainer", []string{"compare", "--data", desk, "--trainer", "adamw", "--momentum", "0.9"}, 2, "--momentum has no effect with --trainer adamw; give --trainer sgd"},
		{"cv: rate of no trainer", []string{"cv", "--data", desk, "--trainer", "converge", "--rate", "1"}, 2, "--rate has no effect with --trainer converge"},
		{"train: rate is no number", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--rate", "NaN"}, 2, "--rate NaN, want a number above 0"},
		{"train: negative rate", []string{"train", "--data", desk, "--model", "m", "--trainer", "adamw", "--rate", "-1"}, 2, "--rate -1, want a number above 0"},
		{"train: bad momentum", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--momentum", "1"}, 2, "--momentum 1, want a number from 0 to below 1"},
		{"train: bad decay", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--weight-decay", "Inf"}, 2, "--weight-decay +Inf"},
		{"train: nesterov alone", []string{"train", "--data", desk, "--model", "m", "--trainer", "sgd", "--nesterov"}, 2, "give one, such as --momentum 0.9"},
		{"train: a file twice", []string{"train", "--data", desk, "--data", desk, "--model", "m"}, 2, "named twice"},
		{"train: sharing without file", []string{"train", "--data", desk, "--model", "m", "--sharing", "names+taxonomy"}, 2, "--sharing names+taxonomy needs a file: name it with --taxonomy"},
		{"train: a softmax along names", []string{"train", "--data", desk, "--model", "m", "--loss", "hierarchical-softmax", "--sharing", "names"}, 2, "--sharing names is not one"},
		{"train: a softmax along two trees", []string{"train", "--data", desk, "--model", "m", "--loss", "hierarchical-softmax", "--sharing", "v-tree+linkage"}, 2, "one tree"},
		{"tune: one fold", []string{"tune", "--data", desk, "--folds", "1"}, 2, "--folds 1, want at least 2"},
		{"tune: one nested fold", []string{"tune", "--data", desk, "--nested", "1"}, 2, "treeloss: --nested 1, want at least 2"},
		{"quickstart: bad threads", []string{"quickstart", "--threads", "-1"}, 2, "--threads -1"},
		{"experiment: rate is no number", []string{"experiment", "norms", "--rate", "NaN"}, 2, "--rate NaN, want a number above 0"},
		{"experiment: one class", []string{"experiment", "norms", "--k", "1"}, 2, "treeloss: --k 1, want 2 to 5000"},
		{"experiment: negative examples", []string{"experiment", "norms", "--n", "-5"}, 2, "--n -5, want 1 to 1000000"},
		{"experiment: bad noise", []string{"experiment", "norms", "--sigma", "NaN"}, 2, "--sigma NaN"},
		{"experiment: bad base", []string{"experiment", "norms", "--base", "1"}, 2, "--base 1, want a number from 1.0001"},
		{"experiment: bad threads", []string{"experiment", "norms", "--threads", "-1"}, 2, "--threads -1"},
		{"network: no epochs", []string{"train", "--network", "resnet20", "--data", "x", "--model", "m", "--epochs", "0"}, 2, "treeloss: --epochs 0, want at least 1"},
		{"network: rate is no number", []string{"train", "--network", "resnet20", "--data", "x", "--model", "m", "--rate", "NaN"}, 2, "treeloss: --rate NaN"},
		{"network: milestones fall", []string{"train", "--network", "resnet20", "--data", "x", "--model", "m", "--milestones", "5,3"}, 2, "treeloss: --milestones 3, want epochs above 0 that ascend"},
		{"network: bad warm-up", []string{"train", "--network", "resnet20", "--data", "x", "--model", "m", "--warm-up", "-1"}, 2, "treeloss: --warm-up -1"},
		{"train: bad format", []string{"train", "--data", desk, "--model", "m", "--format", "xls"}, 2, "csv, tsv, jsonl"},
		{"train: text and numbers that are not there", []string{"train", "--data", desk, "--model", "m", "--text", "a", "--features", "b"}, 1, `no column "a"`},
		{"train: patience without examples", []string{"train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), "--patience", "2", "--trainer", "sgd"}, 2, "--valid"},
		{"train: resume without epochs", []string{"train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), "--trainer", "converge", "--resume"}, 2, "--trainer sgd or adamw"},
		{"train: stdin among files", []string{"train", "--data", desk, "--data", "-", "--model", filepath.Join(t.TempDir(), "m")}, 2, "standard input"},
		{"evaluate: no data", []string{"evaluate", "--model", "m"}, 2, "--data"},
		{"evaluate: no model", []string{"evaluate", "--data", desk}, 2, "--model"},
		{"evaluate: bad mode", []string{"evaluate", "--model", "m", "--data", desk, "--unknown-labels", "guess"}, 2, "wrong, error or skip"},
		{"evaluate: bad threads", []string{"evaluate", "--model", "m", "--data", desk, "--threads", "-2"}, 2, "--threads"},
		{"predict: no model", []string{"predict", desk}, 2, "--model"},
		{"explain: two files", []string{"explain", "--model", "m", "a", "b"}, 2, "one file"},
		{"predict: fastText's lines and JSON", []string{"predict", "--model", "m", "--output", "fasttext", "--json"}, 2, "leave out --json"},
		{"predict: no class", []string{"predict", "--model", "m", "--top", "0"}, 2, "--top"},
		{"predict: bad output", []string{"predict", "--model", "m", "--output", "xml"}, 2, "tsv, jsonl or fasttext"},
		{"predict: bad threads", []string{"predict", "--model", "m", "--threads", "-2"}, 2, "--threads"},
		{"tree build: no classes", []string{"tree", "build"}, 2, "--labels"},
		{"tree build: bad kind", []string{"tree", "build", "--data", desk, "--kind", "oak"}, 2, "v-tree, u-tree or linkage"},
		{"tree build: bad source", []string{"tree", "build", "--data", desk, "--from", "stars"}, 2, "--from"},
		{"tree build: taxonomy without file", []string{"tree", "build", "--data", desk, "--from", "taxonomy"}, 2, "--taxonomy"},
		{"tree build: file without taxonomy", []string{"tree", "build", "--data", desk, "--taxonomy", deskGroups}, 2, "--from taxonomy"},
		{"tree build: bad ending", []string{"tree", "build", "--data", desk, "--out", "tree.png"}, 2, ".json, .svg, .dot, .nwk, .npz or .txt"},
		{"tree build: means of names", []string{"tree", "build", "--labels", desk, "--from", "means"}, 2, "--data"},
		{"tree show: nothing", []string{"tree", "show"}, 2, "one file"},
		{"tree show: bad format", []string{"tree", "show", "t.json", "--format", "png"}, 2, "text, dot, json, newick, svg or npz"},
		{"tree show: bad depth", []string{"tree", "show", "t.json", "--depth", "-1"}, 2, "--depth"},
		{"tree show: a class in two ways", []string{"tree", "show", "t.json", "--path", "a", "--around", "a"}, 2, "give one of them"},
		{"tree show: the way to a class as JSON", []string{"tree", "show", "t.json", "--path", "a", "--json"}, 2, "--format text"},
		{"tree show: cut JSON", []string{"tree", "show", "t.json", "--depth", "1", "--json"}, 2, "--format text"},
		{"tree check: two files", []string{"tree", "check", "a", "b"}, 2, "one file"},
		{"compare: no data", []string{"compare", "--test", deskTest}, 2, "--data"},
		{"compare: no method", []string{"compare", "--data", desk, "--methods", ""}, 2, "--methods is empty"},
		{"compare: a method twice", []string{"compare", "--data", desk, "--methods", "names,names"}, 2, `--methods: "names" comes twice`},
		{"compare: method without file", []string{"compare", "--data", desk, "--methods", "names,taxonomy+names"}, 2, "name it with --taxonomy"},
		{"compare: negative shots", []string{"compare", "--data", desk, "--shots", "-1"}, 2, "treeloss: --shots -1, want at least 1, or 0"},
		{"compare: no seeds", []string{"compare", "--data", desk, "--seeds", "0"}, 2, "treeloss: --seeds 0, want at least 1"},
		{"predict: a sentence", []string{"predict", "--model", "m", "where is my card?"}, 2, `echo "where is my card?" | treeloss predict --model MODEL`},
		{"explain: words", []string{"explain", "--model", "m", "where", "is", "my", "card"}, 2, `echo "where is my card" | treeloss explain --model MODEL`},
		{"tree build: a file", []string{"tree", "build", desk}, 2, "give it with --data"},
		{"vectors info: a file", []string{"vectors", "info", desk}, 2, "give it with --vectors"},
		{"compare: bad method", []string{"compare", "--data", desk, "--test", deskTest, "--methods", "magic"}, 2, "--methods"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := call(t, tc.args...)
			if o.status != tc.status {
				t.Fatalf("status %d, want %d: %s", o.status, tc.status, o.log)
			}
			if !strings.Contains(o.log, tc.want) {
				t.Errorf("log %q, want %q in it", o.log, tc.want)
			}
			if last := lastLine(o.log); tc.status != 0 && !strings.HasPrefix(last, "treeloss: ") {
				t.Errorf("the last line of the log is %q, want treeloss: and what is wrong", last)
			}
			if tc.status != 0 && o.out != "" {
				t.Errorf("%q on standard output, want nothing", o.out)
			}
		})
	}
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestResultsThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is always full: %v", err)
	}
	defer full.Close()
	var log bytes.Buffer
	status := execute(t.Context(), []string{"tree", "build", "--data", desk}, strings.NewReader(""), full, &log)
	if last := lastLine(log.String()); status != 1 || !strings.Contains(last, "standard output") {
		t.Errorf("status %d and %q, want 1 and a word about standard output", status, last)
	}
}

func TestResultsThatNobodyReads(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	var log bytes.Buffer
	status := execute(t.Context(), []string{"tree", "build", "--quiet", "--data", desk}, strings.NewReader(""), w, &log)
	if status != 0 || log.Len() > 0 {
		t.Errorf("status %d and %q, want a quiet end", status, log.String())
	}
}

func TestOneLine(t *testing.T) {
	model := quickModel(t)
	o := call(t, "evaluate", "--quiet", "--model", model, "--data", "no\nsuch\r\nfile.csv")
	if o.status != 1 || strings.Count(o.log, "\n") != 1 {
		t.Errorf("status %d and %q, want 1 and one line", o.status, o.log)
	}
}

func TestQuietIsSilent(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	for _, args := range [][]string{
		{"train", "--data", desk, "--model", model},
		{"evaluate", "--data", deskTest, "--model", model},
		{"predict", "--model", model, deskTest},
		{"tree", "build", "--data", desk},
		{"tree", "check", deskGroups, "--data", desk},
	} {
		o := succeed(t, append([]string{"--quiet"}, args...)...)
		if o.log != "" {
			t.Errorf("%v --quiet logs %q", args, o.log)
		}
		if o.out == "" {
			t.Errorf("%v --quiet prints no result", args)
		}
	}
	// Without --quiet the log, and nothing of it on standard output.
	o := succeed(t, "evaluate", "--data", deskTest, "--model", model)
	if !strings.Contains(o.log, `label column "label", text column "text"`) || strings.Contains(o.out, "column") {
		t.Errorf("log %q, results %q: want how the data was understood in the log only", o.log, o.out)
	}
}

func TestCancelledTraining(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model := filepath.Join(t.TempDir(), "m.safetensors")
	var out, log bytes.Buffer
	status := execute(ctx, []string{"train", "--quiet", "--data", desk, "--model", model}, strings.NewReader(""), &out, &log)
	if status != 130 || !strings.Contains(log.String(), "interrupted") || strings.Contains(log.String(), "cancel") {
		t.Errorf("status %d and %q, want 130 and a word about the interruption", status, log.String())
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("a cancelled training left a model")
	}
}
