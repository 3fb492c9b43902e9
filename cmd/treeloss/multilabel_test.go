package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// topicRows are texts with none to three topics each.
func topicRows(n int) (texts []string, topics [][]string) {
	words := map[string][]string{"sport": {"ball", "goal", "team"}, "money": {"bank", "price", "tax"}, "food": {"bread", "soup", "cook"}}
	for i := 1; i <= n; i++ { // none of the first is without a topic
		text, own := fmt.Sprintf("the day %d", i), []string{}
		for j, topic := range []string{"sport", "money", "food"} {
			if i>>j&1 == 1 {
				own = append(own, topic)
				text += " " + words[topic][i%3] + " " + words[topic][(i+1)%3]
			}
		}
		texts, topics = append(texts, text), append(topics, own)
	}
	return texts, topics
}

// topicFiles are the same rows in each of the formats.
func topicFiles(t *testing.T, n int) map[string]string {
	t.Helper()
	out := map[string]*strings.Builder{}
	for _, name := range []string{"a.jsonl", "a.csv", "a.ft"} {
		out[name] = new(strings.Builder)
	}
	fmt.Fprintln(out["a.csv"], "text,label")
	texts, topics := topicRows(n)
	for i, text := range texts {
		list, err := json.Marshal(topics[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out["a.jsonl"], "{\"text\":%q,\"labels\":%s}\n", text, list)
		fmt.Fprintf(out["a.csv"], "%s,%s\n", text, strings.Join(topics[i], ";"))
		for _, topic := range topics[i] {
			fmt.Fprintf(out["a.ft"], "__label__%s ", topic)
		}
		fmt.Fprintln(out["a.ft"], text)
	}
	files := map[string]string{}
	for name, text := range out {
		files[name] = file(t, name, text.String())
	}
	return files
}

// Each format gives the same model; train finds by itself that rows have several labels and
// says so, evaluate measures, and predict answers with none, one or more of them.
func TestMultilabelCommands(t *testing.T) {
	files := topicFiles(t, 120)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	first := ""
	for name, flags := range map[string][]string{"a.jsonl": nil, "a.csv": {"--label-separator", ";"}, "a.ft": nil} {
		o := succeed(t, append([]string{"train", "--data", files[name], "--model", model}, flags...)...)
		if name != "a.csv" && !strings.Contains(o.log, "several labels an example: training a decision for each class (--multilabel); --first-label trains one class an example") {
			t.Errorf("%s: the log does not say what was found: %q", name, o.log)
		}
		if !strings.Contains(o.out, "held-out precision at 1") || !strings.Contains(o.out, "3 classes") {
			t.Errorf("%s: %q", name, o.out)
		}
		o = succeed(t, "evaluate", "--model", model, "--data", files[name], "--json")
		var r struct {
			P1     float64 `json:"precision_at_1"`
			F1     float64 `json:"micro_f1"`
			Subset float64 `json:"subset_accuracy"`
			Count  int     `json:"examples"`
		}
		if err := json.Unmarshal([]byte(o.out), &r); err != nil || r.P1 < 0.95 || r.F1 < 0.95 || r.Subset < 0.9 || r.Count != 120 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		o = succeed(t, "predict", "--model", model, files["a.jsonl"])
		if first == "" {
			first = o.out
		}
		if o.out != first {
			t.Errorf("%s: other answers than of the formats before", name)
		}
	}
	lines := strings.Split(first, "\n")
	if !strings.HasPrefix(lines[0], "sport\t0.") || strings.Count(lines[0], "\t") != 1 || strings.Count(lines[2], "\t") != 3 || lines[7] != "" {
		t.Errorf("answers %q, want sport, money, two of them, and none in the eighth", lines[:8])
	}
	ask := file(t, "ask.txt", "a goal and a tax\nthe day\n")
	for _, tc := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--top", "1"}, "\t"},
		{[]string{"--top", "3"}, "food"},
		{[]string{"--threshold", "0.000001"}, "food"},
		{[]string{"--output", "fasttext"}, "__label__sport 0."},
		{[]string{"--json"}, `"labels":[]`},
	} {
		if o := succeed(t, append([]string{"predict", "--model", model, ask}, tc.flags...)...); !strings.Contains(o.out, tc.want) || strings.Count(o.out, "\n") != 2 {
			t.Errorf("predict %v: %q, want %q in two lines", tc.flags, o.out, tc.want)
		}
	}
	if o := succeed(t, "evaluate", "--model", model, "--data", files["a.ft"]); !strings.Contains(o.out, "propensity-scored precision at 5") || !strings.Contains(o.out, "labels an example") {
		t.Errorf("evaluate: %q", o.out)
	}
	whole := succeed(t, "evaluate", "--model", model, "--data", files["a.ft"], "--json").out
	folder := inParts(t, 5, "evaluate", "--model", model, "--data", files["a.ft"])
	if o := succeed(t, "gather", folder, "--json"); noSeconds(o.out) != noSeconds(whole) {
		t.Errorf("gathered %s, want %s", o.out, whole)
	}
	strange := file(t, "strange.ft", "__label__sport __label__chess the goal\n")
	if o := succeed(t, "evaluate", "--model", model, "--data", strange); !strings.Contains(o.log, `"chess"`) {
		t.Errorf("a label never trained: %q", o.log)
	}
	if o := call(t, "evaluate", "--model", model, "--data", strange, "--unknown-labels", "error"); o.status != 1 || !strings.Contains(o.log, "strange.ft:1") {
		t.Errorf("a label never trained that is an error: %q", o.log)
	}
	same := filepath.Join(t.TempDir(), "same.safetensors")
	succeed(t, "train", "--data", files["a.ft"], "--model", model, "--threads", "1")
	succeed(t, "train", "--data", files["a.ft"], "--model", same, "--threads", "3", "--multilabel")
	a, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(same); err != nil || string(a) != string(b) {
		t.Errorf("other bytes with three threads, or where several labels are said: %v", err)
	}
	for _, format := range []string{"onnx", "npy", "json", "csv", "fasttext"} {
		succeed(t, "export", "--model", model, "--format", format, "--out", filepath.Join(t.TempDir(), "out."+format))
	}
}

