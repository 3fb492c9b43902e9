package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/treeloss/treeloss/internal/half"
)

// maxDims is the most dimensions a tensor may have; numpy and PyTorch stop
// there too.
const maxDims = 64

// Tensor is one named array.
type Tensor struct {
	Name  string
	DType DType
	Shape []int  // no dimensions is a scalar
	Data  []byte // the elements, little-endian, row-major

	// Parts are the data in pieces, one after the other, in place of Data: of a tensor that
	// is written and is in memory in several places. Those of a file that was read are nil.
	Parts [][]byte
}

// pieces returns the data, one after the other.
func (t *Tensor) pieces() [][]byte {
	if t.Parts != nil {
		return t.Parts
	}
	return [][]byte{t.Data}
}

// size returns the bytes of the data.
func (t *Tensor) size() int {
	n := 0
	for _, p := range t.pieces() {
		n += len(p)
	}
	return n
}

// number is an element type that Go has, too.
type number interface {
	uint8 | uint16 | int32 | int64 | float32 | float64
}

// dtypeOf returns the type of numbers of Go: U8, U16, I32, I64, F32 or F64.
func dtypeOf[T number]() DType {
	var zero T
	switch any(zero).(type) {
	case uint8:
		return U8
	case uint16:
		return U16
	case int32:
		return I32
	case int64:
		return I64
	case float32:
		return F32
	}
	return F64
}

// New returns a tensor of the type of its numbers. On a little-endian machine its Data
// is the memory of x, not a copy: leave x alone until the tensor is written. A shape
// that does not fit x is found by Write.
func New[T number](name string, x []T, shape ...int) Tensor {
	return Tensor{Name: name, DType: dtypeOf[T](), Shape: shape, Data: toBytes(x)}
}

// Joined returns a tensor of one dimension whose elements are those of several slices, one
// after the other; see New.
func Joined[T number](name string, parts ...[]T) Tensor {
	t := Tensor{Name: name, DType: dtypeOf[T](), Shape: []int{0}, Parts: make([][]byte, len(parts))}
	for i, x := range parts {
		t.Shape[0] += len(x)
		t.Parts[i] = toBytes(x)
	}
	return t
}

// Float16 returns a tensor of type F16 of binary16 numbers, as half.Round makes
// them; see New.
func Float16(name string, x []uint16, shape ...int) Tensor {
	return Tensor{Name: name, DType: F16, Shape: shape, Data: toBytes(x)}
}

// Float32s returns the elements of a tensor of type F32, F16 or BF16. For F32
// it is the memory of t.Data itself where machine and alignment allow it, so
// do not change it unless you own the tensor. Any other type is an error.
func (t *Tensor) Float32s() ([]float32, error) {
	switch t.DType {
	case F16:
		return widen(t, half.Float32)
	case BF16:
		return widen(t, func(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) })
	}
	return fromBytes[float32](t, F32)
}

// Float64s returns the elements of a tensor of type F64; see Float32s.
func (t *Tensor) Float64s() ([]float64, error) { return fromBytes[float64](t, F64) }

// Int32s returns the elements of a tensor of type I32; see Float32s.
func (t *Tensor) Int32s() ([]int32, error) { return fromBytes[int32](t, I32) }

// Uint16s returns the elements of a tensor of type U16; see Float32s.
func (t *Tensor) Uint16s() ([]uint16, error) { return fromBytes[uint16](t, U16) }

// Halfs returns the elements of a tensor of type F16 as they are, binary16 numbers;
// see Float32s.
func (t *Tensor) Halfs() ([]uint16, error) { return fromBytes[uint16](t, F16) }

// Int64s returns the elements of a tensor of type I64; see Float32s.
func (t *Tensor) Int64s() ([]int64, error) { return fromBytes[int64](t, I64) }

// Bytes returns the elements of a tensor of type U8, which are t.Data.
func (t *Tensor) Bytes() ([]byte, error) { return fromBytes[byte](t, U8) }

// check returns an error if type, shape and data do not fit together.
func (t *Tensor) check() error {
	want, err := byteLength(t.DType, t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	if size := t.size(); want != size {
		return fmt.Errorf("tensor %q has %d bytes of data, want %d for type %s and shape %v",
			t.Name, size, want, t.DType, t.Shape)
	}
	return nil
}

// byteLength returns the bytes of a tensor. An unknown type, a negative
// dimension, too many of them and a product beyond an int are errors.
func byteLength(dtype DType, shape []int) (int, error) {
	length := dtype.Size()
	if length == 0 {
		return 0, fmt.Errorf("unknown dtype %q, want one such as F32, F16, I64 or U8", dtype)
	}
	if len(shape) > maxDims {
		return 0, fmt.Errorf("%d dimensions, want at most %d", len(shape), maxDims)
	}
	for _, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension, want none", shape)
		}
		if n > 0 && length > math.MaxInt/n {
			return 0, fmt.Errorf("shape %v has more than %d bytes", shape, math.MaxInt)
		}
		length *= n
	}
	return length, nil
}

// littleEndian reports whether this machine stores the low byte first, as
// safetensors files do.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// toBytes returns x in little-endian bytes, without a copy where it can.
func toBytes[T number](x []T) []byte {
	if len(x) == 0 || !littleEndian() {
		return encode(x)
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(zero)))
}

// fromBytes returns the elements of t, without a copy where it can.
func fromBytes[T number](t *Tensor, want DType) ([]T, error) {
	if t.DType != want {
		return nil, fmt.Errorf("tensor %q has type %s, want %s", t.Name, t.DType, want)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	var zero T
	n := len(t.Data) / int(unsafe.Sizeof(zero))
	start := unsafe.Pointer(unsafe.SliceData(t.Data))
	if n == 0 || !littleEndian() || uintptr(start)%unsafe.Alignof(zero) != 0 {
		return decode[T](t.Data, n), nil
	}
	return unsafe.Slice((*T)(start), n), nil
}

// encode is toBytes for any machine.
func encode[T number](x []T) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, x) // a Buffer takes everything
	return b.Bytes()
}

// decode is fromBytes for any machine and alignment.
func decode[T number](data []byte, n int) []T {
	x := make([]T, n)
	_, _ = binary.Decode(data, binary.LittleEndian, x) // check has seen that the lengths agree
	return x
}

// widen turns each 16-bit element of t into a float32.
func widen(t *Tensor, convert func(uint16) float32) ([]float32, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	x := make([]float32, len(t.Data)/2)
	for i := range x {
		x[i] = convert(binary.LittleEndian.Uint16(t.Data[2*i:]))
	}
	return x, nil
}
