package covertree

import "math"

// All comparisons of the build are between distances over R and powers of the
// base: with whole-number distances and base 2 both are exact, so a point on
// the edge of a ball is inside it whatever the unit.

// negligible is the distance over R that counts as 0. It keeps the powers of
// the base away from the smallest floating-point numbers, where they lose
// their digits.
const negligible = 1e-300

// smallestBase and largestBase are the bases we build with. Below the first,
// levels lie so close that rounding could swap two of them; above the second,
// the level below a negligible distance would have no radius left.
const (
	smallestBase = 1.0001
	largestBase  = 1e6
)

// power returns base^level, for levels that levelOf gives out.
func power(base float64, level int) float64 { return math.Pow(base, float64(level)) }

// levelOf returns the lowest level whose radius reaches x > negligible, a
// distance over R: the least l with base^l >= x. The logarithm may be off by
// one level; the loops mend that and do not run longer.
func levelOf(base, x float64) int {
	l := int(math.Ceil(math.Log(x) / math.Log(base)))
	for power(base, l) < x {
		l++
	}
	for power(base, l-1) >= x {
		l--
	}
	return l
}
