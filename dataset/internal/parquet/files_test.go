package parquet

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// row has a column of each kind that is read, in each encoding.
type row struct {
	Text      string    `parquet:"text"`
	Words     string    `parquet:"words,delta"`
	Prefix    []byte    `parquet:"prefix,delta"`
	Label     string    `parquet:"label,dict"`
	Number    int64     `parquet:"number,delta"`
	Small     int32     `parquet:"small,delta"`
	Plain     int32     `parquet:"plain"`
	Unsigned  uint64    `parquet:"unsigned,dict"`
	U32       uint32    `parquet:"u32"`
	Float     float32   `parquet:"float,split"`
	Double    float64   `parquet:"double,dict"`
	Flag      bool      `parquet:"flag"`
	Maybe     *float64  `parquet:"maybe,optional"`
	Name      *string   `parquet:"name,optional,dict"`
	Vector    []float32 `parquet:"vector,list"`
	Old       []int32   `parquet:"old"`
	Embedding []float64 `parquet:"embedding,list"`
}

// rowAt returns what wanted tells in another way.
func rowAt(i int) row {
	r := row{
		Text: fmt.Sprintf("text of row %d", i), Words: fmt.Sprint("w", i*i), Prefix: fmt.Appendf(nil, "prefix %05d", i),
		Label: fmt.Sprint("class ", i%7), Number: int64(i)*int64(i)*1e12 - 5e15, Small: int32(100 - 3*i), Plain: int32(-i),
		Unsigned: 1<<63 + uint64(i%5), U32: 1<<32 - 1 - uint32(i), Float: float32(i) / 4, Double: float64(i%11) / 3, Flag: i%3 == 0,
		Embedding: []float64{float64(i), 0.5, -1},
	}
	if i%4 != 1 {
		x, name := float64(i)/8, fmt.Sprint("n", i%3)
		r.Maybe, r.Name = &x, &name
	}
	for k := range i % 4 {
		r.Vector = append(r.Vector, float32(i+k))
		r.Old = append(r.Old, int32(i*k))
	}
	return r
}

// types has what is not read, or read in a way of its own.
type types struct {
	Price int64                  `parquet:"price,decimal(2:18)"`
	Cents [5]byte                `parquet:"cents,decimal(2:11)"`
	Date  int32                  `parquet:"date,date"`
	Stamp time.Time              `parquet:"stamp,timestamp"`
	Old   deprecated.Int96       `parquet:"old"`
	ID    [16]byte               `parquet:"id,uuid"`
	Point struct{ X, Y float64 } `parquet:"point"`
	Box   struct{ X float64 }    `parquet:"box"`
	Tags  []string               `parquet:"tags,list"`
	Map   map[string]int64       `parquet:"map"`
	Grid  [][]float32            `parquet:"grid,list"`
	JSON  string                 `parquet:"json,json"`
	Label string                 `parquet:"label"`
}

// written returns a file with row groups of up to 40 values.
func written[T any](t testing.TB, values []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, append(options, parquet.CreatedBy("treeloss", "test", "0"))...)
	for i := 0; i < len(values); i += 40 {
		if _, err := w.Write(values[i:min(i+40, len(values))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFiles writes testdata with -update, and else sees that all is there.
func TestFiles(t *testing.T) {
	var all []row
	for i := range 100 {
		all = append(all, rowAt(i))
	}
	one := types{Price: -12345, Cents: [5]byte{255, 255, 255, 255, 0}, Label: "a", JSON: "{}", Tags: []string{"x", "y"}, Map: map[string]int64{"a": 1}, Grid: [][]float32{{1}}, Stamp: time.Unix(1, 0)}
	files := map[string][]byte{"types": written(t, []types{one}), "empty": written(t, []row{})}
	for _, f := range []struct {
		name    string
		codec   compress.Codec
		version int
	}{
		{"plain-v1", &parquet.Uncompressed, 1}, {"plain-v2", &parquet.Uncompressed, 2}, {"zstd-v1", &parquet.Zstd, 1}, {"zstd-v2", &parquet.Zstd, 2},
		{"snappy-v2", &parquet.Snappy, 2}, {"gzip-v2", &parquet.Gzip, 2}, {"lz4-v2", &parquet.Lz4Raw, 2}, {"brotli-v2", &parquet.Brotli, 2},
	} {
		files[f.name] = written(t, all, parquet.Compression(f.codec), parquet.DataPageVersion(f.version), parquet.PageBufferSize(300), parquet.DataPageStatistics(true))
	}
	for name, data := range files {
		path := filepath.Join("testdata", name+".parquet")
		if *update {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
