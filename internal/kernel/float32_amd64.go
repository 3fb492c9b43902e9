//go:build amd64 && !noasm

package kernel

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// fast says whether there is more than plain Go.
const fast = true

// best is what this machine runs fastest. It never changes.
var best = detect()

// detect looks at the processor once. AVX-512 counts only with the parts that the
// assembly uses (F, DQ, BW, VL).
func detect() kind {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI1 || !x.HasBMI2:
		return plain
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

// kinds returns all that this machine can run.
func kinds() []kind { return []kind{plain, avx2, avx512}[:best+1] }

// The functions below do one loop on the given kind. The assembly trusts the
// lengths, so they are checked here, once a call, by slicing.

// short is the length under which plain Go beats the call of an assembly
// function.
const short = 8

func axpy32(k kind, a float32, x, y []float32) {
	n := len(y)
	x = x[:n]
	switch {
	case n < short || k == plain:
		axpyGo(a, x, y)
	case k == avx512:
		axpyAVX512(a, first(x), first(y), n)
	default:
		axpyAVX2(a, first(x), first(y), n)
	}
}

func scale32(k kind, a float32, x []float32) {
	switch {
	case len(x) < short || k == plain:
		scaleGo(a, x)
	case k == avx512:
		scaleAVX512(a, first(x), len(x))
	default:
		scaleAVX2(a, first(x), len(x))
	}
}

func add32(k kind, x, y []float32) {
	n := len(y)
	x = x[:n]
	switch {
	case n < short || k == plain:
		addGo(x, y)
	case k == avx512:
		addAVX512(first(x), first(y), n)
	default:
		addAVX2(first(x), first(y), n)
	}
}

func dot32(k kind, x, y []float32) float32 {
	n := len(x)
	y = y[:n]
	switch {
	case n < short || k == plain:
		return dotGo(x, y)
	case k == avx512:
		return dotAVX512(first(x), first(y), n)
	}
	return dotAVX2(first(x), first(y), n)
}

func squaredDistance32(k kind, x, y []float32) float64 {
	n := len(x)
	y = y[:n]
	switch {
	case n < short || k == plain:
		return squaredDistanceGo(x, y)
	case k == avx512:
		return squaredDistanceAVX512(first(x), first(y), n)
	}
	return squaredDistanceAVX2(first(x), first(y), n)
}

func scaledSquares32(k kind, a float64, x []float32, b float64, y []float32) (difference, sum float64) {
	n := len(x)
	y = y[:n]
	switch {
	case n < short || k == plain:
		return scaledSquaresGo(a, x, b, y)
	case k == avx512:
		return scaledSquaresAVX512(a, first(x), b, first(y), n)
	}
	return scaledSquaresAVX2(a, first(x), b, first(y), n)
}

// combineRows32 leaves the check of each row's place to the assembly, which knows the
// last place where a row can start and stops at one beyond it.
func combineRows32(k kind, index []int32, value, rows []float32, stride int, y []float32) {
	n, cols := len(index), len(y)
	value = value[:n]
	if k == plain || n == 0 || cols == 0 {
		combineRowsGo(index, value, rows, stride, y)
		return
	}
	limit := 4 * (len(rows) - cols) // where the last row can start, in bytes
	ok := limit >= 0
	if k == avx512 {
		ok = ok && combineRowsAVX512(first(index), first(value), n, first(rows), 4*stride, limit, first(y), cols)
	} else {
		ok = ok && combineRowsAVX2(first(index), first(value), n, first(rows), 4*stride, limit, first(y), cols)
	}
	if !ok {
		panicOutside(index, rows, stride, cols)
	}
}

func addToRows32(k kind, index []int32, value, rows []float32, stride int, x []float32) {
	n, cols := len(index), len(x)
	value = value[:n]
	if k == plain || n == 0 || cols == 0 {
		addToRowsGo(index, value, rows, stride, x)
		return
	}
	limit := 4 * (len(rows) - cols) // where the last row can start, in bytes
	ok := limit >= 0
	if k == avx512 {
		ok = ok && addToRowsAVX512(first(index), first(value), n, first(rows), 4*stride, limit, first(x), cols)
	} else {
		ok = ok && addToRowsAVX2(first(index), first(value), n, first(rows), 4*stride, limit, first(x), cols)
	}
	if !ok {
		panicOutside(index, rows, stride, cols)
	}
}

func addPackedRows32(k kind, y *[PackedWidth]float32, at []int32, x []float32, rows []uint16) {
	switch {
	case len(at) == 0 || k == plain:
		addPackedRowsGo(y, at, x, rows)
	case k == avx512:
		addPackedRowsAVX512(&y[0], first(at), first(x), len(at), first(rows))
	default:
		addPackedRowsAVX2(&y[0], first(at), first(x), len(at), first(rows))
	}
}

func extent32(k kind, x []float32) (least, largest, sum float32) {
	whole := len(x) - len(x)%extentParts
	if k == plain || whole == 0 {
		return extentGo(x)
	}
	var all [3][extentParts]float32
	if k == avx512 {
		extentAVX512(first(x), whole, &all[0][0])
	} else {
		extentAVX2(first(x), whole, &all[0][0])
	}
	return joinExtents(&all, x[whole:])
}

// panicOutside panics for the first row outside rows.
func panicOutside(index []int32, rows []float32, stride, cols int) {
	for _, i := range index {
		_ = rows[int(i)*stride:][cols-1]
	}
}

// Rows of at least wideCols numbers, wideSize in all, which is more than the
// second cache holds, are read wideRows at a time from end to end.
const (
	wideCols = 256
	wideSize = 1 << 18
	wideRows = 8
)

// combineAllRows32 takes many wide rows, which come from far caches or main memory,
// wideRows at a time, all other rows panel by panel, as combineRows32 does.
func combineAllRows32(k kind, value, rows []float32, stride int, y []float32) {
	n, cols := len(value), len(y)
	if k == plain {
		combineAllRowsGo(value, rows, stride, y)
		return
	}
	if n == 0 || cols == 0 {
		return
	}
	_ = rows[(n-1)*stride:][cols-1]
	if cols >= wideCols && n*cols >= wideSize {
		for ; n >= wideRows; n -= wideRows {
			if k == avx512 {
				addWideRowsAVX512(first(value), first(rows), 4*stride, first(y), cols)
			} else {
				addWideRowsAVX2(first(value), first(rows), 4*stride, first(y), cols)
			}
			value = value[wideRows:]
			rows = rows[min(wideRows*stride, len(rows)):]
		}
		if n == 0 {
			return
		}
	}
	if k == avx512 {
		combineAllRowsAVX512(first(value), n, first(rows), 4*stride, first(y), cols)
	} else {
		combineAllRowsAVX2(first(value), n, first(rows), 4*stride, first(y), cols)
	}
}

func softmax32(k kind, p, scores []float32) (logSumExp float64) {
	n := len(scores)
	p = p[:n]
	var top float32
	var sum float64
	switch {
	case n == 0 || k == plain:
		return softmaxGo(p, scores)
	case k == avx512:
		top, sum = softmaxAVX512(first(p), first(scores), n)
	default:
		top, sum = softmaxAVX2(first(p), first(scores), n)
	}
	return float64(top) + math.Log(sum)
}

func exp32(k kind, dst, x []float32) {
	n := len(x)
	dst = dst[:n]
	switch {
	case n == 0 || k == plain:
		expGo(dst, x)
	case k == avx512:
		expAVX512(first(dst), first(x), n)
	default:
		expAVX2(first(dst), first(x), n)
	}
}

func wrightOmega32(k kind, w, x []float32, shift float32) (sum, slope float32) {
	n := len(x)
	w = w[:n]
	switch {
	case n == 0 || k == plain:
		return wrightOmegaGo(w, x, shift)
	case k == avx512:
		return wrightOmegaAVX512(first(w), first(x), n, shift)
	default:
		return wrightOmegaAVX2(first(w), first(x), n, shift)
	}
}

func moveMass32(k kind, moved, from, to []float32, weight, rate float32, residual, bias, curvature []float32) {
	n := len(moved)
	from, to, residual, bias, curvature = from[:n], to[:n], residual[:n], bias[:n], curvature[:n]
	switch {
	case n == 0 || k == plain:
		moveMassGo(moved, from, to, weight, rate, residual, bias, curvature)
	case k == avx512:
		moveMassAVX512(first(moved), first(from), first(to), weight, rate, first(residual), first(bias), first(curvature), n)
	default:
		moveMassAVX2(first(moved), first(from), first(to), weight, rate, first(residual), first(bias), first(curvature), n)
	}
}

func subtractAbove32(k kind, a, least float32, x []float32) {
	switch {
	case len(x) == 0 || k == plain:
		subtractAboveGo(a, least, x)
	case k == avx512:
		subtractAboveAVX512(a, least, first(x), len(x))
	default:
		subtractAboveAVX2(a, least, first(x), len(x))
	}
}

// first returns where x begins, also for a nil x, of which nothing is read.
func first[E any](x []E) *E { return unsafe.SliceData(x) }

// The bounds of matrices are those of their last rows. Strides are in numbers.

// here is the offset of a line that is there, as often as a tile asks at a time.
var here [4]int

// asked returns where a tile of so many inner steps reads which cache lines to ask
// for, and how many bytes further on next.
func asked(lines []int, inner int) (line *int, step int) {
	if len(lines) == 0 {
		return &here[0], 0
	}
	_ = lines[inner-1]
	return &lines[0], 8 * len(here)
}

// tile32 sets a tile of c (height x cols) to the product of a (height x inner) and b
// (inner x panelCols), or adds it. While it multiplies it asks for the cache lines that
// the next tile will need.
func tile32(k kind, l layout, height, inner int, a []float32, aStride int, b []float32, bStride int, c []float32, stride, cols int, add bool, next prefetch) {
	if k == plain {
		tileGo(l, height, inner, a, aStride, b, bStride, c, stride, cols, add)
		return
	}
	if height < 1 || inner < 1 || cols < 1 || height > k.tileRows() || cols > k.panelCols() || aStride < 0 || bStride < 0 || stride < 0 {
		panic("kernel: a tile of the wrong size")
	}
	_, _, _ = a[l.at(aStride, height-1, inner-1)], b[(inner-1)*bStride+k.panelCols()-1], c[(height-1)*stride+cols-1]
	line, step := asked(next.at, inner)
	from := first(b)
	if len(next.at) > 0 {
		from = first(next.from)
	}
	switch {
	case k == avx512 && l == byRows:
		tileByRowsAVX512(height, inner, first(a), 4*aStride, first(b), 4*bStride, first(c), 4*stride, cols, add, line, step, from)
	case k == avx512:
		tileByColsAVX512(height, inner, first(a), 4*aStride, first(b), 4*bStride, first(c), 4*stride, cols, add)
	case l == byRows:
		tileByRowsAVX2(height, inner, first(a), 4*aStride, first(b), 4*bStride, first(c), 4*stride, cols, add, line, step, from)
	default:
		tileByColsAVX2(height, inner, first(a), 4*aStride, first(b), 4*bStride, first(c), 4*stride, cols, add)
	}
}

// copyRows32 copies rows of at most panelCols numbers.
func copyRows32(k kind, dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	if k == plain {
		copyRowsGo(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	if rows < 1 || cols < 1 || cols > k.panelCols() || dstStride < 0 || srcStride < 0 {
		panic("kernel: rows of the wrong size")
	}
	_, _ = dst[(rows-1)*dstStride+cols-1], src[(rows-1)*srcStride+cols-1]
	if k == avx512 {
		copyRowsAVX512(first(dst), 4*dstStride, first(src), 4*srcStride, rows, cols)
	} else {
		copyRowsAVX2(first(dst), 4*dstStride, first(src), 4*srcStride, rows, cols)
	}
}

// transpose32 transposes at most panelCols/2 rows.
func transpose32(k kind, dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	if k == plain {
		transposeGo(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	if rows < 1 || cols < 1 || rows > k.panelCols()/2 || dstStride < 0 || srcStride < 0 {
		panic("kernel: rows of the wrong size")
	}
	_, _ = dst[(cols-1)*dstStride+rows-1], src[(rows-1)*srcStride+cols-1]
	if k == avx512 {
		transposeAVX512(first(dst), 4*dstStride, first(src), 4*srcStride, rows, cols)
	} else {
		transposeAVX2(first(dst), 4*dstStride, first(src), 4*srcStride, rows, cols)
	}
}

// fetchRows32 asks for cache lines that will be needed soon.
func fetchRows32(p []float32, stride, rows, lines int) {
	if len(p) > 0 && rows > 0 && lines > 0 {
		fetchRows(first(p), 4*stride, rows, lines)
	}
}
