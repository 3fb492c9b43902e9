package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

var (
	errShort     = errors.New("the metadata ends early")
	errForm      = errors.New("the metadata is damaged")
	errEncrypted = errors.New("is encrypted; write it without encryption")
)

const (
	maxDepth  = 32      // of structs and lists in metadata; Parquet's own is 7
	maxHeader = 1 << 20 // bytes of a page's header, which may hold statistics
)

// walk returns the length of the struct in Thrift's compact protocol (apache/thrift:
// doc/specs/thrift-compact-protocol.md) that b
// begins with. After it a decoder can set aside memory for each list and text in
// it: each element of a list has at least one byte, each text has its bytes.
// errShort says that b may be the beginning of a longer struct.
func walk(b []byte) (length int, err error) {
	w := &walker{b: b}
	defer func() {
		if p := recover(); p != nil {
			if err, _ = p.(error); err != errShort && err != errForm {
				panic(p)
			}
		}
	}()
	w.value(12, 0)
	return w.i, nil
}

// walker passes over values; it panics with errShort or errForm, which walk turns into
// errors: each step of the recursion would else check one.
type walker struct {
	b []byte
	i int
}

// skip passes over n bytes, which must be there.
func (w *walker) skip(n uint64) {
	if n > uint64(len(w.b)-w.i) {
		panic(errShort)
	}
	w.i += int(n)
}

// byte reads one.
func (w *walker) byte() byte {
	w.skip(1)
	return w.b[w.i-1]
}

// uvarint reads a number of seven bits a byte, the lowest first. A signed one (zigzag)
// has the same length.
func (w *walker) uvarint() uint64 {
	v, n := binary.Uvarint(w.b[w.i:])
	if n < 0 {
		panic(errForm)
	}
	w.skip(uint64(max(n, 1)))
	return v
}

// value passes over a value of a kind of the compact protocol.
func (w *walker) value(kind byte, depth int) {
	if depth > maxDepth {
		panic(errForm)
	}
	switch kind {
	case 1, 2, 3: // true, false, byte
		w.skip(1)
	case 4, 5, 6: // integers
		w.uvarint()
	case 7: // double
		w.skip(8)
	case 8: // text
		w.skip(w.uvarint())
	case 9, 10: // list, set
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		w.values(n, depth, head&15)
	case 11: // map
		if n := w.uvarint(); n > 0 {
			kinds := w.byte()
			w.values(n, depth, kinds>>4, kinds&15)
		}
	case 12: // struct
		for head := w.byte(); head != 0; head = w.byte() {
			if head>>4 == 0 {
				w.uvarint() // the field's number, in full
			}
			if head&15 > 2 { // a truth value is in the field's head
				w.value(head&15, depth+1)
			}
		}
	default:
		panic(errForm)
	}
}

// values passes over n elements of the given kinds, each of at least a byte: a list that says
// it has more than there are bytes is refused before any memory is set aside for it.
func (w *walker) values(n uint64, depth int, kinds ...byte) {
	if n > uint64(len(w.b)-w.i) {
		panic(errShort)
	}
	for ; n > 0; n-- {
		for _, kind := range kinds {
			w.value(kind, depth+1)
		}
	}
}

// readFooter reads what a file says about itself. It allocates in proportion to the
// footer, which is part of the file.
func readFooter(r io.ReaderAt, size int64) (meta format.FileMetaData, err error) {
	const tail = 8 // length of the footer, magic
	if size < int64(len(Magic))+tail {
		return meta, errors.New("the file ends early; fetch or write it anew")
	}
	var end [tail]byte
	if err := readAt(r, end[:], size-tail); err != nil {
		return meta, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	switch {
	case string(end[4:]) == "PARE":
		return meta, errEncrypted
	case string(end[4:]) != Magic:
		return meta, errors.New("does not end as a Parquet file does; fetch or write it anew")
	case length > size-tail-int64(len(Magic)):
		return meta, errors.New("the footer is longer than the file; fetch or write it anew")
	}
	footer := make([]byte, length)
	if err := readAt(r, footer, size-tail-length); err != nil {
		return meta, err
	}
	if _, err = walk(footer); err == nil {
		err = thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta)
	}
	if err != nil {
		return meta, fmt.Errorf("the footer cannot be read: %w; fetch or write the file anew", err)
	}
	if _, encrypted := meta.EncryptionAlgorithm.Value.(any); encrypted {
		return meta, errEncrypted
	}
	return meta, nil
}

// readAt fills b, or returns io.ErrUnexpectedEOF where the file ends before.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}
