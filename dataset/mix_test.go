package dataset

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMix(t *testing.T) {
	for _, tc := range []struct {
		name, labels string
		label        string
		want         []Share
	}{
		{"shares", `{"dog":0.25,"cat":0.75}`, "cat", []Share{{Label: "cat", Share: 0.75}, {Label: "dog", Share: 0.25}}},
		{"votes", `{"dog":1,"cat":3}`, "cat", []Share{{Label: "cat", Share: 0.75}, {Label: "dog", Share: 0.25}}},
		{"of equals the first", `{"dog":2,"cat":2,"bat":0}`, "cat", []Share{{Label: "cat", Share: 0.5}, {Label: "dog", Share: 0.5}}},
		{"one class", `{"dog":7}`, "dog", []Share{{Label: "dog", Share: 1}}},
		{"white space", `{" dog\t":1}`, "dog", []Share{{Label: "dog", Share: 1}}},
		{"a plain label", `"dog"`, "dog", nil},
		{"a sum beyond float64", `{"a":1.7e308,"b":1.7e308}`, "a", []Share{{Label: "a", Share: 0.5}, {Label: "b", Share: 0.5}}},
		{"the smallest number", `{"a":5e-324,"b":1.0}`, "b", []Share{{Label: "a", Share: 5e-324}, {Label: "b", Share: 1}}},
		{"rounded to two digits", `{"a":0.24,"b":0.25,"c":0.25,"d":0.25}`, "b", []Share{{Label: "a", Share: 0.24 / 0.99}, {Label: "b", Share: 0.25 / 0.99}, {Label: "c", Share: 0.25 / 0.99}, {Label: "d", Share: 0.25 / 0.99}}},
		{"in the order of bytes", `{"é":1,"z":1,"Z":2}`, "Z", []Share{{Label: "Z", Share: 0.5}, {Label: "z", Share: 0.25}, {Label: "é", Share: 0.25}}},
	} {
		// As the first row, and as a later one, where a plain label came first.
		for _, before := range []string{"", `{"text":"x","labels":"cow"}` + "\n"} {
			got, _, err := readText(before+`{"text":"a","w":2,"labels":`+tc.labels+"}\n", "a.jsonl", Options{Weight: ""})
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			ex := got[len(got)-1]
			if !sameShares(ex.Mix, tc.want) || ex.Label != tc.label || ex.Weight != 1 {
				t.Errorf("%s: label %q, mix %v, want %q, %v", tc.name, ex.Label, ex.Mix, tc.label, tc.want)
			}
		}
	}
	got, r, err := readText(`{"x":[1,2],"w":2,"labels":{"a":1,"b":3}}`+"\n"+`{"x":[1,2],"w":3,"labels":{"c":1}}`, "a.jsonl", Options{Weight: "w"})
	if err != nil || len(got) != 2 || got[0].Weight != 2 || len(got[0].Mix) != 2 || got[1].Mix[0].Label != "c" {
		t.Errorf("weights beside shares: %+v, %v", got, err)
	}
	if want := `a.jsonl: label key "labels" (soft labels), 2 numbers in key "x"`; err == nil && r.Describe() != want {
		t.Errorf("%s, want %s", r.Describe(), want)
	}
}

// sameShares compares to the last digit but two.
func sameShares(a, b []Share) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y Share) bool {
		return x.Label == y.Label && math.Abs(x.Share-y.Share) <= 1e-14*y.Share
	})
}

// Which key is the label: a plain one goes before an object of numbers, which
// may be data about the row, and any other object is none.
func TestMixIsFound(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`{"text":"a","category":{"id":3},"intent":"b"}`, "intent"},
		{`{"text":"a","category":{"id":3,"name":"c"},"labels":{"b":1}}`, "labels"},
		{`{"text":"a","category":{},"labels":{"b":1}}`, "labels"},
	} {
		_, r, err := readText(tc.line, "a.jsonl", Options{})
		if err != nil || !strings.Contains(r.Describe(), `label key "`+tc.want+`"`) {
			t.Errorf("%s: %v, want %s", tc.line, err, tc.want)
		}
	}
	got, _, err := readText(`{"text":"a","labels":{}}`, "a.jsonl", Options{Label: "labels", Unlabelled: true})
	if err != nil || got[0].Label != "" || got[0].Mix != nil {
		t.Errorf("no shares, to predict: %+v, %v", got, err)
	}
}

func TestReadClassWeights(t *testing.T) {
	want := map[string]float64{"cat": 2, "big, dog": 0.5, "n": 0}
	for name, text := range map[string]string{
		"plain":          "cat,2\n\"big, dog\",0.5\nn,0\n",
		"header":         "Label,Weight\ncat,2\n\"big, dog\",0.5\nn,0\n",
		"tabs":           "class\tw\r\ncat\t2\r\n\"big, dog\"\t5e-1\r\n\r\nn\t0",
		"spaces, mark":   "\ufeff cat , 2\n\"big, dog\", .5\nn,0\n",
		"gzip":           string(gzipped([]byte("cat,2\n\"big, dog\",0.5\nn,0\n"))),
		"a weight of -0": "cat,2\n\"big, dog\",0.5\nn,-0\n",
	} {
		got, err := ReadClassWeights(strings.NewReader(text), "w.csv")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "w.csv: is empty, want rows label,weight"},
		{"header only", "label,weight\n", "w.csv: no rows, want label,weight for each class"},
		{"three cells", "a,1\nb,1,2\n", "w.csv:2: 3 cells, want two: label,weight"},
		{"one cell", "a\n", "w.csv:1: 1 cell, want two"},
		{"empty label", "a,1\n ,2\n", "w.csv:2: the label is empty"},
		{"twice", "a,1\nb,1\n a,1\n", `w.csv:3: class "a" has a weight already; keep one row`},
		{"no number", "a,1\nb,x\n", `w.csv:2:3: the weight of "b", "x", is not a number`},
		{"no number in the first row", "b,x\n", `w.csv:1:3: the weight of "b", "x", is not a number`},
		{"no weight", "a,1\nb,\n", `w.csv:2:3: the weight of "b", "", is not a number`},
		{"NaN", "a,1\nb,nan\n", `w.csv:2:3: the weight of "b", "nan", is not a finite number`},
		{"negative", "a,-1\n", `w.csv:1:3: the weight of "a" is -1, want 0 or more`},
		{"all 0", "a,0\nb,0\n", "w.csv: every weight is 0"},
		{"an open quote", "a,1\n\"b,1\n", "w.csv:2:1: the quote that opens this field is never closed"},
		{"not UTF-8", "a,1\n\xff,1\n", "w.csv:2:1: invalid UTF-8"},
		{"packed with xz", "\xfd7zXZ\x00", "w.csv: is packed with xz"},
	} {
		if _, err := ReadClassWeights(strings.NewReader(tc.text), "w.csv"); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func FuzzReadClassWeights(f *testing.F) {
	f.Add("label,weight\na,1\n\"b\nc\",2e3\n")
	f.Add("a\t1\nb\t-1")
	f.Add("y,nan\n")
	f.Fuzz(func(t *testing.T, text string) {
		weights, err := ReadClassWeights(strings.NewReader(text), "w.csv")
		if err != nil {
			if _, ok := err.(*Error); !ok || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%T: %q", err, err)
			}
			return
		}
		for label, w := range weights {
			if label == "" || label != strings.TrimSpace(label) || !(w >= 0) || math.IsInf(w, 0) {
				t.Fatalf("%q: %v", label, w)
			}
		}
	})
}
