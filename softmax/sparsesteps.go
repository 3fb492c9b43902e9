package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// sparseSteps makes the steps of SGD on sparse rows where there is neither
// momentum nor averaging. All that a step does to a row of weights without a
// gradient is then to multiply it by the same number, so the product of these
// numbers is kept beside the weights, W = scale * weight, and rows that a batch
// does not hold need no thought at all (Bottou 2012, Stochastic Gradient Descent
// Tricks, section 5.1). The gradient of an example goes straight into its rows,
// in the order of the batch.
type sparseSteps[T matrix.Float] struct {
	rowSteps[T]
	scale float64
}

// smallestScale is when the weights take the scale over.
const smallestScale = 0x1p-30

// makeStep subtracts rate * gradient / scale from the kept weights, so that scale times
// these is what rowSteps would have: O(nonzeros x k), without a look at the other rows.
func (u *sparseSteps[T]) makeStep(batch []int32) float64 {
	if u.powers[1].ww <= 0.5 { // the rate of this epoch leaves nothing to scale
		return u.rowSteps.makeStep(batch)
	}
	g, r := u.gradients, u.outputs
	threads := g.threadsFor(batch, sharedWork)
	loss, gradBias := g.of(threads, batch, u.weight, T(u.scale), u.bias)
	u.scale *= float64(u.powers[1].ww)
	factor := T(float64(u.square*u.gradToWeight) / u.scale)
	kernel.Scale(factor, g.scores[:len(batch)*r])
	// Each goroutine has some of the classes, and goes through the batch.
	grain := r
	if threads > 1 {
		grain = max(64, (r/threads+63)/64*64)
	}
	kernel.Parallel(threads, r, grain, func(_, lo, hi int) {
		for m, i := range batch {
			index, value := g.design.sparse.Row(int(i))
			kernel.AddToRows(index, value, u.weight[lo:], r, g.scores[m*r+lo:m*r+hi])
		}
	})
	u.stepBias(gradBias)
	if u.scale < smallestScale {
		u.takeScale()
	}
	return loss
}

// takeScale multiplies the weights by the scale.
func (u *sparseSteps[T]) takeScale() {
	if u.scale == 1 {
		return
	}
	r, by := u.outputs, T(u.scale)
	kernel.Parallel(u.threads, u.dim, 256, func(_, lo, hi int) { kernel.Scale(by, u.weight[lo*r:hi*r]) })
	u.scale = 1
}

// endEpoch makes the kept weights the weights.
func (u *sparseSteps[T]) endEpoch() {
	u.takeScale()
	u.linearUpdate.endEpoch()
}
