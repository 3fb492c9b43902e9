package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// head turns the r trained outputs z = V x of one example into a loss. With a
// sharing A the class scores are A z + b; the hierarchical softmax takes z + b
// as node scores. A head has scratch memory: one a goroutine.
type head[T matrix.Float] struct {
	loss      loss.Loss
	hierarchy *loss.HierarchicalSoftmax
	op        *sharing.Operator[T] // nil if A = I
	lifted    bool                 // A is in the weights already: the outputs are scores
	outputs   int                  // r, rows of V
	targets   int                  // k, or the node scores: length of the bias
	squared   *sharing.Operator[T] // of the squares of A, for diagonal; nil until used
	sharing   sharing.Sharing
	scores    []T
	grad      []T
	spare     []T
	mean      []T // outputs, for diagonal
	part      []T // of the gradient, for mixes
}

// newHead returns the head of a goroutine. With a hierarchical softmax s and l are not
// looked at.
func newHead[T matrix.Float](s sharing.Sharing, l loss.Loss, h *loss.HierarchicalSoftmax) *head[T] {
	t := &head[T]{loss: l, hierarchy: h}
	if h != nil {
		t.outputs, t.targets = h.Scores(), h.Scores()
	} else {
		t.outputs, t.targets = s.Rows(), s.Classes()
		if _, plain := s.(sharing.None); !plain {
			t.op, t.sharing = sharing.NewOperator[T](s), s
		}
	}
	t.scores = make([]T, t.targets)
	t.grad = make([]T, t.targets)
	t.spare = make([]T, t.targets)
	t.part = make([]T, t.targets)
	return t
}

// evaluate returns the loss of an example of target y with outputs z, times
// weight. It sets p (targets) to the probabilities that curvature needs, z to
// the gradient in the outputs, and adds the gradient in the bias to gradBias.
func (t *head[T]) evaluate(z, p, bias, gradBias []T, y target, weight T) float64 {
	t.place(t.scores, z, bias)
	return t.gradient(z, t.scores, p, gradBias, y, weight)
}

// place sets scores (targets) to those of the outputs z.
func (t *head[T]) place(scores, z, bias []T) {
	if t.op == nil || t.lifted {
		copy(scores, z)
	} else {
		t.op.Expand(scores, z, 1)
	}
	kernel.Add(bias, scores)
}

// gradient is evaluate behind place.
func (t *head[T]) gradient(z, scores, p, gradBias []T, y target, weight T) float64 {
	value := t.value(p, scores, y)
	kernel.Scale(weight, t.grad)
	kernel.Add(t.grad, gradBias)
	t.pull(z, t.grad)
	return float64(weight) * value
}

// value returns the loss at scores and sets p and t.grad.
func (t *head[T]) value(p, scores []T, y target) float64 {
	mixed := len(y.mix.Class) > 0
	switch {
	case t.hierarchy != nil && mixed:
		return loss.EvaluateHierarchicalMix(t.hierarchy, p, t.grad, scores, y.mix)
	case t.hierarchy != nil:
		return loss.EvaluateHierarchical(t.hierarchy, p, t.grad, scores, y.class)
	case mixed:
		return loss.EvaluateMix(t.loss, p, t.grad, t.part, scores, y.mix)
	}
	return loss.Evaluate(t.loss, p, t.grad, scores, y.class)
}

// along returns the loss at scores + alpha*step and its derivative in alpha.
func (t *head[T]) along(scores, step []T, alpha T, y target) (value, slope float64) {
	copy(t.scores, scores)
	kernel.Axpy(alpha, step, t.scores)
	value = t.value(t.spare, t.scores, y)
	return value, float64(kernel.Dot(t.grad, step))
}

// curvature replaces the outputs z of a direction by the second derivative of
// weight times the loss along it, and adds the bias's part to outBias.
func (t *head[T]) curvature(z, p, bias, outBias []T, y target, weight T) {
	t.place(t.scores, z, bias)
	own, _ := t.loss.(*loss.Own)
	switch {
	case t.hierarchy == nil && own != nil:
		clear(t.grad)
		for n, class := range y.mix.Class {
			loss.CurvatureOwn(own, t.grad, p, t.scores, int(class), T(y.mix.Share[n]))
		}
		if len(y.mix.Class) == 0 {
			loss.CurvatureOwn(own, t.grad, p, t.scores, y.class, 1)
		}
	case t.hierarchy == nil:
		loss.Curvature(t.grad, p, t.scores)
	case len(y.mix.Class) > 0:
		loss.CurvatureHierarchicalMix(t.hierarchy, t.grad, p, t.scores, y.mix)
	default:
		loss.CurvatureHierarchical(t.hierarchy, t.grad, p, t.scores, y.class)
	}
	kernel.Scale(weight, t.grad)
	kernel.Add(t.grad, outBias)
	t.pull(z, t.grad)
}

// pull sets z, in the outputs, to Aᵀ of grad, in the scores.
func (t *head[T]) pull(z, grad []T) {
	if t.op == nil || t.lifted {
		copy(z, grad)
		return
	}
	t.op.Pull(z, grad, 1)
}

// diagonal sets z to the diagonal of the second derivative in the outputs of
// weight times the loss, and adds that in the bias to outBias: p - p² in the
// scores, Σ_c A[c,r]² p_c - (Σ_c A[c,r] p_c)² behind a sharing. Of a mix behind a
// hierarchical softmax it is an upper bound, as if each node had the whole of it.
func (t *head[T]) diagonal(z, p, outBias []T, weight T) {
	for c, pc := range p {
		t.grad[c] = weight * pc * (1 - pc)
	}
	kernel.Add(t.grad, outBias)
	if t.op == nil {
		copy(z, t.grad)
		return
	}
	if t.squared == nil {
		t.squared = sharing.NewOperator[T](squares(t.sharing))
		t.mean = make([]T, t.outputs)
	}
	t.squared.Pull(z, p, 1)
	t.op.Pull(t.mean, p, 1)
	for r, m := range t.mean {
		z[r] = weight * max(0, z[r]-m*m)
	}
}

// squares returns the sharing whose A is that of s with each number squared.
func squares(s sharing.Sharing) sharing.Sharing {
	switch s := s.(type) {
	case *sharing.Tree:
		t := s.LabelTree()
		length := make([]float64, t.Len())
		for v := range length {
			length[v] = t.Length(v) * t.Length(v)
		}
		if t, err := t.WithLengths(length); err == nil {
			return sharing.NewTree(t)
		}
	case *sharing.Features:
		e := *s.E
		e.Value = make([]float32, len(s.E.Value))
		for i, x := range s.E.Value {
			e.Value[i] = x * x
		}
		return &sharing.Features{E: &e}
	case *sharing.Dense:
		a := make([]float64, len(s.A))
		for i, x := range s.A {
			a[i] = x * x
		}
		return &sharing.Dense{K: s.K, M: s.M, A: a}
	case *sharing.Sum:
		var parts []sharing.Part
		for _, p := range s.Parts() {
			parts = append(parts, sharing.Part{Factor: p.Factor * p.Factor, Sharing: squares(p.Sharing)})
		}
		if sum, err := sharing.NewSum(parts...); err == nil {
			return sum
		}
	}
	return s
}
