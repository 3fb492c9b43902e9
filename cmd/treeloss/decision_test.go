package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/console"
)

// deskModel is calibrated and knows the groups of its classes.
func deskModel(t *testing.T) string {
	t.Helper()
	return trainOn(t, "--data", desk, "--sharing", "none", "--taxonomy", deskGroups, "--calibrate")
}

// groups returns the path of each node of deskGroups, from the root.
func groups(t *testing.T) map[string]string {
	t.Helper()
	parent := map[string]string{}
	for _, row := range rowsOf(t, deskGroups) {
		parent[row[0]] = row[1]
	}
	path := map[string]string{"library": "library"}
	for node := range parent {
		p := node
		for up := parent[node]; up != ""; up = parent[up] {
			p = up + " > " + p
		}
		path[node] = p
	}
	return path
}

func lines(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }

func TestPredictHedges(t *testing.T) {
	model, paths := deskModel(t), groups(t)
	right, single := 0, 0
	for _, confidence := range []string{"0.6", "0.9", "1"} {
		right, single = 0, 0
		tsv := lines(succeed(t, "predict", "--model", model, "--confidence", confidence, deskTest).out)
		jsonl := lines(succeed(t, "predict", "--json", "--model", model, "--confidence", confidence, deskTest).out)
		least, _ := strconv.ParseFloat(confidence, 64)
		for i, line := range tsv {
			cells := strings.Split(line, "\t")
			if len(cells) != 3 || paths[cells[0]] != cells[2] {
				t.Fatalf("line %q, want a node, its probability and its path", line)
			}
			if p, err := strconv.ParseFloat(cells[1], 64); err != nil || p < least-1e-5 {
				t.Errorf("line %q, want a probability of %v at least", line, least)
			}
			var a classify.Line
			if err := json.Unmarshal([]byte(jsonl[i]), &a); err != nil || a.Label != cells[0] || strings.Join(a.Path, " > ") != cells[2] {
				t.Errorf("JSON %q, want the same as %q", jsonl[i], line)
			}
			if (a.Classes == 1) != (len(a.Path) == 3) || a.Label == "library" && a.Classes != 6 {
				t.Errorf("JSON %q: %d classes left open", jsonl[i], a.Classes)
			}
			if truth := paths[rowsOf(t, deskTest)[i][1]]; strings.HasPrefix(truth, cells[2]) {
				right++
			}
			if a.Classes == 1 {
				single++
			}
		}
		// What evaluate says about the same answers.
		e := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest, "--confidence", confidence).out)["hedged"].(map[string]any)
		h := e["answers"].(map[string]any)
		if e["confidence"] != least || math.Abs(h["accuracy"].(float64)-float64(right)/12) > 1e-12 || math.Abs(h["class_share"].(float64)-float64(single)/12) > 1e-12 {
			t.Errorf("evaluate says %v, predict had %d right and %d single classes of 12", e, right, single)
		}
	}
	if single > 0 {
		t.Errorf("%d answers of a single class with confidence 1", single)
	}
}

func TestPredictRejects(t *testing.T) {
	model := deskModel(t)
	plain := lines(succeed(t, "predict", "--model", model, deskTest).out)
	jsonl := lines(succeed(t, "predict", "--json", "--top", "2", "--model", model, "--reject", "0.9", deskTest).out)
	answered, right := 0.0, 0.0
	for i, line := range lines(succeed(t, "predict", "--top", "2", "--model", model, "--reject", "0.9", deskTest).out) {
		cells, was := strings.Split(line, "\t"), strings.Split(plain[i], "\t")
		p, err := strconv.ParseFloat(was[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		var a classify.Line
		if err := json.Unmarshal([]byte(jsonl[i]), &a); err != nil {
			t.Fatal(err)
		}
		if a.Rejected != (p < 0.9) || a.Rejected != (a.Label == "") || len(a.Top) != 2 || a.Top[0].Label != was[0] {
			t.Errorf("JSON %q for the answer %q", jsonl[i], plain[i])
		}
		if p < 0.9 {
			if line != "\t"+was[1] {
				t.Errorf("line %q, want no label and %s", line, was[1])
			}
			continue
		}
		if len(cells) != 4 || cells[0] != was[0] {
			t.Errorf("line %q, want the answer %q and the next", line, plain[i])
		}
		answered++
		if cells[0] == rowsOf(t, deskTest)[i][1] {
			right++
		}
	}
	if answered == 0 || answered == 12 {
		t.Fatalf("%v of 12 answered: the test tests nothing", answered)
	}
	e := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest, "--reject", "0.9").out)["reject"].(map[string]any)
	if e["answered"] != answered/12 || e["accuracy"] != right/answered {
		t.Errorf("evaluate says %v, predict answered %v of 12, %v rightly", e, answered, right)
	}
	for _, all := range []string{"0", "1"} {
		o := succeed(t, "predict", "--model", model, "--reject", all, deskTest)
		if n := strings.Count("\n"+o.out, "\n\t"); n != map[string]int{"0": 0, "1": 12}[all] {
			t.Errorf("--reject %s rejects %d of 12", all, n)
		}
	}
}

