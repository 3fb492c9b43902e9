package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each format gives the labels of an example as a set, in the order of their bytes; Label is
// the first of them.
func TestSeveralLabels(t *testing.T) {
	multi := Options{Multilabel: true}
	for _, tc := range []struct {
		name, file, text string
		opts             Options
		want             [][]string
	}{
		{"lists", "a.jsonl", `{"text":"x","labels":["b","a"]}` + "\n" + `{"text":"y","labels":[]}` + "\n" + `{"text":"z","labels":"c"}`, multi, [][]string{{"a", "b"}, {}, {"c"}}},
		{"tags beside a class", "a.jsonl", `{"text":"x","class":"k","tags":["b"]}` + "\n" + `{"text":"y","class":"k","tags":null}`, multi, [][]string{{"b"}, {}}},
		{"null first", "a.jsonl", `{"text":"x","labels":null}` + "\n" + `{"text":"y","labels":["a"]}`, multi, [][]string{{}, {"a"}}},
		{"numbers and truth values", "a.jsonl", `{"text":"x","labels":[2,10,true,1.0]}`, multi, [][]string{{"1.0", "10", "2", "true"}}},
		{"twice", "a.jsonl", `{"text":"x","labels":["a","b"," a "]}`, multi, [][]string{{"a", "b"}}},
		{"a separator in a text of JSON", "a.jsonl", `{"text":"x","label":"a|b"}`, Options{LabelSeparator: "|"}, [][]string{{"a", "b"}}},
		{"cells", "a.csv", "text,label\nx,b; a\ny,\nz,;c;\n", Options{LabelSeparator: ";"}, [][]string{{"a", "b"}, {}, {"c"}}},
		{"cells with spaces", "a.csv", "text,label\nx,b a\n", Options{LabelSeparator: " "}, [][]string{{"a", "b"}}},
		{"an id is not separated", "a.csv", "id,text,label\n1;2,x,b;a\n", Options{LabelSeparator: ";", ID: "id"}, [][]string{{"a", "b"}}},
		{"fastText", "a.ft", "__label__b x __label__a\nno label\n__label__a __label__a y\n", multi, [][]string{{"a", "b"}, {}, {"a"}}},
		{"LIBSVM", "a.svm", "3,1 1:2\n1:2\n2 3:1\n", multi, [][]string{{"1", "3"}, {}, {"2"}}},
		{"the Extreme Classification Repository", "a.txt", "3 5 4\n3,1 0:2\n 1:2 4:1\n2 3:1\n", multi, [][]string{{"1", "3"}, {}, {"2"}}},
		{"to predict, too", "a.svm", "1 5 4\n3,1 0:2\n", Options{Multilabel: true, Unlabelled: true}, [][]string{{"1", "3"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, _, err := readText(tc.text, tc.file, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("%d examples, want %d", len(got), len(tc.want))
			}
			for i, ex := range got {
				first := ""
				if len(tc.want[i]) > 0 {
					first = tc.want[i][0]
				}
				if !slices.Equal(ex.Labels, tc.want[i]) || ex.Label != first {
					t.Errorf("example %d: labels %q, label %q, want %q", i, ex.Labels, ex.Label, tc.want[i])
				}
				if tc.opts.ID != "" && ex.ID != "1;2" {
					t.Errorf("id %q", ex.ID)
				}
			}
		})
	}
}

// Features of the repository's files count from 0.
func TestXMCFeatures(t *testing.T) {
	got, r, err := readText("1 5 4\n3 0:2 4:1\n", "train.txt", Options{Multilabel: true})
	if err != nil || !slices.Equal(got[0].Index, []int32{0, 4}) || r.Kind() != Sparse {
		t.Errorf("%v: features %v of kind %v, want 0 and 4, sparse", err, got, r.Kind())
	}
}

// Without Options.Multilabel a file of several labels is told from a damaged one; the first
// of each is a way out. With Options.Skip it is no row to leave out.
func TestSeveralLabelsRefused(t *testing.T) {
	for file, text := range map[string]string{
		"a.jsonl": `{"text":"x","labels":["b","a"]}`,
		"b.jsonl": `{"text":"x","label":"a"}` + "\n" + `{"text":"x","label":["b","a"]}`,
		"c.jsonl": `{"text":"x","tags":["b","a"]}`,
		"a.ft":    "__label__b __label__a x",
		"a.svm":   "b,a 1:1",
		"a.txt":   "1 2 3\n2,1 1:1\n",
	} {
		for _, opts := range []Options{{}, {Skip: func(e *Error) { t.Errorf("%s: left out: %v", file, e) }}} {
			_, _, err := readText(text, file, opts)
			if !errors.Is(err, ErrSeveralLabels) || !strings.Contains(err.Error(), "Options.FirstLabel") {
				t.Errorf("%s: error %v, want several labels and what to do", file, err)
			}
		}
		got, _, err := readText(text, file, Options{FirstLabel: true})
		if want := map[bool]string{true: "2", false: "b"}[file == "a.txt"]; err != nil || got[len(got)-1].Label != want {
			t.Errorf("%s: the first label of %v, %v, want %s", file, got, err, want)
		}
		if _, _, err := readText(text, file, Options{Unlabelled: true, Format: map[bool]Format{true: LIBSVM}[file == "a.txt"]}); err != nil {
			t.Errorf("%s: to predict: %v", file, err)
		}
	}
}

// Headers that lie, labels out of range and lines that take up memory end in one line.
func TestSeveralLabelsHostile(t *testing.T) {
	multi := Options{Multilabel: true}
	many := strings.Repeat("1,", 1e6) + "1 1:1\n"
	for _, tc := range []struct {
		name, file, text string
		opts             Options
		want             string
	}{
		{"fewer examples", "a.txt", "3 5 4\n1 0:1\n", multi, "a.txt:1: the first line says 3 examples, there are 1; is the file whole?"},
		{"more examples", "a.txt", "1 5 4\n1 0:1\n2 0:1\n", multi, "a.txt:1: the first line says 1 example, there are 2"},
		{"a label out of range", "a.txt", "1 5 4\n1,4 0:1\n", multi, `a.txt:2:3: label "4", want a number from 0 to 3`},
		{"a label that is no number", "a.txt", "1 5 4\nx 0:1\n", multi, `a.txt:2:1: label "x", want a number from 0 to 3`},
		{"a feature out of range", "a.txt", "1 5 4\n1 5:1\n", multi, `a.txt:2:3: feature number "5", want a number from 0 to 4`},
		{"no features", "a.txt", "1 0 4\n1 0:1\n", multi, `a.txt:1: "1 0 4" as the numbers of examples, features and labels`},
		{"a header alone", "a.txt", "1 5 4\n", multi, "a.txt:1: the first line says 1 example, there are 0"},
		{"a billion of all", "a.svm", "999999999999 2147483647 999999999999\n1 0:1\n", multi, "a.svm:1: the first line says 999999999999 examples, there are 1"},
		{"an empty label", "a.svm", "1,,2 1:1", multi, `a.svm:1:3: an empty label in "1,,2"`},
		{"a label of a form feed", "a.svm", "\f 1:1", multi, `a.svm:1:1: an empty label in`},
		{"a million labels", "a.svm", many, multi, "a.svm:1:200001: more than 100000 labels; leave some out, or remove the row"},
		{"a million labels in a cell", "a.csv", "text,label\nx," + strings.Repeat("a;", 1e6) + "\n", Options{LabelSeparator: ";"}, `a.csv:2:3: column "label": more than 100000 labels`},
		{"a list in a list", "a.jsonl", `{"text":"x","labels":[["a"]]}`, multi, `a.jsonl:1:23: key "labels": an array in the list of labels, want a string`},
		{"an empty text in a list", "a.jsonl", `{"text":"x","labels":["a",""]}`, multi, `a.jsonl:1:29: key "labels": label 2 of the list is empty`},
		{"soft labels", "a.jsonl", `{"text":"x","labels":["a"]}` + "\n" + `{"text":"x","labels":{"a":1}}`, multi, `a.jsonl:2:22: key "labels": an object, want a list of labels`},
		{"no separator", "a.csv", "text,label\nx,a;b\n", multi, `a.csv:1: say with Options.LabelSeparator what stands between the labels of a cell of "label"`},
		{"a separator of fastText", "a.ft", "__label__a x", Options{LabelSeparator: ";"}, "a.ft: fastText files have no named columns; leave out Options.LabelSeparator"},
		{"a label with a byte of 0", "a.jsonl", `{"text":"x","labels":["a","b\u0000"]}`, multi, "a.jsonl:1: the label"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := readText(tc.text, tc.file, tc.opts)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
	if _, _, err := readText("x", "a.ft", Options{Multilabel: true, FirstLabel: true}); err == nil || !strings.Contains(err.Error(), "exclude each other") {
		t.Errorf("one label and several: %v", err)
	}
}

// An array has one label a row.
func TestSeveralLabelsOfAnArray(t *testing.T) {
	if _, err := NewReader(strings.NewReader(npyMagic), "a.npy", Options{Multilabel: true}); err == nil || !strings.Contains(err.Error(), "one label a row") {
		t.Error(err)
	}
}

func ExampleOptions_multilabel() {
	r, err := NewReader(strings.NewReader("text,tags\na grey wolf,wild;grey\na stone,\n"), "a.csv", Options{LabelSeparator: ";"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for e, err := range r.All() {
		fmt.Println(e.Text, len(e.Labels), e.Labels, err)
	}
	// Output:
	// a grey wolf 2 [grey wild] <nil>
	// a stone 0 [] <nil>
}
