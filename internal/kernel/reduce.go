package kernel

import "github.com/treeloss/treeloss/matrix"

// Dot returns the sum of x[j]*y[j] in the precision of T, in partial sums: 64
// with vector instructions, else four. len(y) must be at least len(x).
func Dot[T matrix.Float](x, y []T) T {
	if fast && isFloat32[T]() {
		return T(dot32(best, float32s(x), float32s(y)))
	}
	return dotGo(x, y)
}

// dotGo keeps four sums, as one would wait for its last addition each time.
func dotGo[T matrix.Float](x, y []T) T {
	y = y[:len(x)]
	var s0, s1, s2, s3 T
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		x4, y4 := x[:4:4], y[:4:4]
		s0 += x4[0] * y4[0]
		s1 += x4[1] * y4[1]
		s2 += x4[2] * y4[2]
		s3 += x4[3] * y4[3]
	}
	for j := range x {
		s0 += x[j] * y[j]
	}
	return (s0 + s1) + (s2 + s3)
}

// SquaredDistance returns the sum of the squares of x[j]-y[j], all of it in
// float64. It is symmetric to the last bit, and 0 for equal vectors. len(y)
// must be at least len(x).
func SquaredDistance(x, y []float32) float64 { return squaredDistance32(best, x, y) }

// squaredDistanceGo keeps four sums, as dotGo does.
func squaredDistanceGo(x, y []float32) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		x4, y4 := x[:4:4], y[:4:4]
		d0, d1 := float64(x4[0])-float64(y4[0]), float64(x4[1])-float64(y4[1])
		d2, d3 := float64(x4[2])-float64(y4[2]), float64(x4[3])-float64(y4[3])
		s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
	}
	for j := range x {
		d := float64(x[j]) - float64(y[j])
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}

// ScaledSquares returns the squared norms of a*x - b*y and a*x + b*y, all of
// it in float64: from them follows the angle between x and y without loss of
// digits, if a and b are one over their norms. Swapping (a, x) with (b, y)
// changes no bit, and the difference of equal vectors is 0. len(y) must be at
// least len(x).
func ScaledSquares(a float64, x []float32, b float64, y []float32) (difference, sum float64) {
	return scaledSquares32(best, a, x, b, y)
}

// The conversions of the products forbid a fused multiply-subtract, which
// would round one of the two only and tell equal vectors apart.
func scaledSquaresGo(a float64, x []float32, b float64, y []float32) (difference, sum float64) {
	y = y[:len(x)]
	for j, v := range x {
		p, q := float64(float64(v)*a), float64(float64(y[j])*b)
		difference += (p - q) * (p - q)
		sum += (p + q) * (p + q)
	}
	return difference, sum
}
