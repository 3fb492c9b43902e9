// Package parquet reads flat columns, and lists of numbers, out of Parquet
// files, row by row, by parquet-go (github.com/parquet-go/parquet-go). Pages may
// be packed with Snappy, gzip, zstd, Brotli or LZ4 (raw).
//
// # The way of a value
//
//	file: PAR1, pages of all columns by row group, footer, its length, PAR1
//	footer --walk, thrift--> schema --newColumn--> Columns
//	pages of a chunk --pages.advance: header checked, checksum, unpacked--> parquet-go
//	                 --decoded values--> cursor.row --finish--> Value, List
//
// # What is checked
//
// That library believes what a file says about itself. Before it sees them, the
// footer and the header of each page are held against the length of the file and
// the largest page that Open allows, checksums against the pages; a panic of the library ends as an
// error. The limit of this: what is inside a page is not looked at first. A file
// made to do harm, with checksums or none, can have a page of few bytes unpack, or
// a run of values in it expand, to some GB of memory: take Parquet from sources
// that you trust.
package parquet
