package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Value is what stands in one row of a column.
type Value struct {
	Null   bool
	Int    int64   // Int; Uint, whose bits it has; Bool: 0 or 1
	Number float64 // Int, Uint and Float; integers beyond 2^53 rounded
	Bytes  []byte  // Text; valid until the next row
}

// decoder gives the values of a page that are not null, as they are stored.
type decoder interface {
	next(v *Value) error
}

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDeltaInts       = 5
	encodingDeltaLengths    = 6
	encodingDeltaPrefixes   = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// stored returns the bytes of a value of fixed width, 0 for others.
func (c *Column) stored() int {
	switch c.node.physical {
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeFixed:
		return int(c.node.length)
	}
	return 0
}

// newDecoder returns the decoder of a page of at most that many values.
func (c *Column) newDecoder(encoding int32, b []byte, most int, dict *dictionary) (decoder, error) {
	physical, width := c.node.physical, c.stored()
	if physical == typeFixed && (width < 1 || width > 1<<16) {
		return nil, fmt.Errorf("values of %d bytes, want 1 to %d", width, 1<<16)
	}
	switch encoding {
	case encodingPlain:
		switch {
		case physical == typeBool:
			return &plainBools{b: b}, nil
		case physical == typeBytes:
			return &plainBytes{b}, nil
		}
		return &plain{c, b, width}, nil
	case encodingDictionary, encodingPlainDictionary:
		if dict == nil {
			return nil, errors.New("a page refers to a dictionary that is not there; write the file anew")
		}
		if len(b) == 0 { // a page of nulls
			return &indexed{dict: dict}, nil
		}
		if b[0] > 32 {
			return nil, errValues
		}
		return &indexed{newHybrid(b[1:], int(b[0])), dict}, nil
	case encodingRLE:
		if physical == typeBool && len(b) >= 4 {
			if n := binary.LittleEndian.Uint32(b); uint64(n) <= uint64(len(b)-4) {
				return &runBools{newHybrid(b[4:4+n], 1)}, nil
			}
			return nil, errValues
		}
	case encodingDeltaInts:
		if physical == typeInt32 || physical == typeInt64 {
			d, err := newDelta(b, most)
			return &deltaInts{d, physical == typeInt32}, err
		}
	case encodingDeltaLengths:
		if physical == typeBytes {
			return newDeltaLengths(b, most)
		}
	case encodingDeltaPrefixes:
		if physical == typeBytes || physical == typeFixed {
			return newDeltaPrefixes(b, most)
		}
	case encodingSplit:
		if width > 0 {
			return &split{c: c, b: b, n: len(b) / width, item: make([]byte, width)}, nil
		}
	}
	return nil, fmt.Errorf("values in encoding %d, which is not read; write the file with the plain or the dictionary encoding", encoding)
}

// take reads a value of fixed width out of its bytes.
func (c *Column) take(b []byte, v *Value) {
	switch c.node.physical {
	case typeInt32:
		v.Int = int64(int32(binary.LittleEndian.Uint32(b)))
	case typeInt64:
		v.Int = int64(binary.LittleEndian.Uint64(b))
	case typeFloat:
		v.Number = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case typeDouble:
		v.Number = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		v.Bytes = b
	}
}

// finish makes of what is stored what it means.
func (c *Column) finish(v *Value) error {
	switch c.form {
	case asInt:
		v.Number = float64(v.Int)
	case asUint:
		if c.node.physical == typeInt32 {
			v.Int = int64(uint32(v.Int))
		}
		v.Number = float64(uint64(v.Int))
	case asDecimal:
		v.Number = float64(v.Int)
		if c.node.physical >= typeBytes {
			v.Number = bigEndian(v.Bytes)
		}
		v.Number /= math.Pow10(int(c.node.scale))
	case asHalf:
		if len(v.Bytes) != 2 {
			return errValues
		}
		v.Number = half(binary.LittleEndian.Uint16(v.Bytes))
	}
	return nil
}

// bigEndian returns the value of a two's complement number.
func bigEndian(b []byte) float64 {
	var v float64
	for i, x := range b {
		if i == 0 {
			v = float64(int8(x))
		} else {
			v = v*256 + float64(x)
		}
	}
	return v
}

// half returns the value of an IEEE 754 half-precision number.
func half(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	return math.Copysign(v, -float64(h>>15)+0.5)
}

// plain has values of fixed width one after the other.
type plain struct {
	c     *Column
	b     []byte
	width int
}

func (p *plain) next(v *Value) error {
	if len(p.b) < p.width {
		return errValues
	}
	p.c.take(p.b[:p.width], v)
	p.b = p.b[p.width:]
	return nil
}

// plainBytes has a length of four bytes before each value.
type plainBytes struct{ b []byte }

func (p *plainBytes) next(v *Value) error {
	if len(p.b) < 4 {
		return errValues
	}
	n := binary.LittleEndian.Uint32(p.b)
	if uint64(n) > uint64(len(p.b)-4) {
		return errValues
	}
	v.Bytes, p.b = p.b[4:4+n], p.b[4+n:]
	return nil
}

// plainBools has a bit for each value, the least significant first.
type plainBools struct {
	b []byte
	i int
}

func (p *plainBools) next(v *Value) error {
	if p.i>>3 >= len(p.b) {
		return errValues
	}
	v.Int = int64(p.b[p.i>>3] >> (p.i & 7) & 1)
	p.i++
	return nil
}

type runBools struct{ hybrid }

func (r *runBools) next(v *Value) error {
	x, err := r.hybrid.next()
	v.Int = int64(x)
	return err
}

// split is BYTE_STREAM_SPLIT: the first bytes of all values, then the second
// ones, and so on.
type split struct {
	c    *Column
	b    []byte
	n, i int
	item []byte
}

func (s *split) next(v *Value) error {
	if s.i == s.n {
		return errValues
	}
	for k := range s.item {
		s.item[k] = s.b[k*s.n+s.i]
	}
	s.i++
	s.c.take(s.item, v)
	return nil
}
