package deep

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// rows gathers rows of x. A row may be asked for more than once only where no
// gradient flows: the gradient of a gather is a scatter, see treeSum. Indices
// are int64, the only kind that ONNX Runtime can scatter with.
func rows(x *graph.Node, index []int) *graph.Node {
	flat := make([]int64, len(index))
	whole := len(index) == x.Shape().Dimensions[0]
	for i, n := range index {
		flat[i] = int64(n)
		whole = whole && n == i
	}
	if whole {
		return x
	}
	return graph.Gather(x, graph.ConstTensor(x.Graph(), tensors.FromFlatDataAndDimensions(flat, len(flat), 1)))
}

// span gathers the rows from one up to another.
func span(x *graph.Node, from, to int) *graph.Node {
	index := make([]int, to-from)
	for i := range index {
		index[i] = from + i
	}
	return rows(x, index)
}

// withRows is the shape [n, columns] in the type of x.
func withRows(x *graph.Node, n, columns int) shapes.Shape {
	return shapes.Make(x.DType(), n, columns)
}

// constant puts numbers into the graph.
func constant(g *graph.Graph, dtype dtypes.DType, x []float64, dims ...int) *graph.Node {
	if dtype == dtypes.Float64 {
		return graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(x, dims...))
	}
	narrow := make([]float32, len(x))
	for i, v := range x {
		narrow[i] = float32(v)
	}
	return graph.ConvertDType(graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(narrow, dims...)), dtype)
}
