package kernel

import (
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// WrightOmega sets w[j] to ω(x[j]-shift), the positive number with ω + ln ω =
// x[j]-shift (Corless and Jeffrey 2002), which is Lambert's function of
// e^(x[j]-shift), to a relative error of 3e-5 plus that of x-shift in T. It returns
// the sum of w and that of the derivatives w/(1+w), in the precision of T.
//
// Below -87 it is e^(x-shift) with few digits or none; ω(-Inf) is 0, and NaN
// gives NaN, as does +Inf; next to the largest number it may be infinite. w may be
// x, but must not overlap it otherwise; it must be at least as long.
func WrightOmega[T matrix.Float](w, x []T, shift T) (sum, slope T) {
	if fast && isFloat32[T]() {
		a, b := wrightOmega32(best, float32s(w), float32s(x), float32(shift))
		return T(a), T(b)
	}
	return wrightOmegaGo(w, x, shift)
}

// wrightOmegaGo works in float64 whatever T is. dω/dx = ω/(1+ω), from ω + ln ω = x.
func wrightOmegaGo[T matrix.Float](w, x []T, shift T) (sum, slope T) {
	w = w[:len(x)]
	for j, v := range x {
		y := wrightOmega(float64(v - shift))
		w[j] = T(y)
		sum += T(y)
		slope += T(y / (1 + y))
	}
	return sum, slope
}

// wrightOmega is ω(x): a rational function of e^x that is nearest to W(z)/z for
// z from 0 to 1, above that two Newton steps for the logarithm.
func wrightOmega(x float64) float64 {
	if x < 0 {
		z := math.Exp(x)
		return z * (1 + z*(1.3826066+z*0.09930669)) / (1 + z*(2.3818982+z*0.994217))
	}
	w := 0.567 + 0.433*x
	for range 2 {
		w *= (1 + x - math.Log(w)) / (1 + w)
	}
	return w
}
