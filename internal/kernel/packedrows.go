package kernel

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/treeloss/treeloss/internal/half"
)

// A packed row holds some of at most PackedWidth half-precision numbers, in the fewest
// bytes that vector instructions read at full speed:
//
//	1 word       its bit g tells that some of the numbers 16 g to 16 g + 15 are kept
//	1 word each  for those groups: its bit i tells that number 16 g + i is kept
//	the numbers  that are kept, ascending, in half precision
//
// With n numbers in m groups it has 1 + m + n words.

// PackedWidth is the most numbers of a packed row.
const PackedWidth = 256

// PackedSlack is how many words must be behind the last row of an array of packed rows.
// They are read and change nothing.
const PackedSlack = 16

// packedGroup is the number of numbers that a word has a bit of.
const packedGroup = 16

// AppendPackedRow appends the packed row that has value[i] in place[i], which must ascend,
// and 0 elsewhere.
func AppendPackedRow(rows []uint16, place []uint8, value []uint16) []uint16 {
	var masks [PackedWidth / packedGroup]uint16
	groups := uint16(0)
	for _, c := range place {
		masks[c/packedGroup] |= 1 << (c % packedGroup)
		groups |= 1 << (c / packedGroup)
	}
	rows = append(rows, groups)
	for _, mask := range masks {
		if mask != 0 {
			rows = append(rows, mask)
		}
	}
	return append(rows, value[:len(place)]...)
}

// UnpackRow returns the places and the numbers of a packed row, appended to place and as
// a part of the row. The row must be whole: CheckPackedRow tells.
func UnpackRow(place []uint8, row []uint16) ([]uint8, []uint16) {
	n := 1
	for groups := row[0]; groups != 0; groups &= groups - 1 {
		from := uint8(packedGroup * bits.TrailingZeros16(groups))
		for mask := row[n]; mask != 0; mask &= mask - 1 {
			place = append(place, from+uint8(bits.TrailingZeros16(mask)))
		}
		n++
	}
	return place, row[n:]
}

// CheckPackedRow returns an error unless row is one packed row of numbers whose places are
// below width.
func CheckPackedRow(row []uint16, width int) error {
	if len(row) == 0 {
		return fmt.Errorf("a row of no words, want one at least")
	}
	masks := bits.OnesCount16(row[0])
	if len(row) < 1+masks {
		return fmt.Errorf("a row of %d words with %d groups of numbers", len(row), masks)
	}
	numbers := 0
	for n, groups := 1, row[0]; groups != 0; groups &= groups - 1 {
		mask, from := row[n], packedGroup*bits.TrailingZeros16(groups)
		if mask == 0 || from+bits.Len16(mask) > width {
			return fmt.Errorf("a row with numbers at %d to %d, want some below %d", from, from+bits.Len16(mask)-1, width)
		}
		numbers += bits.OnesCount16(mask)
		n++
	}
	if len(row) != 1+masks+numbers {
		return fmt.Errorf("a row of %d words with %d numbers in %d groups", len(row), numbers, masks)
	}
	return nil
}

// mostPackedFactor bounds the factors for which AddPackedRows scales numbers together with
// the factor, by 2^112.
const mostPackedFactor = 0x1p14

// AddPackedRows adds x[i] times the packed row at rows[at[i]:] to y, one row after the
// other. Products are rounded, so the result has the same bits on all processors. Every
// row must have passed CheckPackedRow, and PackedSlack words must be behind the last one;
// a row that begins beyond that panics.
func AddPackedRows(y *[PackedWidth]float32, at []int32, x []float32, rows []uint16) {
	x = x[:len(at)]
	k := best
	for i, from := range at {
		if uint(from) >= uint(len(rows)-PackedSlack) {
			panic("kernel: a packed row outside its array")
		}
		if !(x[i] <= mostPackedFactor && x[i] >= -mostPackedFactor) {
			k = plain
		}
	}
	addPackedRows32(k, y, at, x, rows)
}

func addPackedRowsGo(y *[PackedWidth]float32, at []int32, x []float32, rows []uint16) {
	for i, from := range at {
		row, factor := rows[from:], x[i]
		scale := factor >= -mostPackedFactor && factor <= mostPackedFactor
		if scale {
			factor *= 0x1p112
		}
		value := row[1+bits.OnesCount16(row[0]):]
		n := 1
		for groups := row[0]; groups != 0; groups &= groups - 1 {
			to := y[packedGroup*bits.TrailingZeros16(groups):][:packedGroup]
			mask := row[n]
			n++
			for ; mask != 0; mask &= mask - 1 {
				v := uint32(value[0])
				value = value[1:]
				number := math.Float32frombits(v&0x8000<<16 | v&0x7fff<<13)
				if !scale {
					number = half.Finite(uint16(v))
				}
				to[bits.TrailingZeros16(mask)] += float32(factor * number) // not fused
			}
		}
	}
}
