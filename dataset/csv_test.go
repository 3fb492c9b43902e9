package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// readRecords reads all records with their fields' places.
func readRecords(data []byte, quotes bool) (out [][]string, places [][]mark, err error) {
	in, err := input.New(bytes.NewReader(data), "a.csv", Options{}.reading())
	if err != nil {
		return nil, nil, err
	}
	rec := &records{lines: in.Lines(Options{}.maxRecord()), comma: ',', quotes: quotes, limit: maxColumns}
	for {
		if err := rec.read(); err == io.EOF {
			return out, places, nil
		} else if err != nil {
			return out, places, err
		}
		var fields []string
		var at []mark
		for i := range rec.count() {
			fields = append(fields, string(rec.field(i)))
			line, column := rec.at(i)
			at = append(at, mark{line, column})
		}
		out, places = append(out, fields), append(places, at)
	}
}

func TestRecords(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       [][]string
	}{
		{"plain", "a,b\nc,d", [][]string{{"a", "b"}, {"c", "d"}}},
		{"empty fields", ",\n,,", [][]string{{"", ""}, {"", "", ""}}},
		{"blank lines are passed over", "\n\na\n\r\n\nb\n\n", [][]string{{"a"}, {"b"}}},
		{"quoted", "\"a\",\"b,c\",\"\"\n", [][]string{{"a", "b,c", ""}}},
		{"doubled quotes", "\"\"\"a\"\"\",\"\"\"\"", [][]string{{`"a"`, `"`}}},
		{"line breaks inside quotes", "\"a\n\nb\r\nc\",d\ne,f", [][]string{{"a\n\nb\nc", "d"}, {"e", "f"}}},
		{"quote inside a field", "5\" pipe,a\"b\"", [][]string{{`5" pipe`, `a"b"`}}},
		{"space before a quote", "a, \"b\"", [][]string{{"a", ` "b"`}}},
		{"comma after quotes", "\"a\",\n", [][]string{{"a", ""}}},
		{"one empty quoted field", "\"\"\n", [][]string{{""}}},
		{"NUL and tab", "a\x00b,\t", [][]string{{"a\x00b", "\t"}}},
	} {
		got, _, err := readRecords([]byte(tc.text), true)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %q, %v; want %q", tc.name, got, err, tc.want)
		}
	}
	_, places, err := readRecords([]byte("a,\"b\nc\",d,\"e\"\nf,g"), true)
	want := [][]mark{{{1, 1}, {1, 3}, {2, 4}, {2, 6}}, {{3, 1}, {3, 3}}}
	if err != nil || !reflect.DeepEqual(places, want) {
		t.Errorf("places %v, %v; want %v", places, err, want)
	}
}

// A field of 10 MB is read, in one piece and over many lines; one beyond the
// limit is refused.
func TestHugeFields(t *testing.T) {
	for name, text := range map[string]string{
		"one line":   strings.Repeat("x", 10<<20),
		"many lines": strings.Repeat("ab \n\"\"", 2<<20),
	} {
		got, _, err := readText("label,text\na,\""+text+"\"\nb,c\n", "a.csv", Options{})
		if err != nil || len(got) != 2 || got[0].Text != strings.ReplaceAll(text, `""`, `"`) || got[1].Text != "c" {
			t.Errorf("%s: %d examples, %v", name, len(got), err)
		}
	}
	_, _, err := readText("label,text\na,"+strings.Repeat("x", 1<<20), "a.csv", Options{MaxRecord: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "a.csv:2: line is longer than 1048576 bytes") {
		t.Error(err)
	}
	_, _, err = readText(strings.Repeat(",", maxColumns)+"\n", "a.csv", Options{})
	if err == nil || !strings.Contains(err.Error(), "header has 1048577 columns, want at most 1048576") {
		t.Error(err)
	}
}

// Whatever encoding/csv reads we read alike, at the same places; where it
// refuses we may be more lenient, but only about quotes.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{"a,b\nc,d\n", "\"a\"\"b\",\"c\nd\"\r\n\r\ne,\"\"", "a\"b,c\n", "\"a\n", "\"a\"b\n", ",\r\n\"\r\n\r\n\"", "a\r", "\xef\xbb\xbfa"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) || len(data) == 0 || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(data, []byte("PK")) {
			t.Skip("byte-order marks and packed files are undone by package input, before this reader")
		}
		got, places, err := readRecords(data, true)
		std := csv.NewReader(bytes.NewReader(data))
		std.FieldsPerRecord = -1
		for i := 0; ; i++ {
			want, stdErr := std.Read()
			if stdErr == io.EOF {
				if err != nil || len(got) != i {
					t.Fatalf("%d records, %v; encoding/csv has %d", len(got), err, i)
				}
				return
			}
			if errors.Is(stdErr, csv.ErrBareQuote) {
				return
			}
			if stdErr != nil {
				if err == nil {
					t.Fatalf("read without the error %v", stdErr)
				}
				return
			}
			if i >= len(got) || !reflect.DeepEqual(got[i], want) {
				t.Fatalf("record %d of %q, want %q (%v)", i, got, want, err)
			}
			for j := range want {
				line, column := std.FieldPos(j)
				if (mark{line, column}) != places[i][j] {
					t.Fatalf("record %d, field %d at %v, want %d:%d", i, j, places[i][j], line, column)
				}
			}
		}
	})
}
