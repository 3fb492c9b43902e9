package kernel

import "github.com/treeloss/treeloss/matrix"

// CombineRows adds the sum over n of value[n] * rows[index[n]] to y, where row
// i of the row-major array rows starts at i*stride and is len(y) long. value
// must be at least as long as index, stride at least 0; y must not overlap
// rows. A row that does not lie within rows panics, as a slice would; y is
// then partly changed. O(len(index)*len(y)), no allocation.
func CombineRows[T matrix.Float](index []int32, value []float32, rows []T, stride int, y []T) {
	if fast && isFloat32[T]() {
		combineRows32(best, index, value, float32s(rows), stride, float32s(y))
		return
	}
	combineRowsGo(index, value, rows, stride, y)
}

// combineRowsGo goes four rows at a time, so that y is loaded and stored once for these.
func combineRowsGo[T matrix.Float](index []int32, value []float32, rows []T, stride int, y []T) {
	n := 0
	for ; n+4 <= len(index); n += 4 {
		i, v := index[n:n+4:n+4], value[n:n+4:n+4]
		axpy4Go(T(v[0]), T(v[1]), T(v[2]), T(v[3]),
			rows[int(i[0])*stride:], rows[int(i[1])*stride:], rows[int(i[2])*stride:], rows[int(i[3])*stride:], y)
	}
	for ; n < len(index); n++ {
		axpyGo(T(value[n]), rows[int(index[n])*stride:], y)
	}
}

// CombineAllRows is CombineRows for a dense row: it adds the sum over n of
// value[n] times row n.
func CombineAllRows[T matrix.Float](value []float32, rows []T, stride int, y []T) {
	if fast && isFloat32[T]() {
		combineAllRows32(best, value, float32s(rows), stride, float32s(y))
		return
	}
	combineAllRowsGo(value, rows, stride, y)
}

// combineAllRowsGo is combineRowsGo for rows 0, 1, 2, ...
func combineAllRowsGo[T matrix.Float](value []float32, rows []T, stride int, y []T) {
	n := 0
	for ; n+4 <= len(value); n += 4 {
		v, r := value[n:n+4:n+4], rows[n*stride:]
		axpy4Go(T(v[0]), T(v[1]), T(v[2]), T(v[3]), r, r[stride:], r[2*stride:], r[3*stride:], y)
	}
	for ; n < len(value); n++ {
		axpyGo(T(value[n]), rows[n*stride:], y)
	}
}

// AddToRows adds value[n]*x to row index[n] of rows, in the order of n, where
// row i starts at i*stride and is len(x) long: the transpose of CombineRows, with
// its conditions.
func AddToRows[T matrix.Float](index []int32, value []float32, rows []T, stride int, x []T) {
	if fast && isFloat32[T]() {
		addToRows32(best, index, value, float32s(rows), stride, float32s(x))
		return
	}
	addToRowsGo(index, value, rows, stride, x)
}

// addToRowsGo is a row at a time, as two indices may be the same.
func addToRowsGo[T matrix.Float](index []int32, value []float32, rows []T, stride int, x []T) {
	for n, i := range index {
		axpyGo(T(value[n]), x, rows[int(i)*stride:][:len(x)])
	}
}
