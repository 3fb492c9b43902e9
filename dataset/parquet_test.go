package dataset

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The files were written by parquet-go: see internal/parquet/files_test.go.
const parquetFiles = "internal/parquet/testdata/"

// TestParquet reads 100 rows in three row groups, and compares with formulas.
func TestParquet(t *testing.T) {
	text := func(i int) Example { return Example{Text: fmt.Sprint("text of row ", i)} }
	for _, tc := range []struct {
		name, file string
		opts       Options
		about      string
		want       func(i int) Example
	}{
		{"usual names", "snappy-v2", Options{}, `label column "label", text column "text"`, func(i int) Example {
			ex := text(i)
			ex.Label = fmt.Sprint("class ", i%7)
			return ex
		}},
		{"integer label and weight", "zstd-v1", Options{Label: "Number", Weight: "u32"}, `label column "number", text column "text", weight column "u32"`, func(i int) Example {
			ex := text(i)
			ex.Label, ex.Weight = strconv.FormatInt(int64(i)*int64(i)*1e12-5e15, 10), 1<<32-1-float64(i)
			return ex
		}},
		{"labels beyond 2^63", "plain-v1", Options{Label: "unsigned", Text: "prefix"}, `label column "unsigned", text column "prefix"`, func(i int) Example {
			return Example{Text: fmt.Sprintf("prefix %05d", i), Label: strconv.FormatUint(1<<63+uint64(i%5), 10)}
		}},
		{"truth label, numbers by pattern", "gzip-v2", Options{Label: "flag", Columns: []string{"[df]*l*", "plain"}}, `label column "flag", 3 numeric columns float..plain`, func(i int) Example {
			return Example{Label: fmt.Sprint(i%3 == 0), Values: []float64{float64(i) / 4, float64(i%11) / 3, -float64(i)}}
		}},
		{"floats that are integers as labels", "lz4-v2", Options{Label: "float", Columns: []string{"embedding"}}, `label column "float", 3 numbers in column "embedding"`, func(i int) Example {
			return Example{Label: strconv.FormatFloat(float64(i)/4, 'g', -1, 64), Values: []float64{float64(i), 0.5, -1}}
		}},
		{"Brotli", "brotli-v2", Options{}, `label column "label", text column "text"`, func(i int) Example {
			ex := text(i)
			ex.Label = fmt.Sprint("class ", i%7)
			return ex
		}},
		{"null labels to predict", "plain-v2", Options{Label: "name", Unlabelled: true}, `label column "name", text column "text"`, func(i int) Example {
			ex := text(i)
			if i%4 != 1 {
				ex.Label = fmt.Sprint("n", i%3)
			}
			return ex
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := parquetFiles + tc.file + ".parquet"
			r, err := Open(path, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if want := path + ": " + tc.about; !strings.HasPrefix(r.Describe(), want) {
				t.Errorf("%s, want %s", r.Describe(), want)
			}
			for range 2 { // a file can be walked again
				got, err := collect(r)
				if err != nil || len(got) != 100 {
					t.Fatalf("%d rows, %v", len(got), err)
				}
				for i, ex := range got {
					want := tc.want(i)
					if want.Weight == 0 {
						want.Weight = 1
					}
					if !same(ex, want) || ex.Place.Line != i+1 {
						t.Fatalf("row %d at %v: %+v, want %+v", i, ex.Place, ex, want)
					}
				}
			}
		})
	}
}

// TestParquetSources: by path, by name or by its first bytes, out of a reader
// that can seek, from where it stands, but not out of a pipe or a packed file.
func TestParquetSources(t *testing.T) {
	data, err := os.ReadFile(parquetFiles + "snappy-v2.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := readText(string(data), "stdin", Options{}); err != nil || len(got) != 100 {
		t.Errorf("by its first bytes: %d rows, %v", len(got), err)
	}
	at := strings.NewReader("xyz" + string(data))
	if _, err := at.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(at, "a.pq", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := collect(r); err != nil || len(got) != 100 {
		t.Errorf("from where it stands: %d rows, %v", len(got), err)
	}
	both, err := OpenAll([]string{parquetFiles + "snappy-v2.parquet", write(t, "b.csv", []byte("label,text\na,b\n"))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := collect(both); err != nil || len(got) != 101 || got[100].Label != "a" {
		t.Errorf("with a CSV: %d rows, %v", len(got), err)
	}
	if _, err := NewReader(byteAtATime{bytes.NewReader(data)}, "-", Options{}); err == nil || !strings.HasPrefix(err.Error(), "-: is Parquet, which is read from its end, in a stream; save it to a file") {
		t.Errorf("a pipe: %v", err)
	}
	if _, _, err := readText(string(gzipped(data)), "a.parquet.gz", Options{}); err == nil || !strings.HasPrefix(err.Error(), "a.parquet.gz: is a packed Parquet file; unpack it") {
		t.Errorf("packed: %v", err)
	}
}

func TestParquetRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		opts       Options
		want       string
	}{
		{"a null number", "plain-v1", Options{Columns: []string{"maybe"}}, `:2: column "maybe": is null, want a number; fill it in`},
		{"a null label", "plain-v1", Options{Label: "name"}, `:2: column "name": the label is null`},
		{"a null text", "plain-v1", Options{Text: "name"}, `:2: column "name": is null, want text`},
		{"an empty list", "plain-v1", Options{Columns: []string{"vector"}}, `:1: column "vector": an empty list, want numbers`},
		{"a list with numbers", "plain-v1", Options{Columns: []string{"embedding", "plain"}}, `: Options.Columns has 2 columns, one with an array`},
		{"a date as text", "types", Options{Text: "date"}, `: column "date" holds a date, want text; name another with Options.Text`},
		{"a number as text", "types", Options{Text: "price"}, `: column "price" holds a number, want text`},
		{"a group as a feature", "types", Options{Columns: []string{"point"}}, `: column "point" holds a group of 2 columns, want a number; name another with Options.Columns`},
		{"texts as features", "types", Options{Columns: []string{"tags"}}, `: column "tags" holds a list of texts, want a number`},
		{"a nested label", "types", Options{Label: "map"}, `: column "map" holds a group of 2 columns, want labels`},
		{"a time as weight", "types", Options{Weight: "stamp", Columns: []string{"price"}}, `: column "stamp" holds a time, want a number; name another with Options.Weight`},
		{"a negative weight", "types", Options{Weight: "price", Text: "json"}, `:1: column "price": weight -123.45, want 0 or more`},
		{"no such column", "types", Options{Label: "x"}, `: no column "x": the columns are "price", "cents"`},
		{"labels beside it", "types", Options{Labels: "y.npy"}, ``},
		{"no rows", "empty", Options{}, `: no rows in it; add examples`},
		{"a page too large", "plain-v1", Options{MaxRecord: 30}, `: column "label", row group 1: a page of`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := parquetFiles + tc.file + ".parquet"
			r, err := Open(path, tc.opts)
			if err == nil {
				_, err = collect(r)
			}
			if _, ok := err.(*Error); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			if tc.want != "" && !strings.HasPrefix(err.Error(), path+tc.want) {
				t.Errorf("got  %v\nwant %s", err, path+tc.want)
			}
		})
	}
	for name, text := range map[string]string{"a.parquet": "PAR1 and no more", "b.parquet": "text,label\na,b\n", "c": "PAR1"} {
		if _, _, err := readText(text, name, Options{}); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := readText("PARE....", "a.parquet", Options{}); err == nil || err.Error() != "a.parquet: is an encrypted Parquet file; write it without encryption" {
		t.Errorf("encrypted: %v", err)
	}
}

func FuzzParquet(f *testing.F) {
	for _, name := range []string{"types", "plain-v1", "zstd-v2", "empty"} {
		data, err := os.ReadFile(parquetFiles + name + ".parquet")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, byte(0))
		f.Add(data, byte(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, bits byte) {
		opts := Options{Format: Parquet, MaxRecord: 1 << 14, Unlabelled: bits&1 != 0}
		if bits&2 != 0 {
			opts.Columns = []string{"embedding"}
		}
		if bits&4 != 0 {
			opts.Columns, opts.Weight = []string{"p*"}, "u32"
		}
		checkLaws(t, data, opts, true)
	})
}
