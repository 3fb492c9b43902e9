package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errValues = errors.New("a page has fewer values than it says; fetch or write the file anew")

// hybrid reads runs of equal and of bit-packed numbers of up to 32 bits (the
// format's RLE), one number at a time.
type hybrid struct {
	b     []byte
	width int
	left  int    // numbers left of the present run
	equal bool   // the run is one number over and over
	value uint32 // that number
	data  []byte // bit-packed numbers
	bit   int    // where the next of them begins
}

func newHybrid(b []byte, width int) hybrid { return hybrid{b: b, width: width} }

// widthOf returns the bits that numbers up to most take.
func widthOf(most int) int { return bits.Len(uint(most)) }

func (h *hybrid) next() (uint32, error) {
	if h.width == 0 {
		return 0, nil // numbers of no bits need no bytes
	}
	for h.left == 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
	}
	h.left--
	if h.equal {
		return h.value, nil
	}
	v := bitsAt(h.data, h.bit, h.width)
	h.bit += h.width
	return uint32(v), nil
}

// run reads the head of the next run.
func (h *hybrid) run() error {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errValues
	}
	h.b = h.b[n:]
	const most = 1 << 40 // more than any page has
	count := head >> 1
	if count > most {
		return errValues
	}
	if h.equal = head&1 == 0; h.equal {
		size := (h.width + 7) / 8
		if size > len(h.b) {
			return errValues
		}
		h.value = 0
		for i, b := range h.b[:size] {
			h.value |= uint32(b) << (8 * i)
		}
		h.b, h.left = h.b[size:], int(count)
		return nil
	}
	// The last group of 8 may lack the bytes of numbers that nobody asks for.
	size := min(int(count)*h.width, len(h.b))
	h.data, h.b, h.bit = h.b[:size], h.b[size:], 0
	h.left = min(int(count)*8, size*8/h.width)
	if size == 0 && count > 0 {
		return errValues
	}
	return nil
}

// bitsAt returns the number of that width, up to 64 bits, whose lowest bit is
// that bit of data, least significant first. It must lie in data.
func bitsAt(data []byte, bit, width int) uint64 {
	from := data[bit>>3:]
	shift := bit & 7
	var low uint64
	if len(from) >= 8 {
		low = binary.LittleEndian.Uint64(from)
	} else {
		for i, b := range from {
			low |= uint64(b) << (8 * i)
		}
	}
	v := low >> shift
	if shift+width > 64 {
		v |= uint64(from[8]) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}
