// Package parquet reads flat columns, and lists of numbers, out of Parquet
// files, row by row. The format itself is read by parquet-go
// (github.com/parquet-go/parquet-go): metadata, schema, levels, dictionaries and
// all encodings of values. This package stands before it as a guard, because a
// data set may come from anybody and that library believes what a file says
// about itself:
//
//	footer --walk, bound--> parquet-go's metadata, schema
//	page header --walk, bound--> bytes --unpack up to their length--> counts
//	    checked --> parquet-go's page --> Values, row by row
//
// Nothing is handed on before its counts fit the bytes that are there: lists,
// lengths and nesting of the metadata; sizes and places of pages; what a page
// unpacks to; runs and deltas, of which five bytes can announce 2^31 values. A
// panic of the library ends as an error. Memory is one page a column that is
// read; a page is bounded by Options.MaxPage, and all pages together by 16 times
// that plus 8 times the file. Whatever the bytes, the outcome is rows or an
// error.
//
// Pages may be packed with Snappy, gzip, zstd, Brotli or LZ4 (raw). Refused by
// name are LZO, the old LZ4 framing, encryption and columns kept in other files.
// Statistics, indexes and bloom filters are not used. The format is told at
// https://parquet.apache.org/docs/file-format/.
package parquet
