// Package half reads IEEE 754 half-precision numbers, as files have them.
package half

import "math"

// Float64 returns the value of the 16 bits h: exactly, infinities and NaN too.
func Float64(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		return math.NaN()
	}
	if h>>15 == 1 {
		return -v
	}
	return v
}
