//go:build !amd64 || noasm

package kernel

func columnsTop32(_ kind, z, bias []float32, rows int, top []float32) {
	columnsTopGo(z, bias, rows, top)
}

func columnsExp32(_ kind, z []float32, rows int, top []float32, sum []float64) {
	columnsExpGo(z, rows, top, sum)
}

func scaleColumns32(_ kind, z []float32, rows int, factor, sum []float32) {
	scaleColumnsGo(z, rows, factor, sum)
}

func kernelRows32(_ kind, f *Tree, z []float32) { kernelRowsGo(f, z) }

func stepTile32(_ kind, height, inner int, g []float32, gStride int, x, w, v []float32, stride, cols int, f *factors, _ []int) {
	stepTileGo(height, inner, g, gStride, x, w, v, stride, cols, f)
}

func stepRow32(_ kind, w, v, grad []float32, f *factors) { stepRowGo(w, v, grad, f) }

func advance32(_ kind, f [4]float32, w, v []float32) { advanceGo(f, w, v) }

func scaleAdd32(_ kind, a float32, w []float32, b float32, x []float32) { scaleAddGo(a, w, b, x) }

func stepOuter32(_ kind, w, v []float32, a float32, x []float32, f *factors) {
	stepOuterGo(w, v, a, x, f)
}
