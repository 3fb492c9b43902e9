// Package pickle reads the part of Python's pickle format that holds plain data
// and arrays of bytes: numbers, strings, bytes, tuples, lists, dicts, None, and
// NumPy arrays of uint8, written with protocol 1 to 5 by Python 2 or 3. It runs
// nothing: whatever names another class or function is an error.
package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Array is a NumPy array of uint8 in row-major order.
type Array struct {
	Shape []int
	Data  []byte
}

// Tuple is a tuple; lists are *List.
type Tuple []any

// List is a list, which a pickle may fill after it has been referred to.
type List struct{ Items []any }

// Dict is a dict with keys that are strings; Python 2's str and Python 3's bytes
// come as string.
type Dict map[string]any

// global is a class or function by its name.
type global string

// mark is what MARK puts on the stack.
type mark struct{}

var errShort = errors.New("the data ends early")

// Load returns the object that data holds: nil, bool, int, float64, string,
// Tuple, *List, Dict or *Array. Whatever the bytes, it ends in an object or an
// error, in memory of the order of the data.
func Load(data []byte) (any, error) {
	m := machine{data: data, memo: map[int]any{}}
	v, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("pickle: byte %d: %w", m.at, err)
	}
	return v, nil
}

type machine struct {
	data  []byte
	at    int
	stack []any
	memo  map[int]any
}

func (m *machine) take(n int) ([]byte, error) {
	if n < 0 || n > len(m.data)-m.at {
		return nil, errShort
	}
	m.at += n
	return m.data[m.at-n : m.at], nil
}

// number reads an unsigned little-endian number of n bytes.
func (m *machine) number(n int) (int, error) {
	b, err := m.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	v := binary.LittleEndian.Uint64(wide[:])
	if v > math.MaxInt64 {
		return 0, fmt.Errorf("number %d is too large", v)
	}
	return int(v), nil
}

func (m *machine) line() (string, error) {
	start := m.at
	for ; m.at < len(m.data); m.at++ {
		if m.data[m.at] == '\n' {
			m.at++
			return string(m.data[start : m.at-1]), nil
		}
	}
	return "", io.ErrUnexpectedEOF
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

func (m *machine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, errors.New("the stack is empty")
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

func (m *machine) pops(n int) ([]any, error) {
	if len(m.stack) < n {
		return nil, errors.New("the stack is empty")
	}
	out := append([]any(nil), m.stack[len(m.stack)-n:]...)
	m.stack = m.stack[:len(m.stack)-n]
	return out, nil
}

// popMark takes all above the last mark, and the mark.
func (m *machine) popMark() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(mark); ok {
			out := append([]any(nil), m.stack[i+1:]...)
			m.stack = m.stack[:i]
			return out, nil
		}
	}
	return nil, errors.New("no mark on the stack")
}
