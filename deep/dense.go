package deep

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/regularizer"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/sharing"
)

// Names of the scope and the variables of Dense. Scope and bias are those of
// GoMLX's layers.Dense, whose weights Fold makes of the shared ones.
const (
	denseScope   = "dense"
	sharedName   = "shared"  // V, m x d
	weightsName  = "weights" // Wᵀ, d x k, of a plain layer
	biasesName   = "biases"  // b, k
	maxDenseSize = 1 << 28   // numbers of an A that is written out: 1 GB
)

// Dense returns the logits x (A V)ᵀ + b of k classes, [batch, k], for x of shape
// [batch, d]; further axes of x before the last stay as they are. It stands in
// the place of layers.Dense(scope, x, true, k) and trains V (m x d), in the rows
// of the sharing, and b. With sharing.None both are the same layer.
//
// V starts as the scope's initializer would start plain weights, but for one
// factor that lets the classes differ as much. A regularizer of the scope
// acts on V. For a Tree, A is never formed: time and memory are those of a plain
// layer of m classes plus O(m batch). The other sharings write A out, k x m.
//
// It panics, as graph functions do, if x has no axis of features or A is too
// large to write out. The gradient is exact in every run, on every backend; it
// can be taken once, not twice.
func Dense(scope *model.Scope, x *graph.Node, s sharing.Sharing) *graph.Node {
	if x.Rank() < 1 {
		panic(fmt.Errorf("deep: dense: x has shape %s, want at least one axis", x.Shape()))
	}
	g, dims := x.Graph(), x.Shape().Dimensions
	d, k := dims[len(dims)-1], s.Classes()
	scope = scope.In(denseScope)
	v := scope.WithInitializer(spread(scope, s)).VariableWithShape(sharedName, shapes.Make(x.DType(), s.Rows(), d))
	if penalty := regularizer.FromScope(scope); penalty != nil {
		penalty(g, v)
	}
	b := scope.VariableWithShape(biasesName, shapes.Make(x.DType(), k)).NodeValue(g)
	flat := graph.Reshape(x, x.Shape().Size()/d, d)
	logits := graph.Add(scores(flat, v.NodeValue(g), s), graph.ExpandAxes(b, 0))
	return graph.Reshape(logits, append(append([]int{}, dims[:len(dims)-1]...), k)...)
}

// spread initializes V as the scope's initializer would the weights of a plain
// layer, d x m, over the root of the mean eigenvalue of A Aᵀ.
func spread(scope *model.Scope, s sharing.Sharing) model.VariableInitializer {
	factor := 1.0
	if mean := sharing.MeanEigenvalue(s); mean > 0 {
		factor = 1 / math.Sqrt(mean)
	}
	plain := scope.Initializer()
	return func(g *graph.Graph, shape shapes.Shape) *graph.Node {
		turned := plain(g, shapes.Make(shape.DType, shape.Dimensions[1], shape.Dimensions[0]))
		return graph.MulScalar(graph.Transpose(turned, 0, 1), factor)
	}
}

// scores returns x (A v)ᵀ, [batch, k], for x [batch, d] and v [m, d].
//
// Two ways lead there: A on the weights, (A v) xᵀ, or on the scores, A (v xᵀ).
// A tree's A costs O(m) a column, so the columns decide, d of them or batch, and
// so does the product with x, of k rows or of m.
func scores(x, v *graph.Node, s sharing.Sharing) *graph.Node {
	batch, d := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	k, m := s.Classes(), s.Rows()
	var onWeights bool
	switch s := s.(type) {
	// A is the identity.
	case sharing.None, *sharing.None:
		return product(x, v)
	case *sharing.Tree:
		onWeights = batch > d
	// A = [f1 A1, f2 A2, ...], and V has the rows of the parts one below the other.
	case *sharing.Sum:
		var sum *graph.Node
		for _, p := range s.Parts() {
			n := p.Sharing.Rows()
			part := graph.MulScalar(scores(x, span(v, 0, n), p.Sharing), p.Factor)
			v = span(v, n, v.Shape().Dimensions[0])
			if sum == nil {
				sum = part
			} else {
				sum = graph.Add(sum, part)
			}
		}
		return sum
	// A is written out: count the products of numbers of (A v) xᵀ and of A (v xᵀ), both
	// divided by k.
	default:
		onWeights = m*d+batch*d < batch*m+batch*d*m/max(k, 1)
	}
	if onWeights {
		return product(x, apply(s, v))
	}
	return graph.Transpose(apply(s, product(v, x)), 0, 1)
}

// product returns a bᵀ.
func product(a, b *graph.Node) *graph.Node {
	return graph.Dot(a, b).General([]int{1}, nil, []int{1}, nil)
}

// apply returns A h, [k, columns], for h [m, columns].
func apply(s sharing.Sharing, h *graph.Node) *graph.Node {
	if t, ok := s.(*sharing.Tree); ok {
		return newTreeSum(t.LabelTree()).apply(h)
	}
	return graph.DotProduct(written(h.Graph(), h.DType(), s), h)
}

// written returns A, [k, m], as a constant.
func written(g *graph.Graph, dtype dtypes.DType, s sharing.Sharing) *graph.Node {
	k, m := s.Classes(), s.Rows()
	if m > 0 && k > maxDenseSize/m {
		panic(fmt.Errorf("deep: dense: a sharing of %d classes and %d rows that is no tree, want at most %d numbers; make it smaller with sharing.Compact", k, m, maxDenseSize))
	}
	a := make([]float64, k*m)
	sharing.NewOperator[float64](s).Pull(a, identity(k), k) // Aᵀ, m x k
	return graph.Transpose(constant(g, dtype, a, m, k), 0, 1)
}

// identity returns the k x k identity matrix, row-major.
func identity(k int) []float64 {
	eye := make([]float64, k*k)
	for i := range k {
		eye[i*k+i] = 1
	}
	return eye
}
