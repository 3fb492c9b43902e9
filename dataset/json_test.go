package dataset

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// FuzzJSON compares the scanner with encoding/json: both accept the same lines,
// and see the same keys, strings and numbers in an object.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a\u00e9\ud83d\ude00\ud83d \n\/","n":-0.5e+3}`, `{"a":[1,[],{"b":null}],"c":true,"c":false}`, `{}`, `{ "a" : 1 , "b" : "" } `,
		`{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":-}`, `{"a":1e}`, `{"a":+1}`, `{"a":"` + "\t" + `"}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":1,}`, `{"a":[1,]}`,
		`{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":nul}`, `{"a":NaN}`, `{"a":-Infinity}`, `{"a":"b`, `{"a":"b\`, `{} {}`, `{"\u0061":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) || !strings.HasPrefix(line, "{") {
			return // this reader is given only lines that begin an object
		}
		j := &jsonl{lines: (&input.Stream{Name: "f"}).Lines(1 << 20)}
		var keys, values []string
		err := j.object([]byte(line), func(key []byte) error {
			keys = append(keys, string(key))
			switch j.scan.holds() {
			case words:
				values = append(values, string(j.scan.str()))
				return nil
			case number:
				values = append(values, string(j.scan.token()))
				return nil
			}
			values = append(values, "")
			j.scan.skip()
			return nil
		})
		if valid := json.Valid([]byte(line)); valid != (err == nil) {
			t.Fatalf("encoding/json says valid: %v; we say %v", valid, err)
		}
		if err != nil {
			return
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		dec.Token()
		for i := 0; dec.More(); i++ {
			key, _ := dec.Token()
			if key != keys[i] {
				t.Fatalf("key %d is %q, want %q", i, keys[i], key)
			}
			var value any
			if err := dec.Decode(&value); err != nil {
				t.Fatal(err)
			}
			switch v := value.(type) {
			case string:
				if v != values[i] {
					t.Fatalf("string %q, want %q", values[i], v)
				}
			case json.Number:
				if v.String() != values[i] {
					t.Fatalf("number %q, want %q", values[i], v)
				}
			}
		}
		if _, err := dec.Token(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	})
}

func TestDeepJSON(t *testing.T) {
	nested := func(n int) string {
		return fmt.Sprintf(`{"text":"a","label":"b","rest":%s1%s}`, strings.Repeat("[", n), strings.Repeat("]", n))
	}
	if _, _, err := readText(nested(9000), "a.jsonl", Options{}); err != nil {
		t.Error(err)
	}
	if _, _, err := readText(nested(1<<20), "a.jsonl", Options{}); err == nil || !strings.Contains(err.Error(), "nested more than 10,000 levels deep") {
		t.Error(err)
	}
}