func TestDecodeCost(t *testing.T) {
	model, paths := deskModel(t), groups(t)
	// The height of the lowest common ancestor: 1 within a group, 2 across.
	cost := func(a, b string) float64 {
		switch {
		case a == b:
			return 0
		case paths[a][:strings.LastIndex(paths[a], ">")] == paths[b][:strings.LastIndex(paths[b], ">")]:
			return 1
		}
		return 2
	}
	likely := lines(succeed(t, "predict", "--json", "--top", "6", "--model", model, deskTest).out)
	right, severity := 0.0, 0.0
	for i, line := range lines(succeed(t, "predict", "--json", "--top", "6", "--decode", "cost", "--model", model, deskTest).out) {
		var got, p classify.Line
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(likely[i]), &p); err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for _, a := range got.Top {
			want := 0.0
			for _, b := range p.Top {
				want += b.Probability * cost(a.Label, b.Label)
			}
			if a.Cost == nil || math.Abs(*a.Cost-want) > 1e-5 || *a.Cost < last {
				t.Errorf("%s costs %v, want %v, in rising order", a.Label, a.Cost, want)
			}
			last = *a.Cost
		}
		truth := rowsOf(t, deskTest)[i][1]
		severity += cost(got.Label, truth)
		if got.Label == truth {
			right++
		}
	}
	e := parse(t, succeed(t, "evaluate", "--json", "--decode", "cost", "--model", model, "--data", deskTest).out)
	if e["decode"] != "cost" || e["accuracy"] != right/12 || math.Abs(e["hierarchical_distance_1"].(float64)-severity/12) > 1e-12 {
		t.Errorf("evaluate: %v, accuracy %v, distance %v; predict: %v and %v", e["decode"], e["accuracy"], e["hierarchical_distance_1"], right/12, severity/12)
	}
}

func TestEvaluateOnATree(t *testing.T) {
	with, without := deskModel(t), trainOn(t, "--data", desk, "--sharing", "none", "--calibrate")
	keys := []string{"mistake_severity", "hierarchical_distance_1", "hierarchical_distance_5", "hierarchical_distance_20",
		"hierarchical_precision", "hierarchical_recall", "hierarchical_f1"}
	own := parse(t, succeed(t, "evaluate", "--json", "--model", with, "--data", deskTest).out)
	// The model's own tree is that of the file, so both say the same of its answers.
	given := parse(t, succeed(t, "evaluate", "--json", "--model", with, "--data", deskTest, "--taxonomy", deskGroups).out)
	none := parse(t, succeed(t, "evaluate", "--json", "--model", without, "--data", deskTest).out)
	if own["tree"] != "model" || given["tree"] != "taxonomy" || none["tree"] != "" {
		t.Errorf("trees of %v, %v and %v", own["tree"], given["tree"], none["tree"])
	}
	for _, key := range keys {
		if own[key] == nil || own[key] != given[key] || none[key] != nil {
			t.Errorf("%s: %v with the model's tree, %v with --taxonomy, %v without", key, own[key], given[key], none[key])
		}
	}
	mistakes := 1 - own["accuracy"].(float64)
	if d := own["hierarchical_distance_1"].(float64); math.Abs(d-mistakes*own["mistake_severity"].(float64)) > 1e-12 {
		t.Errorf("distance %v, want the severity %v of the mistakes %v", d, own["mistake_severity"], mistakes)
	}
	o := succeed(t, "evaluate", "--model", with, "--data", deskTest)
	for _, line := range lines(o.out) {
		if strings.Contains(line, "severity") && !strings.Contains(line, "at accuracy ") {
			t.Errorf("%q: severity without accuracy", line)
		}
	}
	if !strings.Contains(o.out, "mistake severity") || !strings.Contains(o.out, "hierarchical F1") {
		t.Errorf("%s\nwant severity and hierarchical F1", o.out)
	}
	if o := succeed(t, "evaluate", "--model", with, "--data", desk); !strings.Contains(o.out, "no mistakes at accuracy 100.0") {
		t.Errorf("%s\nwant no mistakes on the training rows", o.out)
	}
}

