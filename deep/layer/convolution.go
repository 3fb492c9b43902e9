package layer

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Kernel is the name of the variable of Convolution, [size, size, in, out].
const Kernel = "kernel"

// Convolution convolves x with a trained kernel of an odd size to out channels,
// without bias, with size/2 zeros on each side (PyTorch's padding; with a stride
// it is another network than TensorFlow's "same"). stride is 1, or 2 for sides
// that are even.
//
// The gradient of a stride exists in GoMLX's ONNX backend for no kernel, so there
// every position is computed and every other dropped, at four times the work.
func Convolution(scope *model.Scope, x *graph.Node, out, size, stride int) *graph.Node {
	if size%2 == 0 {
		panic(fmt.Errorf("layer: convolution of even size %d, want an odd one: GoMLX's gradient is wrong for even ones", size))
	}
	dims := x.Shape().Dimensions
	kernel := scope.VariableWithShape(Kernel, shapes.Make(x.DType(), size, size, dims[3], out)).NodeValue(x.Graph())
	if stride > 1 && size == 1 {
		x, stride = Subsample(x, stride), 1
	}
	// The stride that the backend is asked for.
	native := stride
	if strings.HasPrefix(x.Graph().Backend().Name(), "onnx") {
		native = 1
	}
	pad := [2]int{size / 2, size / 2}
	y := graph.Convolve(x, kernel).PaddingPerDim([][2]int{pad, pad}).Strides(native).Done()
	if native != stride {
		y = Subsample(y, stride)
	}
	return y
}

// Subsample keeps every stride-th row and column of images, from the first on.
// Both sides must be multiples of stride. It is made of sums, as the gradient of
// a slice is missing in the ONNX backend.
func Subsample(x *graph.Node, stride int) *graph.Node {
	d := x.Shape().Dimensions
	if d[1]%stride != 0 || d[2]%stride != 0 {
		panic(fmt.Errorf("layer: subsample: x has shape %s, want sides that are multiples of %d", x.Shape(), stride))
	}
	h, w := d[1]/stride, d[2]/stride
	first := make([]float32, stride)
	first[0] = 1
	keep := graph.ConvertDType(graph.Const(x.Graph(), first), x.DType())
	// Rows in groups of stride, of which the first is kept, and then columns.
	x = graph.Reshape(x, d[0], h, stride, w, stride*d[3])
	x = graph.ReduceSum(graph.Mul(x, graph.Reshape(keep, 1, 1, stride, 1, 1)), 2)
	x = graph.Reshape(x, d[0], h, w, stride, d[3])
	return graph.ReduceSum(graph.Mul(x, graph.Reshape(keep, 1, 1, 1, stride, 1)), 3)
}

// ZeroChannels puts channels of zeros on both sides of those of x.
func ZeroChannels(x *graph.Node, before, after int) *graph.Node {
	var parts []*graph.Node
	zeros := func(n int) {
		if n > 0 {
			d := x.Shape().Dimensions
			parts = append(parts, graph.Zeros(x.Graph(), shapes.Make(x.DType(), d[0], d[1], d[2], n)))
		}
	}
	zeros(before)
	parts = append(parts, x)
	zeros(after)
	return graph.Concatenate(parts, -1)
}
