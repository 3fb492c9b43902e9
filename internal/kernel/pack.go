package kernel

// A product a b goes tile by tile: tileRows rows of a times a panel of b, which
// is panelCols columns, in most cases packed one row after the other. What a panel has past
// the columns of b is never read into a result.

// tileRows is the largest height of a tile.
func (k kind) tileRows() int { return [...]int{4, 6, 14}[k] }

// panelCols is the width of a panel.
func (k kind) panelCols() int { return [...]int{4, 16, 32}[k] }

// cut returns the bounds of part i of n things in parts parts, which differ by
// at most one in length.
func cut(n, parts, i int) (lo, hi int) { return i * n / parts, (i + 1) * n / parts }

// ceil returns n/by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }

// layout is how the numbers of a, the left factor of a tile, lie in memory.
type layout int

const (
	byRows layout = iota // those of a row follow each other, rows are aStride numbers apart
	byCols               // those of a column follow each other, columns are aStride numbers apart
)

// at returns where the number of row i and inner index j lies.
func (l layout) at(aStride, i, j int) int {
	if l == byRows {
		return i*aStride + j
	}
	return j*aStride + i
}

// tileGo is tile32 in Go: four columns, each with a sum of its own.
func tileGo(l layout, height, inner int, a []float32, aStride int, b []float32, bStride int, c []float32, stride, cols int, add bool) {
	const width = 4
	for i := range height {
		var sum [width]float32
		row := c[i*stride : i*stride+cols]
		if add {
			copy(sum[:], row)
		}
		for j := range inner {
			x, y := a[l.at(aStride, i, j)], b[j*bStride:j*bStride+width]
			sum[0] += x * y[0]
			sum[1] += x * y[1]
			sum[2] += x * y[2]
			sum[3] += x * y[3]
		}
		copy(row, sum[:])
	}
}

// copyRowsGo is copyRows32 in Go.
func copyRowsGo(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	for i := range rows {
		copy(dst[i*dstStride:i*dstStride+cols], src[i*srcStride:i*srcStride+cols])
	}
}

// transposeGo is transpose32 in Go.
func transposeGo(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	for i := range rows {
		for j, x := range src[i*srcStride : i*srcStride+cols] {
			dst[j*dstStride+i] = x
		}
	}
}

// transposeRows sets dst (cols x rows) to the transpose of src (rows x cols).
// Strides are in numbers.
func transposeRows(k kind, dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	step := k.panelCols() / 2
	for i := 0; i < rows; i += step {
		transpose32(k, dst[i:], dstStride, src[i*srcStride:], srcStride, min(step, rows-i), cols)
	}
}

// Transposed returns the transpose of x (rows x cols), both without gaps.
func Transposed(x []float32, rows, cols int) []float32 {
	t := make([]float32, rows*cols)
	Transpose(Rect{X: t, Rows: cols, Cols: rows, Stride: rows}, Rect{X: x, Rows: rows, Cols: cols, Stride: cols})
	return t
}

// Transpose sets dst to the transpose of src. Another shape of dst is a bug in
// the caller and panics; they must not overlap.
func Transpose(dst, src Rect) {
	src.check(src.Rows, src.Cols)
	dst.check(src.Cols, src.Rows)
	if src.Rows == 0 || src.Cols == 0 {
		return
	}
	// A square of this size has its lines in the first cache on both sides.
	const side = 64
	for i := 0; i < src.Rows; i += side {
		for j := 0; j < src.Cols; j += side {
			transposeRows(best, dst.X[j*dst.Stride+i:], dst.Stride, src.X[i*src.Stride+j:], src.Stride, min(side, src.Rows-i), min(side, src.Cols-j))
		}
	}
}
