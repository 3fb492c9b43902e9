// Package parquet reads flat columns, and lists of numbers, out of Parquet
// files, row by row.
//
//	footer --Open--> File{Columns} --Rows--> row group by row group:
//	    page --unpack--> levels, values --decode--> one Value a column and row
//
// It is there because a data set may come from anybody. Nothing that a file
// says about itself is believed: every count is checked against the bytes that
// are there before memory is set aside for it, and levels, dictionary indexes
// and values are decoded one at a time, as they are asked for. Memory is one
// page a column that is read, a page is bounded by Options.MaxPage, and all
// pages together by 16 times that plus 8 times the file. Whatever the bytes,
// the outcome is rows or an error.
//
// It reads data pages of both versions, the encodings plain, dictionary, RLE,
// delta (all three) and byte stream split, and pages packed with Snappy, gzip,
// zstd and LZ4 (raw). It refuses by name: Brotli, LZO, the old LZ4 framing,
// encryption and columns kept in other files. It does not use statistics,
// indexes or bloom filters. The format is told at
// https://parquet.apache.org/docs/file-format/.
//
// The files of testdata were written by another program, parquet-go; the module
// in _gen makes them, and compares the two readers on many more files.
package parquet

//go:generate go run -C _gen . ../testdata
