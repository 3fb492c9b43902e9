package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// denseSteps makes the steps of SGD on dense rows with kernel.Dense, which has
// the scores, the softmax, the K pass, the gradient and the update in one.
//
// It keeps weights class-major, k rows padded to whole cache lines, because
// then W can be read where it lies both for the scores and for the update; all
// else in this package is feature-major, where one nonzero of a sparse example
// is one contiguous row. So the weights are turned around when an epoch begins
// and when it ends, at the cost of a fraction of a step.
type denseSteps struct {
	*linearUpdate[float32]
	x      *matrix.Dense
	team   *kernel.Team
	dense  *kernel.Dense
	family *kernel.Family // of a tree; nil for any other sharing
	rows   [][]float32
	class  []int32
	share  []float32
	target []target
	inside bool // the weights are in dense
}

// newDenseSteps returns nil for sparse rows, of which kernel.Dense knows nothing.
func newDenseSteps(ex Examples, opts Options, u *linearUpdate[float32], batch int) *denseSteps {
	x, dense := ex.X.(*matrix.Dense)
	if !dense {
		return nil
	}
	batch = min(batch, x.Rows())
	team := kernel.NewTeam(opts.Threads)
	var family *kernel.Family
	var general func(worker int, out, g []float32, cols int)
	switch s := opts.shared().(type) {
	case sharing.None:
	case *sharing.Tree:
		family = familyOf(s)
	default:
		op := make([]*sharing.Operator[float32], team.Threads())
		for w := range op {
			op[w] = sharing.NewOperator[float32](s)
		}
		general = func(worker int, out, g []float32, cols int) { op[worker].Kernel(out, g, cols) }
	}
	d := &denseSteps{
		linearUpdate: u, x: x, team: team, family: family,
		dense: kernel.NewDense(team, u.outputs, u.dim, batch, u.sum != nil, family, general),
		rows:  make([][]float32, batch), class: make([]int32, batch), share: make([]float32, batch), target: make([]target, batch),
	}
	if ex.Mix != nil || opts.Hierarchy != nil || !plainCrossEntropy(opts.Loss) {
		heads := make([]*head[float32], team.Threads())
		for w := range heads {
			heads[w] = newHead[float32](sharing.None{K: opts.Sharing.Classes()}, opts.Loss, opts.Hierarchy)
		}
		d.dense.SetLoss(func(worker int, grad, scores []float32, row int) float64 {
			h := heads[worker]
			value := h.value(h.spare, scores, d.target[row])
			copy(grad, h.grad)
			return value
		})
	}
	return d
}

// plainCrossEntropy tells whether l is -log p of the class.
func plainCrossEntropy(l loss.Loss) bool {
	switch l := l.(type) {
	case loss.CrossEntropy:
		return l.Smoothing == 0
	case *loss.CrossEntropy:
		return l.Smoothing == 0
	}
	return false
}

// familyOf lays out the tree of a sharing for K passes.
func familyOf(s *sharing.Tree) *kernel.Family {
	t := s.LabelTree()
	parent, length, class := make([]int32, t.Len()), make([]float64, t.Len()), make([]int32, t.Classes())
	for v := range parent {
		parent[v], length[v] = int32(t.Parent(v)), t.Length(v)
	}
	for c := range class {
		class[c] = int32(t.Node(c))
	}
	f, err := kernel.NewFamily(parent, length, class)
	if err != nil {
		panic(err) // a labeltree.Tree is a tree
	}
	return f
}

func (u *denseSteps) close() { u.team.Close() }

func (u *denseSteps) beginEpoch(rate float64, steps int) {
	u.linearUpdate.beginEpoch(rate, 1)
	u.dense.SetStep(stepOf(u.powers[1], u.square*u.gradToWeight, u.square), u.biasStep)
	s := u.dense
	turnIn := func(to kernel.Rect, from []float32) {
		kernel.Transpose(to, kernel.Rect{X: from, Rows: u.dim, Cols: u.outputs, Stride: u.outputs})
	}
	turnIn(s.Weight, u.weight)
	turnIn(s.Velocity, u.velocity)
	copy(s.Bias, u.bias)
	copy(s.BiasVelocity, u.biasVelocity)
	if u.sum != nil {
		turnIn(s.Sum, u.sum)
		copy(s.BiasSum, u.biasSum)
	}
	u.inside = true
}

func (u *denseSteps) endEpoch() {
	if !u.inside {
		return
	}
	u.inside = false
	s := u.dense
	turnOut := func(to []float32, from kernel.Rect) {
		kernel.Transpose(kernel.Rect{X: to, Rows: u.dim, Cols: u.outputs, Stride: u.outputs}, from)
	}
	turnOut(u.weight, s.Weight)
	turnOut(u.velocity, s.Velocity)
	copy(u.bias, s.Bias)
	copy(u.biasVelocity, s.BiasVelocity)
	if u.sum != nil {
		turnOut(u.sum, s.Sum)
		copy(u.biasSum, s.BiasSum)
	}
}

// step makes a step on a batch and returns the sum of its losses.
func (u *denseSteps) step(ex Examples, mean float64, batch []int32) (lossSum float64) {
	n := len(batch)
	size := mean * float64(n)
	for b, i := range batch {
		u.rows[b], u.class[b], u.target[b] = u.x.Row(int(i)), ex.Class[i], ex.target(int(i))
		u.share[b] = float32(ex.weightOf(int(i)) / size)
	}
	u.averaged++
	return u.dense.Step(u.rows[:n], u.class[:n], u.share[:n]) * size
}
