package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/treeloss/treeloss/classify"
)

func TestPredictTSV(t *testing.T) {
	model := quickModel(t)
	o := succeed(t, "predict", "--model", model, deskTest)
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	rows := rowsOf(t, deskTest)
	if len(lines) != len(rows) {
		t.Fatalf("%d lines for %d examples", len(lines), len(rows))
	}
	right := 0
	for i, line := range lines {
		label, number, ok := strings.Cut(line, "\t")
		p, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(p > 1.0/6 && p <= 1) {
			t.Errorf("line %q, want a label, a tab and a probability", line)
		}
		if label == rows[i][1] {
			right++
		}
	}
	e := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest).out)
	if math.Abs(float64(right)/12-e["accuracy"].(float64)) > 1e-12 {
		t.Errorf("%d of 12 right, but evaluate says %v", right, e["accuracy"])
	}
}

func TestPredictTop(t *testing.T) {
	model := quickModel(t)
	o := callWith(t, "When do you open?\n\nI lost my card\n", "predict", "--quiet", "--model", model, "--top", "9")
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	if o.status != 0 || len(lines) < 2 {
		t.Fatalf("status %d, %q, %s", o.status, o.out, o.log)
	}
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		if len(cells) != 12 {
			t.Fatalf("line %q, want all 6 classes", line)
		}
		sum, last := 0.0, 1.0
		for i := 1; i < len(cells); i += 2 {
			p, err := strconv.ParseFloat(cells[i], 64)
			if err != nil || p > last {
				t.Errorf("line %q, want falling probabilities", line)
			}
			sum, last = sum+p, p
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Errorf("line %q, probabilities sum to %v", line, sum)
		}
	}
}

func TestPredictJSONL(t *testing.T) {
	model := quickModel(t)
	for _, flags := range [][]string{{"--json"}, {"--output", "jsonl"}} {
		o := succeed(t, append([]string{"predict", "--model", model, "--top", "3", deskTest}, flags...)...)
		lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
		if len(lines) != 12 {
			t.Fatalf("%d lines, want 12", len(lines))
		}
		for _, line := range lines {
			var a classify.Line
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if len(a.Top) != 3 || a.Top[0].Label != a.Label || a.Top[0].Probability != a.Probability {
				t.Errorf("%q, want the best of three twice", line)
			}
		}
	}
	o := callWith(t, "When do you open?\n", "predict", "--model", model, "--json")
	if strings.Contains(o.out, "top") {
		t.Errorf("%q, want no list of one", o.out)
	}
}

// A program that asks line by line gets its answers line by line.
func TestPredictAnswersAtOnce(t *testing.T) {
	model := quickModel(t)
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	status := make(chan int, 1)
	go func() {
		var log bytes.Buffer
		status <- execute(t.Context(), []string{"predict", "--quiet", "--model", model}, in, out, &log)
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	for _, tc := range []struct{ question, want string }{
		{"When do you open on Saturday?", "opening hours"},
		{"My card was stolen", "lost a card"},
		{"Can I reserve a study room?", "reserve a room"},
	} {
		if _, err := io.WriteString(ask, tc.question+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), tc.want+"\t") {
			t.Fatalf("the answer to %q is %q, want %q before the next question", tc.question, lines.Text(), tc.want)
		}
	}
	ask.Close()
	if s := <-status; s != 0 {
		t.Errorf("status %d at the end of the questions", s)
	}
}

func TestPredictKeepsAnswersBeforeAnError(t *testing.T) {
	model := breadModel(t)
	data := "length,width,height,weight\n28,11,10,750\n9,8,5,60\n9,8,broken,60\n28,11,10,750\n"
	for _, in := range []struct {
		name, file, want string
	}{
		{"file", file(t, "rows.csv", data), "rows.csv:4"},
		{"standard input", "-", "standard input:4"},
	} {
		t.Run(in.name, func(t *testing.T) {
			o := callWith(t, data, "predict", "--quiet", "--model", model, in.file)
			if o.status != 1 || !strings.Contains(o.log, in.want) || !strings.Contains(o.log, "broken") {
				t.Errorf("status %d, %q; want 1 and %q", o.status, o.log, in.want)
			}
			if n := strings.Count(o.out, "\n"); n != 2 || !strings.HasPrefix(o.out, "loaf\t") {
				t.Errorf("answers %q, want those of the two rows before", o.out)
			}
		})
	}
}

