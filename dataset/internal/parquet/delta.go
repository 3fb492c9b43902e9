package parquet

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("damaged delta values; fetch or write the file anew")

// delta reads DELTA_BINARY_PACKED integers one at a time. The zero value has
// none.
type delta struct {
	b         []byte // what comes after the present miniblock
	perMini   int    // numbers in a miniblock
	minis     int    // miniblocks in a block
	total     int    // numbers still to come
	value     int64
	started   bool
	min       int64
	widths    []byte // of the miniblocks still to come in this block
	left, bit int    // numbers left in the miniblock, place of the next
	data      []byte
	width     int
}

// newDelta reads the head of at most that many integers.
func newDelta(b []byte, most int) (delta, error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return delta{}, errDelta
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	block, minis, total := head[0], head[1], head[2]
	const maxBlock = 1 << 20
	if n <= 0 || block == 0 || block%128 != 0 || block > maxBlock || minis == 0 || minis > block || block%minis != 0 || block/minis%32 != 0 || total > uint64(most) {
		return delta{}, errDelta
	}
	return delta{b: b[n:], perMini: int(block / minis), minis: int(minis), total: int(total), value: first}, nil
}

func (d *delta) next() (int64, error) {
	if d.total == 0 {
		return 0, errValues
	}
	d.total--
	if !d.started {
		d.started = true
		return d.value, nil
	}
	if d.left == 0 {
		if err := d.mini(); err != nil {
			return 0, err
		}
	}
	d.left--
	if d.width > 0 {
		d.value += int64(bitsAt(d.data, d.bit, d.width))
		d.bit += d.width
	}
	d.value += d.min
	return d.value, nil
}

// mini goes on to the next miniblock, in the next block if need be.
func (d *delta) mini() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.b)
		if n <= 0 || len(d.b)-n < d.minis {
			return errDelta
		}
		d.min, d.widths, d.b = least, d.b[n:n+d.minis], d.b[n+d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := d.perMini / 8 * d.width
	if d.width > 64 || size > len(d.b) {
		return errDelta
	}
	d.data, d.b, d.left, d.bit = d.b[:size], d.b[size:], d.perMini, 0
	return nil
}

// after returns the bytes behind the integers, which it runs through in a copy.
func (d delta) after() ([]byte, error) {
	for d.total > 0 {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	return d.b, nil
}

// deltaInts decodes integers.
type deltaInts struct {
	delta
	narrow bool // 32 bits
}

func (d *deltaInts) next(v *Value) error {
	x, err := d.delta.next()
	if v.Int = x; d.narrow {
		v.Int = int64(int32(x))
	}
	return err
}

// deltaLengths decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLengths struct {
	lengths delta
	data    []byte
}

func newDeltaLengths(b []byte, most int) (*deltaLengths, error) {
	lengths, err := newDelta(b, most)
	if err != nil {
		return nil, err
	}
	data, err := lengths.after()
	return &deltaLengths{lengths, data}, err
}

func (d *deltaLengths) next(v *Value) error {
	n, err := d.lengths.next()
	if err != nil {
		return err
	}
	if n < 0 || n > int64(len(d.data)) {
		return errDelta
	}
	v.Bytes, d.data = d.data[:n], d.data[n:]
	return nil
}

// deltaPrefixes decodes DELTA_BYTE_ARRAY: of each value the length of what it
// has in common with the one before, then the rest. The value grows in place.
type deltaPrefixes struct {
	prefixes delta
	suffixes *deltaLengths
	value    []byte
}

func newDeltaPrefixes(b []byte, most int) (*deltaPrefixes, error) {
	prefixes, err := newDelta(b, most)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.after()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest, most)
	return &deltaPrefixes{prefixes: prefixes, suffixes: suffixes}, err
}

func (d *deltaPrefixes) next(v *Value) error {
	n, err := d.prefixes.next()
	if err != nil {
		return err
	}
	if n < 0 || n > int64(len(d.value)) {
		return errDelta
	}
	var suffix Value
	if err := d.suffixes.next(&suffix); err != nil {
		return err
	}
	d.value = append(d.value[:n], suffix.Bytes...)
	v.Bytes = d.value
	return nil
}
