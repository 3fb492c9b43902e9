// Command gen writes the Parquet files of ../testdata with another writer,
// parquet-go, and its test compares the two readers. It is a module of its own
// so that nobody who uses treeloss downloads that library.
//
//	cd dataset/internal/parquet/_gen && go run . ../testdata && go test .
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
)

// row has a column of each kind that is read, in each encoding. The test of
// package parquet has the same formulas.
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

func rowAt(i int) row {
	r := row{
		Text: fmt.Sprintf("text of row %d", i), Words: fmt.Sprint("w", i*i), Prefix: fmt.Appendf(nil, "prefix %05d", i),
		Label: fmt.Sprint("class ", i%7), Number: int64(i)*int64(i)*1e12 - 5e15, Small: int32(100 - 3*i), Plain: int32(-i),
		Unsigned: 1<<63 + uint64(i%5), U32: 1<<32 - 1 - uint32(i), Float: float32(i) / 4, Double: float64(i%11) / 3, Flag: i%3 == 0,
	}
	r.Embedding = []float64{float64(i), 0.5, -1}
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

const rows = 100

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

func write[T any](path string, values []T, options ...parquet.WriterOption) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := parquet.NewGenericWriter[T](f, options...)
	for i := 0; i < len(values); i += 40 { // row groups of up to 40
		if _, err := w.Write(values[i:min(i+40, len(values))]); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func run(dir string) error {
	var all []row
	for i := range rows {
		all = append(all, rowAt(i))
	}
	for name, codec := range map[string]compress.Codec{
		"plain": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw, "brotli": &parquet.Brotli,
	} {
		for version := 1; version <= 2; version++ {
			if version == 1 && name != "plain" && name != "zstd" {
				continue
			}
			path := filepath.Join(dir, fmt.Sprintf("%s-v%d.parquet", name, version))
			err := write(path, all, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(300),
				parquet.CreatedBy("treeloss", "test", "0"), parquet.DataPageStatistics(true))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	one := types{Price: -12345, Cents: [5]byte{255, 255, 255, 255, 0}, Label: "a", JSON: "{}", Tags: []string{"x", "y"}, Map: map[string]int64{"a": 1}, Grid: [][]float32{{1}}, Stamp: time.Unix(1, 0)}
	if err := write(filepath.Join(dir, "types.parquet"), []types{one}, parquet.CreatedBy("treeloss", "test", "0")); err != nil {
		return err
	}
	return write(filepath.Join(dir, "empty.parquet"), []row{}, parquet.CreatedBy("treeloss", "test", "0"))
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . FOLDER")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
