package parquet

import (
	"encoding/binary"
	"fmt"
)

// dictionary has the values that a chunk's pages refer to.
type dictionary struct {
	c      *Column
	b      []byte
	starts []int32 // of values of no fixed width
	n      int
}

// newDictionary finds the values in a page that the dictionary will own.
func (c *Column) newDictionary(b []byte, n int) (*dictionary, error) {
	d := &dictionary{c: c, b: b, n: n}
	width := c.stored()
	switch {
	case c.node.physical == typeBytes:
		if n > len(b)/4 {
			return nil, errValues
		}
		d.starts = make([]int32, n)
		at := 0
		for i := range d.starts {
			if len(b)-at < 4 {
				return nil, errValues
			}
			d.starts[i] = int32(at)
			size := binary.LittleEndian.Uint32(b[at:])
			if uint64(size) > uint64(len(b)-at-4) {
				return nil, errValues
			}
			at += 4 + int(size)
		}
	case width < 1 || n > len(b)/width:
		return nil, errValues
	}
	return d, nil
}

func (d *dictionary) get(i uint32, v *Value) error {
	if int64(i) >= int64(d.n) {
		return fmt.Errorf("a page refers to value %d of a dictionary of %d; fetch or write the file anew", i, d.n)
	}
	if d.starts == nil {
		width := d.c.stored()
		d.c.take(d.b[int(i)*width:(int(i)+1)*width], v)
		return nil
	}
	return (&plainBytes{d.b[d.starts[i]:]}).next(v)
}

// indexed has places in a dictionary.
type indexed struct {
	hybrid
	dict *dictionary
}

func (x *indexed) next(v *Value) error {
	i, err := x.hybrid.next()
	if err != nil {
		return err
	}
	return x.dict.get(i, v)
}
