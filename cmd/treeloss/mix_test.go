package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// doubtful writes JSONL rows of two words each, of which some are shared by two
// classes, and one by a class that no row has alone.
func doubtful(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"text":"purr number %d","labels":"cat"}`+"\n", i)
		fmt.Fprintf(&b, `{"text":"bark number %d","labels":{"dog":1}}`+"\n", i)
		fmt.Fprintf(&b, `{"text":"purr bark %d","labels":{"cat":0.75,"dog":0.25}}`+"\n", i)
		fmt.Fprintf(&b, `{"text":"howl bark %d","labels":{"dog":2,"wolf":1}}`+"\n", i)
	}
	return file(t, "train.jsonl", b.String())
}

func TestTrainOnShares(t *testing.T) {
	data := doubtful(t)
	for _, args := range [][]string{
		{}, {"--trainer", "sgd"}, {"--trainer", "adamw"}, {"--loss", "hxe"}, {"--loss", "simloss"}, {"--loss", "soft-labels"},
		{"--loss", "hierarchical-softmax"}, {"--label-smoothing", "0.1"}, {"--sharing", "names"},
		{"--calibrate"}, {"--valid", data},
	} {
		model := trainOn(t, append([]string{"--data", data}, args...)...)
		got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", data).out)
		if got["accuracy"].(float64) < 0.95 || got["classes"] != 3.0 || got["examples"] != 48.0 {
			t.Errorf("%v: accuracy %v, %v classes, %v examples", args, got["accuracy"], got["classes"], got["examples"])
		}
		// A quarter of the rows has the entropy of 3:1, a quarter that of 2:1.
		least := (0.25*math.Log(4) + 0.75*math.Log(4./3) + math.Log(3) - 2./3*math.Log(2)) / 4
		if loss := got["log_loss"].(float64); loss < least {
			t.Errorf("%v: log loss %v, below the entropy %v of the shares", args, loss, least)
		}
	}
}

// Balanced weights count each share: a third of 12 rows are wolves, so one counts
// six times as much as a dog, and a howl is one.
func TestBalancedShares(t *testing.T) {
	for weight, want := range map[string]string{"": "dog", "balanced": "wolf"} {
		model := trainOn(t, "--data", doubtful(t), "--sharing", "none", "--class-weight", weight)
		o := succeed(t, "predict", "--model", model, file(t, "in.txt", "howl bark 3\n"))
		if !strings.HasPrefix(o.out, want) {
			t.Errorf("--class-weight %q: %q, want %s", weight, o.out, want)
		}
	}
}

func TestCompareTuneAndCVOnShares(t *testing.T) {
	data := doubtful(t)
	for _, args := range [][]string{
		{"compare", "--json", "--data", data, "--methods", "names,hxe,auto", "--class-weight", "balanced"},
		{"compare", "--json", "--data", data, "--test", data, "--methods", "v-tree"},
		{"cv", "--json", "--data", data, "--folds", "3", "--class-weight", "balanced"},
		{"tune", "--json", "--data", data, "--trials", "3"},
		{"doctor", "--json", "--data", data},
	} {
		parse(t, succeed(t, args...).out)
	}
}

// A share of a label that was never trained is a label never trained.
func TestEvaluateUnknownShares(t *testing.T) {
	model := trainOn(t, "--data", doubtful(t), "--sharing", "none")
	test := file(t, "test.jsonl", `{"text":"purr","labels":"cat"}`+"\n"+`{"text":"purr meow","labels":{"cat":0.75,"lynx":0.25}}`+"\n")
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", test).out)
	if got["accuracy"] != 0.5 || got["unknown_labels"] != 1.0 || !strings.Contains(fmt.Sprint(got["unknown"]), "test.jsonl:2") {
		t.Errorf("%v, want one right and one of the unknown label in line 2", got)
	}
	if got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", test, "--unknown-labels", "skip").out); got["accuracy"] != 1.0 || got["examples"] != 1.0 {
		t.Errorf("%v, want the second row left out", got)
	}
	if o := call(t, "evaluate", "--model", model, "--data", test, "--unknown-labels", "error"); o.status != 1 || !strings.Contains(o.log, `test.jsonl:2: label "lynx" was never trained`) {
		t.Errorf("status %d, %s", o.status, o.log)
	}
}

func TestBadShares(t *testing.T) {
	for _, tc := range []struct{ labels, want string }{
		{`{"cat":0.75,"dog":0.2}`, "the soft labels sum to 0.95, want 1"},
		{`{"cat":1.5,"dog":-0.5}`, `a value of "-0.5" for "dog"`},
		{`{}`, "no class has a value above 0"},
		{`{"cat":NaN}`, "NaN"},
		{`{"cat":1e999}`, "finite"},
		{`{"cat":"much"}`, "want a number"},
		{`{"cat":0.5,"cat":0.5}`, "has two values"},
	} {
		data := file(t, "bad.jsonl", `{"text":"purr","labels":"cat"}`+"\n"+`{"text":"bark","labels":`+tc.labels+"}\n")
		model := file(t, "m.safetensors", "")
		for _, args := range [][]string{{"train", "--data", data, "--model", model}, {"compare", "--data", data}} {
			o := call(t, args...)
			if o.status != 1 || !strings.Contains(o.log, "bad.jsonl:2") || !strings.Contains(o.log, tc.want) || strings.Count(strings.TrimSpace(o.log), "\n") != 0 {
				t.Errorf("%s: status %d, %s want one line with %q", tc.labels, o.status, o.log, tc.want)
			}
		}
	}
}