func TestPredictEscapes(t *testing.T) {
	data := "{\"text\": \"red\", \"label\": \"a\\tb\"}\n{\"text\": \"blue\", \"label\": \"c\\nd\\\\e\"}\n"
	path := file(t, "odd.jsonl", strings.Repeat(data, 3))
	model := trainOn(t, "--data", path, "--sharing", "none")
	o := callWith(t, "red\nblue\n", "predict", "--quiet", "--model", model)
	lines := strings.Split(o.out, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], `a\tb`+"\t") || !strings.HasPrefix(lines[1], `c\nd\\e`+"\t") {
		t.Errorf("%q, want tabs, line breaks and backslashes of labels escaped", o.out)
	}
}

func TestPredictReadsWhatItIsGiven(t *testing.T) {
	model := quickModel(t)
	for _, tc := range []struct {
		name, in string
		args     []string
		answers  int
	}{
		{"sentences with commas", "Hello, when do you open?\nWell, I lost my card\n", nil, 2},
		{"no line feed at the end", "When do you open?", nil, 1},
		{"a table with a text column", "id,question\n1,When do you open?\n", nil, 1},
		{"a table and --text", "a,b\n1,When do you open?\n", []string{"--text", "b"}, 1},
		{"JSON lines", "{\"text\": \"When do you open?\"}\n", nil, 1},
		{"told to be a table", "text\nWhen do you open?\n", []string{"--format", "csv"}, 1},
		{"dash", "When do you open?\n", []string{"-"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := callWith(t, tc.in, append([]string{"predict", "--model", model}, tc.args...)...)
			if o.status != 0 || strings.Count(o.out, "\n") != tc.answers {
				t.Errorf("status %d, %q, want %d answers; %s", o.status, o.out, tc.answers, o.log)
			}
		})
	}
	libsvm := "loaf 1:28 2:11\nroll 1:9 2:8\nloaf 1:29 2:12\nroll 1:8 2:8\n"
	sparse := trainOn(t, "--data", file(t, "b.svm", libsvm))
	if o := callWith(t, "1:30 2:12\n", "predict", "--model", sparse); !strings.HasPrefix(o.out, "loaf\t") {
		t.Errorf("LIBSVM line without label: %q, %s", o.out, o.log)
	}
}

func TestPredictThreadsAgree(t *testing.T) {
	model := quickModel(t)
	var many strings.Builder
	for range 60 { // more than a block
		for _, row := range rowsOf(t, desk) {
			many.WriteString(row[0] + "\n")
		}
	}
	path := file(t, "many.txt", many.String())
	one := succeed(t, "predict", "--model", model, "--threads", "1", path)
	three := succeed(t, "predict", "--model", model, "--threads", "3", path)
	if one.out != three.out || strings.Count(one.out, "\n") != 60*48 {
		t.Error("the answers depend on the number of threads")
	}
}

// treeloss predict | head -1: the program ends without a word.
func TestPredictIntoAClosedPipe(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skipf("no way to run the program as a process: %v", err)
	}
	model := quickModel(t)
	path := file(t, "many.txt", strings.Repeat("When do you open?\n", 20000))
	c := exec.CommandContext(t.Context(), self, "predict", "--quiet", "--model", model, path)
	c.Env = append(os.Environ(), asProgram+"=1")
	var log bytes.Buffer
	c.Stderr = &log
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	r.Close()
	if err != nil || !strings.HasPrefix(line, "opening hours\t") {
		t.Errorf("first line %q, %v", line, err)
	}
	_ = c.Wait() // a signal or 0: both are quiet
	if log.Len() > 0 {
		t.Errorf("log %q, want nothing", log.String())
	}
}

// Ctrl-C ends a program that waits for its input.
func TestPredictIsInterrupted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skipf("no way to run the program as a process: %v", err)
	}
	c := exec.CommandContext(t.Context(), self, "predict", "--quiet", "--model", quickModel(t))
	c.Env = append(os.Environ(), asProgram+"=1")
	c.WaitDelay = time.Minute
	ask, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(ask, "When do you open?\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("this system sends no interrupt to a process: %v", err)
	}
	_ = c.Wait()
	if c.ProcessState.ExitCode() != 130 || log.String() != "treeloss: interrupted\n" {
		t.Errorf("status %d, %q; want 130 and a word", c.ProcessState.ExitCode(), log.String())
	}
}

