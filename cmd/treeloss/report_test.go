package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func csvRows(t *testing.T, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(content(t, path)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCompareReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := succeed(t, "compare", "--json", "--data", desk, "--test", deskTest, "--methods", "names,v-tree", "--shots", "4,1,2", "--seeds", "2", "--report", dir)
	if !strings.Contains(o.log, filepath.Join(dir, "index.html")) {
		t.Errorf("the log %q does not say where the report is", o.log)
	}
	if string(content(t, filepath.Join(dir, "mine.txt"))) != "mine" {
		t.Error("another file in the folder was changed")
	}
	accuracy := map[string]float64{} // by method and shots
	results := parse(t, o.out)["results"].([]any)
	for i, r := range results {
		r := r.(map[string]any)
		if want := []float64{1, 2, 4}[i/3]; r["shots"] != want {
			t.Errorf("result %d has %v shots, want %v", i, r["shots"], want)
		}
		accuracy[fmt.Sprint(r["method"], r["shots"])] = r["accuracy"].(float64)
	}
	if len(results) != 9 {
		t.Errorf("%d results, want three methods for each of three numbers", len(results))
	}
	curve := csvRows(t, filepath.Join(dir, "learning-curve.csv"))
	if len(curve) != 10 {
		t.Errorf("the curve has %d rows: %q", len(curve), curve)
	}
	for _, row := range curve[1:] {
		if y, err := strconv.ParseFloat(row[2], 64); err != nil || y != accuracy[row[0]+row[1]] {
			t.Errorf("the curve has %q, want %v", row, accuracy[row[0]+row[1]])
		}
	}
	// Gains of classes add up to that of the method: all have as many test rows.
	best := "names"
	if accuracy["v-tree4"] > accuracy["names4"] {
		best = "v-tree"
	}
	classes := csvRows(t, filepath.Join(dir, "classes.csv"))
	sum := 0.0
	for _, row := range classes[1:] {
		gain, err := strconv.ParseFloat(row[len(row)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += gain
	}
	if want := 100 * (accuracy[best+"4"] - accuracy["cross-entropy4"]); len(classes) != 7 || math.Abs(sum/6-want) > 0.1 {
		t.Errorf("%d classes gain %v on average, want 6 and %v", len(classes)-1, sum/6, want)
	}
	page := string(content(t, filepath.Join(dir, "index.html")))
	for _, wanted := range []string{"Learning curve", "Most frequent mistakes of " + best, "Tree of 6 classes", desk, "1 to 2, one draw each", "treeloss ", "Time taken"} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
	for _, name := range []string{"accuracy.svg", "accuracy.png", "difference.csv", "class-gains.svg", "class-gains.png", "confusions-before.csv", "confusions-after.csv", "results.csv", "tree.svg"} {
		content(t, filepath.Join(dir, name))
	}
}

// One number of shots is as before, and a class can have any name.
func TestCompareReportOfOne(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("text,label\n")
	for i := range 30 {
		fmt.Fprintf(&rows, "lost card %d,<script>alert(1)</script>\nlate card %d,\"a, \"\"b\"\" & c\"\n", i%7, i%5)
	}
	data := file(t, "hostile.csv", rows.String())
	dir := filepath.Join(t.TempDir(), "new")
	o := succeed(t, "compare", "--json", "--data", data, "--methods", "cross-entropy", "--report", dir)
	for _, r := range parse(t, o.out)["results"].([]any) {
		if _, found := r.(map[string]any)["shots"]; found {
			t.Errorf("%v holds shots, which were not asked for", r)
		}
	}
	page := string(content(t, filepath.Join(dir, "index.html")))
	if strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "Learning curve") {
		t.Error("the name of a class is not escaped or missing, or there is a curve over nothing")
	}
}

// On a full disk, as far as a test can have one, the results are there and no half of a page.
func TestReportOnAFullDisk(t *testing.T) {
	for _, args := range [][]string{
		{"compare", "--test", deskTest, "--methods", "names", "--data", desk, "--report"},
		{"evaluate", "--model", quickModel(t), "--data", deskTest, "--report"},
		{"quickstart", "--report"},
		{"quickstart", "--model"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		c := exec.CommandContext(t.Context(), os.Args[0], append(args, dir, "--json", "--quiet")...)
		c.Env = append(os.Environ(), asProgram+"=1", fileLimit+"=9000")
		var out, log strings.Builder
		c.Stdout, c.Stderr = &out, &log
		if err := c.Run(); err == nil {
			t.Skip("this system does not limit files")
		}
		if c.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "cannot write") {
			t.Errorf("%s: status %d, log %q, want 1 and that the page cannot be written", args[0], c.ProcessState.ExitCode(), log.String())
		}
		result := parse(t, out.String())
		if result["results"] == nil && result["accuracy"] == nil {
			t.Errorf("%s printed %v, want its results", args[0], result)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: what was not written whole is there", args[0])
		}
	}
}

func TestReportRefused(t *testing.T) {
	taken := file(t, "taken", "x")
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"a file", []string{"--report", taken}, 1, "is a file"},
		{"no parent", []string{"--report", filepath.Join(t.TempDir(), "no", "where")}, 1, "create it first"},
		{"shots twice", []string{"--shots", "2,2"}, 2, "each number once"},
		{"all and some", []string{"--shots", "0,2"}, 2, "stands alone"},
		{"below 0", []string{"--shots", "2,-1"}, 2, "at least 1"},
		{"no number", []string{"--shots", "2,x"}, 2, "shots"},
		{"too many", []string{"--shots", "1,99"}, 1, "training rows"},
	} {
		o := call(t, append([]string{"compare", "--quiet", "--data", desk, "--test", deskTest, "--methods", "names"}, tc.args...)...)
		if o.status != tc.status || !strings.Contains(o.log, tc.want) || o.out != "" {
			t.Errorf("%s: status %d, log %q, output %q, want %d and %q", tc.name, o.status, o.log, o.out, tc.status, tc.want)
		}
	}
	if o := call(t, "quickstart", "--report", taken); o.status != 1 || !strings.Contains(o.log, "is a file") {
		t.Errorf("quickstart into a file: status %d, %q", o.status, o.log)
	}
}

