package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// File is the footer of a Parquet file: its columns, and where they lie.
type File struct {
	Columns []Column // the fields of a row, in file order
	Rows    int64    // of all row groups

	r      io.ReaderAt
	size   int64
	opts   Options
	groups []group
}

// group is a row group.
type group struct {
	rows   int64
	chunks []chunk // one a leaf of the schema
}

// chunk is where a leaf's values of one row group lie, as the footer says.
type chunk struct {
	physical         int32
	codec            int32
	values           int64
	data, dictionary int64 // offsets in the file; dictionary 0: none or unknown
	size             int64
	elsewhere        bool // in another file
	encrypted        bool
}

// Open reads the footer of a file of that many bytes. It allocates in
// proportion to the footer, which is part of the file.
func Open(r io.ReaderAt, size int64, opts Options) (*File, error) {
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
		return nil, errors.New("is encrypted; write it without encryption")
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
	f := &File{r: r, size: size, opts: opts}
	schema, err := f.parse(footer)
	if err != nil {
		return nil, err
	}
	if err := f.arrange(schema); err != nil {
		return nil, err
	}
	return f, f.check()
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

// element is a node of the schema.
type element struct {
	name       string
	physical   int32 // -1 for a group
	length     int32
	repetition int32
	children   int32
	converted  int32 // -1 for none
	scale      int32
	logical    int // field of the LogicalType union, 0 for none
	bits       int32
	signed     bool
}

// parse reads FileMetaData.
func (f *File) parse(footer []byte) ([]element, error) {
	t := &thrift{b: footer}
	var schema []element
	encrypted := false
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.structs(func() { schema = append(schema, t.element()) })
		case id == 4 && kind == thriftList:
			t.structs(func() { f.groups = append(f.groups, t.group()) })
		case id == 8:
			encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	switch {
	case t.err != nil:
		return nil, fmt.Errorf("the footer cannot be read: %w; fetch or write the file anew", t.err)
	case encrypted:
		return nil, errors.New("is encrypted; write it without encryption")
	}
	return schema, nil
}

func (t *thrift) element() element {
	e := element{physical: -1, converted: -1, signed: true}
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 4 && kind == thriftBinary:
			e.name = string(t.bytes())
		case id == 10 && kind == thriftStruct:
			t.logicalType(&e)
		case kind != thriftInt32:
			return false
		case id == 1:
			e.physical = t.int32()
		case id == 2:
			e.length = t.int32()
		case id == 3:
			e.repetition = t.int32()
		case id == 5:
			e.children = t.int32()
		case id == 6:
			e.converted = t.int32()
		case id == 7:
			e.scale = t.int32()
		default:
			return false
		}
		return true
	})
	return e
}

// logicalType reads the LogicalType union: one field, whose number is the type.
func (t *thrift) logicalType(e *element) {
	t.fields(func(id int, kind byte) bool {
		e.logical = id
		if kind != thriftStruct {
			return false
		}
		t.fields(func(field int, kind byte) bool {
			switch {
			case id == logicalDecimal && field == 1 && kind == thriftInt32:
				e.scale = t.int32()
			case id == logicalInteger && field == 1 && kind == thriftByte:
				e.bits = int32(t.byte())
			case id == logicalInteger && field == 2:
				e.signed = kind == thriftTrue
				return false
			default:
				return false
			}
			return true
		})
		return true
	})
}

func (t *thrift) group() group {
	var g group
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.structs(func() { g.chunks = append(g.chunks, t.chunk()) })
		case id == 3 && kind == thriftInt64:
			g.rows = t.int()
		default:
			return false
		}
		return true
	})
	return g
}

func (t *thrift) chunk() chunk {
	c := chunk{physical: -1}
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1:
			c.elsewhere = true
		case id == 8, id == 9:
			c.encrypted = true
		case id == 3 && kind == thriftStruct:
			t.fields(func(id int, kind byte) bool {
				switch {
				case id == 1 && kind == thriftInt32:
					c.physical = t.int32()
				case id == 4 && kind == thriftInt32:
					c.codec = t.int32()
				case kind != thriftInt64:
					return false
				case id == 5:
					c.values = t.int()
				case id == 7:
					c.size = t.int()
				case id == 9:
					c.data = t.int()
				case id == 11:
					c.dictionary = t.int()
				default:
					return false
				}
				return true
			})
			return true
		}
		return false
	})
	return c
}

// check looks at what the row groups say, but not yet at their bytes.
func (f *File) check() error {
	leaves := 0
	for _, c := range f.Columns {
		leaves += c.leaves
	}
	var rows int64
	for i, g := range f.groups {
		if len(g.chunks) != leaves {
			return fmt.Errorf("row group %d has %d columns, the schema %d; write the file anew", i+1, len(g.chunks), leaves)
		}
		if g.rows < 0 || rows+g.rows < rows {
			return fmt.Errorf("row group %d has %d rows; write the file anew", i+1, g.rows)
		}
		rows += g.rows
	}
	f.Rows = rows // the footer's own count is wrong in files of some writers
	return nil
}
