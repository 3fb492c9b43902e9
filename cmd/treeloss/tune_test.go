package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// texts returns the strings of a JSON array.
func texts(t *testing.T, list any) []string {
	t.Helper()
	var out []string
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return out
}

// The command that tune prints trains to the score that it states.
func TestTuneCommandReproducesTheTrial(t *testing.T) {
	valid := deskTest
	for _, tc := range []struct {
		name string
		args []string
		want []string // in the command
	}{
		{"all open", []string{"--trials", "16"}, []string{"--data " + desk, "--prior"}},
		{"another seed", []string{"--trials", "12", "--seed", "7"}, []string{"--seed 7"}},
		{"a fixed sharing", []string{"--trials", "12", "--sharing", "v-tree", "--names-as-examples", "off"}, []string{"--sharing v-tree", "--names-as-examples off"}},
		{"a fixed prior and rho", []string{"--trials", "12", "--prior", "20", "--rho", "0.2"}, []string{"--prior 20", "--rho 0.2"}},
		{"a taxonomy", []string{"--trials", "14", "--taxonomy", deskGroups}, []string{"--taxonomy " + deskGroups}},
		{"validation rows", []string{"--trials", "12", "--valid", valid, "--metric", "log-loss"}, []string{"--valid " + valid}},
		{"balanced, columns named", []string{"--trials", "12", "--class-weight", "balanced", "--label", "label", "--text", "text"},
			[]string{"--class-weight balanced", "--label label", "--text text"}},
		{"sgd", []string{"--trials", "5", "--trainer", "sgd", "--epochs", "3", "--average"}, []string{"--average=true", "--epochs 3"}},
		{"adamw, which has no prior", []string{"--trials", "4", "--trainer", "adamw", "--epochs", "3", "--weight-decay", "0.1"}, []string{"--trainer adamw"}},
		{"a loss", []string{"--trials", "6", "--loss", "simloss", "--metric", "macro-f1"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := succeed(t, append([]string{"tune", "--quiet", "--json", "--data", desk}, tc.args...)...)
			found := parse(t, o.out)
			command := found["command"].(string)
			for _, want := range tc.want {
				if !strings.Contains(command+" ", want+" ") && !strings.HasPrefix(want, "--prior") {
					t.Errorf("%q, want %q in it", command, want)
				}
			}
			var best map[string]any
			for _, trial := range found["trials"].([]any) {
				if x := trial.(map[string]any); x["trial"] == found["best"] {
					best = x
				}
			}
			args := texts(t, found["args"])
			if args[0] != "train" || args[len(args)-1] != "model.safetensors" {
				t.Fatalf("arguments %q, want train and a model at the end", args)
			}
			args[len(args)-1] = filepath.Join(t.TempDir(), "m.safetensors")
			made := parse(t, succeed(t, append(args, "--quiet", "--json")...).out)
			training := made["training"].(map[string]any)
			candidates := training["candidates"].([]any)
			if len(candidates) != 1 {
				t.Fatalf("%d candidates, want the one that was found: %v", len(candidates), candidates)
			}
			c := candidates[0].(map[string]any)
			if c["accuracy"] != best["accuracy"] || math.Abs(c["log_loss"].(float64)-best["log_loss"].(float64)) > 1e-6 {
				t.Errorf("%s\nheld-out accuracy %v, log loss %v; tune states %v and %v", command, c["accuracy"], c["log_loss"], best["accuracy"], best["log_loss"])
			}
			if c["prior"] != best["prior"] {
				t.Errorf("prior %v, want %v", c["prior"], best["prior"])
			}
		})
	}
}

