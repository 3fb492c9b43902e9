package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// newton minimises the sum over examples of weight * loss(A V x + b) plus
// lambda/2 ‖V‖², by a truncated Newton method: each direction by conjugate
// gradients with the diagonal of the second derivative as preconditioner, or for dense inputs
// a columnsInverse, then a line search. A product with the second derivative takes two passes over
// the examples and is what the time goes into. Scores are linear in the
// weights, so the line search needs the scores of the direction once and then
// no pass at all.
//
// A sharing is applied to whatever is fewer, the scores of the n examples or the d
// rows of the weights: W = A V once a product, not A z for the z = V x of each
// example, and the gradient in V from that in W.
//
// All vectors are x = (V, b): d x r numbers, feature-major, then the bias.
type newton[T matrix.Float] struct {
	ex      Examples   // their targets and weights; the inputs are those of design
	design  *design[T] // of ex.X, or of what stands for it
	scale   T          // of the inputs, a power of two: nothing is rounded by it
	total   float64    // sum of the weights
	lambda  T
	threads int
	heads   chan *head[T]
	noBias  bool // the bias stays as it is

	r, targets int
	x          []T // the solution so far
	objective  float64

	outputs []T // n x r, or n x targets if lifted: V x or W x of some weights, or gradients in them
	flat    []T // d x targets: W or the gradient in it, if lifted; else nil
	scores  []T // n x targets: at x
	along   []T // n x targets: what one step adds to the scores
	p       []T // n x targets: probabilities at x

	grad, step, residual, direction, product []T
	inverse                                  []T             // 1 / diagonal of the second derivative
	columns                                  *columnsInverse // of dense inputs, in place of the diagonal; else nil
	outputScale                              []T             // of each output in columns

	biasPart []T       // blocks of examples x targets: parts of the bias gradient
	part     []float64 // of sums over examples, two a block
}

// newNewton begins at 0. d is the design of ex.X, or of inputs with the same inner
// products (see span), and newHead makes the head of a goroutine. It holds seven vectors
// of d r + k numbers and four of n k.
func newNewton[T matrix.Float](ex Examples, d *design[T], scale float64, newHead func() *head[T], threads int) *newton[T] {
	t := &newton[T]{ex: ex, design: d, scale: T(scale), total: ex.totalWeight(), threads: threads}
	h := newHead()
	t.r, t.targets = h.outputs, h.targets
	if h.op == nil { // shared parameters couple the outputs
		t.columns = newColumnsInverse(d, scale, threads)
	}
	h.lifted = h.op != nil && d.rows >= d.dim
	if h.lifted {
		t.flat = make([]T, d.dim*t.targets)
	}
	t.heads = make(chan *head[T], max(threads, 1))
	t.heads <- h
	for range cap(t.heads) - 1 {
		other := newHead()
		other.lifted = h.lifted
		t.heads <- other
	}
	t.outputs = make([]T, d.rows*max(t.r, t.targets))
	for _, v := range []*[]T{&t.scores, &t.along, &t.p} {
		*v = make([]T, d.rows*t.targets)
	}
	for _, v := range []*[]T{&t.x, &t.grad, &t.step, &t.residual, &t.direction, &t.product, &t.inverse} {
		*v = make([]T, d.dim*t.r+t.targets)
	}
	blocks := (d.rows + rowGrain - 1) / rowGrain
	t.biasPart = make([]T, blocks*t.targets)
	t.part = make([]float64, 2*blocks)
	return t
}

// split returns the V and the b of a vector.
func (t *newton[T]) split(x []T) (v, bias []T) {
	n := t.design.dim * t.r
	return x[:n], x[n:]
}

// example is one example in a pass over all of them.
type example[T matrix.Float] struct {
	i         int
	class     target
	weight    T
	outputs   []T
	scores, p []T
	along     []T
	biasPart  []T
}

// width is the number of outputs of an example.
func (t *newton[T]) width() int {
	if t.flat != nil {
		return t.targets
	}
	return t.r
}

// outputWeights returns the weights that the outputs are of: V, or W = A V.
func (t *newton[T]) outputWeights(v []T) []T {
	if t.flat == nil {
		return v
	}
	t.eachFeature(func(op *sharing.Operator[T], f int) {
		op.Expand(t.flat[f*t.targets:(f+1)*t.targets], v[f*t.r:(f+1)*t.r], 1)
	})
	return t.flat
}

// eachFeature calls visit for each feature, in parallel, with the operator of A.
func (t *newton[T]) eachFeature(visit func(op *sharing.Operator[T], f int)) {
	kernel.Parallel(t.threads, t.design.dim, 16, func(_, lo, hi int) {
		h := <-t.heads
		for f := lo; f < hi; f++ {
			visit(h.op, f)
		}
		t.heads <- h
	})
}

