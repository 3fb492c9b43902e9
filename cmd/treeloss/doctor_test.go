package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// runDoctor runs the command by itself.
func runDoctor(t *testing.T, in string, args ...string) (out, log string, err error) {
	t.Helper()
	var o, l bytes.Buffer
	c := newDoctor(&app{in: strings.NewReader(in), out: &o, log: &l})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return o.String(), l.String(), err
}

func TestDoctorText(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"texts", []string{"--data", desk}, []string{"of 6 classes", "the nearest one is right", "lambda of Assumption 3", "Sharing"}},
		{"the file without a flag", []string{desk, "--train=off"}, []string{"of 6 classes", "not trained, as asked"}},
		{"taxonomy", []string{"--data", desk, "--taxonomy", deskGroups, "--train"}, []string{"from the taxonomy", "V* of the taxonomy", "held out"}},
		{"numbers", []string{"--data", breads, "--label", "bread"}, []string{"rows of numbers", "none constant"}},
		{"means", []string{"--data", breads, "--label", "bread", "--from", "means", "--base", "1.3"}, []string{"means of the classes", "base 1.3."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, log, err := runDoctor(t, "", tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tc.want {
				if !strings.Contains(out, w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
			if n := strings.Count(out, "\n"); n >= 40 {
				t.Errorf("%d lines", n)
			}
			if !strings.Contains(log, "label column") {
				t.Errorf("log %q does not say how the file was read", log)
			}
		})
	}
}

func TestDoctorJSON(t *testing.T) {
	out, _, err := runDoctor(t, "", "--data", desk, "--json")
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, out)
	for _, key := range []string{"kind", "classes", "rows", "rows_per_class", "coverage", "columns", "repeats", "hidden_characters", "names",
		"taxonomy", "vectors", "metric", "weights", "gain", "verdict", "skipped"} {
		if _, ok := m[key]; !ok {
			t.Errorf("no key %q in %s", key, out)
		}
	}
	verdict, _ := m["verdict"].(map[string]any)
	if s, _ := verdict["sentence"].(string); !strings.HasPrefix(s, "Sharing") {
		t.Errorf("verdict %v", verdict)
	}
}

func TestDoctorReadsAStream(t *testing.T) {
	out, _, err := runDoctor(t, "text,label\nhow are you,hello\nHow  are you,greet\nsee you,bye\nso long,bye\n", "--data", "-")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, `"How are you": row 1 hello, row 2 greet`) {
		t.Errorf("the text with two labels is not named:\n%s", out)
	}
}

func TestDoctorRefusals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []string
		usage bool
		want  string
	}{
		{"no data", nil, true, "--data"},
		{"training", []string{desk, "--train=never"}, true, "want auto, on or off"},
		{"source", []string{desk, "--from", "stars"}, true, "--from"},
		{"no taxonomy", []string{desk, "--from", "taxonomy"}, true, "name it with --taxonomy"},
		{"base", []string{desk, "--base", "1"}, true, "--base 1"},
		{"threads", []string{desk, "--threads", "-1"}, true, "--threads -1"},
		{"text and numbers", []string{desk, "--text", "a", "--features", "b"}, false, `no column "a"`},
		{"no such file", []string{"nowhere.csv"}, false, "nowhere.csv"},
		{"one class", []string{file(t, "one.csv", "text,label\na b,x\nc d,x\n")}, false, "one.csv"},
		{"a number missing", []string{file(t, "gap.csv", "a,b,label\n1,2,x\n3,,y\n")}, false, "gap.csv:3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := runDoctor(t, "", tc.args...)
			if err == nil {
				t.Fatal("no error")
			}
			if text, usage := inFlags(err); !strings.Contains(text, tc.want) || usage != tc.usage {
				t.Errorf("%s (usage %v), want %q (usage %v)", text, usage, tc.want, tc.usage)
			}
		})
	}
}