// Without rows to hold out the prior that is given counts all the same.
func TestPriorWithoutHeldOutRows(t *testing.T) {
	few := file(t, "few.csv", "text,label\nred apple,fruit\ngreen pear,fruit\niron nail,tool\nsteel saw,tool\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	made := parse(t, succeed(t, "train", "--json", "--data", few, "--model", model, "--sharing", "none", "--prior", "40").out)
	if prior := made["training"].(map[string]any)["prior"]; prior != 40.0 {
		t.Errorf("trained with the prior %v, want 40", prior)
	}
	o := succeed(t, "tune", "--data", few, "--trials", "3")
	if !strings.Contains(o.out, "fewer than 3 rows") {
		t.Errorf("%q, want how rows were held out", o.out)
	}
}

func TestTuneIsDeterministic(t *testing.T) {
	run := func(args ...string) map[string]any {
		found := parse(t, succeed(t, append([]string{"tune", "--quiet", "--json", "--data", desk, "--trials", "12"}, args...)...).out)
		delete(found, "seconds")
		for _, trial := range found["trials"].([]any) {
			delete(trial.(map[string]any), "seconds")
		}
		delete(found, "args")
		delete(found, "command")
		return found
	}
	var a, b bytes.Buffer
	for threads, out := range map[string]*bytes.Buffer{"1": &a, "2": &b} {
		if err := (&app{out: out}).printJSON(run("--threads", threads)); err != nil {
			t.Fatal(err)
		}
	}
	if a.String() != b.String() {
		t.Error("another number of threads gave another answer")
	}
}

func TestTunePrints(t *testing.T) {
	o := succeed(t, "tune", "--data", desk, "--trials", "6", "--nested", "2")
	for _, want := range []string{"difference", "(trial 1), paired", "48 held-out rows", "5 folds, as in training", "6 trials", "ended by: --trials",
		"the best of 6 trials looks better than it is", "a search of its own in each of 2 folds: accuracy", "\ntreeloss train --data testdata/desk.csv --sharing "} {
		if !strings.Contains(o.out, want) {
			t.Errorf("tune prints\n%swant %q in it", o.out, want)
		}
	}
	found := parse(t, succeed(t, "tune", "--json", "--data", desk, "--trials", "4", "--folds", "4", "--metric", "calibration-error").out)
	for _, key := range []string{"metric", "trials", "best", "args", "command", "held_out", "held_out_rows", "corrected", "nested", "stopped", "skipped", "seconds"} {
		if _, ok := found[key]; !ok {
			t.Errorf("no key %q", key)
		}
	}
	if found["nested"] != nil || found["stopped"] != "trials" || found["held_out_rows"] != 48.0 {
		t.Errorf("nested %v, stopped %v, %v held-out rows", found["nested"], found["stopped"], found["held_out_rows"])
	}
	fixed := succeed(t, "tune", "--quiet", "--data", desk, "--trials", "6", "--sharing", "u-tree", "--names-as-examples", "off", "--seed", "3").out
	if !strings.Contains(fixed, "--sharing u-tree") || !strings.Contains(fixed, "--sharing none") {
		t.Errorf("tune of one sharing prints\n%swant it and the baseline", fixed)
	}
	breadsFound := succeed(t, "tune", "--data", breads, "--label", "bread", "--features", "length,w*", "--trials", "4", "--metric", "log-loss", "--quiet").out
	if !strings.Contains(breadsFound, "--features 'length,w*'") || !strings.Contains(breadsFound, "nats") {
		t.Errorf("tune of numbers prints\n%s", breadsFound)
	}
}

// after is a writer that calls f when it is written to.
type after struct {
	bytes.Buffer
	word string
	f    func()
}

func (w *after) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.f()
	}
	return w.Buffer.Write(p)
}

// Cancelled, tune prints what it has found so far. The log that says how the
// data was read comes before the first trial: nothing is found then.
func TestTuneCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &after{word: "label column", f: cancel}
	var out bytes.Buffer
	status := execute(ctx, []string{"tune", "--data", desk}, strings.NewReader(""), &out, log)
	if status != 130 || !strings.Contains(log.String(), "interrupted") || out.Len() > 0 {
		t.Errorf("before the first trial: status %d, %q, %q", status, out.String(), log.String())
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	out.Reset()
	// A method that is not tried, for distances that tell nothing, is told of
	// after the search: only nested folds come then.
	var same strings.Builder
	for i, a := range deskLabels {
		for _, b := range deskLabels[:i] {
			same.WriteString(a + "\t" + b + "\t0\n")
		}
	}
	log = &after{word: "not tried", f: cancel}
	status = execute(ctx, []string{"tune", "--data", desk, "--distances", file(t, "same.tsv", same.String()), "--trials", "8", "--nested", "2"}, strings.NewReader(""), &out, log)
	if status != 130 || !strings.Contains(out.String(), "\ntreeloss train ") || !strings.Contains(log.String(), "interrupted") {
		t.Errorf("after the search: status %d, %q, %q", status, out.String(), log.String())
	}
}

