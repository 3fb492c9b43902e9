//go:build !amd64 || noasm

package kernel

// fast says whether there is more than plain Go; best is always plain here.
const (
	fast = false
	best = plain
)

// kinds returns all that this machine can run.
func kinds() []kind { return []kind{plain} }

func axpy32(_ kind, a float32, x, y []float32) { axpyGo(a, x, y) }

func scale32(_ kind, a float32, x []float32) { scaleGo(a, x) }

func add32(_ kind, x, y []float32) { addGo(x, y) }

func dot32(_ kind, x, y []float32) float32 { return dotGo(x, y) }

func squaredDistance32(_ kind, x, y []float32) float64 { return squaredDistanceGo(x, y) }

func scaledSquares32(_ kind, a float64, x []float32, b float64, y []float32) (difference, sum float64) {
	return scaledSquaresGo(a, x, b, y)
}

func combineRows32(_ kind, index []int32, value, rows []float32, stride int, y []float32) {
	combineRowsGo(index, value, rows, stride, y)
}

func combineAllRows32(_ kind, value, rows []float32, stride int, y []float32) {
	combineAllRowsGo(value, rows, stride, y)
}

func softmax32(_ kind, p, scores []float32) float64 { return softmaxGo(p, scores) }

func exp32(_ kind, dst, x []float32) { expGo(dst, x) }

func wrightOmega32(_ kind, w, x []float32, shift float32) (sum, slope float32) {
	return wrightOmegaGo(w, x, shift)
}

func moveMass32(_ kind, moved, from, to []float32, weight, rate float32, residual, bias, curvature []float32) {
	moveMassGo(moved, from, to, weight, rate, residual, bias, curvature)
}

func subtractAbove32(_ kind, a, least float32, x []float32) { subtractAboveGo(a, least, x) }

func tile32(_ kind, l layout, height, inner int, a []float32, aStride int, b []float32, bStride int, c []float32, stride, cols int, add bool, _ prefetch) {
	tileGo(l, height, inner, a, aStride, b, bStride, c, stride, cols, add)
}

func copyRows32(_ kind, dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	copyRowsGo(dst, dstStride, src, srcStride, rows, cols)
}

func transpose32(_ kind, dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	transposeGo(dst, dstStride, src, srcStride, rows, cols)
}

func fetchRows32([]float32, int, int, int) {}

func addToRows32(_ kind, index []int32, value, rows []float32, stride int, x []float32) {
	addToRowsGo(index, value, rows, stride, x)
}

func addPackedRows32(_ kind, y *[PackedWidth]float32, at []int32, x []float32, rows []uint16) {
	addPackedRowsGo(y, at, x, rows)
}

func extent32(_ kind, x []float32) (least, largest, sum float32) { return extentGo(x) }

func pause() {}