// Who names no file sits before a terminal that waits, and is told so.
func TestTerminalAsInput(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !term.IsTerminal(int(terminal.Fd())) {
		t.Skipf("this system has no pseudo-terminal to type at: %v", err)
	}
	defer terminal.Close()
	var log bytes.Buffer
	(&app{in: terminal, log: &log}).logTerminal()
	if !strings.Contains(log.String(), "Ctrl-D") {
		t.Errorf("the log is %q, want a word about Ctrl-D", log.String())
	}
	log.Reset()
	(&app{in: terminal, log: &log, quiet: true}).logTerminal()
	(&app{in: strings.NewReader(""), log: &log}).logTerminal()
	if log.Len() > 0 {
		t.Errorf("the log is %q, want nothing with --quiet, nor of a pipe", log.String())
	}
}

// Answers carry the id and the text of their example, escaped like class names.
func TestPredictKeepsTheInputBeside(t *testing.T) {
	model := quickModel(t)
	table := file(t, "x.csv", "number,text\n7a,the lamp is dark\n8,\"a\tfine\"\n")
	plain := strings.Split(succeed(t, "predict", "--quiet", "--model", model, table).out, "\n")
	got := strings.Split(succeed(t, "predict", "--quiet", "--model", model, "--id", "number", "--echo", table).out, "\n")
	if want := []string{"7a\tthe lamp is dark\t" + plain[0], `8` + "\t" + `a\tfine` + "\t" + plain[1], ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	lines := file(t, "x.jsonl", `{"number": 12, "text": "a fine"}`+"\n")
	if line := succeed(t, "predict", "--quiet", "--model", model, "--json", "--id", "number", "--echo", lines).out; !strings.HasPrefix(line, `{"id":"12","text":"a fine","label":"`) {
		t.Errorf("%s, want id and text in front", line)
	}
	for _, args := range [][]string{{"--id", "nummer", table}, {"--id", "number"}} {
		if o := callWith(t, "a fine\n", append([]string{"predict", "--quiet", "--model", model}, args...)...); o.status == 0 || !strings.Contains(o.log, "--id") || strings.Contains(o.log, "Options") {
			t.Errorf("%q: status %d, %q, want an error that names --id", args, o.status, o.log)
		}
	}
}

// The probabilities of all classes come in the order of the model file, and are those of
// --top.
func TestPredictProbabilities(t *testing.T) {
	model := quickModel(t)
	labels := headerLabels(t, model)
	lines := strings.Split(strings.TrimSpace(succeed(t, "predict", "--model", model, "--json", "--top", "99", "--probabilities", deskTest).out), "\n")
	for _, line := range lines {
		var got struct {
			Top []struct {
				Label       string
				Probability float64
			}
			Probabilities []float64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || len(got.Probabilities) != len(labels) || len(got.Top) != len(labels) {
			t.Fatalf("%s: %v, want %d probabilities", line, err, len(labels))
		}
		for _, c := range got.Top {
			if p := got.Probabilities[slices.Index(labels, c.Label)]; float32(p) != float32(c.Probability) {
				t.Errorf("%s: %v among the probabilities, %v in the list", c.Label, p, c.Probability)
			}
		}
	}
	if o := call(t, "predict", "--model", model, "--probabilities", deskTest); o.status != 2 || !strings.Contains(o.log, "--top N") {
		t.Errorf("without --json: status %d, %q", o.status, o.log)
	}
}

// headerLabels reads the names of the classes out of a model file, as its document
// says.
func headerLabels(t *testing.T, model string) (labels []string) {
	t.Helper()
	b := content(t, model)
	var header struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	if err := errors.Join(json.Unmarshal(b[8:8+binary.LittleEndian.Uint64(b)], &header), json.Unmarshal([]byte(header.Metadata["labels"]), &labels)); err != nil {
		t.Fatal(err)
	}
	return labels
}
