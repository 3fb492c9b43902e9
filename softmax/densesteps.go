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
	ex     Examples
	x      *matrix.Dense
	mean   float64 // weight of the examples
	team   *kernel.Team
	dense  *kernel.Dense
	tree   *kernel.Tree // of a tree; nil for any other sharing
	rows   [][]float32
	class  []int32
	share  []float32
	target []target
	inside bool // the weights are in dense
}

// newDenseSteps chooses how the loss and the K pass are made inside kernel.Dense: plain
// cross entropy and trees have forms of their own there, all else comes as a function.
func newDenseSteps(src *source, opts Options, u *linearUpdate[float32]) *denseSteps {
	batch, team := u.sgd.Batch, kernel.NewTeam(opts.Threads)
	tree, newOp := timesK[float32](opts.shared())
	var general func(worker int, out, g []float32, cols int)
	if newOp != nil {
		op := make([]*sharing.Operator[float32], team.Threads())
		for w := range op {
			op[w] = newOp()
		}
		general = func(worker int, out, g []float32, cols int) { op[worker].Kernel(out, g, cols) }
	}
	d := &denseSteps{
		linearUpdate: u, mean: src.meanWeight(), team: team, tree: tree,
		dense: kernel.NewDense(team, u.outputs, u.dim, batch, u.sum != nil, tree, general),
		rows:  make([][]float32, batch), class: make([]int32, batch), share: make([]float32, batch), target: make([]target, batch),
	}
	d.take(src.form)
	if src.form.Mix != nil || opts.Hierarchy != nil || !plainCrossEntropy(opts.Loss) {
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

func (u *denseSteps) take(ex Examples) { u.ex, u.x = ex, ex.X.(*matrix.Dense) }

func (u *denseSteps) close() { u.team.Close() }

// beginEpoch sets the step of an epoch's rate. There are no rows left behind here, so no
// powers of the step's map beyond the first are needed.
func (u *denseSteps) beginEpoch(rate float64, steps int) {
	u.linearUpdate.beginEpoch(rate, 1)
	u.dense.SetStep(stepOf(u.powers[1], u.square*u.gradToWeight, u.square), u.biasStep)
	u.turn(true)
}

// endEpoch brings the weights back to the arrays that the other forms use.
func (u *denseSteps) endEpoch() {
	if u.inside {
		u.turn(false)
	}
}

// turn moves all numbers into dense, or out of it.
func (u *denseSteps) turn(in bool) {
	u.inside = in
	s := u.dense
	for _, m := range []struct {
		out []float32
		in  kernel.Rect
	}{{u.weight, s.Weight}, {u.velocity, s.Velocity}, {u.sum, s.Sum}} {
		out := kernel.Rect{X: m.out, Rows: u.dim, Cols: u.outputs, Stride: u.outputs}
		switch {
		case m.out == nil: // no average, or a velocity that nothing reads
		case in:
			kernel.Transpose(m.in, out)
		default:
			kernel.Transpose(out, m.in)
		}
	}
	for _, b := range []struct{ out, in []float32 }{{u.bias, s.Bias}, {u.biasVelocity, s.BiasVelocity}, {u.biasSum, s.BiasSum}} {
		if in {
			b.out, b.in = b.in, b.out
		}
		copy(b.out, b.in)
	}
}

// makeStep is one pass of kernel.Dense over the weights: O(batch x d x k), with a tree
// O(batch x nodes) more.
func (u *denseSteps) makeStep(batch []int32) float64 {
	n := len(batch)
	size := u.mean * float64(n)
	for b, i := range batch {
		u.rows[b], u.class[b], u.target[b] = u.x.Row(int(i)), u.ex.Class[i], u.ex.target(int(i))
		u.share[b] = float32(u.ex.weightOf(int(i)) / size)
	}
	u.averaged++
	return u.dense.Step(u.rows[:n], u.class[:n], u.share[:n]) * size
}
