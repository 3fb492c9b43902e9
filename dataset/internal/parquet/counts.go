package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

var (
	errValues = errors.New("a page has not the values it says; fetch or write the file anew")
	errDelta  = errors.New("damaged delta values; fetch or write the file anew")
)

// checkRuns counts the numbers of the given width in runs of equal and of
// bit-packed ones (the format's RLE), which may be at most n and a last group of
// eight. hits is how many of the first n are equal to want.
func checkRuns(b []byte, width, n int, want uint64) (count, hits int, err error) {
	for len(b) > 0 {
		head, used := binary.Uvarint(b)
		if used <= 0 || head>>1 > uint64(n-count) && head&1 == 0 || head&1 == 1 && head>>1 > uint64(n-count)/8+1 {
			return 0, 0, errValues
		}
		b = b[used:]
		if head&1 == 0 {
			size := (width + 7) / 8
			if size > len(b) {
				return 0, 0, errValues
			}
			if bitsAt(b[:size], 0, width) == want {
				hits += int(head >> 1)
			}
			count += int(head >> 1)
			b = b[size:]
			continue
		}
		size := int(head>>1) * width
		if size > len(b) {
			return 0, 0, errValues
		}
		for i := range min(int(head>>1)*8, n-count) {
			if bitsAt(b[:size], i*width, width) == want {
				hits++
			}
		}
		count = min(n, count+int(head>>1)*8)
		b = b[size:]
	}
	return count, hits, nil
}

// bitsAt returns the number of up to 32 bits that begins at a bit of b.
func bitsAt(b []byte, at, width int) uint64 {
	var word [8]byte
	copy(word[:], b[at/8:])
	return binary.LittleEndian.Uint64(word[:]) >> (at % 8) & (1<<width - 1)
}

// checkLevels returns how many of n levels are the highest there is.
func checkLevels(b []byte, highest, n int) (hits int, err error) {
	count, hits, err := checkRuns(b, bits.Len(uint(highest)), n, uint64(highest))
	if err == nil && count < n {
		err = errValues
	}
	return hits, err
}

// checkValues checks that b has the n values that its page says, so that
// decoding it takes memory in proportion to n and to most, the bytes of a page.
func (c *Column) checkValues(encoding format.Encoding, b []byte, n, most int) error {
	physical, count := c.node.Type.V, 0
	width := map[format.Type]int{format.Int32: 4, format.Float: 4, format.Int64: 8, format.Double: 8, format.FixedLenByteArray: int(c.node.TypeLength.V)}[physical]
	if physical == format.FixedLenByteArray && (width < 1 || width > 1<<15) {
		return fmt.Errorf("values of %d bytes, want 1 to %d", width, 1<<15)
	}
	var err error
	switch {
	case n == 0:
	case encoding == format.Plain && physical == format.Boolean:
		count = 8 * len(b)
	case encoding == format.Plain && physical == format.ByteArray:
		return checkTexts(b, n)
	case (encoding == format.Plain || encoding == format.ByteStreamSplit) && width > 0:
		count = len(b) / width
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		if len(b) == 0 || b[0] > 32 {
			return errValues
		}
		count, _, err = checkRuns(b[1:], int(b[0]), n, 0)
	case encoding == format.RLE && physical == format.Boolean:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return errValues
		}
		count, _, err = checkRuns(b[4:4+binary.LittleEndian.Uint32(b)], 1, n, 0)
	case encoding == format.DeltaBinaryPacked && (physical == format.Int32 || physical == format.Int64),
		encoding == format.DeltaLengthByteArray && physical == format.ByteArray:
		count, _, err = checkDelta(b, n)
	case encoding == format.DeltaByteArray && (physical == format.ByteArray || physical == format.FixedLenByteArray):
		count, err = checkPrefixes(b, n, most)
	default:
		return fmt.Errorf("values in encoding %s, which is not read; write the file with the plain or the dictionary encoding", encoding)
	}
	if err == nil && count < n {
		err = errValues
	}
	return err
}

// checkTexts checks that b is n texts, each behind its length.
func checkTexts(b []byte, n int) error {
	for ; n > 0; n-- {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return errValues
		}
		b = b[4+binary.LittleEndian.Uint32(b):]
	}
	if len(b) > 0 {
		return errValues
	}
	return nil
}

// checkDelta returns the count of the n integers packed as deltas that b begins
// with, and their length in bytes.
func checkDelta(b []byte, n int) (count, length int, err error) {
	all := len(b)
	var head [4]uint64 // block size, miniblocks in a block, count, first value
	for i := range head {
		v, used := binary.Uvarint(b)
		if used <= 0 {
			return 0, 0, errDelta
		}
		head[i], b = v, b[used:]
	}
	block, minis, total := head[0], head[1], head[2]
	if block == 0 || block%128 != 0 || block > 1<<16 || minis == 0 || block%minis != 0 || block/minis%32 != 0 || total != uint64(n) {
		return 0, 0, errDelta
	}
	perMini := int(block / minis)
	for left := n - 1; left > 0; {
		_, used := binary.Uvarint(b)
		if used <= 0 || len(b)-used < int(minis) {
			return 0, 0, errDelta
		}
		widths := b[used : used+int(minis)]
		b = b[used+int(minis):]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			size := perMini / 8 * int(width)
			if width > 64 || size > len(b) {
				return 0, 0, errDelta
			}
			b, left = b[size:], left-perMini
		}
	}
	return n, all - len(b), nil
}

// checkPrefixes checks texts that begin with a part of the one before: a few
// bytes may say again and again that all of a long text is repeated.
func checkPrefixes(b []byte, n, most int) (count int, err error) {
	count, length, err := checkDelta(b, n)
	if err != nil {
		return 0, err
	}
	if _, _, err := checkDelta(b[length:], n); err != nil {
		return 0, err
	}
	prefixes, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, b[:length])
	if err != nil {
		return 0, err
	}
	total := int64(len(b))
	for _, p := range prefixes {
		if total += int64(p); p < 0 || total > int64(most) {
			return 0, fmt.Errorf("a page of more than %d bytes of text; write the file with smaller pages", most)
		}
	}
	return count, nil
}
