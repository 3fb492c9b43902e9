// Package half reads IEEE 754 half-precision numbers, as files have them.
package half

import "math"

// Float32 returns the value of a binary16 number, 1 sign bit, 5 bits of exponent
// with bias 15, 10 of fraction: exactly, infinities and NaN too.
func Float32(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 31: // infinity, or NaN with its payload
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case 0: // zero and the subnormals, fraction / 2^24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// Finite is Float32 without infinities and NaN, in less time: their bits count as
// numbers beyond Max, 65536 to 131008.
func Finite(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	if h&0x7c00 == 0 { // subnormal: as bits of a float32 it would take many times as long
		return math.Float32frombits(sign | math.Float32bits(float32(h&1023)*0x1p-24))
	}
	return math.Float32frombits(sign|uint32(h&0x7fff)<<13) * 0x1p112
}

// Max is the largest finite number.
const Max = 65504

// Round returns the binary16 number nearest to x, of two as near the one with an
// even fraction. Numbers beyond the range become infinite; NaN stays.
func Round(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, size := uint16(bits>>16)&0x8000, bits&0x7fffffff
	switch {
	case size > 0xff<<23: // NaN
		return sign | 0x7e00
	case size >= 0x477ff000: // 65520 and above rounds beyond Max
		return sign | 0x7c00
	case size < 113<<23: // below 2^-14: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(size))*(1<<24)))
	}
	size -= (127 - 15) << 23
	return sign | uint16((size+0xfff+size>>13&1)>>13)
}