func TestComparePrintsShots(t *testing.T) {
	o := succeed(t, "compare", "--data", desk, "--test", deskTest, "--methods", "names", "--shots", "1,3")
	lines := strings.Split(o.out, "\n")
	if !strings.HasPrefix(strings.Join(strings.Fields(lines[0]), " "), "method shots accuracy") || !strings.HasPrefix(strings.Join(strings.Fields(lines[3]), " "), "cross-entropy 3 ") {
		t.Errorf("compare prints\n%s", o.out)
	}
}

// What quickstart says to type next works, and answers well.
func TestQuickstartLeadsOn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on 10,003 questions: left out by -short")
	}
	dir := t.TempDir()
	model, data := filepath.Join(dir, "bank.safetensors"), filepath.Join(dir, "bank")
	o := succeed(t, "quickstart", "--quiet", "--model", model, "--save-data", data)
	said := map[string]string{}
	for line := range strings.Lines(o.out) {
		text, next, ok := strings.Cut(strings.TrimSpace(line), " | treeloss ")
		if !ok {
			continue
		}
		text, err := strconv.Unquote(strings.TrimPrefix(text, "echo "))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		args := strings.Fields(next)
		answer := callWith(t, text+"\n", args...)
		if answer.status != 0 {
			t.Fatalf("%q: status %d, %s", line, answer.status, answer.log)
		}
		said[args[0]] = answer.out
	}
	if !strings.HasPrefix(said["predict"], "card_arrival\t0.9") {
		t.Errorf("its own question is answered %q, want card_arrival with 0.9", said["predict"])
	}
	if !strings.Contains(said["explain"], `word "not come"`) {
		t.Errorf("explain prints no words:\n%s", said["explain"])
	}
	o = succeed(t, "evaluate", "--model", model, "--data", filepath.Join(data, "test.csv"), "--json")
	if got := parse(t, o.out)["accuracy"].(float64); got < 0.91 {
		t.Errorf("accuracy %v on the test questions, want 0.91", got)
	}
}

func TestQuickstartReport(t *testing.T) {
	if testing.Short() {
		t.Skip("trains twelve models: left out by -short")
	}
	dir := t.TempDir()
	o := succeed(t, "quickstart", "--quiet", "--json", "--report", dir)
	results := parse(t, o.out)["results"].([]any)
	if len(results) != 4 {
		t.Errorf("%d results, want those with 5 examples of each intent alone", len(results))
	}
	if curve := csvRows(t, filepath.Join(dir, "learning-curve.csv")); len(curve) != 1+4*3 {
		t.Errorf("a curve of %d rows, want 12 and a head", len(curve))
	}
	if page := string(content(t, filepath.Join(dir, "index.html"))); !strings.Contains(page, "Tree of 77 classes") || !strings.Contains(page, "CC BY 4.0") {
		t.Error("the page lacks the tree or says not whose data it is")
	}
}

// The page of an evaluation says what --json does, and again the same bytes.
func TestEvaluateReport(t *testing.T) {
	model := quickModel(t)
	var first []byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "page")
		o := succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest, "--taxonomy", deskGroups, "--report", dir)
		result := parse(t, o.out)
		for _, row := range csvRows(t, filepath.Join(dir, "measures.csv"))[1:] {
			if got, err := strconv.ParseFloat(row[1], 64); err != nil || got != result[row[0]] {
				t.Errorf("measures.csv has %q, want %v", row, result[row[0]])
			}
			if i, ok := result["intervals"].(map[string]any)[row[0]]; ok {
				if low, err := strconv.ParseFloat(row[3], 64); err != nil || low != i.(map[string]any)["low"] {
					t.Errorf("measures.csv has %q, want %v", row, i)
				}
			}
		}
		page := content(t, filepath.Join(dir, "index.html"))
		accuracy := fmt.Sprintf("The answer is right for %.1f %% of them", 100*result["accuracy"].(float64))
		for _, wanted := range []string{accuracy, "the given taxonomy", "Severity of mistakes", "Most frequent mistakes", "treeloss "} {
			if !strings.Contains(string(page), wanted) {
				t.Errorf("the page lacks %q", wanted)
			}
		}
		if first != nil && !bytes.Equal(first, page) {
			t.Error("the same command writes another page")
		}
		first = page
	}
	// Without --out an --id is of use for the page; a folder that is none is refused before the work.
	succeed(t, "evaluate", "--model", model, "--data", file(t, "ids.csv", "text,label,number\nmy card is lost,lost a card,7\n"), "--id", "number", "--report", filepath.Join(t.TempDir(), "page"))
	if o := call(t, "evaluate", "--model", model, "--data", deskTest, "--report", file(t, "taken", "x")); o.status != 1 || !strings.Contains(o.log, "is a file") || o.out != "" {
		t.Errorf("a report into a file: status %d, %q", o.status, o.log)
	}
	if o := call(t, "evaluate", "--model", model, "--data", deskTest, "--report", filepath.Dir(deskTest)); o.status != 2 || !strings.Contains(o.log, "folder of its own") {
		t.Errorf("a report beside the data: status %d, %q", o.status, o.log)
	}
}
