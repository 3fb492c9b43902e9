package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Every line is an example, whatever it or the first looks like.
func TestLines(t *testing.T) {
	lines := []string{"question", `{"text":"x"}`, "1 1:2", "", "  ", "__label__a b", "a,b", "br\xffken", "%PDF-", "last"}
	for _, first := range lines {
		all := append([]string{first}, lines...)
		var broken []int
		opts := Options{Format: Lines, Unlabelled: true, Replaced: func(p Place) { broken = append(broken, p.Line) }}
		r, err := NewReader(strings.NewReader(strings.Join(all, "\n")), "in", opts)
		if err != nil {
			t.Errorf("first line %q: %v", first, err)
			continue
		}
		var got []string
		for ex, err := range r.All() {
			if err != nil {
				t.Fatalf("first line %q: %v", first, err)
			}
			got = append(got, ex.Text)
		}
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], "\xff", "\uFFFD")
		}
		want := []int{9}
		if strings.Contains(first, "\xff") {
			want = []int{1, 9}
		}
		if !slices.Equal(got, all) || !slices.Equal(broken, want) {
			t.Errorf("first line %q: %q, broken lines %v, want %q, %v", first, got, broken, all, want)
		}
	}
	_, err := NewReader(strings.NewReader("a\n"), "in", Options{Format: Lines})
	if err == nil || err.Error() != "in: plain lines have no labels; name the format that has them with Options.Format" {
		t.Errorf("with labels: %v", err)
	}
}

// What was once read as if it were meant.
func TestRefusedNow(t *testing.T) {
	for _, tc := range []struct{ name, file, data, want string }{
		{"a byte of 0 in a label", "a.csv", "text,label\na,\"x\x00y\"\n", `a.csv:2: the label "x\x00y" holds a byte of 0`},
		{"a byte of 0 in a soft label", "a.jsonl", `{"text":"a","labels":{"b":1,"c\u0000":1}}`, `a.jsonl:1: the label "c\x00" holds a byte of 0`},
		{"a bare quote", "a.csv", "text,label\na,b\nsay \"yes\",b\n", `a.csv:3:5: a quote inside a field that does not begin with one`},
		{"a bare quote between semicolons", "a.csv", "text;label\n5\" pipe;b\n", `a.csv:2:2: a quote inside a field`},
		{"two labels", "a.jsonl", `{"text":"a","label":"b","labels":{"c":1}}`, `a.jsonl:1:34: both a key "label" and a key "labels"`},
		{"two labels in a later line", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\",\"labels\":{},\"label\":\"b\"}", `a.jsonl:2:22: both a key`},
		{"UTF-16 without a mark", "a.csv", "t\x00e\x00x\x00t\x00,\x00", `a.csv: looks like UTF-16 without a byte-order mark; save the file as UTF-8, or say what it is: Options.Encoding utf-16le`},
		{"UTF-16 the other way", "a.csv", "\x00t\x00e\x00x\x00t\x00,", `utf-16be`},
		{"UTF-32, big-endian", "a.csv", "\x00\x00\xfe\xff\x00\x00\x00t", `a.csv: is UTF-32 text`},
		{"blank lines without end", "a.csv", "text,label\na,b\n" + strings.Repeat("\n", 1<<20+2) + "c,d\n", "a.csv:1048579: more than 1048576 blank lines"},
	} {
		if _, _, err := readText(tc.data, tc.file, Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	// Between tabs a quote is text, and a named label is the one that is meant.
	for name, data := range map[string]string{"a.tsv": "text\tlabel\n5\" pipe\tb\n", "a.jsonl": `{"text":"5\" pipe","label":"b","labels":["x"]}`} {
		got, _, err := readText(data, name, Options{Label: "label"})
		if err != nil || got[0].Text != `5" pipe` || got[0].Label != "b" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A row of an array with NaN is left out with its label, and decimal commas are read
// between tabs, too.
func TestNumbersOfOtherPrograms(t *testing.T) {
	var skipped []string
	x := write(t, "x.npy", npyBytes(1, "<f8", "(3, 2)", []float64{1, 2, math.NaN(), 3, 4, 5}))
	y := write(t, "y.txt", []byte("a\nb\nc\n"))
	r, err := Open(x, Options{Labels: y, Skip: func(e *Error) { skipped = append(skipped, e.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ex, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(ex.Label, ex.Values))
	}
	if !slices.Equal(got, []string{"a[1 2]", "c[4 5]"}) || len(skipped) != 1 || !strings.Contains(skipped[0], "x.npy:2:1: row 2, column 1 is NaN") {
		t.Errorf("%v, left out %q", got, skipped)
	}
	rows, r, err := readText("label\tx\na\t1,5\nb\t2\n", "a.tsv", Options{})
	if err != nil || rows[0].Values[0] != 1.5 || rows[1].Values[0] != 2 || !strings.Contains(r.Describe(), "decimal commas") {
		t.Errorf("%v, %v", rows, err)
	}
	if _, _, err = readText("label\tx\na\t1,5\nb\t1.234\n", "a.tsv", Options{}); err == nil || !strings.Contains(err.Error(), "a.tsv:3:3") {
		t.Errorf("a point after a decimal comma: %v", err)
	}
}