func TestTuneAndCVUsage(t *testing.T) {
	refuse(t, quickModel(t), []badInput{
		{"tune: no data", []string{"tune"}, 2, []string{"--data"}},
		{"tune: unknown metric", []string{"tune", "--data", desk, "--metric", "speed"}, 2, []string{"--metric", "macro-f1"}},
		{"tune: no time", []string{"tune", "--data", desk, "--time", "0s"}, 2, []string{"--time"}},
		{"tune: time without unit", []string{"tune", "--data", desk, "--time", "60"}, 2, []string{"--time"}},
		{"tune: negative trials", []string{"tune", "--data", desk, "--trials", "-1"}, 2, []string{"--trials"}},
		{"tune: one fold", []string{"tune", "--data", desk, "--folds", "1"}, 2, []string{"--folds"}},
		{"tune: folds of validation rows", []string{"tune", "--data", desk, "--folds", "3", "--valid", deskTest}, 2, []string{"--valid", "leave one out"}},
		{"tune: more folds than rows", []string{"tune", "--data", desk, "--folds", "99"}, 1, []string{"desk.csv", "48 examples", "fewer"}},
		{"tune: one row a class", []string{"tune", "--data", file(t, "one.csv", "text,label\na b,x\nc d,y\n")}, 1, []string{"one.csv", "no class has two rows"}},
		{"train: bad prior", []string{"train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), "--prior", "-1"}, 2, []string{"--prior"}},
		{"train: prior of adamw", []string{"train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), "--trainer", "adamw", "--prior", "3"}, 2, []string{"--prior does nothing", "adamw"}},
		{"compare: prior and decay", []string{"compare", "--data", desk, "--trainer", "sgd", "--prior", "3", "--weight-decay", "0.1"}, 2, []string{"--prior does nothing", "--weight-decay"}},
		{"tune: prior of adamw", []string{"tune", "--data", desk, "--trainer", "adamw", "--prior", "3"}, 2, []string{"--prior does nothing", "adamw"}},
		{"compare: bad rho", []string{"compare", "--data", desk, "--rho", "NaN"}, 2, []string{"--rho"}},
		{"cv: no data", []string{"cv"}, 2, []string{"--data"}},
		{"cv: one fold", []string{"cv", "--data", desk, "--folds", "1"}, 2, []string{"--folds"}},
		{"cv: more folds than rows", []string{"cv", "--data", desk, "--folds", "49"}, 1, []string{"desk.csv", "48 examples", "--folds 49"}},
		{"cv: patience", []string{"cv", "--data", desk, "--trainer", "sgd", "--patience", "2"}, 2, []string{"--patience"}},
		{"cv: bad sharing", []string{"cv", "--data", desk, "--sharing", "oak"}, 2, []string{"--sharing"}},
		{"cv: missing weights", []string{"cv", "--data", desk, "--class-weight", "nowhere.csv"}, 1, []string{"nowhere.csv"}},
	})
}

func TestTuneFlags(t *testing.T) {
	for command, flags := range map[string][]string{
		"tune": {"data", "time", "metric", "trials", "folds", "nested", "sharing", "prior", "rho", "taxonomy", "valid", "seed", "threads", "json"},
		"cv":   {"data", "folds", "sharing", "loss", "prior", "rho", "class-weight", "taxonomy", "seed", "threads", "json"},
	} {
		c, _, err := rootOf().Find([]string{command})
		if err != nil || c.Name() != command {
			t.Errorf("no command %q: %v", command, err)
			continue
		}
		for _, flag := range flags {
			if c.Flag(flag) == nil {
				t.Errorf("%s has no flag --%s", command, flag)
			}
		}
	}
	metrics := succeed(t, "__completeNoDesc", "tune", "--metric", "").out
	if !slices.Contains(strings.Fields(metrics), "calibration-error") {
		t.Errorf("--metric completes to %q", metrics)
	}
}
