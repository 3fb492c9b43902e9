package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seen are so many texts of each class, a third of which could be of any.
func seen(t *testing.T, name string, each map[string]int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	for _, class := range []string{"cat", "dog", "emu"} {
		for i := range each[class] {
			text := class + " makes a noise"
			if i%3 == 0 {
				text = "something"
			}
			fmt.Fprintf(&b, "%s number%d,%s\n", text, i%7, class)
		}
	}
	return file(t, name, b.String())
}

// chances returns the probabilities of all classes for two texts.
func chances(t *testing.T, args ...string) (list []any) {
	t.Helper()
	texts := file(t, "texts.txt", "something number3\ndog makes a noise\n")
	args = append([]string{"predict", "--quiet", "--json", "--probabilities", texts}, args...)
	for line := range strings.Lines(succeed(t, args...).out) {
		list = append(list, parse(t, line)["probabilities"].([]any)...)
	}
	return list
}

// sameChances tells whether probabilities are the same to 1e-6.
func sameChances(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool { return math.Abs(x.(float64)-y.(float64)) < 1e-6 })
}

// --class-balance with the frequencies of the training changes nothing: the counts of the
// classes, or even ones where these are what examples weigh in training. Test examples of
// other frequencies are answered better with these.
func TestClassBalance(t *testing.T) {
	uneven := map[string]int{"cat": 90, "dog": 30, "emu": 9}
	few, many := seen(t, "few.csv", map[string]int{"cat": 30, "dog": 30, "emu": 30}), seen(t, "many.csv", uneven)
	counts := file(t, "counts.csv", "label,weight\ncat,90\ndog,30\nemu,9\n")
	model := map[string]string{}
	for name, args := range map[string][]string{"even": {"--data", few}, "uneven": {"--data", many}, "weighed": {"--data", many, "--class-weight", "balanced"}} {
		model[name] = filepath.Join(t.TempDir(), name)
		succeed(t, append([]string{"train", "--quiet", "--sharing", "none", "--model", model[name]}, args...)...)
	}
	for name, balance := range map[string]string{"even": "uniform", "uneven": counts, "weighed": "uniform"} {
		plain := chances(t, "--model", model[name])
		if got := chances(t, "--model", model[name], "--class-balance", balance); !sameChances(plain, got) {
			t.Errorf("%s: %v, by the frequencies of the training %v", name, plain, got)
		}
	}
	if a, b := chances(t, "--model", model["weighed"]), chances(t, "--model", model["weighed"], "--class-balance", counts); sameChances(a, b) {
		t.Errorf("weights of classes do not count: %v", a)
	}
	measure := func(args ...string) (accuracy, logLoss float64) {
		r := parse(t, succeed(t, append([]string{"evaluate", "--quiet", "--json", "--model", model["even"], "--data", many}, args...)...).out)
		return r["accuracy"].(float64), r["log_loss"].(float64)
	}
	plain, plainLoss := measure()
	rest := file(t, "rest.csv", "cat,90\ndog,30\n*,9\n")
	balanced, loss := measure("--class-balance", rest)
	if balanced < plain+0.1 || loss > 0.9*plainLoss {
		t.Errorf("accuracy %v, log loss %v by the frequencies of the examples; without %v and %v", balanced, loss, plain, plainLoss)
	}
	// A rule decides by the new probabilities.
	if got := succeed(t, "predict", "--quiet", "--reject", "0.6", "--class-balance", rest, "--model", model["even"], file(t, "t.txt", "something number3\n")).out; !strings.HasPrefix(got, "cat\t") {
		t.Errorf("%q, want a cat that is not rejected", got)
	}
	url, _, _ := serving(t, "--model", "a="+model["even"], "--model", "b="+model["even"], "--class-balance", "a="+rest)
	a, b := asked(t, url+"/v1/predict", `{"model":"a","text":"something number3"}`), asked(t, url+"/v1/predict", `{"model":"b","text":"something number3"}`)
	if want := strings.TrimSpace(callWith(t, "something number3\n", "predict", "--json", "--class-balance", rest, "--model", model["even"]).out); a != want || a == b {
		t.Errorf("served %s and %s, want %s with the frequencies, and another without", a, b, want)
	}
	several := topicFiles(t, 200)
	topics := filepath.Join(t.TempDir(), "topics")
	succeed(t, "train", "--quiet", "--data", several["a.jsonl"], "--model", topics)
	with := func(command, balance string) []string {
		return []string{command, "--model", model["even"], "--class-balance", balance}
	}
	refuse(t, model["even"], []badInput{
		{"no file", append(with("predict", "nowhere.csv"), few), 1, []string{"nowhere.csv: no such file; --class-balance wants uniform or a file of label,weight rows"}},
		{"a class is missing", append(with("predict", file(t, "w.csv", "cat,1\n")), few), 1, []string{`no weight for "dog", "emu"`, "w.csv"}},
		{"no such class", append(with("evaluate", file(t, "w.csv", "cow,1\n*,1\n")), "--data", few), 1, []string{`no class "cow"`}},
		{"zero", append(with("predict", file(t, "w.csv", "cat,0\n*,1\n")), few), 1, []string{`weight of "cat" is 0, want a number above 0`}},
		{"negative", append(with("predict", file(t, "w.csv", "cat,-1\n*,1\n")), few), 1, []string{"w.csv:1", "-1", "0 or more"}},
		{"a promise", append(with("predict", "uniform"), "--target-accuracy", "0.9", few), 2, []string{"--target-accuracy and --class-balance exclude each other"}},
		{"several labels", []string{"predict", "--model", topics, "--class-balance", "uniform", few}, 1, []string{"several labels"}},
		{"no such model", append(with("serve", "b=uniform"), "--addr", "127.0.0.1:0"), 2, []string{"no model is called b"}},
	})
}
