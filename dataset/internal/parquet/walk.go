package parquet

import (
	"encoding/binary"
	"errors"
)

// Types of the compact protocol of Thrift.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds the nesting of metadata; Parquet's own is 7 deep.
const maxThriftDepth = 32

var (
	errThriftShort = errors.New("the metadata ends early")
	errThriftForm  = errors.New("the metadata is damaged")
)

// walk returns the length of the Thrift struct that b begins with. After it a
// decoder can set aside memory for each list, text and nesting in it: each
// element of a list or a map has at least one byte, each text has its bytes, and
// structs are at most maxThriftDepth deep. errThriftShort says that b may be the
// beginning of one.
func walk(b []byte) (int, error) {
	w := &walker{b: b}
	w.fields(0)
	return w.i, w.err
}

// walker passes over the compact protocol; after an error it stands still.
type walker struct {
	b   []byte
	i   int
	err error
}

func (w *walker) fields(depth int) {
	if depth > maxThriftDepth {
		w.err = errThriftForm
	}
	for w.err == nil {
		head := w.byte()
		if w.err != nil || head == thriftStop {
			return
		}
		if head>>4 == 0 {
			w.uvarint() // the field's number, in full
		}
		// A truth value is in the field's head.
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse {
			w.value(kind, depth)
		}
	}
}

// value passes over a value that takes at least a byte.
func (w *walker) value(kind byte, depth int) {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		w.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		w.uvarint()
	case thriftDouble:
		w.skip(8)
	case thriftBinary:
		w.skip(w.uvarint())
	case thriftList, thriftSet:
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		w.values(n, depth, head&15)
	case thriftMap:
		if n := w.uvarint(); n > 0 {
			kinds := w.byte()
			w.values(n, depth, kinds>>4, kinds&15)
		}
	case thriftStruct:
		w.fields(depth + 1)
	default:
		w.err = errThriftForm
	}
}

// values passes over n elements of the given kinds.
func (w *walker) values(n uint64, depth int, kinds ...byte) {
	if depth > maxThriftDepth {
		w.err = errThriftForm
	}
	if w.err == nil && n > uint64(len(w.b)-w.i) {
		w.err = errThriftShort
	}
	for ; n > 0 && w.err == nil; n-- {
		for _, kind := range kinds {
			w.value(kind, depth+1)
		}
	}
}

func (w *walker) byte() byte {
	if w.err == nil && w.i >= len(w.b) {
		w.err = errThriftShort
	}
	if w.err != nil {
		return 0
	}
	w.i++
	return w.b[w.i-1]
}

func (w *walker) uvarint() uint64 {
	if w.err != nil {
		return 0
	}
	v, n := binary.Uvarint(w.b[w.i:])
	switch {
	case n == 0:
		w.err = errThriftShort
		return 0
	case n < 0:
		w.err = errThriftForm
		return 0
	}
	w.i += n
	return v
}

func (w *walker) skip(n uint64) {
	if w.err == nil && n > uint64(len(w.b)-w.i) {
		w.err = errThriftShort
	}
	if w.err == nil {
		w.i += int(n)
	}
}
