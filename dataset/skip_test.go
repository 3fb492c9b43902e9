package dataset

import (
	"strings"
	"testing"
)

// Rows that cannot be used are left out, each with its reason, and those after them read.
func TestSkip(t *testing.T) {
	for _, tc := range []struct {
		name, file, data string
		texts            string   // of the rows that are left, with bars between
		reasons          []string // the beginnings of the errors
	}{
		{"CSV", "a.csv", "label,text\nonly\na,one\n,two\nb,three,3\nc,\xff\nd,\"4\n\xff4\"\ne,\"five\"x\nf,six\n", "one|six", []string{
			"a.csv:2: 1 column, want 2", `a.csv:4:1: column "label": the label is empty`, "a.csv:5: 3 columns, want 2",
			"a.csv:6: invalid UTF-8: byte 0xff", "a.csv:7: invalid UTF-8: byte 0xff", "a.csv:9:9: text after the closing quote"}},
		{"JSONL", "a.jsonl", "{oops\n{\"label\":\"a\",\"text\":\"one\"}\n{\"label\":\"a\"}\n\xff\n{\"label\":null,\"text\":\"x\"}\n{\"label\":\"b\",\"text\":\"two\"}\n", "one|two",
			[]string{"a.jsonl:1:", "a.jsonl:3:", "a.jsonl:4:", "a.jsonl:5:"}},
		{"fastText", "a.ft", "no label\n__label__a one\n__label__ two\n\xff\n__label__b three\n", "one|three",
			[]string{"a.ft:1: no label", "a.ft:3:1: the label is empty", "a.ft:4:1: invalid UTF-8"}},
	} {
		var got []*Error
		opts := Options{Skip: func(e *Error) { got = append(got, e) }}
		r, err := NewReader(strings.NewReader(tc.data), tc.file, opts)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var texts []string
		for ex, err := range r.All() {
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			texts = append(texts, ex.Text)
		}
		if have := strings.Join(texts, "|"); have != tc.texts {
			t.Errorf("%s: texts %q, want %q", tc.name, have, tc.texts)
		}
		if len(got) != len(tc.reasons) {
			t.Fatalf("%s: left out %v, want %d rows", tc.name, got, len(tc.reasons))
		}
		for i, want := range tc.reasons {
			if !strings.HasPrefix(got[i].Error(), want) || !got[i].Row {
				t.Errorf("%s: left out because of %q, Row %v, want %q", tc.name, got[i], got[i].Row, want)
			}
		}
	}
}

// What ends the reading stays an error, and a file of bad rows has no examples.
func TestSkipNotAll(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"a quote never closed", "label,text\na,b\nc,\"d\ne,f\n", "a.csv:3:3: the quote that opens this field is never closed"},
		{"no header", "label,kind\na,b\n", "a.csv:1: neither a text column"},
		{"only short rows", "label,text\na\nb\n", "a.csv:1: no rows below the header that can be used, of 2"},
		{"only rows without label", "label,text\n,a\n,b\n", "a.csv: no examples in it that can be used"},
	} {
		skipped := 0
		r, err := NewReader(strings.NewReader(tc.data), "a.csv", Options{Skip: func(*Error) { skipped++ }})
		if err == nil {
			for _, e := range r.All() {
				err = e
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || err.(*Error).Row {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if strings.HasPrefix(tc.name, "only") != (skipped == 2) {
			t.Errorf("%s: %d rows left out", tc.name, skipped)
		}
	}
}
