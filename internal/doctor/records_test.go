package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

func recordsOf(examples ...dataset.Example) *Records {
	r := new(Records)
	for i, e := range examples {
		e.Place = dataset.Place{File: "a.csv", Line: i + 2}
		r.Add(e)
	}
	return r
}

func text(label, content string) dataset.Example {
	return dataset.Example{Text: content, Label: label}
}

func TestRepeats(t *testing.T) {
	number := func(label string, values ...float64) dataset.Example {
		return dataset.Example{Values: values, Label: label}
	}
	for _, tc := range []struct {
		name     string
		examples []dataset.Example
		want     Repeats
		places   string // labels of the first example
	}{
		{"nothing repeated", []dataset.Example{text("a", "x"), text("b", "y")}, Repeats{}, ""},
		{"same label", []dataset.Example{text("a", "x"), text("a", "x"), text("a", "x")}, Repeats{Rows: 2}, ""},
		{"case and white space do not count", []dataset.Example{text("a", "How  are You"), text("b", "how are\tyou ")},
			Repeats{Rows: 1, Contents: 1, Between: 2}, "a b"},
		{"punctuation does", []dataset.Example{text("a", "how"), text("b", "how?")}, Repeats{}, ""},
		{"the first row of each label is named", []dataset.Example{text("a", "x"), text("a", "x"), text("b", "x"), text("a", "x"), text("c", "x")},
			Repeats{Rows: 4, Contents: 1, Between: 5}, "a b c"},
		{"blank rows are not repeats", []dataset.Example{text("a", ""), text("b", " \n"), text("b", "x")}, Repeats{Blank: 2}, ""},
		{"numbers", []dataset.Example{number("a", 1, 2), number("b", 1, 2), number("b", 2, 1)}, Repeats{Rows: 1, Contents: 1, Between: 2}, "a b"},
		{"minus zero is zero", []dataset.Example{number("a", 0), number("b", negativeZero())}, Repeats{Rows: 1, Contents: 1, Between: 2}, "a b"},
		{"sparse rows differ by their features", []dataset.Example{
			{Index: []int32{1}, Values: []float64{1}, Label: "a"}, {Index: []int32{2}, Values: []float64{1}, Label: "b"}}, Repeats{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := recordsOf(tc.examples...).repeats()
			if got.Blank != tc.want.Blank || got.Rows != tc.want.Rows || got.Contents != tc.want.Contents || got.Between != tc.want.Between {
				t.Errorf("%+v, want %+v", *got, tc.want)
			}
			var labels []string
			for _, e := range got.Examples {
				for _, o := range e.Places {
					labels = append(labels, o.Label)
					if e := tc.examples[o.Row-1]; e.Label != o.Label || o.Line != o.Row+1 || o.File != "a.csv" {
						t.Errorf("place %+v is not of its row", o)
					}
				}
			}
			if s := strings.Join(labels, " "); s != tc.places {
				t.Errorf("labels %q, want %q", s, tc.places)
			}
		})
	}
}

func negativeZero() float64 {
	zero := 0.0
	return -zero * 1
}

func TestRepeatsShowFew(t *testing.T) {
	var examples []dataset.Example
	for i := range 8 {
		content := strings.Repeat("wörd ", 40) + string(rune('a'+i))
		examples = append(examples, text("a", content), text("b", content))
	}
	r := recordsOf(examples...).repeats()
	if r.Contents != 8 || len(r.Examples) != maxExamples {
		t.Errorf("%d contents, %d examples, want 8 and %d", r.Contents, len(r.Examples), maxExamples)
	}
	if n := len([]rune(r.Examples[0].Text)); n != mostShown+3 {
		t.Errorf("excerpt of %d characters, want %d", n, mostShown+3)
	}
}

func TestHiddenCharacters(t *testing.T) {
	const selector = "\ufe0f"
	var examples []dataset.Example
	for i := range 200 {
		e := text("heart", "love "+selector)
		if i >= 40 {
			e = text([]string{"sun", "car", "cat"}[i%3], "plain é")
		}
		examples = append(examples, e)
	}
	got := recordsOf(append(examples, text("sun", selector+"a"+selector))...).leaks()
	if len(got) != 1 || got[0].Character != "U+FE0F" || got[0].Rows != 41 || got[0].Label != "heart" {
		t.Fatalf("%+v, want 41 rows of U+FE0F, mostly heart", got)
	}
	if got[0].Share != 40.0/41 || got[0].Usual != 40.0/201 {
		t.Errorf("share %v, usual %v", got[0].Share, got[0].Usual)
	}
	if got := recordsOf(examples[:50]...).leaks(); len(got) != 0 {
		t.Errorf("%+v, but most rows are of that class anyway", got)
	}
	if got := hiddenRunes("a\u200db\u200d\ufeff"); !slices.Equal(got, []rune{0x200d, 0xfeff}) {
		t.Errorf("%U", got)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add("a b\na  b\nA B\n\n", "x y x y")
	f.Add("\ufe0f\xff\n\u200d", "")
	f.Fuzz(func(t *testing.T, lines, labels string) {
		r, of := new(Records), strings.Split(labels, " ")
		n := 0
		for line := range strings.Lines(lines) {
			r.Add(text(of[n%len(of)], line))
			n++
		}
		got := r.repeats()
		if r.Rows() != n || got.Blank+got.Rows > n || got.Contents > got.Rows || got.Between > got.Rows+got.Contents || len(got.Examples) > maxExamples {
			t.Errorf("%d rows: %+v", n, got)
		}
		for _, e := range got.Examples {
			if len(e.Places) < 2 {
				t.Errorf("a conflict of one label: %+v", e)
			}
		}
		r.leaks()
	})
}
