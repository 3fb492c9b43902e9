package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// guesses are texts of which a word says the class, and some that say nothing.
func guesses(t *testing.T, name string, n, seed int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	words := []string{"cat purrs", "dog barks", "car drives", "bus stops"}
	for i := range n {
		text, class := words[i%4], strings.Fields(words[i%4])[0]
		if (i*7+seed)%5 == 0 {
			text = "nothing"
		}
		fmt.Fprintf(&b, "%s number%d,%s\n", text, (i+seed)%17, class)
	}
	return file(t, name, b.String())
}

func TestTargetAccuracy(t *testing.T) {
	train, test := guesses(t, "train.csv", 400, 0), guesses(t, "test.csv", 200, 3)
	taxonomy := file(t, "groups.csv", "child,parent\ncat,animal\ndog,animal\ncar,thing\nbus,thing\nanimal,all\nthing,all\n")
	flat := filepath.Join(t.TempDir(), "flat")
	succeed(t, "train", "--data", train, "--model", flat, "--sharing", "none")
	tree := filepath.Join(t.TempDir(), "tree")
	succeed(t, "train", "--data", train, "--model", tree, "--sharing", "none", "--taxonomy", taxonomy)
	for _, model := range []string{flat, tree} {
		o := succeed(t, "evaluate", "--json", "--model", model, "--data", test, "--target-accuracy", "0.9")
		if !strings.Contains(o.log, "held-out examples") || !strings.Contains(o.log, "90 % confidence") {
			t.Errorf("log %q, want what the promise rests on", o.log)
		}
		r := parse(t, o.out)
		var share, right any
		if model == flat {
			s := r["reject"].(map[string]any)
			share, right = s["answered"], s["accuracy"]
		} else {
			s := r["hedged"].(map[string]any)["answers"].(map[string]any)
			share, right = s["answered"], s["answered_accuracy"]
		}
		if x := share.(float64); x < 0.5 || x == 1 || right.(float64) < 0.9 {
			t.Errorf("%v answered, %v right; want most, not all, and 0.9", share, right)
		}
		lines := strings.Split(strings.TrimSpace(succeed(t, "predict", "--json", "--model", model, "--target-accuracy", "0.9", file(t, "two.txt", "cat purrs\nnothing\n")).out), "\n")
		if got := parse(t, lines[0]); got["label"] != "cat" {
			t.Errorf("%v, want a cat", got)
		}
		if got := parse(t, lines[1]); got["label"] != "" || got["rejected"] != true || got["path"] != nil || !(got["probability"].(float64) < 0.9) {
			t.Errorf("%v, want no answer, and the probability that was too low", got)
		}
	}
	off := filepath.Join(t.TempDir(), "off")
	succeed(t, "train", "--data", train, "--calibrate", "off", "--model", off, "--sharing", "none")
	refuse(t, flat, []badInput{
		{"no accuracy", []string{"predict", "--model", flat, "--target-accuracy", "95", test}, 2, []string{"--target-accuracy 95", "below 1, such as 0.95"}},
		{"none at all", []string{"predict", "--model", flat, "--target-accuracy", "0", test}, 2, []string{"--target-accuracy 0", "above 0"}},
		{"not supported", []string{"predict", "--model", flat, "--target-accuracy", "0.999", test}, 1, []string{flat, "400 held-out examples support 0.", "at most", "ask for that"}},
		{"beside a threshold", []string{"predict", "--model", flat, "--target-accuracy", "0.9", "--reject", "0.3", test}, 2, []string{"--target-accuracy", "--reject", "exclude"}},
		{"beside costs", []string{"evaluate", "--model", tree, "--target-accuracy", "0.9", "--decode", "cost", "--data", test}, 2, []string{"--target-accuracy", "--decode cost", "exclude"}},
		{"beside a tree", []string{"predict", "--model", tree, "--target-accuracy", "0.9", "--taxonomy", taxonomy, test}, 2, []string{"tree of the model", "leave out --taxonomy"}},
		{"several nodes", []string{"predict", "--model", tree, "--target-accuracy", "0.9", "--top", "2", test}, 2, []string{"one node", "--top 2"}},
		{"not calibrated", []string{"predict", "--model", off, "--target-accuracy", "0.9", test}, 1, []string{off, "no answers to held-out examples", "train"}},
	})
}
