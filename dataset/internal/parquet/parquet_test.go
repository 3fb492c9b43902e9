package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t testing.TB, data []byte, maxPage int) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), maxPage)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wanted returns what row has into row i of a column, as text.
func wanted(column string, i int) string {
	if (column == "maybe" || column == "name") && i%4 == 1 {
		return "null"
	}
	switch column {
	case "text":
		return fmt.Sprint("text of row ", i)
	case "words":
		return fmt.Sprint("w", i*i)
	case "prefix":
		return fmt.Sprintf("prefix %05d", i)
	case "label":
		return fmt.Sprint("class ", i%7)
	case "number":
		return fmt.Sprint(int64(i)*int64(i)*1e12 - 5e15)
	case "small":
		return fmt.Sprint(100 - 3*i)
	case "plain":
		return fmt.Sprint(-i)
	case "unsigned":
		return fmt.Sprint(1<<63 + uint64(i%5))
	case "u32":
		return fmt.Sprint(1<<32 - 1 - i)
	case "float":
		return fmt.Sprint(float64(float32(i) / 4))
	case "double":
		return fmt.Sprint(float64(i%11) / 3)
	case "flag":
		return fmt.Sprint(i%3 == 0)
	case "maybe":
		return fmt.Sprint(float64(i) / 8)
	case "name":
		return fmt.Sprint("n", i%3)
	}
	if column == "embedding" {
		return fmt.Sprintf("[%d 0.5 -1]", i)
	}
	list := []float64{}
	for k := range i % 4 {
		if column == "vector" {
			list = append(list, float64(i+k))
		} else {
			list = append(list, float64(i*k))
		}
	}
	return fmt.Sprint(list)
}

// shown returns what was read, as text.
func shown(r *Rows, i int, kind Kind) string {
	v := r.Value(i)
	switch {
	case v.Null:
		return "null"
	case kind == Text:
		return string(v.Bytes)
	case kind == Bool:
		return fmt.Sprint(v.Int != 0)
	case kind == Int:
		return fmt.Sprint(v.Int)
	case kind == Uint:
		return fmt.Sprint(uint64(v.Int))
	case kind == List:
		list, _ := r.List(i)
		return fmt.Sprint(append([]float64{}, list...))
	}
	return fmt.Sprint(v.Number)
}

// TestEveryEncoding reads what parquet-go wrote: 17 columns in all encodings,
// packed in all ways, over three row groups and pages of a few rows.
func TestEveryEncoding(t *testing.T) {
	for _, name := range []string{"plain-v1", "plain-v2", "zstd-v1", "zstd-v2", "snappy-v2", "gzip-v2", "lz4-v2", "brotli-v2"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, load(t, name+".parquet"), 64<<20)
			if len(f.Columns) != 17 || len(f.groups) != 3 {
				t.Fatalf("%d columns, %d row groups", len(f.Columns), len(f.groups))
			}
			columns := make([]int, 17)
			for i := range columns {
				columns[i] = 16 - i
			}
			r := f.Read(columns)
			defer r.Close()
			for row := range 100 {
				if err := r.Next(); err != nil {
					t.Fatal(row, err)
				}
				for i, c := range columns {
					if got, want := shown(r, i, f.Columns[c].Kind), wanted(f.Columns[c].Name, row); got != want {
						t.Fatalf("row %d, column %s: %s, want %s", row, f.Columns[c].Name, got, want)
					}
				}
			}
			if err := r.Next(); err != io.EOF {
				t.Errorf("after the last row: %v", err)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	f := open(t, load(t, "types.parquet"), 64<<20)
	want := map[string]string{
		"price": "a number", "cents": "a number", "date": "a date", "stamp": "a time", "old": "a time", "id": "a UUID",
		"point": "a group of 2 columns", "box": "a group of 1 column", "tags": "a list of texts", "map": "a group of 2 columns",
		"grid": "a nested list", "json": "text", "label": "text",
	}
	if len(f.Columns) != len(want) {
		t.Errorf("%d columns, want %d", len(f.Columns), len(want))
	}
	for _, c := range f.Columns {
		if c.What != want[c.Name] {
			t.Errorf("%s: %s, want %s", c.Name, c.What, want[c.Name])
		}
	}
	r := f.Read([]int{0, 1, len(f.Columns) - 1})
	defer r.Close()
	if err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if price, cents := r.Value(0).Number, r.Value(1).Number; price != -123.45 || cents != -2.56 || string(r.Value(2).Bytes) != "a" {
		t.Errorf("price %v, cents %v, label %s", price, cents, r.Value(2).Bytes)
	}
}

// drain reads all rows of all columns that can be read, up to a bound.
func drain(data []byte, maxPage int) (rows int, err error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)), maxPage)
	if err != nil {
		return 0, err
	}
	var columns []int
	for i, c := range f.Columns {
		if c.Kind != Other {
			columns = append(columns, i)
		}
	}
	if len(columns) == 0 {
		return 0, nil
	}
	r := f.Read(columns)
	defer r.Close()
	for rows = 0; rows < 2000; rows++ {
		if err := r.Next(); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func TestRefusals(t *testing.T) {
	plain := load(t, "plain-v1.parquet")
	flip := func(at int) []byte {
		b := bytes.Clone(plain)
		b[at] ^= 0x55
		return b
	}
	for _, tc := range []struct {
		name    string
		data    []byte
		maxPage int
		want    string
	}{
		{"nothing", nil, 64 << 20, "the file ends early"},
		{"no tail", plain[:len(plain)-3], 64 << 20, "does not end as a Parquet file does"},
		{"encrypted", append(bytes.Clone(plain[:len(plain)-4]), "PARE"...), 64 << 20, "is encrypted"},
		{"a footer longer than the file", append(bytes.Clone(plain[:len(plain)-8]), "\xff\xff\xff\x7fPAR1"...), 64 << 20, "the footer is longer than the file"},
		{"a footer cut short", append(bytes.Clone(plain[:len(plain)-8]), "\x10\x00\x00\x00PAR1"...), 64 << 20, ""},
		{"a page that was changed", flip(60), 64 << 20, "column "},
		{"a page beyond the bound", plain, 10, "a page of"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := drain(tc.data, tc.maxPage)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if rows, err := drain(load(t, "empty.parquet"), 64<<20); rows != 0 || err != nil {
		t.Errorf("no rows: %d, %v", rows, err)
	}
	broken := errors.New("broken disk")
	if _, err := Open(brokenAt{broken}, 100, 64<<20); !errors.Is(err, broken) {
		t.Errorf("a broken disk: %v", err)
	}
}

type brokenAt struct{ err error }

func (b brokenAt) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// TestEveryByte changes each byte of a file, and cuts the file everywhere: an
// error or rows, never a panic.
func TestEveryByte(t *testing.T) {
	for _, name := range []string{"types.parquet", "snappy-v2.parquet"} {
		data := load(t, name)
		const maxPage = 1 << 20
		step := 1 + len(data)/1500
		for i := 0; i < len(data); i += step {
			b := bytes.Clone(data)
			for _, x := range []byte{0xff, 0x01} {
				b[i] = data[i] ^ x
				drain(b, maxPage)
			}
		}
		for i := 0; i < len(data); i += 7 * step {
			if _, err := drain(data[:i], maxPage); err == nil {
				t.Errorf("%s cut to %d of %d bytes gives no error", name, i, len(data))
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"types", "plain-v1", "zstd-v2", "snappy-v2", "gzip-v2", "lz4-v2", "brotli-v2", "empty"} {
		f.Add(load(f, name+".parquet"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := drain(data, 1<<16)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error on several lines: %q", err)
		}
	})
}