// pass calls visit for each example, in parallel. It returns the sums of the
// two numbers that visit returns, added in an order that does not depend on
// the threads. The outputs of an example are width numbers.
func (t *newton[T]) pass(width int, visit func(h *head[T], e example[T]) (a, b float64)) (sumA, sumB float64) {
	k := t.targets
	kernel.Parallel(t.threads, t.design.rows, rowGrain, func(block, lo, hi int) {
		h := <-t.heads
		e := example[T]{biasPart: t.biasPart[block*k : (block+1)*k]}
		clear(e.biasPart)
		var partA, partB float64
		for i := lo; i < hi; i++ {
			e.i, e.class, e.weight = i, t.ex.target(i), T(t.ex.weightOf(i))
			e.outputs = t.outputs[i*width : (i+1)*width]
			e.scores, e.along, e.p = t.scores[i*k:(i+1)*k], t.along[i*k:(i+1)*k], t.p[i*k:(i+1)*k]
			a, b := visit(h, e)
			partA += a
			partB += b
		}
		t.part[2*block], t.part[2*block+1] = partA, partB
		t.heads <- h
	})
	for n := 0; n < len(t.part); n += 2 {
		sumA += t.part[n]
		sumB += t.part[n+1]
	}
	return sumA, sumB
}

// collect sets out to lambda*x + the gradient that a pass left in outputs and
// biasPart; the bias has no penalty.
func (t *newton[T]) collect(out, x []T) {
	v, _ := t.split(x)
	outV, outBias := t.split(out)
	if t.flat == nil {
		t.design.gradient(t.threads, outV, v, t.outputs, t.r, t.lambda)
	} else {
		t.design.gradient(t.threads, t.flat, t.flat, t.outputs, t.targets, 0)
		t.eachFeature(func(op *sharing.Operator[T], f int) {
			row := outV[f*t.r : (f+1)*t.r]
			op.Pull(row, t.flat[f*t.targets:(f+1)*t.targets], 1)
			kernel.Axpy(t.lambda, v[f*t.r:(f+1)*t.r], row)
		})
	}
	t.collectBias(outBias)
}

// collectBias sets out (targets) to the sum over examples of what a pass left for the
// bias, by block number.
func (t *newton[T]) collectBias(out []T) {
	clear(out)
	if t.noBias { // a slope of 0 moves nothing
		return
	}
	for b := 0; b < len(t.biasPart); b += t.targets {
		kernel.Add(t.biasPart[b:], out)
	}
}

// score sets the scores of each example for the weights x; to picks where.
func (t *newton[T]) score(x []T, to func(e example[T]) []T) {
	v, bias := t.split(x)
	w := t.outputWeights(v)
	t.pass(t.width(), func(h *head[T], e example[T]) (_, _ float64) {
		t.design.scores(e.outputs, w, e.i)
		kernel.Scale(t.scale, e.outputs)
		h.place(to(e), e.outputs, bias)
		return
	})
}

// differentiate sets objective, probabilities, gradient and preconditioner
// from the scores.
func (t *newton[T]) differentiate() {
	v, _ := t.split(t.x)
	sum, _ := t.pass(t.width(), func(h *head[T], e example[T]) (value, _ float64) {
		value = h.gradient(e.outputs, e.scores, e.p, e.biasPart, e.class, e.weight)
		kernel.Scale(t.scale, e.outputs)
		return value, 0
	})
	t.objective = sum + float64(t.lambda)/2*t.dot(v, v)
	t.collect(t.grad, t.x)

	t.pass(t.r, func(h *head[T], e example[T]) (_, _ float64) {
		h.diagonal(e.outputs, e.p, e.biasPart, e.weight)
		kernel.Scale(t.scale*t.scale, e.outputs)
		return
	})
	diagonal, bias := t.split(t.inverse)
	t.design.squares(t.threads, diagonal, t.outputs, t.r)
	t.collectBias(bias)
	if t.columns != nil {
		t.curveColumns(diagonal)
	}
	kernel.Parallel(t.threads, len(diagonal), part, func(_, lo, hi int) {
		for j, h := range diagonal[lo:hi] {
			diagonal[lo+j] = 1 / (t.lambda + h)
		}
	})
	for j, h := range bias {
		bias[j] = 1 / (t.lambda + h) // has no penalty, but may have no curvature either
	}
}

// multiply sets out to the second derivative at x times direction.
func (t *newton[T]) multiply(out, direction []T) {
	v, bias := t.split(direction)
	w := t.outputWeights(v)
	t.pass(t.width(), func(h *head[T], e example[T]) (_, _ float64) {
		t.design.scores(e.outputs, w, e.i)
		kernel.Scale(t.scale, e.outputs)
		h.curvature(e.outputs, e.p, bias, e.biasPart, e.class, e.weight)
		kernel.Scale(t.scale, e.outputs)
		return
	})
	t.collect(out, direction)
}

// dot returns <x, y>, whose millions of terms a single float32 sum would lose digits of.
func (t *newton[T]) dot(x, y []T) float64 {
	return kernel.ParallelSum(t.threads, len(x), func(lo, hi int) float64 {
		var sum float64
		for ; lo < hi; lo += 1024 { // float32 sums of 1024, added in float64
			end := min(lo+1024, hi)
			sum += float64(kernel.Dot(x[lo:end], y[lo:end]))
		}
		return sum
	})
}
