package kernel

import "github.com/treeloss/treeloss/matrix"

// MoveMass is the bookkeeping of one example whose distribution goes from one to
// another: it sets moved to weight*(from-to) and adds moved to residual,
// rate*moved to bias and weight*to*(1-to) to curvature. All must be at least as
// long as moved, and none may overlap another.
func MoveMass[T matrix.Float](moved, from, to []T, weight, rate T, residual, bias, curvature []T) {
	if fast && isFloat32[T]() {
		moveMass32(best, float32s(moved), float32s(from), float32s(to), float32(weight), float32(rate), float32s(residual), float32s(bias), float32s(curvature))
		return
	}
	moveMassGo(moved, from, to, weight, rate, residual, bias, curvature)
}

// moveMassGo is MoveMass one number at a time.
func moveMassGo[T matrix.Float](moved, from, to []T, weight, rate T, residual, bias, curvature []T) {
	n := len(moved)
	from, to, residual, bias, curvature = from[:n], to[:n], residual[:n], bias[:n], curvature[:n]
	for j, p := range to {
		m := weight * (from[j] - p)
		moved[j] = m
		residual[j] += m
		bias[j] += rate * m
		curvature[j] += weight * (p - p*p)
	}
}

// SubtractAbove sets x to the larger of x-a and least, NaN if x-a is.
func SubtractAbove[T matrix.Float](a, least T, x []T) {
	if fast && isFloat32[T]() {
		subtractAbove32(best, float32(a), float32(least), float32s(x))
		return
	}
	subtractAboveGo(a, least, x)
}

// subtractAboveGo is SubtractAbove one number at a time.
func subtractAboveGo[T matrix.Float](a, least T, x []T) {
	for j, v := range x {
		x[j] = max(v-a, least)
	}
}
