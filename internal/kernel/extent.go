package kernel

import (
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// Extent returns the least and the largest number of x and their sum, which has partial sums
// of x[i], x[i+16], x[i+32] and so on; of none +Inf, -Inf and 0. With a NaN among them the
// sum is NaN, and the others may be anything.
func Extent[T matrix.Float](x []T) (least, largest, sum T) {
	if fast && isFloat32[T]() {
		a, b, c := extent32(best, float32s(x))
		return T(a), T(b), T(c)
	}
	return extentGo(x)
}

// extentParts is how many partial results extent has.
const extentParts = 16

func extentGo[T matrix.Float](x []T) (least, largest, sum T) {
	var all [3][extentParts]T
	for i := range extentParts {
		all[0][i], all[1][i] = T(math.Inf(1)), T(math.Inf(-1))
	}
	whole := len(x) - len(x)%extentParts
	for at := 0; at < whole; at += extentParts {
		for i, v := range x[at : at+extentParts] {
			if v < all[0][i] { // the built-in min would look for NaN
				all[0][i] = v
			}
			if v > all[1][i] {
				all[1][i] = v
			}
			all[2][i] += v
		}
	}
	return joinExtents(&all, x[whole:])
}

// joinExtents returns the results of the parts and of the numbers behind them.
func joinExtents[T matrix.Float](all *[3][extentParts]T, rest []T) (least, largest, sum T) {
	least, largest = T(math.Inf(1)), T(math.Inf(-1))
	for i := range extentParts {
		least, largest = min(least, all[0][i]), max(largest, all[1][i])
		sum += all[2][i]
	}
	for _, v := range rest {
		least, largest = min(least, v), max(largest, v)
		sum += v
	}
	return least, largest, sum
}