// Vectors of the names: every policy for unknown ones, what they tell of the
// rows, and the list of the names that were not found.
func TestDoctorLabelVectors(t *testing.T) {
	data, _, vectors, taxonomy := petFiles(t)
	for _, tc := range []struct {
		name    string
		args    []string
		classes float64
		rows    float64
		metric  string
		given   []string
	}{
		{"drop", []string{"--unknown", "drop"}, 3, 12, "vectors", []string{"vectors"}},
		{"root", []string{"--unknown", "root"}, 4, 16, "vectors", []string{"vectors"}},
		{"names all the same", []string{"--unknown", "root", "--from", "names"}, 4, 16, "names", []string{"vectors"}},
		{"taxonomy first", []string{"--unknown", "root", "--taxonomy", taxonomy, "--train"}, 4, 16, "taxonomy", []string{"vectors", "taxonomy"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"--data", data, "--label-vectors", vectors}, tc.args...)
			out, log, err := runDoctor(t, "", append(args, "--json")...)
			if err != nil {
				t.Fatal(err)
			}
			m := parse(t, out)
			if m["classes"] != tc.classes || m["rows"] != tc.rows || m["vectors"] != true || m["metric"].(map[string]any)["source"] != tc.metric {
				t.Errorf("%v classes, %v rows, vectors %v, metric %v", m["classes"], m["rows"], m["vectors"], m["metric"])
			}
			var given []string
			for _, g := range m["sources"].([]any) {
				given = append(given, g.(map[string]any)["source"].(string))
			}
			if strings.Join(given, " ") != strings.Join(tc.given, " ") {
				t.Errorf("given %v, want %v", given, tc.given)
			}
			if !strings.Contains(log, "zyx unknown") {
				t.Errorf("log %q does not name the class without a vector", log)
			}
			text, _, err := runDoctor(t, "", args...)
			if err != nil || !strings.Contains(text, "the vectors of the names") {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
	_, _, err := runDoctor(t, "", "--data", data, "--label-vectors", vectors)
	if err == nil || !strings.Contains(err.Error(), "zyx") || !strings.Contains(err.Error(), "--unknown") {
		t.Errorf("a name without a vector: %v", err)
	}
	_, _, err = runDoctor(t, "", "--data", data, "--unknown", "drop")
	if text, usage := inFlags(err); !usage || !strings.Contains(text, "--unknown drop") {
		t.Errorf("a policy without vectors: %v", err)
	}
	// Subwords come from a fastText .bin only, which this is not.
	if _, _, err = runDoctor(t, "", "--data", data, "--label-vectors", vectors, "--unknown", "subword"); err == nil || !strings.Contains(err.Error(), "fastText") {
		t.Errorf("subwords of a text file: %v", err)
	}
}

// With classes enough, the rows say whether what was given is true of them.
func TestDoctorAsksTheRows(t *testing.T) {
	var rows, right, wrong strings.Builder
	rows.WriteString("text,label\n")
	for c := range 24 {
		group := c / 4
		for i := range 3 {
			fmt.Fprintf(&rows, "g%dw%d g%dw%d own%d x%d,%c\n", group, i, group, i+1, c, i*c, 'а'+c)
		}
		fmt.Fprintf(&right, "%c,group %d\n", 'а'+c, group)
		fmt.Fprintf(&wrong, "%c,group %d\n", 'а'+c, (c*5)%7)
	}
	data := file(t, "rows.csv", rows.String())
	for _, tc := range []struct {
		name, taxonomy, help string
		want                 []string
	}{
		{"groups that rows share", right.String(), "perhaps", []string{"supported by the data", "Sharing by the taxonomy may help"}},
		{"groups of nothing", wrong.String(), "no", []string{"not supported by the data", "The data do not support what was given"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{"--data", data, "--taxonomy", file(t, "groups.csv", tc.taxonomy), "--train=off"}
			out, _, err := runDoctor(t, "", args...)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tc.want {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
			json, _, err := runDoctor(t, "", append(args, "--json")...)
			if err != nil {
				t.Fatal(err)
			}
			if v := parse(t, json)["verdict"].(map[string]any); v["help"] != tc.help {
				t.Errorf("verdict %v, want %s", v, tc.help)
			}
		})
	}
}