// What has no place with several labels says so in one line, and what to do.
func TestMultilabelRefused(t *testing.T) {
	files := topicFiles(t, 40)
	model, single := filepath.Join(t.TempDir(), "m.safetensors"), filepath.Join(t.TempDir(), "s.safetensors")
	succeed(t, "train", "--data", files["a.jsonl"], "--model", model, "--thresholds", "class")
	succeed(t, "train", "--data", desk, "--model", single)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"train", "--data", files["a.ft"], "--model", model, "--sharing", "names"}, "--sharing has no effect with"},
		{[]string{"train", "--data", files["a.ft"], "--model", model, "--thresholds", "none"}, `--thresholds "none", want global or class`},
		{[]string{"train", "--data", files["a.csv"], "--model", model, "--multilabel"}, "say with --label-separator what stands between"},
		{[]string{"train", "--data", files["a.ft"], "--model", model, "--multilabel", "--first-label"}, "--first-label and --multilabel exclude each other"},
		{[]string{"compare", "--data", files["a.ft"], "--test", files["a.ft"]}, "--first-label"},
		{[]string{"cv", "--data", files["a.jsonl"]}, "train with --multilabel"},
		{[]string{"tune", "--data", files["a.jsonl"]}, "train with --multilabel"},
		{[]string{"doctor", "--data", files["a.jsonl"]}, "train with --multilabel"},
		{[]string{"evaluate", "--model", model, "--data", files["a.jsonl"], "--reject", "0.5"}, "--reject has no effect with a model of several labels"},
		{[]string{"evaluate", "--model", model, "--data", files["a.jsonl"], "--report", t.TempDir()}, "--report has no effect with"},
		{[]string{"evaluate", "--model", single, "--data", deskTest, "--threshold", "0.5"}, "answer nothing below --reject"},
		{[]string{"predict", "--model", single, deskTest, "--threshold", "0.5"}, "answer nothing below --reject"},
		{[]string{"predict", "--model", model, deskTest, "--threshold", "0"}, "--threshold 0, want a probability above 0"},
		{[]string{"predict", "--model", model, deskTest, "--confidence", "0.9"}, "--confidence has no effect"},
		{[]string{"explain", "--model", model, deskTest}, "several labels an example"},
		{[]string{"export", "--model", model, "--out", filepath.Join(t.TempDir(), "x"), "--data", files["a.jsonl"]}, "several labels an example"},
		{[]string{"train", "--data", desk, "--model", single, "--init-model", model}, "several labels an example"},
	} {
		o := call(t, tc.args...)
		if o.status == 0 || !strings.Contains(o.log, tc.want) || strings.Contains(o.log, "Options.") {
			t.Errorf("%v: status %d, %q, want %q", tc.args, o.status, o.log, tc.want)
		}
	}
}
