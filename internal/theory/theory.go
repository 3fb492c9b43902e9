// Package theory computes what the paper (Wang and Izbicki 2022) bounds the
// error of SGD by: norms of the weights in W, U and V, how much longer the
// gradient in these is, how far a metric is from that of the weights (lambda),
// and the doubling dimension of a metric.
//
// Lemma 1 of the paper bounds how far SGD ends from the best loss by
// ‖A*‖ ρ/√n, where A* is the best value of whatever is trained, W, U or V, ρ the
// largest length of an input and n the number of examples.
//
// Weights are feature-major, d x k, as in softmax.Layer.
package theory

import (
	"math"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// Norms returns B, the largest length of a class's weights (Assumption 2 of the
// paper), and the Frobenius norm of all weights, d x k. O(k d).
func Norms(w []float32, k int) (largest, all float64) {
	squares := make([]float64, k)
	for at, x := range w {
		squares[at%k] += float64(x) * float64(x)
	}
	for _, s := range squares {
		largest, all = max(largest, s), all+s
	}
	return math.Sqrt(largest), math.Sqrt(all)
}

// LongestInput returns ρ, the largest length of a row (Assumption 1).
func LongestInput(x matrix.Matrix) float64 {
	most := 0.0
	for i := range x.Rows() {
		most = max(most, x.SquaredNorm(i))
	}
	return math.Sqrt(most)
}

// LeastNorm returns the norm of the least-norm V with A V = W for the A of a tree
// and weights w, d x k for the k classes of the tree. A U-tree's A has an
// inverse, so there it is the norm of U*. A tree without a root that all
// classes share may reach no such V, which is an error. O(nodes x d).
func LeastNorm(t *labeltree.Tree, w []float32) (float64, error) {
	const block = 64 // features at a time
	k := t.Classes()
	d := len(w) / k
	op := sharing.NewOperator[float64](sharing.NewTree(t))
	rows, v := make([]float64, k*min(block, d)), make([]float64, t.Len()*min(block, d))
	sum := 0.0
	for from := 0; from < d; from += block {
		cols := min(block, d-from)
		for f := range cols {
			for c, x := range w[(from+f)*k : (from+f+1)*k] {
				rows[c*cols+f] = float64(x)
			}
		}
		if err := op.MinNorm(v[:t.Len()*cols], rows[:k*cols], cols); err != nil {
			return 0, err
		}
		for _, x := range v[:t.Len()*cols] {
			sum += x * x
		}
	}
	return math.Sqrt(sum), nil
}

// Stretch returns by how much the gradient in V can be longer than that in W, and
// so by how much the Lipschitz constant of the loss is larger.
//
// The gradient in W is g xᵀ with g = p - e_y, that in V is Aᵀ g xᵀ. Both norms
// are convex in p, so both are largest at a corner, g = e_j - e_y: there the
// first is sqrt(2) ‖x‖ (the paper has ‖x‖). The squared length of Aᵀ(e_j - e_y)
// is the sum of the lengths of the edges between j and y, 1 each in the paper's
// trees. O(nodes).
func Stretch(t *labeltree.Tree) float64 {
	deepest := make([]float64, t.Len()) // longest way from a node down to a class
	farthest := 0.0
	for v := range deepest {
		deepest[v] = math.Inf(-1)
		if t.Class(v) >= 0 {
			deepest[v] = 0
		}
	}
	for v := t.Len() - 1; v > 0; v-- {
		p, way := t.Parent(v), deepest[v]+t.Length(v)
		farthest = max(farthest, deepest[p]+way)
		deepest[p] = max(deepest[p], way)
	}
	return math.Sqrt(farthest / 2)
}

// NormLimit is the paper's bound on ‖U*‖ (Lemma 3) for k classes whose weights
// are at most b long, in a metric of distortion lambda and doubling dimension
// c: λ B sqrt(log2(k)/2) for c <= 1, and λ B sqrt(5 k^(1-1/c)) for c > 1.
func NormLimit(k int, lambda, b, c float64) float64 {
	if c <= 1 {
		return lambda * b * math.Sqrt(math.Log2(float64(k))/2)
	}
	return lambda * b * math.Sqrt(5*math.Pow(float64(k), 1-1/c))
}
