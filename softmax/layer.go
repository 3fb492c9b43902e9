package softmax

import (
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// Layer is a trained flat classifier: the score of class c for an input x is
// W[c]·x + b[c], in nats. With a Hierarchy the outputs are the nodes of its
// tree but the root instead of the classes.
type Layer struct {
	Classes   int                       // k
	Features  int                       // d
	Weight    []float32                 // d x outputs, feature-major: Weight[f*outputs+c]; nil for a large model from a file, see Row and Dense
	Bias      []float32                 // outputs
	Hierarchy *loss.HierarchicalSoftmax // nil: flat
	Sigmoid   bool                      // each class has a probability of its own, 1/(1 + exp(-score)), as an example may be of several; else they share 1

	packed packed // the weights, if not nil, and Weight is
}

// Outputs returns the number of scores, k for a flat layer.
func (l *Layer) Outputs() int { return len(l.Bias) }

// Scores sets out (outputs) to the scores of one input: sparse if index is not
// nil, else dense. O(nonzeros x outputs), no allocation.
func (l *Layer) Scores(out []float32, index []int32, value []float32) {
	copy(out, l.Bias)
	if l.packed != nil {
		l.packed.scores(out, index, value)
		return
	}
	if index == nil && len(value) == l.Features {
		kernel.CombineAllRows(value, l.Weight, len(l.Bias), out)
		return
	}
	kernel.CombineRows(index, value, l.Weight, len(l.Bias), out)
}

// Probabilities sets p (k) to the class probabilities of one input, at
// temperature 1, which sum to 1 but for those of Sigmoid. scratch has room for 2*Outputs numbers.
func (l *Layer) Probabilities(p, scratch []float32, index []int32, value []float32) {
	scores := scratch[:len(l.Bias)]
	l.Scores(scores, index, value)
	l.normalise(p, scratch[len(l.Bias):2*len(l.Bias)], scores)
}

// normalise sets p (k) to the probabilities of scores; spare has their length.
func (l *Layer) normalise(p, spare, scores []float32) {
	if l.Hierarchy != nil {
		loss.Probabilities(l.Hierarchy, p, spare, scores)
		return
	}
	if l.Sigmoid {
		for c, s := range scores[:l.Classes] {
			p[c] = float32(1 / (1 + math.Exp(-float64(s))))
		}
		return
	}
	kernel.Softmax(p[:l.Classes], scores)
}

// PredictAll calls visit with the probabilities of each row of x, in order of
// blocks; visit runs on several goroutines, once a row. The slice is reused.
// Dense rows go many at a time, as one matrix product; p has the same bits as
// that of Probabilities where there are vector instructions.
func (l *Layer) PredictAll(x matrix.Matrix, threads int, visit func(row int, p []float32)) error {
	if x.Cols() != l.Features {
		return fmt.Errorf("softmax: inputs of %d features, the model has %d", x.Cols(), l.Features)
	}
	if x, ok := x.(*matrix.Dense); ok && l.packed == nil {
		l.predictDense(x, threads, false, visit)
		return nil
	}
	kernel.Parallel(threads, x.Rows(), rowGrain, func(_, lo, hi int) {
		p, scratch := make([]float32, l.Classes), make([]float32, 2*len(l.Bias))
		for i := lo; i < hi; i++ {
			index, value := rowOf(x, i)
			l.Probabilities(p, scratch, index, value)
			visit(i, p)
		}
	})
	return nil
}

// rowOf returns row i, without an index if it is dense.
func rowOf(x matrix.Matrix, i int) (index []int32, value []float32) {
	if s, ok := x.(*matrix.Sparse); ok {
		return s.Row(i)
	}
	return nil, x.(*matrix.Dense).Row(i)
}

// Row returns the weights of feature f, one an output: those of l itself, or, of a
// large model from a file, to, which must have room for them. Do not change what it
// returns.
func (l *Layer) Row(f int, to []float32) []float32 {
	k := l.Outputs()
	if l.packed == nil {
		return l.Weight[f*k : (f+1)*k]
	}
	l.packed.row(to[:k], f)
	return to[:k]
}

// Dense returns all weights as Weight has them: features x outputs.
func (l *Layer) Dense() []float32 {
	if l.packed == nil {
		return l.Weight
	}
	k := l.Outputs()
	out := make([]float32, l.Features*k)
	for f := range l.Features {
		l.packed.row(out[f*k:(f+1)*k], f)
	}
	return out
}

// fits returns an error if l cannot start a fit of this shape.
func (l *Layer) fits(k, d int, h *loss.HierarchicalSoftmax) error {
	switch {
	case l.Classes != k || l.Features != d:
		return fmt.Errorf("softmax: the model to start from has %d classes and %d features, the data has %d and %d", l.Classes, l.Features, k, d)
	case l.Sigmoid, (l.Hierarchy != nil) != (h != nil), h != nil && !sameTree(l.Hierarchy.Tree(), h.Tree()):
		return fmt.Errorf("softmax: the model to start from has another output than the one to be trained, or another tree")
	}
	return l.check()
}

// check returns an error if the parts do not fit together or a number is NaN
// or infinite.
func (l *Layer) check() error {
	outputs := l.Classes
	if l.Hierarchy != nil {
		outputs = l.Hierarchy.Scores()
	}
	switch {
	case l.Classes < 1 || l.Features < 1:
		return fmt.Errorf("softmax: a layer of %d classes and %d features, want at least 1 of each", l.Classes, l.Features)
	case l.Hierarchy != nil && l.Sigmoid:
		return fmt.Errorf("softmax: a hierarchical softmax with a sigmoid for each class")
	case l.Hierarchy != nil && l.Hierarchy.Classes() != l.Classes:
		return fmt.Errorf("softmax: a tree of %d classes for %d classes", l.Hierarchy.Classes(), l.Classes)
	case len(l.Bias) != outputs:
		return fmt.Errorf("softmax: %d biases for %d outputs", len(l.Bias), outputs)
	case l.packed == nil && len(l.Weight) != l.Features*outputs:
		return fmt.Errorf("softmax: %d weights for %d features and %d outputs", len(l.Weight), l.Features, outputs)
	}
	for j, b := range l.Bias {
		if tooLarge(b) {
			return fmt.Errorf("softmax: bias %d is %v, want a number from -1e30 to 1e30", j, b)
		}
	}
	if l.packed != nil {
		if d, k := l.packed.shape(); d != l.Features || k != outputs {
			return fmt.Errorf("softmax: packed weights of %d features and %d outputs, want %d and %d", d, k, l.Features, outputs)
		}
		return nil
	}
	for j, w := range l.Weight {
		if tooLarge(w) {
			return fmt.Errorf("softmax: the weight of feature %d for output %d is %v, want a number from -1e30 to 1e30", j/outputs, j%outputs, w)
		}
	}
	return nil
}

// tooLarge tells whether a weight is no number, or one that no training gives: the sum of
// a few of them would have no probability. It is fast, as to open a model takes one call a
// weight.
func tooLarge(w float32) bool { return math.Float32bits(w)&^(1<<31) > largestWeight }

// largestWeight is math.Float32bits(1e30); numbers above 0 have the order of their bits.
const largestWeight = 0x7149f2ca

// sameTree tells whether two trees have the same nodes and classes.
func sameTree(a, b *labeltree.Tree) bool {
	if a.Len() != b.Len() || a.Classes() != b.Classes() {
		return false
	}
	for v := range a.Len() {
		if a.Parent(v) != b.Parent(v) || a.Class(v) != b.Class(v) {
			return false
		}
	}
	return true
}

// unfold sets v (d x r) and bias to what folds into l: the V of least norm with
// scale A V = W. A nil l leaves them as they are.
func unfold[T matrix.Float](l *Layer, v, bias []T, scale float64, s sharing.Sharing, threads int) error {
	if l == nil {
		return nil
	}
	for j, b := range l.Bias {
		bias[j] = T(b)
	}
	if _, plain := s.(sharing.None); plain || l.Hierarchy != nil {
		for j, w := range l.Dense() {
			v[j] = T(float64(w) / scale)
		}
		return nil
	}
	k, r, weight := l.Outputs(), s.Rows(), l.Dense()
	errs := make([]error, (l.Features+foldGrain-1)/foldGrain)
	kernel.Parallel(threads, l.Features, foldGrain, func(block, lo, hi int) {
		op := sharing.NewOperator[T](s)
		w := make([]T, k)
		for f := lo; f < hi && errs[block] == nil; f++ {
			for c := range k {
				w[c] = T(float64(weight[f*k+c]) / scale)
			}
			errs[block] = op.MinNorm(v[f*r:(f+1)*r], w, 1)
		}
	})
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("softmax: start from a model: %w", err)
		}
	}
	return nil
}

