package main

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/explain"
)

// reasons reads lines of explain --json.
func reasons(t *testing.T, lines string) []explain.Explanation {
	t.Helper()
	var out []explain.Explanation
	for line := range strings.Lines(lines) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var e explain.Explanation
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

func addsUp(t *testing.T, c explain.Contrast) {
	t.Helper()
	sum := c.Bias + c.Rest
	for _, x := range c.Positive {
		sum += x.Contribution
	}
	for _, x := range c.Negative {
		sum += x.Contribution
	}
	if math.Abs(sum-c.Difference) > 1e-12 {
		t.Errorf("the parts add up to %v, want %v", sum, c.Difference)
	}
}

// Explain gives predict's answers, and reasons that make up its odds.
func TestExplainAgreesWithPredict(t *testing.T) {
	for _, tc := range []struct{ name, model, data string }{
		{"texts", quickModel(t), deskTest},
		{"numbers", breadModel(t), breads},
		{"v-tree", trainOn(t, "--data", desk, "--sharing", "v-tree", "--calibrate=false"), deskTest},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := reasons(t, succeed(t, "explain", "--model", tc.model, "--json", "--top", "2", tc.data).out)
			lines := strings.Split(strings.TrimSpace(succeed(t, "predict", "--model", tc.model, "--json", "--top", "2", tc.data).out), "\n")
			if len(got) != len(lines) {
				t.Fatalf("%d explanations for %d answers", len(got), len(lines))
			}
			for i, line := range lines {
				var a classify.Line
				if err := json.Unmarshal([]byte(line), &a); err != nil {
					t.Fatal(err)
				}
				e := got[i]
				if e.Label != a.Label || e.Probability != a.Probability || len(e.Decisions) != 1 {
					t.Fatalf("row %d: %q %v in %d decisions, predict says %+v", i, e.Label, e.Probability, len(e.Decisions), a)
				}
				d := e.Decisions[0]
				addsUp(t, d.Mean)
				addsUp(t, d.Rival.Contrast)
				if d.Rival.Name != a.Top[1].Label {
					t.Errorf("row %d: rival %q, want %q", i, d.Rival.Name, a.Top[1].Label)
				}
				if odds := math.Log(a.Probability / a.Top[1].Probability); math.Abs(odds-d.Rival.Difference) > 1e-3 {
					t.Errorf("row %d: scores differ by %v, log odds are %v", i, d.Rival.Difference, odds)
				}
				if len(d.Mean.Positive) > 2 || len(d.Mean.Negative) > 2 {
					t.Errorf("row %d: more than --top 2 features on a side", i)
				}
				if tc.name == "v-tree" && (len(e.Path) < 2 || e.Path[len(e.Path)-1].Name != e.Label || e.Path[0].Classes != 6) {
					t.Errorf("row %d: path %v, want one from the root to the class", i, e.Path)
				}
			}
		})
	}
}

func TestExplainText(t *testing.T) {
	o := callWith(t, "When do you open on Saturday?\n", "explain", "--quiet", "--model", quickModel(t), "--top", "3")
	for _, want := range []string{
		"standard input:1 \"When do you open on Saturday?\"\n", "answer: opening hours  ", "nearest by weights: ", "nearest by name: ",
		" nats is its score minus that of the mean of 6\n", " other features\n", "  bias\n", `word "open" at `,
	} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in\n%s", want, o.out)
		}
	}
	if o.status != 0 || strings.Contains(o.out, "path:") || strings.Contains(o.out, "decision 1") {
		t.Errorf("status %d, want no path and one decision:\n%s", o.status, o.out)
	}
}

func TestExplainHierarchicalSoftmax(t *testing.T) {
	model := trainOn(t, "--data", desk, "--taxonomy", deskGroups, "--loss", "hierarchical-softmax")
	o := succeed(t, "explain", "--model", model, deskTest)
	if !strings.Contains(o.out, "decision 1 of 2: ") || !strings.Contains(o.out, "path: (") || strings.Contains(o.out, "nearest by weights") {
		t.Errorf("want decisions along the path:\n%s", o.out)
	}
	for _, e := range reasons(t, succeed(t, "explain", "--json", "--model", model, deskTest).out) {
		product := 1.0
		for _, d := range e.Decisions {
			product *= d.Probability
			addsUp(t, d.Mean)
			addsUp(t, d.Rival.Contrast)
		}
		if math.Abs(product-e.Probability) > 1e-5 {
			t.Errorf("%q: decisions of probability %v, the answer has %v", e.Label, product, e.Probability)
		}
	}
}

func TestExplainAgainst(t *testing.T) {
	o := succeed(t, "explain", "--json", "--model", quickModel(t), "--against", "lost a card", deskTest)
	for _, e := range reasons(t, o.out) {
		if rival := e.Decisions[0].Rival.Name; (rival == "lost a card") == (e.Label == "lost a card") {
			t.Errorf("%q is compared with %q", e.Label, rival)
		}
	}
}

// Answers come while the input is still open, and those before a broken row
// come at all.
func TestExplainStreams(t *testing.T) {
	model := quickModel(t)
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- execute(t.Context(), []string{"explain", "--quiet", "--json", "--model", model}, in, out, io.Discard)
		out.Close()
	}()
	d := json.NewDecoder(answers)
	for _, question := range []string{"When do you open?", "My card was stolen"} {
		if _, err := io.WriteString(ask, question+"\n"); err != nil {
			t.Fatal(err)
		}
		var e explain.Explanation
		if err := d.Decode(&e); err != nil || e.Label == "" {
			t.Fatalf("%q: %+v, %v", question, e, err)
		}
	}
	ask.Close()
	if s := <-status; s != 0 {
		t.Errorf("status %d at the end", s)
	}
	o := callWith(t, "length,width,height,weight\n28,11,10,750\n9,8,broken,60\n", "explain", "--quiet", "--json", "--model", breadModel(t))
	if o.status != 1 || len(reasons(t, o.out)) != 1 || !strings.Contains(o.log, "standard input:3") {
		t.Errorf("status %d, %q, %q: want the first answer, then the error", o.status, o.out, o.log)
	}
}

func TestBadExplain(t *testing.T) {
	refuse(t, quickModel(t), []badInput{
		{"no model", []string{"explain", deskTest}, 2, []string{"--model"}},
		{"two files", []string{"explain", "--model", "MODEL", "a", "b"}, 2, []string{"one file"}},
		{"no feature", []string{"explain", "--model", "MODEL", "--top", "0", deskTest}, 2, []string{"--top"}},
		{"unknown class", []string{"explain", "--model", "MODEL", "--against", "coffee", deskTest}, 1, []string{"m.safetensors", `"coffee"`}},
		{"missing model", []string{"explain", "--model", "missing.safetensors", deskTest}, 1, []string{"missing.safetensors", "check the path"}},
		{"no model file", []string{"explain", "--model", desk, deskTest}, 1, []string{"desk.csv"}},
		{"missing file", []string{"explain", "--model", "MODEL", "missing.txt"}, 1, []string{"missing.txt", "check the path"}},
		{"numbers for a model of texts", []string{"explain", "--model", "MODEL", breads, "--features", "length"}, 1, []string{"breads.csv", "text"}},
		{"invalid UTF-8", []string{"explain", "--model", "MODEL", file(t, "latin1.txt", "caf\xe9\n")}, 1, []string{"latin1.txt:1", "UTF-8"}},
	})
}
