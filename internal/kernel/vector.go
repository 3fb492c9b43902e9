package kernel

import "github.com/treeloss/treeloss/matrix"

// Axpy adds a*x to y. len(x) must be at least len(y).
func Axpy[T matrix.Float](a T, x, y []T) {
	if fast && isFloat32[T]() {
		axpy32(best, float32(a), float32s(x), float32s(y))
		return
	}
	axpyGo(a, x, y)
}

// axpyGo goes four numbers at a time, with one check of the bounds for these.
func axpyGo[T matrix.Float](a T, x, y []T) {
	x = x[:len(y)]
	for ; len(y) >= 4; x, y = x[4:], y[4:] {
		x4, y4 := x[:4:4], y[:4:4]
		y4[0] += a * x4[0]
		y4[1] += a * x4[1]
		y4[2] += a * x4[2]
		y4[3] += a * x4[3]
	}
	for j := range y {
		y[j] += a * x[j]
	}
}

// axpy4Go adds a0*x0 + a1*x1 + a2*x2 + a3*x3 to y: one load and store of y for four
// products.
func axpy4Go[T matrix.Float](a0, a1, a2, a3 T, x0, x1, x2, x3, y []T) {
	n := len(y)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	for j := range y {
		y[j] += (a0*x0[j] + a1*x1[j]) + (a2*x2[j] + a3*x3[j])
	}
}

// Scale multiplies x by a.
func Scale[T matrix.Float](a T, x []T) {
	if fast && isFloat32[T]() {
		scale32(best, float32(a), float32s(x))
		return
	}
	scaleGo(a, x)
}

// scaleGo is Scale one number at a time.
func scaleGo[T matrix.Float](a T, x []T) {
	for j := range x {
		x[j] *= a
	}
}

// Add adds x to y. len(x) must be at least len(y).
func Add[T matrix.Float](x, y []T) {
	if fast && isFloat32[T]() {
		add32(best, float32s(x), float32s(y))
		return
	}
	addGo(x, y)
}

// addGo is Add one number at a time.
func addGo[T matrix.Float](x, y []T) {
	x = x[:len(y)]
	for j := range y {
		y[j] += x[j]
	}
}
