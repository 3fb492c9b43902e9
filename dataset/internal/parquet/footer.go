package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Magic begins and ends a Parquet file.
const Magic = "PAR1"

// Options bounds what reading may take.
type Options struct {
	MaxPage int // bytes of a page, packed and unpacked, and of a row's list; 0 means 64 MiB

	noChecksum bool // for fuzzing, which cannot guess checksums
}

func (o Options) maxPage() int {
	if o.MaxPage > 0 {
		return o.MaxPage
	}
	return 64 << 20
}

// maxValues bounds the values of a page, since runs take no room in the file
// but up to 14 bytes a value when they are decoded.
func (o Options) maxValues() int { return max(o.maxPage()/8, 64) }

// File is the footer of a Parquet file: its columns, and where they lie.
type File struct {
	Columns []Column // the fields of a row, in file order
	Rows    int64    // of all row groups

	r      io.ReaderAt
	size   int64
	opts   Options
	groups []group
}

// metadata is what is used of the footer (FileMetaData of the format).
type metadata struct {
	Schema     []format.SchemaElement `thrift:"2,required"`
	Groups     []group                `thrift:"4"`
	Encryption *struct{}              `thrift:"8,optional"`
}

// group is a row group.
type group struct {
	Chunks []chunk `thrift:"1,required"` // one a leaf of the schema
	Rows   int64   `thrift:"3,required"`
}

// chunk is where a leaf's values of one row group lie, as the footer says.
type chunk struct {
	Elsewhere []byte    `thrift:"1,optional"` // name of another file
	Meta      chunkMeta `thrift:"3,optional"`
	Encrypted *struct{} `thrift:"8,optional"`
	Hidden    []byte    `thrift:"9,optional"` // encrypted metadata
}

type chunkMeta struct {
	Physical   format.Type             `thrift:"1,required"`
	Codec      format.CompressionCodec `thrift:"4,required"`
	Values     int64                   `thrift:"5,required"`
	Size       int64                   `thrift:"7,required"`
	Data       int64                   `thrift:"9,required"` // offsets in the file
	Dictionary int64                   `thrift:"11,optional"`
}

// Open reads the footer of a file of that many bytes. It allocates in
// proportion to the footer, which is part of the file.
func Open(r io.ReaderAt, size int64, opts Options) (f *File, err error) {
	defer rescue(&err)
	const tail = 8 // length of the footer, magic
	if size < int64(len(Magic))+tail {
		return nil, errors.New("the file ends early; fetch or write it anew")
	}
	var end [tail]byte
	if err := readAt(r, end[:], size-tail); err != nil {
		return nil, err
	}
	switch string(end[4:]) {
	case Magic:
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errors.New("does not end as a Parquet file does; fetch or write it anew")
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if length > size-tail-int64(len(Magic)) {
		return nil, errors.New("the footer is longer than the file; fetch or write it anew")
	}
	footer := make([]byte, length)
	if err := readAt(r, footer, size-tail-length); err != nil {
		return nil, err
	}
	var m metadata
	if err := unmarshal(footer, &m); err != nil {
		return nil, fmt.Errorf("the footer cannot be read: %w; fetch or write the file anew", err)
	}
	if m.Encryption != nil {
		return nil, errEncrypted
	}
	f = &File{r: r, size: size, opts: opts, groups: m.Groups}
	if err := f.arrange(m.Schema); err != nil {
		return nil, err
	}
	return f, f.check()
}

var errEncrypted = errors.New("is encrypted; write it without encryption")

// unmarshal decodes the Thrift struct that b begins with, after walking it.
func unmarshal(b []byte, v any) error {
	n, err := walk(b)
	if err != nil {
		return err
	}
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(v)
}

// leaves returns parquet-go's columns with values, of a file that has nothing
// but the schema: what it reads as their pages comes from a cursor.
func leaves(schema []format.SchemaElement) ([]*parquet.FileColumnChunk, error) {
	group := format.RowGroup{NumRows: 1}
	for _, e := range schema {
		if e.Type.Valid {
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: e.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{e.Name}, NumValues: 1,
				DataPageOffset: int64(len(Magic)), TotalCompressedSize: 1 << 62,
			}})
		}
	}
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, format.FileMetaData{Version: 1, Schema: schema, NumRows: 1, RowGroups: []format.RowGroup{group}})
	if err != nil {
		return nil, err
	}
	b := append([]byte(Magic), footer...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), Magic...)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	var all []*parquet.FileColumnChunk
	for _, c := range f.RowGroups()[0].ColumnChunks() {
		all = append(all, c.(*parquet.FileColumnChunk))
	}
	return all, nil
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// rescue makes an error of a panic of parquet-go, which has them for what it
// does not expect in a file.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("cannot be read: %.200v; fetch or write the file anew", p)
	}
}

// check looks at what the row groups say, but not yet at their bytes.
func (f *File) check() error {
	leaves := 0
	for _, c := range f.Columns {
		leaves += c.leaves
	}
	var rows int64
	for i, g := range f.groups {
		if len(g.Chunks) != leaves {
			return fmt.Errorf("row group %d has %d columns, the schema %d; write the file anew", i+1, len(g.Chunks), leaves)
		}
		if g.Rows < 0 || rows+g.Rows < rows {
			return fmt.Errorf("row group %d has %d rows; write the file anew", i+1, g.Rows)
		}
		rows += g.Rows
	}
	f.Rows = rows // the footer's own count is wrong in files of some writers
	return nil
}
