package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEvaluateJSON(t *testing.T) {
	model := quickModel(t)
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest).out)
	for _, key := range []string{"accuracy", "top5_accuracy", "macro_f1", "similarity_accuracy", "log_loss", "examples", "classes", "seconds",
		"calibration_error", "similarity_of", "per_class", "confusions", "unknown_labels", "skipped", "unknown"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no key %q", key)
		}
	}
	if got["examples"] != 12.0 || got["classes"] != 6.0 || got["unknown_labels"] != 0.0 {
		t.Errorf("%v examples, %v classes, %v unknown labels; want 12, 6 and 0", got["examples"], got["classes"], got["unknown_labels"])
	}
	// The table of classes and that of confusions add up to the accuracy.
	hits, examples := 0.0, 0.0
	for _, c := range got["per_class"].([]any) {
		c := c.(map[string]any)
		hits += c["recall"].(float64) * c["examples"].(float64)
		examples += c["examples"].(float64)
	}
	mistakes := 0.0
	for _, c := range got["confusions"].([]any) {
		mistakes += c.(map[string]any)["examples"].(float64)
	}
	accuracy := got["accuracy"].(float64)
	if math.Abs(hits/examples-accuracy) > 1e-12 || math.Abs(1-mistakes/examples-accuracy) > 1e-12 {
		t.Errorf("accuracy %v, %v hits and %v mistakes of %v examples", accuracy, hits, mistakes, examples)
	}
	if s := got["similarity_accuracy"].(float64); s < accuracy || s > 1 {
		t.Errorf("similarity accuracy %v, want from the accuracy %v to 1", s, accuracy)
	}
}

func TestEvaluateTable(t *testing.T) {
	model := quickModel(t)
	o := succeed(t, "evaluate", "--model", model, "--data", deskTest)
	for _, want := range []string{"accuracy", "top-5 accuracy", "macro F1", "similarity accuracy (name n-grams)", "log loss", "calibration error", "12 examples, 6 classes", "precision", "opening hours"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q, want %q in it", o.out, want)
		}
	}
}

func TestEvaluateShowsTheWorstClasses(t *testing.T) {
	var train, test strings.Builder
	train.WriteString("text,label\n")
	test.WriteString("text,label\n")
	for i := range 12 {
		name := string(rune('a' + i))
		for _, word := range []string{"red", "green", "blue"} {
			train.WriteString(word + strings.Repeat(name, 4) + ",class " + name + "\n")
		}
		if i == 3 {
			name = "e" // taken for another one
		}
		test.WriteString("grey" + strings.Repeat(name, 4) + ",class " + string(rune('a'+i)) + "\n")
	}
	model := trainOn(t, "--data", file(t, "train.csv", train.String()), "--sharing", "none")
	data := file(t, "test.csv", test.String())
	o := succeed(t, "evaluate", "--model", model, "--data", data)
	if !strings.Contains(o.out, "the worst 10 of 12 classes; --per-class prints all") {
		t.Errorf("%s\nwant ten of the classes", o.out)
	}
	_, table, _ := strings.Cut(o.out, "recall")
	if rows := strings.Split(table, "\n"); !strings.HasPrefix(rows[1], "class d") {
		t.Errorf("%s\nwant the class that was never right first", o.out)
	}
	if !strings.Contains(o.out, "class e         1") {
		t.Errorf("%s\nwant class d taken for class e once", o.out)
	}
	if o = succeed(t, "evaluate", "--per-class", "--model", model, "--data", data); strings.Contains(o.out, "the worst") || !strings.Contains(o.out, "class l") {
		t.Errorf("%s\nwant all classes", o.out)
	}
}

