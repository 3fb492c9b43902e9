package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// benchCSV makes rows of n numbers, or of a sentence if n is 0.
func benchCSV(rows, n int, quoted bool) []byte {
	var b bytes.Buffer
	b.WriteString("label")
	if n == 0 {
		b.WriteString(",text")
	}
	for i := range n {
		fmt.Fprintf(&b, ",c%d", i)
	}
	b.WriteByte('\n')
	for row := range rows {
		fmt.Fprintf(&b, "class %d", row%77)
		switch {
		case n == 0 && quoted:
			fmt.Fprintf(&b, ",\"I paid, but the \"\"money\"\" of order %d has not arrived; where is it?\"", row)
		case n == 0:
			fmt.Fprintf(&b, ",I paid but the money of order %d has not arrived; where is it?", row)
		}
		for i := range n {
			fmt.Fprintf(&b, ",%g", float64(row*i%997)/8)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// BenchmarkRead compares the whole way to an Example with encoding/csv, which
// here stops at strings and numbers.
func BenchmarkRead(b *testing.B) {
	for _, in := range []struct {
		name string
		data []byte
	}{
		{"rows=text", benchCSV(20000, 0, false)},
		{"rows=quoted", benchCSV(20000, 0, true)},
		{"rows=numbers", benchCSV(2000, 192, false)},
	} {
		b.Run("reader=dataset/"+in.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.data)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(in.data), "a.csv", Options{})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range r.All() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("reader=encoding-csv/"+in.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.data)))
			b.ReportAllocs()
			for b.Loop() {
				r := csv.NewReader(bytes.NewReader(in.data))
				r.ReuseRecord = true
				r.Read()
				for {
					record, err := r.Read()
					if err == io.EOF {
						break
					}
					for _, field := range record[1:] {
						if len(record) > 2 {
							if _, err := strconv.ParseFloat(field, 64); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
			}
		})
	}
}

// BenchmarkFormats reads the same 20,000 sentences in each text format.
func BenchmarkFormats(b *testing.B) {
	var csv, tsv, jsonl, ft bytes.Buffer
	csv.WriteString("text,label\n")
	tsv.WriteString("text\tlabel\n")
	for row := range 20000 {
		text := fmt.Sprintf("the money of order %d has not arrived; where is it?", row)
		fmt.Fprintf(&csv, "%s,%d\n", text, row%77)
		fmt.Fprintf(&tsv, "%s\t%d\n", text, row%77)
		fmt.Fprintf(&jsonl, "{\"text\":\"%s\",\"label\":\"%d\"}\n", text, row%77)
		fmt.Fprintf(&ft, "__label__%d %s\n", row%77, text)
	}
	for _, in := range []struct {
		name string
		data []byte
	}{{"csv", csv.Bytes()}, {"csv.gz", gzipped(csv.Bytes())}, {"csv.zst", zstandard(csv.Bytes())}, {"tsv", tsv.Bytes()}, {"jsonl", jsonl.Bytes()}, {"ft", ft.Bytes()}} {
		b.Run("format="+strings.ReplaceAll(in.name, ".", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(in.data), "a."+in.name, Options{})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range r.All() {
					if err != nil {
						b.Fatal(err)
					}
				}
				r.Close()
			}
		})
	}
}