// foldGrain is the number of features for which one operator is made.
const foldGrain = 1 << 13

// fold makes the flat layer of V (d x r) and b: W = scale A V.
func fold[T matrix.Float](v, bias []T, scale float64, d int, s sharing.Sharing, h *loss.HierarchicalSoftmax, threads int) *Layer {
	if _, plain := s.(sharing.None); plain || h != nil {
		l := newLayer(len(bias), d)
		foldPlain(l, nil, v, len(bias), bias, scale, threads)
		l.Classes, l.Hierarchy = s.Classes(), h
		return l
	}
	l := newLayer(len(bias), d)
	setBias(l, bias)
	k, r := s.Classes(), s.Rows()
	kernel.Parallel(threads, d, foldGrain, func(_, lo, hi int) {
		op := sharing.NewOperator[T](s)
		w := make([]T, k)
		for f := lo; f < hi; f++ {
			op.Expand(w, v[f*r:(f+1)*r], 1)
			for c, x := range w {
				l.Weight[f*k+c] = float32(scale * float64(x))
			}
		}
	})
	return l
}

// foldPlain sets l to the flat layer of V (rows of len(bias) numbers, stride apart)
// over merged features, and b, where nothing is shared: W = scale Q V.
func foldPlain[T matrix.Float](l *Layer, m *merged, v []T, stride int, bias []T, scale float64, threads int) {
	setBias(l, bias)
	k := len(bias)
	kernel.Parallel(threads, l.Features, foldGrain, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			w := l.Weight[f*k : (f+1)*k]
			of, factor := m.place(f)
			if of < 0 {
				clear(w)
				continue
			}
			factor *= scale
			for c, x := range v[of*stride : of*stride+k] {
				w[c] = float32(factor * float64(x))
			}
		}
	})
}

// clone returns a copy of a layer of dense weights.
func (l *Layer) clone() *Layer {
	c := *l
	c.Weight, c.Bias = slices.Clone(l.Weight), slices.Clone(l.Bias)
	return &c
}

// newLayer returns a layer of zeros.
func newLayer(outputs, d int) *Layer {
	return &Layer{Classes: outputs, Features: d, Bias: make([]float32, outputs), Weight: make([]float32, d*outputs)}
}

// setBias copies the bias, which no scale of the inputs and no sharing changes.
func setBias[T matrix.Float](l *Layer, bias []T) {
	for j, b := range bias {
		l.Bias[j] = float32(b)
	}
}
