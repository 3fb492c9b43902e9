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

// levels knows the powers of a base: level -l has the radius radius[l], and
// those below the table are worked out.
type levels struct {
	base, logBase float64
	radius        []float64
}

// mostLevels is the length of the table. For a base of 1.2 and more it holds
// all levels.
const mostLevels = 4096

// newLevels works out the radii of a base down to the negligible ones, or as many as the
// table may have.
func newLevels(base float64) levels {
	v := levels{base: base, logBase: math.Log(base)}
	for l := 0; l < mostLevels && (l == 0 || v.radius[l-1] > negligible); l++ {
		v.radius = append(v.radius, power(base, -l))
	}
	return v
}

// power returns base^level.
func (v *levels) power(level int) float64 {
	if -level < len(v.radius) {
		return v.radius[-level]
	}
	return power(v.base, level)
}

// levelOf returns the lowest level whose radius reaches x > negligible, a
// distance over R: the least l with base^l >= x. The logarithm may be off by
// one level; the loops mend that and do not run longer.
func (v *levels) levelOf(x float64) int {
	l := min(0, int(math.Ceil(math.Log(x)/v.logBase)))
	for v.power(l) < x {
		l++
	}
	for v.power(l-1) >= x {
		l--
	}
	return l
}
