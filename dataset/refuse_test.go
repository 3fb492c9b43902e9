package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each refusal names file, line and column, what stood there and what to do.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, tc := range []struct {
		name, file, text string
		opts             Options
		want             string // the message begins so
	}{
		{"empty", "a.csv", "", Options{}, "a.csv: is empty, want a file of examples"},
		{"byte-order mark and nothing else", "a.csv", "\xef\xbb\xbf", Options{}, "a.csv: only blank lines"},
		{"header only", "a.csv", "text,label\n", Options{}, "a.csv:1: only the header line, no rows"},
		{"blank lines", "a.jsonl", "\n \n", Options{}, "a.jsonl: only blank lines"},
		{"blank lines", "a.ft", "\n\n", Options{}, "a.ft: no examples in it"},
		{"too few columns", "a.csv", "text,label\na,b\n\nc\n", Options{}, "a.csv:4: 1 column, want 2 as in the header; write every field"},
		{"too many columns", "a.csv", "text,label\na,b\nc,d,e\n", Options{}, "a.csv:3: 3 columns, want 2 as in the header; quote a field"},
		{"too many columns, quoted", "a.csv", "text,label\n\"a\",b,c\n", Options{}, "a.csv:2: 3 columns, want 2"},
		{"empty label", "a.csv", "text,label\na, \n", Options{}, `a.csv:2:3: column "label": the label is empty`},
		{"empty label after a line break", "a.csv", "text,label\n\"a\nb\",\n", Options{}, `a.csv:3:4: column "label": the label is empty`},
		{"text in a numeric column", "a.csv", "width,y\n1,a\nabc,b\n", Options{}, `a.csv:3:1: column "width": "abc" is not a number; name the numeric columns with Options.Columns`},
		{"NaN", "a.csv", "y,width\na,1\nb,NaN\n", Options{}, `a.csv:3:3: column "width": "NaN" is not a finite number; fill it in or remove the row`},
		{"Inf in the first row", "a.csv", "y,width\na,-Inf\n", Options{}, `a.csv:2:3: column "width": "-Inf" is not a finite number`},
		{"beyond float64", "a.csv", "y,width\na,1e999\n", Options{}, `a.csv:2:3: column "width": "1e999" is not a finite number`},
		{"no number", "a.csv", "y,width\na,\n", Options{}, `a.csv:2:3: column "width": is empty, want a number`},
		{"negative weight", "a.csv", "text,y,w\na,b,-1\n", Options{Weight: "w"}, `a.csv:2:5: column "w": weight -1, want 0 or more`},
		{"word as weight", "a.csv", "text,y,w\na,b,c\n", Options{Weight: "w"}, `a.csv:2:5: column "w": "c" is not a number`},
		{"invalid UTF-8", "a.csv", "text,label\na,b\ncaf\xe9,d\n", Options{}, "a.csv:3:4: invalid UTF-8: byte 0xe9 at byte offset 18; save"},
		{"invalid UTF-8 after a mark", "a.csv", "\xef\xbb\xbftext,l\xff", Options{}, "a.csv:1:7: invalid UTF-8: byte 0xff at byte offset 9;"},
		{"quote never closed", "a.csv", "text,label\na,\"b\nc,d\n", Options{}, "a.csv:2:3: the quote that opens this field is never closed"},
		{"field too long", "a.csv", "text,label\n\"" + strings.Repeat("a\n", 100) + "\",b", Options{MaxRecord: 100}, "a.csv:2:1: the field that this quote opens is longer than 100 bytes"},
		{"text after a quote", "a.csv", "text,label\n\"a\"b,c\n", Options{}, "a.csv:2:4: text after the closing quote"},
		{"carriage returns alone", "a.csv", "text,label\ra,b\rc,d\r", Options{}, "a.csv:1: lines end in a carriage return alone"},
		{"carriage returns before a line feed", "a.csv", "text,label\ra,b\nc,d,e", Options{}, "a.csv:1: lines end in a carriage return alone"},
		{"no label column", "a.csv", "text,b\n1,2\n", Options{}, `a.csv:1: no label column found: the columns are "text", "b"; name it with Options.Label`},
		{"bars", "a.csv", "text|label\n1|2\n", Options{}, `a.csv:1: no label column found: the columns are "text|label" (is another separator in use?`},
		{"a point after decimal commas", "a.csv", "label;x\na;1,5\nb;1.234\n", Options{}, `a.csv:3:3: column "x": "1.234" has a decimal point, but numbers before it have a decimal comma; write all of them one way`},
		{"a comma after decimal points", "a.csv", "label;x\na;1.5\nb;1,234\n", Options{}, `a.csv:3:3: column "x": "1,234" has a decimal comma, but numbers before it have a decimal point; write all of them one way`},
		{"points between thousands", "a.csv", "label;x\na;1.234,5\n", Options{Columns: []string{"x"}}, `a.csv:2:3: column "x": "1.234,5" is not a number`},
		{"a decimal comma between commas", "a.csv", "label,x\na,\"1,5\"\n", Options{Columns: []string{"x"}}, `a.csv:2:3: column "x": "1,5" is not a number`},
		{"Windows-1252", "a.csv", "label;text\na;caf\xe9\n", Options{}, `a.csv:2:6: invalid UTF-8: byte 0xe9 at byte offset 16; save the file as UTF-8, or say what it is, such as Options.Encoding windows-1252`},
		{"an encoding of Parquet", "a.parquet", "PAR1", Options{Encoding: "windows-1252"}, "a.parquet: Parquet files hold no text of another encoding; leave out Options.Encoding"},
		{"no header", "a.csv", "oak,1.5,2\nelm,3,4\n", Options{}, `a.csv:1: no label column found: the columns are "oak", "1.5", "2" (is the header missing?`},
		{"nothing to learn from", "a.csv", "name,label\na,b\n", Options{}, `a.csv:1: neither a text column nor one with numbers found: the columns are "name", "label"; name the text with Options.Text, or numbers with Options.Columns`},
		{"unknown label", "a.csv", "text,label\na,b\n", Options{Label: "intent"}, `a.csv:1: no column "intent": the columns are "text", "label"; name one of them with Options.Label`},
		{"unknown text", "a.csv", "text,label\na,b\n", Options{Text: "body"}, `a.csv:1: no column "body"`},
		{"unknown weight", "a.csv", "text,label\na,b\n", Options{Weight: "w"}, `a.csv:1: no column "w"`},
		{"unknown feature", "a.csv", "x,label\n1,b\n", Options{Columns: []string{"z*"}}, `a.csv:1: no column "z*": the columns are "x", "label"; name one of them with Options.Columns`},
		{"broken pattern", "a.csv", "x,label\n1,b\n", Options{Columns: []string{"[z"}}, `a.csv:1: Options.Columns "[z" is no pattern`},
		{"text and features", "a.csv", "x,label\n1,b\n", Options{Text: "x", Columns: []string{"x"}}, `a.csv:1: column "x" is asked for as two of`},
		{"label as text", "a.csv", "x,label\n1,b\n", Options{Text: "label", Label: "label"}, `a.csv:1: column "label" is asked for as two of`},
		{"label as feature", "a.csv", "x,label\n1,b\n", Options{Label: "label", Columns: []string{"label"}}, `a.csv:1: column "label" is named in Options.Columns and is the label`},
		{"column twice, named", "a.csv", "x,x,label\n1,2,b\n", Options{Columns: []string{"x"}}, `a.csv:1: column "x" occurs twice, as 1 and 2`},
		{"column twice, found", "a.csv", "x,x,label\n1,2,b\n", Options{}, `a.csv:1: column "x" occurs twice, as 1 and 2`},
		{"column twice, by pattern", "a.csv", "x,x,label\n1,2,b\n", Options{Columns: []string{"x*"}}, `a.csv:1: column "x" occurs twice, as 1 and 2`},
		{"column twice but for case", "a.csv", "X,x,label\n1,2,b\n", Options{Columns: []string{"label"}, Label: "xX"}, `a.csv:1: no column "xX"`},
		{"two labels", "a.csv", "text,label,label\n1,2,b\n", Options{}, `a.csv:1: column "label" occurs twice, as 2 and 3`},
		{"two labels, named", "a.csv", "text,label,label\n1,2,b\n", Options{Label: "LABEL"}, `a.csv:1: column "LABEL" occurs twice, as 2 and 3`},
		{"line too long", "a.ft", "__label__a " + strings.Repeat("x", 64<<10), Options{MaxRecord: 1000}, "a.ft:1: line is longer than 1000 bytes"},

		{"not JSON", "a.jsonl", "text", Options{}, `a.jsonl:1:1: "t", want "{"`},
		{"JSON array", "a", "[{}]", Options{}, "a:1:1: a JSON array, want one object a line"},
		{"object over several lines", "a.jsonl", "{\n\"text\": 1}", Options{}, "a.jsonl:1:2: the line ends inside an object; write each object on one line"},
		{"missing key", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\"}", Options{}, `a.jsonl:2:12: key "label" is missing`},
		{"key twice", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\",\"text\":\"b\",\"label\":\"b\"}", Options{}, `a.jsonl:2:20: key "text" occurs twice`},
		{"nested text", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":{\"a\":1},\"label\":\"b\"}", Options{}, `a.jsonl:2:9: key "text": an object, want a text in quotes`},
		{"number as text", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":7,\"label\":\"b\"}", Options{}, `a.jsonl:2:9: key "text": a number, want`},
		{"nested label", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\",\"label\":{}}", Options{}, `a.jsonl:2:21: key "label": no class has a value above 0, want a label or soft labels`},
		{"shares that are no numbers", "a.jsonl", `{"text":"a","label":{"b":{}}}`, Options{Label: "label"}, `a.jsonl:1:26: key "label": an object as the value of "b", want a number`},
		{"a text as a share", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\",\"label\":{\"b\":\"1\"}}", Options{}, `a.jsonl:2:26: key "label": a string as the value of "b"`},
		{"a negative share", "a.jsonl", `{"text":"a","labels":{"b":1,"c":-0.5}}`, Options{}, `a.jsonl:1:33: key "labels": a value of "-0.5" for "c", want a finite number, 0 or more`},
		{"a share beyond float64", "a.jsonl", `{"text":"a","labels":{"b":1e999}}`, Options{}, `a.jsonl:1:27: key "labels": a value of "1e999" for "b"`},
		{"shares that are all 0", "a.jsonl", `{"text":"a","labels":{"b":0,"c":0.0}}`, Options{}, `a.jsonl:1:22: key "labels": no class has a value above 0`},
		{"shares that sum to less than 1", "a.jsonl", "{\"text\":\"a\",\"labels\":{\"b\":1}}\n" + `{"text":"a","labels":{"b":0.75,"c":0.2}}`, Options{}, `a.jsonl:2:22: key "labels": the soft labels sum to 0.95, want 1, or whole numbers that count votes`},
		{"shares that sum to more than 1", "a.jsonl", `{"text":"a","labels":{"b":0.75,"c":0.5}}`, Options{}, `a.jsonl:1:22: key "labels": the soft labels sum to 1.25, want 1`},
		{"half a vote", "a.jsonl", `{"text":"a","labels":{"b":0.5}}`, Options{}, `a.jsonl:1:22: key "labels": the soft labels sum to 0.5, want 1`},
		{"a share that is NaN", "a.jsonl", `{"text":"a","label":"b"}` + "\n" + `{"text":"a","label":{"b":NaN,"c":1}}`, Options{}, `a.jsonl:2:`},
		{"a class with two shares", "a.jsonl", `{"text":"a","labels":{"b":1,"c":1," b":2}}`, Options{}, `a.jsonl:1:22: key "labels": class "b" has two values; keep one`},
		{"a share without a class", "a.jsonl", `{"text":"a","labels":{" ":1}}`, Options{}, `a.jsonl:1:27: key "labels": the name of a class is empty`},
		{"null label", "a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\n{\"text\":\"a\",\"label\":null}", Options{}, `a.jsonl:2:21: key "label": null, want a label; fill it in or remove the line`},
		{"a list first", "a.jsonl", `{"text":"a","label":["a","b"]}`, Options{}, `a.jsonl:1: key "label" holds an array, perhaps of several labels, where one is wanted: train with Options.Multilabel, or take the first of each list with Options.FirstLabel`},
		{"null first", "a.jsonl", `{"text":"a","label":null}`, Options{}, `a.jsonl:1: key "label" holds null or an object here, want a label; fill it in, or name another key with Options.Label`},
		{"several labels", "a.jsonl", `{"text":"a","label":["a","b"]}`, Options{Label: "label"}, `a.jsonl:1:21: key "label": an array, perhaps of several labels, where one is wanted`},
		{"empty label", "a.jsonl", `{"text":"a","label":" "}`, Options{}, `a.jsonl:1:21: key "label": the label is empty`},
		{"Python's NaN", "a.jsonl", "{\"x\":1,\"label\":\"b\"}\n{\"x\":NaN,\"label\":\"b\"}", Options{}, `a.jsonl:2:6: NaN is not a finite number; fill it in or remove the line`},
		{"Python's NaN in an array", "a.jsonl", "{\"x\":[NaN],\"label\":\"b\"}", Options{}, `a.jsonl:1:7: NaN is not a finite number`},
		{"a string is no number", "a.jsonl", "{\"x\":1,\"label\":\"b\"}\n{\"x\":\"1\",\"label\":\"b\"}", Options{}, `a.jsonl:2:6: key "x": a string, want a number`},
		{"a bool is no number", "a.jsonl", "{\"x\":1,\"label\":\"b\"}\n{\"x\":true,\"label\":\"b\"}", Options{}, `a.jsonl:2:6: key "x": a bool, want a number`},
		{"number beyond float64", "a.jsonl", "{\"x\":-1e999,\"label\":\"b\"}", Options{}, `a.jsonl:1:6: key "x": "-1e999" is not a finite number`},
		{"array too short", "a.jsonl", "{\"x\":[1,2],\"y\":\"b\"}\n{\"x\":[1],\"y\":\"b\"}", Options{}, `a.jsonl:2:6: key "x": 1 number in the array, want 2 as in the first`},
		{"number for an array", "a.jsonl", "{\"x\":[1,2],\"y\":\"b\"}\n{\"x\":1,\"y\":\"b\"}", Options{}, `a.jsonl:2:6: key "x": a number, want an array of 2 numbers`},
		{"empty array", "a.jsonl", "{\"x\":[],\"y\":\"b\"}", Options{}, `a.jsonl:1: key "x": an empty array`},
		{"array and number", "a.jsonl", `{"x":[1],"z":1,"y":"b"}`, Options{Columns: []string{"x", "z"}}, `a.jsonl:1: Options.Columns has 2 keys, one with an array`},
		{"negative weight", "a.jsonl", `{"text":"a","y":"b","w":-1}`, Options{Weight: "w"}, `a.jsonl:1:25: key "w": weight -1`},
		{"two objects on a line", "a.jsonl", `{"text":"a","y":"b"}{}`, Options{}, `a.jsonl:1:21: unexpected "{"; write one JSON object a line`},
		{"no label key", "a.jsonl", `{"text":"a"}`, Options{}, `a.jsonl:1: no label key found: the keys are "text"; name it with Options.Label`},

		{"no label", "a.ft", "__label__a b\nc d\n", Options{}, "a.ft:2: no label, want a word such as __label__greeting"},
		{"no word that begins so", "a.ft", "x__label__a b", Options{}, "a.ft:1: no label, want a word that begins with __label__"},
		{"two labels", "a.ft", "__label__a __label__b c", Options{}, `a.ft:1:12: a second label, "b" beside "a", where one is wanted: train with Options.Multilabel, or take the first of each line with Options.FirstLabel`},
		{"mark without a name", "a.ft", "a __label__ c", Options{}, `a.ft:1:3: the label is empty`},
		{"features of fastText", "a.ft", "__label__a c", Options{Columns: []string{"a"}}, `a.ft: fastText files have no named columns; leave out Options.Columns`},
		{"weights of fastText", "a.ft", "__label__a c", Options{Weight: "a"}, `a.ft: fastText files have no named columns; leave out Options.Weight`},

		{"index 0", "a.svm", "a 0:1", Options{}, "a.svm:1:3: feature number 0, want 1 or more"},
		{"index twice", "a.svm", "a 2:1 2:2", Options{}, "a.svm:1:7: feature 2 occurs twice"},
		{"index descends", "a.svm", "a 1:1\na 3:1 2:2", Options{}, "a.svm:2:7: feature 2 after 3; sort"},
		{"index too large", "a.svm", "a 2147483648:1", Options{}, `a.svm:1:3: feature number "2147483648", want an integer from 1 to 2147483647`},
		{"index with a sign", "a.svm", "a +1:1", Options{}, `a.svm:1:3: feature number "+1", want an integer`},
		{"no pair", "a.svm", "a 1", Options{}, `a.svm:1:3: "1", want index:value`},
		{"value", "a.svm", "a 1:x", Options{}, `a.svm:1:5: feature 1: "x" is not a number`},
		{"NaN", "a.svm", "a 1:nan", Options{}, `a.svm:1:5: feature 1: "nan" is not a finite number`},
		{"no label", "a.svm", "1:2", Options{}, `a.svm:1:1: "1:2" stands where the label is wanted`},
		{"empty label", "a.svm", ", 1:2", Options{FirstLabel: true}, `a.svm:1:1: the label is empty`},
		{"several labels", "a.svm", "1,2 1:2", Options{}, `a.svm:1:1: several labels, "1,2"`},
		{"query number", "a.svm", "1 qid:3 1:2", Options{}, `a.svm:1:3: "qid:3": data to be ranked`},
		{"text of LIBSVM", "a.svm", "1 1:2", Options{Text: "text"}, `a.svm: LIBSVM files have no named columns; leave out Options.Text`},

		{"unknown format", "data", "hello\n", Options{}, `data:1: cannot tell the format from the name or from "hello"; want CSV (.csv), TSV`},
		{"long first line", "data", long, Options{}, `data:1: cannot tell the format from the name or from "` + long[:40] + `"...; want`},
		{"labels file beside CSV", "a.csv", "text,label\na,b\n", Options{Labels: "y.npy"}, "a.csv: CSV files hold their labels themselves; a labels file (y.npy)"},
		{"not packed", "a.csv.gz", "text,label\na,b\n", Options{}, "a.csv.gz: the name says that it is packed, its first bytes do not"},
		{"empty, said to be packed", "a.csv.gz", "", Options{}, "a.csv.gz: is empty"},
		{"broken gzip", "a.csv.gz", "\x1f\x8bxxxxxxxxxxxxx", Options{}, "a.csv.gz: begins like gzip but is not"},
		{"UTF-32", "a.csv", "\xff\xfe\x00\x00t\x00\x00\x00", Options{}, "a.csv: is UTF-32 text"},
		{"zip", "a.npz", "PK\x03\x04", Options{}, "a.npz: is a zip file"},
		{"xz", "a.csv.xz", "\xfd7zXZ\x00", Options{}, "a.csv.xz: is packed with xz"},
	} {
		t.Run(tc.file+" "+tc.name, func(t *testing.T) {
			_, _, err := readText(tc.text, tc.file, tc.opts)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no *Error", err)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.csv")
	_, err := Open(missing, Options{})
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != missing+": no such file; check the path" {
		t.Errorf("missing file: %v", err)
	}
	text := write(t, "a.csv", []byte("text,label\na,b\n"))
	weighted := write(t, "w.csv", []byte("text,label,w\na,b,1\n"))
	number := write(t, "b.csv", []byte("w,label\n1,b\n"))
	sparse := write(t, "c.svm", []byte("a 1:1\n"))
	array := write(t, "d.jsonl", []byte(`{"x":[1,2],"label":"a"}`))
	array3 := write(t, "e.jsonl", []byte(`{"x":[1,2,3],"label":"a"}`))
	fastText := write(t, "f.ft", []byte("__label__a b"))
	for _, tc := range []struct {
		name  string
		paths []string
		opts  Options
		want  string
	}{
		{"directory", []string{dir}, Options{}, dir + ": is a folder, want a file of examples"},
		{"standard input", []string{"-"}, Options{}, "-: is the name of the standard input"},
		{"no file", nil, Options{}, "dataset: no file given"},
		{"second file is missing", []string{text, missing}, Options{}, missing + ": no such file"},
		{"kinds differ", []string{text, sparse}, Options{}, sparse + ": holds sparse features, but " + text + " holds text"},
		{"columns differ", []string{number, text}, Options{}, text + `:1: no column "w": the columns are "text", "label"`},
		{"widths differ", []string{array, array3}, Options{}, array3 + ": has 3 numeric columns, but " + array + " has 2"},
		{"weights differ", []string{weighted, fastText}, Options{Weight: "w"}, fastText + ": only one of it and " + weighted + " has weights"},
		{"labels for two", []string{text, text}, Options{Labels: "y.npy"}, "y.npy: one labels file for 2 data files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := OpenAll(tc.paths, tc.opts)
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(text, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(text, Options{}); err == nil || !strings.Contains(err.Error(), "no right to read") {
			t.Errorf("unreadable file: %v", err)
		}
	}
}

// The walk ends with the first error and gives no example with it.
func TestErrorEndsTheWalk(t *testing.T) {
	got, _, err := readText("text,label\na,b\nc\nd,e\n", "a.csv", Options{})
	if len(got) != 1 || err == nil || err.Error() != "a.csv:3: 1 column, want 2 as in the header; write every field, if only as an empty one" {
		t.Errorf("%d examples, then %v", len(got), err)
	}
}

// A packed file that is cut off gives an error wherever the cut is.
func TestTruncatedPacked(t *testing.T) {
	text := []byte("text,label\na,b\nc,d\n")
	for name, data := range map[string][]byte{"a.csv.gz": gzipped(text), "a.csv.zst": zstandard(text)} {
		for n := range data {
			if _, _, err := readText(string(data[:n]), name, Options{}); err == nil {
				t.Errorf("%s cut to %d of %d bytes gives no error", name, n, len(data))
			}
		}
		data = append([]byte(nil), data...)
		data[len(data)-5] ^= 1 // in the checksum
		if _, _, err := readText(string(data), name, Options{}); err == nil {
			t.Errorf("%s with a flipped bit gives no error", name)
		}
	}
}