// strange is a file of examples that belong to no class.
func strange(t *testing.T) string {
	t.Helper()
	return file(t, "strange.txt", "how tall is the moon\nmy dog barks at night\nopen the closest card\nwhat is seven times nine\n")
}

func TestEvaluateOutOfScope(t *testing.T) {
	model, path := deskModel(t), strange(t)
	labelled := "text,label\n"
	for _, line := range lines(string(content(t, path))) {
		labelled += line + ",nothing\n"
	}
	table := file(t, "strange.csv", labelled)
	confidence := func(path string) (p []float64) {
		for _, line := range lines(succeed(t, "predict", "--json", "--model", model, path).out) {
			var a classify.Line
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			p = append(p, a.Probability)
		}
		return p
	}
	in, out := confidence(deskTest), confidence(path)
	wins := 0.0
	for _, a := range in {
		for _, b := range out {
			switch {
			case a > b:
				wins++
			case a == b:
				wins += 0.5
			}
		}
	}
	truth := rowsOf(t, deskTest)
	answers := lines(succeed(t, "predict", "--model", model, deskTest).out)
	right := func(threshold float64) (decisions, detections float64) {
		for i, p := range in {
			if p >= threshold {
				detections++
				if strings.HasPrefix(answers[i], truth[i][1]+"\t") {
					decisions++
				}
			}
		}
		for _, p := range out {
			if p < threshold {
				decisions++
				detections++
			}
		}
		n := float64(len(in) + len(out))
		return decisions / n, detections / n
	}
	for _, tc := range []struct {
		args      []string
		threshold float64
	}{
		{[]string{"--oos", path}, 0.5},
		{[]string{"--oos", table}, 0.5},
		{[]string{"--oos", path, "--reject", "0.8", "--threads", "3"}, 0.8},
	} {
		args := append([]string{"evaluate", "--model", model, "--data", deskTest}, tc.args...)
		o := parse(t, succeed(t, append(args, "--json")...).out)["out_of_scope"].(map[string]any)
		auroc := o["auroc"].(map[string]any)
		if math.Abs(auroc["mean"].(float64)-wins/48) > 1e-12 || auroc["se"] == nil {
			t.Errorf("%q: AUROC %v, want %v and its error", tc.args, auroc, wins/48)
		}
		at, best := o["at"].(map[string]any), o["best"].(map[string]any)
		decisions, detections := right(tc.threshold)
		if at["threshold"] != tc.threshold || at["right_decisions"] != decisions || at["right"] != detections || at["in_scope"] != 12.0 || at["out_of_scope"] != 4.0 {
			t.Errorf("%q: %v, want %v right decisions and %v right detections", tc.args, at, decisions, detections)
		}
		most := 0.0
		for _, threshold := range append(append([]float64{2}, in...), out...) {
			d, _ := right(threshold)
			most = max(most, d)
		}
		if best["right_decisions"] != most {
			t.Errorf("%q: best %v, want %v right decisions", tc.args, best, most)
		}
		if o := succeed(t, args...); !strings.Contains(o.out, "out of scope: AUROC "+console.Points(wins/48)+" ± ") || !strings.Contains(o.out, "right decisions") {
			t.Errorf("%s\nwant the AUROC and a table of thresholds", o.out)
		}
	}
}

func TestDecisionsTakeCalibratedProbabilities(t *testing.T) {
	for model, want := range map[string]bool{quickModel(t): true, deskModel(t): false} {
		o := succeed(t, "predict", "--model", model, "--reject", "0.5", deskTest)
		if strings.Contains(o.log, "not calibrated") != want {
			t.Errorf("log %q, want a note: %v", o.log, want)
		}
	}
}

