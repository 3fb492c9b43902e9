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