func TestUnknownLabels(t *testing.T) {
	model := quickModel(t)
	data := file(t, "strange.csv", string(content(t, deskTest))+"Is there coffee?,coffee\nAnd tea?,tea\nMore coffee?,coffee\n")
	known := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest).out)
	right := known["accuracy"].(float64) * 12

	o := succeed(t, "evaluate", "--json", "--model", model, "--data", data)
	wrong := parse(t, o.out)
	if math.Abs(wrong["accuracy"].(float64)-right/15) > 1e-12 || wrong["examples"] != 15.0 || wrong["unknown_labels"] != 3.0 || wrong["skipped"] != 0.0 {
		t.Errorf("by default: accuracy %v of %v examples, %v unknown, %v skipped", wrong["accuracy"], wrong["examples"], wrong["unknown_labels"], wrong["skipped"])
	}
	if wrong["log_loss"] != known["log_loss"] {
		t.Errorf("log loss %v with unknown labels, %v without: they have none", wrong["log_loss"], known["log_loss"])
	}
	for _, want := range []string{"warning: 3 of 15 examples", "count as wrong", `"coffee" (2, first at ` + data + ":14)", `"tea" (1, `} {
		if !strings.Contains(o.log, want) {
			t.Errorf("log %q, want %q in it", o.log, want)
		}
	}
	o = succeed(t, "evaluate", "--json", "--model", model, "--data", data, "--unknown-labels", "skip")
	skipped := parse(t, o.out)
	if skipped["accuracy"] != known["accuracy"] || skipped["examples"] != 12.0 || skipped["skipped"] != 3.0 || skipped["unknown_labels"] != 3.0 {
		t.Errorf("skip: accuracy %v of %v examples, %v skipped", skipped["accuracy"], skipped["examples"], skipped["skipped"])
	}
	if !strings.Contains(o.log, "left out") {
		t.Errorf("log %q, want that rows are left out", o.log)
	}
	if o := call(t, "evaluate", "--model", model, "--data", data, "--unknown-labels", "error"); o.status != 1 || !strings.Contains(o.log, "strange.csv:14") {
		t.Errorf("error: status %d, %q", o.status, o.log)
	}
}

func TestManyUnknownLabels(t *testing.T) {
	var data strings.Builder
	data.WriteString("text,label\n")
	for i := range 9 {
		data.WriteString("hello,stranger " + string(rune('a'+i)) + "\n")
	}
	o := succeed(t, "evaluate", "--json", "--model", quickModel(t), "--data", file(t, "all.csv", data.String()))
	if !strings.Contains(o.log, "and 4 more") {
		t.Errorf("log %q, want five labels and a count", o.log)
	}
	got := parse(t, o.out)
	if got["accuracy"] != 0.0 || got["log_loss"] != nil {
		t.Errorf("accuracy %v, log loss %v; want 0 and none", got["accuracy"], got["log_loss"])
	}
}

func TestEvaluateThreadsAgree(t *testing.T) {
	model := trainOn(t, "--data", desk, "--loss", "hierarchical-softmax", "--taxonomy", deskGroups)
	var first map[string]any
	for _, threads := range []string{"1", "2", "5"} {
		got := parse(t, succeed(t, "evaluate", "--json", "--threads", threads, "--model", model, "--data", desk).out)
		delete(got, "seconds")
		if first == nil {
			first = got
			continue
		}
		if a, b := first["log_loss"], got["log_loss"]; a != b {
			t.Errorf("log loss %v with one thread, %v with %s", a, b, threads)
		}
		if a, b := first["accuracy"], got["accuracy"]; a != b || a.(float64) < 0.9 {
			t.Errorf("accuracy %v with one thread, %v with %s, want the same and 0.9 at least", a, b, threads)
		}
	}
}

func TestEvaluateKnowsTheColumns(t *testing.T) {
	// Label and text are told to train only; a column with a usual name is not
	// taken instead.
	data := "text,asks,topic\n"
	for _, row := range rowsOf(t, desk) {
		data += `same,"` + row[0] + `",` + row[1] + "\n"
	}
	path := file(t, "odd.csv", data)
	model := trainOn(t, "--data", path, "--text", "asks", "--label", "topic", "--sharing", "none")
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", path).out)
	if a := got["accuracy"].(float64); a < 0.9 {
		t.Errorf("accuracy %v on the training rows, want 0.9 at least", a)
	}
	// A file with the usual names is understood too.
	got = parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest).out)
	if a := got["accuracy"].(float64); a < 0.7 {
		t.Errorf("accuracy %v, want 0.7 at least", a)
	}
	// Numeric columns are found by name, in whatever order.
	swapped := "bread,weight,extra,height,width,length\n"
	for _, row := range rowsOf(t, breads) {
		swapped += strings.Join([]string{row[5], row[4], "0", row[3], row[2], row[1]}, ",") + "\n"
	}
	numbers := breadModel(t)
	want := parse(t, succeed(t, "evaluate", "--json", "--model", numbers, "--data", breads).out)
	got = parse(t, succeed(t, "evaluate", "--json", "--model", numbers, "--data", file(t, "swapped.csv", swapped)).out)
	if want["log_loss"] != got["log_loss"] {
		t.Errorf("log loss %v with the columns in another order, want %v", got["log_loss"], want["log_loss"])
	}
}

