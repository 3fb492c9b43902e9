package layer

import "github.com/gomlx/gomlx/core/graph"

// MaxPool takes the largest of each 3x3 window, two pixels apart, one pixel of
// nothing around. Sides must be even. It is made of maxima of shifted images, as
// the gradient of GoMLX's pooling is wrong on ONNX Runtime; where several pixels of a
// window are largest, they share the gradient as these maxima do.
func MaxPool(x *graph.Node) *graph.Node {
	return pooled(pooled(x, 1), 2)
}

// pooled takes the largest of three neighbours along an axis at every other
// place: of pixels 2i-1, 2i and 2i+1.
func pooled(x *graph.Node, axis int) *graph.Node {
	d := x.Shape().Dimensions
	even, odd := halves(x, axis)
	last := d[axis]/2 - 1
	before := even // of place 0, which has none, the place itself
	if last > 0 {
		before = graph.Concatenate([]*graph.Node{at(even, axis, 0, 1), at(odd, axis, 0, last)}, axis)
	}
	return graph.Max(graph.Max(before, even), odd)
}

// halves returns the even and the odd places of an axis.
func halves(x *graph.Node, axis int) (even, odd *graph.Node) {
	d := append([]int(nil), x.Shape().Dimensions...)
	split := append(append(append([]int(nil), d[:axis]...), d[axis]/2, 2), d[axis+1:]...)
	x = graph.Reshape(x, split...)
	pick := func(keep []float32) *graph.Node {
		mask := make([]int, len(split))
		for i := range mask {
			mask[i] = 1
		}
		mask[axis+1] = 2
		return graph.ReduceSum(graph.Mul(x, graph.Reshape(graph.ConvertDType(graph.Const(x.Graph(), keep), x.DType()), mask...)), axis+1)
	}
	return pick([]float32{1, 0}), pick([]float32{0, 1})
}

// at returns the places of an axis from one up to another, by a product with a
// 0/1 matrix: a slice has no gradient on every backend.
func at(x *graph.Node, axis, from, to int) *graph.Node {
	n := x.Shape().Dimensions[axis]
	keep := make([][]float32, n)
	for i := range keep {
		keep[i] = make([]float32, to-from)
		if i >= from && i < to {
			keep[i][i-from] = 1
		}
	}
	pick := graph.ConvertDType(graph.Const(x.Graph(), keep), x.DType())
	switch axis {
	case 1:
		return graph.Einsum("bhwc,hk->bkwc", x, pick)
	default:
		return graph.Einsum("bhwc,wk->bhkc", x, pick)
	}
}
