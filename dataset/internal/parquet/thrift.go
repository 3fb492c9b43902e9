package parquet

import (
	"encoding/binary"
	"errors"
)

// Types of the compact protocol of Thrift.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

// maxThriftDepth bounds the nesting of what is passed over; Parquet's own
// structures are 5 deep.
const maxThriftDepth = 32

var (
	errThriftShort = errors.New("the metadata ends early")
	errThriftForm  = errors.New("the metadata is damaged")
)

// thrift reads the compact protocol out of a slice. After an error it gives
// zeros, and err stays what it was first.
type thrift struct {
	b   []byte
	i   int
	err error
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *thrift) byte() byte {
	if t.err != nil || t.i >= len(t.b) {
		t.fail(errThriftShort)
		return 0
	}
	t.i++
	return t.b[t.i-1]
}

func (t *thrift) uvarint() uint64 {
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.b[t.i:])
	switch {
	case n == 0:
		t.fail(errThriftShort)
		return 0
	case n < 0:
		t.fail(errThriftForm)
		return 0
	}
	t.i += n
	return v
}

// int reads a number in zigzag form, of any width.
func (t *thrift) int() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// int32 reads a number that must fit 32 bits.
func (t *thrift) int32() int32 {
	v := t.int()
	if v != int64(int32(v)) {
		t.fail(errThriftForm)
		return 0
	}
	return int32(v)
}

// bytes returns a slice of the input.
func (t *thrift) bytes() []byte {
	n := t.uvarint()
	if t.err != nil {
		return nil
	}
	if n > uint64(len(t.b)-t.i) {
		t.fail(errThriftShort)
		return nil
	}
	t.i += int(n)
	return t.b[t.i-int(n) : t.i]
}

// list reads the head of a list. Every element takes at least a byte, so a
// count beyond the bytes that are left is a lie.
func (t *thrift) list() (kind byte, n int) {
	head := t.byte()
	count := uint64(head >> 4)
	if count == 15 {
		count = t.uvarint()
	}
	if t.err == nil && count > uint64(len(t.b)-t.i) {
		t.fail(errThriftShort)
	}
	if t.err != nil {
		return 0, 0
	}
	return head & 15, int(count)
}

// structs reads a list of structs, calling element for each.
func (t *thrift) structs(element func()) {
	kind, n := t.list()
	if n > 0 && kind != thriftStruct {
		t.fail(errThriftForm)
	}
	for i := 0; i < n && t.err == nil; i++ {
		element()
	}
}

// fields walks through a struct. field reads the value of the field, or
// returns false, and then it is passed over.
func (t *thrift) fields(field func(id int, kind byte) bool) {
	id := 0
	for t.err == nil {
		head := t.byte()
		kind := head & 15
		if t.err != nil || kind == thriftStop {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(t.int())
		}
		if !field(id, kind) {
			t.skip(kind, 0)
		}
	}
}

// skip passes over a value.
func (t *thrift) skip(kind byte, depth int) {
	if depth > maxThriftDepth {
		t.fail(errThriftForm)
	}
	if t.err != nil {
		return
	}
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.uvarint()
	case thriftDouble:
		t.advance(8)
	case thriftUUID:
		t.advance(16)
	case thriftBinary:
		t.bytes()
	case thriftList, thriftSet:
		element, n := t.list()
		t.skipAll(n, depth, element)
	case thriftMap:
		n := t.uvarint()
		if n == 0 || t.err != nil {
			return
		}
		kinds := t.byte()
		if n > uint64(len(t.b)-t.i) {
			t.fail(errThriftShort)
			return
		}
		t.skipAll(int(n), depth, kinds>>4, kinds&15)
	case thriftStruct:
		t.fields(func(_ int, kind byte) bool {
			t.skip(kind, depth+1)
			return true
		})
	default:
		t.fail(errThriftForm)
	}
}

// skipAll passes over n groups of elements of the given kinds. In a list a
// truth value takes a byte, unlike in a struct.
func (t *thrift) skipAll(n, depth int, kinds ...byte) {
	for i := 0; i < n && t.err == nil; i++ {
		for _, kind := range kinds {
			if kind == thriftTrue || kind == thriftFalse {
				kind = thriftByte
			}
			t.skip(kind, depth+1)
		}
	}
}

func (t *thrift) advance(n int) {
	if n > len(t.b)-t.i {
		t.fail(errThriftShort)
		return
	}
	t.i += n
}