func TestEvaluateStandardInput(t *testing.T) {
	model := quickModel(t)
	o := callWith(t, string(content(t, deskTest)), "evaluate", "--json", "--model", model, "--data", "-")
	if got := parse(t, o.out); got["examples"] != 12.0 {
		t.Errorf("%v examples from standard input, want 12", got["examples"])
	}
	if o := call(t, "evaluate", "--model", model, "--data", "-", "--data", filepath.Join("testdata", "desk.csv")); o.status != 2 {
		t.Errorf("standard input and a file: status %d", o.status)
	}
}

// The rows of --out are those of the file, in its order, and add up to what is printed.
func TestEvaluateRows(t *testing.T) {
	model := quickModel(t)
	data := "number,text,label\n"
	for i, row := range rowsOf(t, deskTest) {
		data += "no " + strconv.Itoa(i) + ",\"" + row[0] + "\"," + row[1] + "\n"
	}
	data += "\"a,\"\"b\"\"\",\"Is there \"\"coffee\"\",\nor tea?\",coffee\n"
	path := file(t, "x.csv", data)
	dir := t.TempDir()
	args := []string{"evaluate", "--json", "--model", model, "--data", path, "--id", "number", "--threads", "2", "--out"}
	measured := parse(t, succeed(t, append(args, filepath.Join(dir, "rows.csv"))...).out)
	table := csvRows(t, filepath.Join(dir, "rows.csv"))
	if got := strings.Join(table[0], ","); got != "place,id,text,label,predicted,right,probability,label_probability" || len(table) != 14 {
		t.Fatalf("%d rows with the columns %s, want 13 and a header", len(table), got)
	}
	input := rowsOf(t, path)
	right, loss := 0.0, 0.0
	for i, row := range table[1:] {
		if row[0] != path+":"+strconv.Itoa(i+2) || row[1] != input[i][0] || row[2] != input[i][1] || row[3] != input[i][2] {
			t.Errorf("row %d is %q, want %q", i, row, input[i])
		}
		if (row[5] == "1") != (row[3] == row[4]) {
			t.Errorf("%q: predicted %q for %q", row[5], row[4], row[3])
		}
		p, err := strconv.ParseFloat(row[6], 64)
		if err != nil || p <= 1.0/6 || p > 1 {
			t.Errorf("the probability of the answer is %q, of six classes", row[6])
		}
		if i == 12 { // coffee was never trained
			if row[5] != "0" || row[7] != "" {
				t.Errorf("a label that was never trained: %q", row)
			}
			continue
		}
		of, err := strconv.ParseFloat(row[7], 64)
		if err != nil || (of == p) != (row[5] == "1") || of > p {
			t.Errorf("probability %q of the label, %q of the answer, right: %s", row[7], row[6], row[5])
		}
		loss -= math.Log(of) / 12
		if row[5] == "1" {
			right++
		}
	}
	if accuracy := measured["accuracy"].(float64); math.Abs(right/13-accuracy) > 1e-12 || math.Abs(loss-measured["log_loss"].(float64)) > 1e-6 {
		t.Errorf("the rows have accuracy %v and log loss %v, evaluate prints %v and %v", right/13, loss, accuracy, measured["log_loss"])
	}

	// JSON lines say the same; labels that are skipped have no row.
	succeed(t, append(args, filepath.Join(dir, "rows.jsonl"), "--unknown-labels", "skip")...)
	lines := strings.Split(strings.TrimSpace(string(content(t, filepath.Join(dir, "rows.jsonl")))), "\n")
	if len(lines) != 12 {
		t.Fatalf("%d lines, want 12", len(lines))
	}
	for i, line := range lines {
		var row struct {
			ID, Place, Text, Label, Predicted string
			Right                             bool
			Probability                       float64
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		want := table[i+1]
		if p, _ := strconv.ParseFloat(want[6], 64); row.Place != want[0] || row.ID != want[1] || row.Text != want[2] || row.Label != want[3] || row.Predicted != want[4] ||
			row.Right != (want[5] == "1") || row.Probability != p {
			t.Errorf("%s, want %q", line, want)
		}
	}
}

// A file of rows is written whole or not at all, and never over the data.
func TestEvaluateRowsAreRefused(t *testing.T) {
	model, dir := quickModel(t), t.TempDir()
	old := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	data := file(t, "data.csv", string(content(t, deskTest))+"Is there coffee?,coffee\n")
	for want, args := range map[string][]string{
		"ends in .csv or .jsonl": {"--out", filepath.Join(dir, "rows.xlsx")},
		"ends in .csv":           {"--confusions", filepath.Join(dir, "rows.jsonl")},
		"name the same file":     {"--confusions", old, "--out", old},
		"--confusions " + data:   {"--confusions", data},
		"--out " + deskGroups:    {"--out", deskGroups, "--taxonomy", deskGroups},
		"would be lost":          {"--out", data},
		"--id has an effect":     {"--id", "label"},
		"create its folder":      {"--out", filepath.Join(dir, "none", "rows.csv")},
		"was never trained":      {"--out", old, "--unknown-labels", "error"},
	} {
		refuseCall(t, want, append([]string{"evaluate", "--model", model, "--data", data}, args...)...)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || string(content(t, old)) != "old" {
		t.Errorf("%v, %v, want the old file as it was and no other", left, err)
	}
}

// The matrix has all examples, the right ones on its diagonal, and groups of the tree
// side by side.
func TestEvaluateConfusions(t *testing.T) {
	model := quickModel(t)
	out := filepath.Join(t.TempDir(), "matrix.csv")
	got := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest, "--taxonomy", deskGroups, "--confusions", out).out)
	table := csvRows(t, out)
	counts := map[[2]string]float64{}
	all, right := 0.0, 0.0
	for i, row := range table[1:] {
		if row[0] != table[0][i+1] {
			t.Errorf("row %d is of %q, column %d of %q", i+1, row[0], i+1, table[0][i+1])
		}
		for j, cell := range row[1:] {
			n, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			if all += n; i == j {
				right += n
			} else if n > 0 {
				counts[[2]string{row[0], table[0][j+1]}] = n
			}
		}
	}
	if len(table) != 7 || all != 12 || math.Abs(right/all-got["accuracy"].(float64)) > 1e-12 {
		t.Errorf("%d rows, %v examples of which %v are right, want 7, 12 and the accuracy %v", len(table), all, right, got["accuracy"])
	}
	for _, c := range got["confusions"].([]any) {
		c := c.(map[string]any)
		key := [2]string{c["true"].(string), c["predicted"].(string)}
		if counts[key] != c["examples"] {
			t.Errorf("%v of %q, want %v", counts[key], key, c["examples"])
		}
		delete(counts, key)
	}
	if len(counts) > 0 {
		t.Errorf("mistakes that evaluate does not print: %v", counts)
	}
	parent := map[string]string{}
	for _, row := range rowsOf(t, deskGroups) {
		parent[row[0]] = row[1]
	}
	groups := 1
	for i := 2; i < len(table); i++ {
		if parent[table[i][0]] != parent[table[i-1][0]] {
			groups++
		}
	}
	distinct := map[string]bool{}
	for _, row := range table[1:] {
		distinct[parent[row[0]]] = true
	}
	if groups != len(distinct) || groups < 2 || slices.IsSorted(table[0][1:]) {
		t.Errorf("%q: %d runs of %d groups, want each group once", table[0], groups, len(distinct))
	}
}
