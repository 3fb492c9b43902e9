package deep

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
)

// HierarchicalSoftmax returns log-probabilities of k classes, [batch, k], for x
// [batch, d]: a softmax among the children of each node, multiplied along the
// path of a class (Morin and Bengio 2005). As they are normalised, any loss of
// logits takes them as they are, cross entropy among them. Its weights and biases
// are those of a plain layer of as many outputs as the tree has nodes but the
// root, node v in row v-1 as in package loss.
//
// It panics if a class has nodes below it, or x is not of rank 2.
func HierarchicalSoftmax(scope *model.Scope, x *graph.Node, t *labeltree.Tree) *graph.Node {
	if _, err := loss.NewHierarchicalSoftmax(t); err != nil {
		panic(err)
	}
	if x.Rank() != 2 {
		panic(fmt.Errorf("deep: hierarchical softmax: x has shape %s, want [batch, features]", x.Shape()))
	}
	g, d, m := x.Graph(), x.Shape().Dimensions[1], t.Len()-1
	if m == 0 {
		return graph.Zeros(g, withRows(x, x.Shape().Dimensions[0], 1))
	}
	scope = scope.In(denseScope)
	w := scope.VariableWithShape(weightsName, shapes.Make(x.DType(), d, m)).NodeValue(g)
	b := scope.VariableWithShape(biasesName, shapes.Make(x.DType(), m)).NodeValue(g)
	// A column an example, as the sums over paths work on rows of nodes.
	scores := graph.Dot(w, x).General([]int{0}, nil, []int{1}, nil) // [m, batch]
	scores = graph.Add(scores, graph.ExpandAxes(b, -1))
	unweighted, err := t.WithLengths(nil)
	if err != nil {
		panic(err)
	}
	logs := newTreeSum(unweighted).apply(amongSiblings(scores, t))
	return graph.Transpose(logs, 0, 1)
}

// amongSiblings takes the log softmax among the children of each node, in each
// column; scores are [nodes-1, batch], the result has a row 0 for the root, too.
// Nodes with as many children are taken together.
func amongSiblings(scores *graph.Node, t *labeltree.Tree) *graph.Node {
	batch := scores.Shape().Dimensions[1]
	parents := make([][]int, 0) // by number of children
	for v := range t.Len() {
		n := len(t.Children(v))
		for n >= len(parents) {
			parents = append(parents, nil)
		}
		parents[n] = append(parents[n], v)
	}
	// The root is certain: log 1.
	parts := []*graph.Node{graph.Zeros(scores.Graph(), withRows(scores, 1, batch))}
	place := make([]int, t.Len())
	next := 1
	for n, group := range parents {
		if n == 0 || len(group) == 0 {
			continue
		}
		var from []int
		for _, v := range group {
			for _, c := range t.Children(v) {
				place[c] = next + len(from)
				from = append(from, c-1)
			}
		}
		next += len(from)
		block := graph.Reshape(rows(scores, from), len(group), n, batch)
		block = graph.LogSoftmax(block, 1)
		parts = append(parts, graph.Reshape(block, len(from), batch))
	}
	return rows(graph.Concatenate(parts, 0), place)
}