func TestBadDecisions(t *testing.T) {
	predict := func(more ...string) []string {
		return append([]string{"predict", "--model", "MODEL", deskTest}, more...)
	}
	evaluate := func(more ...string) []string {
		return append([]string{"evaluate", "--model", "MODEL", "--data", deskTest}, more...)
	}
	other := file(t, "other.csv", "child,parent\nred,colours\nblue,colours\n")
	inScope := file(t, "in.csv", "text,label\nhow tall is the moon,nothing\nwhere is my card,lost a card\n")
	noTree := []string{"m.safetensors", "no tree", "--taxonomy FILE", "--sharing linkage"}
	refuse(t, quickModel(t), []badInput{
		{"predict: confidence without a tree", predict("--confidence", "0.9"), 1, append(noTree, "--confidence")},
		{"predict: cost without a tree", predict("--decode", "cost"), 1, append(noTree, "--decode cost")},
		{"evaluate: confidence without a tree", evaluate("--confidence", "0.9"), 1, noTree},
		{"evaluate: cost without a tree", evaluate("--decode", "cost"), 1, noTree},
		{"confidence above 1", predict("--confidence", "90"), 2, []string{"--confidence 90", "0.9"}},
		{"confidence of 0", evaluate("--confidence", "0"), 2, []string{"--confidence 0"}},
		{"confidence is NaN", predict("--confidence", "NaN"), 2, []string{"--confidence NaN"}},
		{"a negative reject", predict("--reject", "-0.1"), 2, []string{"--reject -0.1"}},
		{"reject above 1", evaluate("--reject", "1.1"), 2, []string{"--reject 1.1"}},
		{"unknown decode", predict("--decode", "best"), 2, []string{`--decode "best"`, "likely or cost"}},
		{"confidence and reject", predict("--confidence", "0.9", "--reject", "0.5"), 2, []string{"exclude each other"}},
		{"confidence and cost", predict("--confidence", "0.9", "--decode", "cost"), 2, []string{"exclude each other"}},
		{"confidence and top", predict("--confidence", "0.9", "--top", "3"), 2, []string{"--top 3"}},
		{"a taxonomy for nothing", predict("--taxonomy", deskGroups), 2, []string{"--taxonomy", "--confidence"}},
		{"a taxonomy of other classes", predict("--confidence", "0.9", "--taxonomy", other), 1, []string{"other.csv"}},
		{"no such taxonomy", evaluate("--taxonomy", "missing.csv"), 1, []string{"missing.csv"}},
		{"no such file out of scope", evaluate("--oos", "missing.csv"), 1, []string{"--oos", "missing.csv"}},
		{"an empty file out of scope", evaluate("--oos", file(t, "empty.txt", "")), 1, []string{"--oos", "empty.txt"}},
		{"numbers out of scope", evaluate("--oos", breads), 1, []string{"--oos", "breads.csv"}},
		{"a class out of scope", evaluate("--oos", inScope), 1, []string{"in.csv:3", `"lost a card"`, "--oos"}},
		{"two standard inputs", []string{"evaluate", "--model", "MODEL", "--data", "-", "--oos", "-"}, 2, []string{"standard input"}},
		{"nothing in scope", []string{"evaluate", "--model", "MODEL", "--data", strangeRows(t), "--oos", strange(t)}, 1, []string{"--oos", "0 examples in scope"}},
	})
}

func strangeRows(t *testing.T) string {
	t.Helper()
	return file(t, "rows.csv", "text,label\nhow tall is the moon,nothing\n")
}

// A table without a label column is read as texts out of scope, too.
func TestOutOfScopeWithoutLabels(t *testing.T) {
	path := file(t, "plain.csv", "id,text\n1,how tall is the moon\n2,my dog barks\n")
	o := succeed(t, "evaluate", "--json", "--model", quickModel(t), "--data", deskTest, "--oos", path)
	if at := parse(t, o.out)["out_of_scope"].(map[string]any)["at"].(map[string]any); at["out_of_scope"] != 2.0 {
		t.Errorf("%v, want two examples out of scope", at)
	}
}

func TestEvaluatePrintsDecisions(t *testing.T) {
	model := deskModel(t)
	o := succeed(t, "evaluate", "--model", model, "--data", deskTest, "--confidence", "0.9", "--reject", "0.9", "--oos", strange(t))
	for _, want := range []string{"hedged answers of confidence 0.9", "coverage: a single class", "the root, which says nothing",
		"rejected below 0.9: ", "of these rightly", "0.9 (--reject)", "best for these, flatters"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%s\nwant %q", o.out, want)
		}
	}
	o = succeed(t, "evaluate", "--model", model, "--data", deskTest, "--reject", "1")
	if !strings.Contains(o.out, "rejected below 1: 0.0 % of the examples are answered\n") {
		t.Errorf("%s\nwant that none is answered", o.out)
	}
}
