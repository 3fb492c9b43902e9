package dataset

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
)

var intents = []Example{
	{Text: "My card has not arrived, where is it?", Label: "card arrival", Weight: 1},
	{Text: "I would like a second card", Label: "order card", Weight: 1},
	{Text: `Please say "hello" to the team`, Label: "café", Weight: 1},
	{Text: "zwei Karten bitte", Label: "order card", Weight: 1},
}

// Whatever the format, the packing, the line ends and the byte-order mark, the
// examples are the same.
func TestFormatsAgree(t *testing.T) {
	fastText := "__label__card-arrival My card has not arrived, where is it?\n__label__order-card I would like a second card\n" +
		"Please say \"hello\" to the team __label__café\n\nzwei __label__order-card Karten bitte"
	files := map[string]string{"words.ft": fastText}
	for _, name := range []string{"intents.csv", "intents.tsv", "intents.jsonl"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	for name, text := range files {
		for _, form := range []struct{ name, text string }{
			{"as it is", text},
			{"CRLF", strings.ReplaceAll(text, "\n", "\r\n")},
			{"byte-order mark", "\xef\xbb\xbf" + text},
			{"no line break at the end", strings.TrimRight(text, "\n")},
		} {
			for _, packed := range []struct {
				ending string
				data   []byte
			}{{"", []byte(form.text)}, {".gz", gzipped([]byte(form.text))}, {".zst", zstandard([]byte(form.text))}} {
				t.Run(name+packed.ending+"/"+form.name, func(t *testing.T) {
					check := func(r *Reader, err error) {
						t.Helper()
						if err != nil {
							t.Fatal(err)
						}
						got, err := collect(r)
						if err != nil {
							t.Fatal(err)
						}
						if len(got) != len(intents) {
							t.Fatalf("%d examples, want %d", len(got), len(intents))
						}
						for i, want := range intents {
							if name == "words.ft" {
								want.Label = strings.ReplaceAll(want.Label, " ", "-")
							}
							if !same(got[i], want) {
								t.Errorf("example %d is %+v, want %+v", i, got[i], want)
							}
						}
					}
					path := write(t, name+packed.ending, packed.data)
					r, err := Open(path, Options{})
					check(r, err)
					check(r, nil) // a file can be walked again
					r.Close()
					r, err = NewReader(byteAtATime{bytes.NewReader(packed.data)}, "standard input", Options{})
					check(r, err) // sniffed
				})
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []int
	}{
		{"a.csv", "text,label\n\"one\nand a half\",x\n\ntwo,y\n", []int{2, 5}},
		{"a.jsonl", "\n{\"text\":\"t\",\"label\":1}\n\n{\"text\":\"u\",\"label\":2}\n", []int{2, 4}},
		{"a.ft", "\n__label__a b\n\n__label__c d", []int{2, 4}},
		{"a.svm", "# comment\na 1:1\n\nb 2:1\n", []int{2, 4}},
	} {
		got, _, err := readText(tc.text, tc.name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		for _, ex := range got {
			lines = append(lines, ex.Place.Line)
		}
		if !reflect.DeepEqual(lines, tc.want) || got[0].Place.File != tc.name {
			t.Errorf("%s: examples on lines %v, want %v", tc.name, lines, tc.want)
		}
	}
	if s := (Place{File: "a.csv", Line: 3}).String(); s != "a.csv:3" {
		t.Error(s)
	}
}

func TestOpenAll(t *testing.T) {
	first := write(t, "a.csv", []byte("id,species,w,h\n1,oak,1,2\n"))
	second := write(t, "b.csv", []byte("h,w,Species,note\n4,3,elm,tall\n6,5,oak,\n"))
	third := write(t, "c.jsonl.gz", gzipped([]byte(`{"h": 8, "species": "fir", "w": 7}`)))
	r, err := OpenAll([]string{first, second, third}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		got, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		want := []Example{
			{Label: "oak", Values: []float64{1, 2}}, {Label: "elm", Values: []float64{3, 4}},
			{Label: "oak", Values: []float64{5, 6}}, {Label: "fir", Values: []float64{7, 8}},
		}
		if len(got) != len(want) {
			t.Fatalf("%d examples, want %d", len(got), len(want))
		}
		for i := range want {
			want[i].Weight = 1
			if !same(got[i], want[i]) {
				t.Errorf("example %d is %+v, want %+v", i, got[i], want[i])
			}
		}
	}
	if r.Width() != 2 || r.Kind() != Numbers || !reflect.DeepEqual(r.Columns(), []string{"w", "h"}) {
		t.Errorf("width %d, kind %v, columns %v", r.Width(), r.Kind(), r.Columns())
	}
	if d := r.Describe(); !strings.HasSuffix(d, ", and 2 files like it") {
		t.Error(d)
	}
	if o := r.Resolved(); o.Label != "species" || !reflect.DeepEqual(o.Columns, []string{"w", "h"}) {
		t.Errorf("resolved to %+v", o)
	}
}

func TestStreamsAreReadOnce(t *testing.T) {
	got, _, err := readText("text,label\na,b\n", "stream", Options{})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	r, err := NewReader(strings.NewReader("text,label\na,b\nc,d\n"), "stream", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range r.All() {
		break
	}
	if _, err = collect(r); err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("second walk of a stream gave %v", err)
	}
	r, _ = Open("testdata/intents.csv", Options{})
	r.Close()
	if _, err = collect(r); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("walk after Close gave %v", err)
	}
}

// A line typed at a terminal is answered before the next one is typed.
func TestLinesAreNotWaitedUpon(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	typed := make(chan string)
	go func() {
		for line := range typed {
			io.WriteString(out, line)
		}
	}()
	defer close(typed)
	typed <- "where is my card, please\n"
	r, err := NewReader(in, "-", Options{Unlabelled: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"where is my card, please", "a second, shorter one", ""}
	n := 0
	for ex, err := range r.All() {
		if err != nil || ex.Text != lines[n] || ex.Label != "" {
			t.Fatalf("line %d: %+v, %v", n, ex, err)
		}
		if n++; n == len(lines) {
			break
		}
		typed <- lines[n] + "\n"
	}
}

func TestWeightsAndUnlabelled(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		opts             Options
		want             Example
	}{
		{"weight column, named", "a.csv", "text,label,w\na,b,0.5\n", Options{Weight: "W"}, Example{Text: "a", Label: "b", Weight: 0.5}},
		{"weight key", "a.jsonl", `{"text":"a","label":true,"w":2e0}`, Options{Weight: "w"}, Example{Text: "a", Label: "true", Weight: 2}},
		{"a weight not named is a feature", "a.csv", "weight,label\n3,b\n", Options{}, Example{Values: []float64{3}, Label: "b", Weight: 1}},
		{"no label column", "a.csv", "utterance\nhello\n", Options{Unlabelled: true}, Example{Text: "hello", Weight: 1}},
		{"named label column is missing", "a.csv", "utterance\nhello\n", Options{Unlabelled: true, Label: "intent"}, Example{Text: "hello", Weight: 1}},
		{"label is empty", "a.csv", "text,label\nhello, \n", Options{Unlabelled: true}, Example{Text: "hello", Weight: 1}},
		{"label is kept if there", "a.csv", "text,label\nhello,x\n", Options{Unlabelled: true}, Example{Text: "hello", Label: "x", Weight: 1}},
		{"label key is null", "a.jsonl", `{"text":"a","label":null}`, Options{Unlabelled: true, Label: "label"}, Example{Text: "a", Weight: 1}},
		{"label key is missing", "a.jsonl", `{"text":"a"}`, Options{Unlabelled: true}, Example{Text: "a", Weight: 1}},
		{"plain line", "a.txt", "a, b\tc ", Options{Unlabelled: true}, Example{Text: "a, b\tc", Weight: 1}},
		{"mark without a name", "a.txt", "__label__ a", Options{Unlabelled: true}, Example{Text: "a", Weight: 1}},
		{"LIBSVM without label", "a.svm", "3:1 4:2", Options{Unlabelled: true}, Example{Index: []int32{2, 3}, Values: []float64{1, 2}, Weight: 1}},
		{"LIBSVM from 0", "a.svm", "+1 0:1 4:2", Options{ZeroBased: true}, Example{Index: []int32{0, 4}, Values: []float64{1, 2}, Label: "+1", Weight: 1}},
		{"first of several LIBSVM labels", "a.svm", "3,4 1:1", Options{FirstLabel: true}, Example{Index: []int32{0}, Values: []float64{1}, Label: "3", Weight: 1}},
		{"first of several fastText labels", "a.ft", "__label__b __label__a c", Options{FirstLabel: true}, Example{Text: "c", Label: "b", Weight: 1}},
		{"to predict, several labels do no harm", "a.ft", "__label__b __label__a c", Options{Unlabelled: true}, Example{Text: "c", Label: "b", Weight: 1}},
		{"the same label twice is one", "a.ft", "__label__b c __label__b", Options{}, Example{Text: "c", Label: "b", Weight: 1}},
		{"quotes are text", "a.tsv", "text\tlabel\n\"so it goes\tb\n", Options{NoQuotes: true}, Example{Text: `"so it goes`, Label: "b", Weight: 1}},
		{"text is not trimmed, the label is", "a.csv", "text,label\n a ,\" b c\u00a0\"\n", Options{}, Example{Text: " a ", Label: "b c", Weight: 1}},
		{"number as label", "a.jsonl", `{"x":[1,2],"y":1.50}`, Options{}, Example{Values: []float64{1, 2}, Label: "1.50", Weight: 1}},
		{"array named", "a.jsonl", `{"vec":[1,-2.5e1],"y":"a"}`, Options{Columns: []string{"vec"}}, Example{Values: []float64{1, -25}, Label: "a", Weight: 1}},
		{"keys with numbers", "a.jsonl", `{"id":7,"h":1,"y":"a","w":2,"s":"t"}`, Options{}, Example{Values: []float64{1, 2}, Label: "a", Weight: 1}},
		{"text is empty", "a.csv", "text,label\n,x\n", Options{}, Example{Label: "x", Weight: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, _, err := readText(tc.text, tc.file, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || !same(got[0], tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestSharedData(t *testing.T) {
	for _, tc := range []struct {
		file             string
		rows, classes    int
		describe         string
		multiline, width int
	}{
		{"banking77/train.csv", 10003, 77, `label column "label", text column "text"`, 10, 0},
		{"leaves/leaves.csv", 990, 99, `label column "species", 192 numeric columns margin1..texture64 (column "id" left out)`, 0, 192},
		{"tweets-emoji/val.csv", 5000, 20, `label column "label", text column "text"`, 0, 0},
	} {
		t.Run(tc.file, func(t *testing.T) {
			path := "../../shared/data/" + tc.file
			if _, err := os.Stat(path); err != nil {
				t.Skipf("the real data of ../shared is not beside the repository: %v", err)
			}
			r, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows, multiline, labels := 0, 0, []string(nil)
			for ex, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				rows++
				if strings.Contains(ex.Text, "\n") {
					multiline++
				}
				labels = append(labels, ex.Label)
				if len(ex.Values) != tc.width {
					t.Fatalf("%v: %d values", ex.Place, len(ex.Values))
				}
			}
			if k := NewLabels(labels).Len(); rows != tc.rows || k != tc.classes || multiline != tc.multiline {
				t.Errorf("%d rows, %d classes, %d texts with line breaks; data/README.md says %d, %d, %d", rows, k, multiline, tc.rows, tc.classes, tc.multiline)
			}
			if got := r.Describe(); got != path+": "+tc.describe {
				t.Error(got)
			}
		})
	}
}

// A file that is exchanged between two walks is refused, not read as if it had
// the columns of the first.
func TestFileChanges(t *testing.T) {
	path := write(t, "a.csv", []byte("w,h,y\n1,2,a\n"))
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("w,y\n1,a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(r); err == nil || !strings.Contains(err.Error(), "has 1 numeric column, but ") {
		t.Error(err)
	}
}
