package experiment

import (
	"context"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// solver minimises
//
//	sum_i loss(A V x_i, y_i) + ‖V‖²/(2τ²)
//
// over V by Newton's method, each step by conjugate gradients. It is package
// softmax's Converge without a bias, which the paper's model has not, and for
// dense examples of few features: the tree is applied to weights, not to the
// scores of each example. The inputs count as if of mean squared length 1.
type solver struct {
	model *model
	op    *sharing.Operator[float32] // nil: A = I
	x, xt []float32                  // n x d and d x n, scaled
	y     []int32
	n, d  int
	k, r  int     // outputs; rows of V
	scale float32 // of the inputs

	v                              []float32 // r x d
	w, wt                          []float32 // k x d, d x k
	z, along, p, res               []float32 // n x k: scores, what a step adds, probabilities, gradients in scores
	trial                          []float32 // k
	grad, step, residual, dir, hes []float32 // r x d
	objective, penalty             float64   // penalty is 1/τ²
}

func newSolver(m *model, ex examples) (*solver, error) {
	t := &solver{model: m, y: ex.y, n: ex.x.Rows(), d: ex.x.Cols(), k: m.outputs, r: m.outputs}
	if m.share != nil {
		share, err := sharing.Normalized(m.share)
		if err != nil {
			return nil, err
		}
		t.op, t.r = sharing.NewOperator[float32](share), share.Rows()
	}
	t.scale = float32(1 / math.Sqrt(matrix.MeanSquaredNorm(ex.x)))
	t.x = append([]float32(nil), ex.x.Data...)
	kernel.Scale(t.scale, t.x)
	t.xt = transpose(t.x, t.n, t.d)
	for _, s := range []*[]float32{&t.w, &t.wt} {
		*s = make([]float32, t.k*t.d)
	}
	for _, s := range []*[]float32{&t.z, &t.along, &t.p, &t.res} {
		*s = make([]float32, t.n*t.k)
	}
	t.trial = make([]float32, t.k)
	for _, s := range []*[]float32{&t.v, &t.grad, &t.step, &t.residual, &t.dir, &t.hes} {
		*s = make([]float32, t.r*t.d)
	}
	return t, nil
}

// weights returns W = A V for inputs as they are, k x d, in a new slice.
func (t *solver) weights() []float32 {
	t.expand(t.v)
	w := append([]float32(nil), t.w...)
	kernel.Scale(t.scale, w)
	return w
}

// expand sets w to A v.
func (t *solver) expand(v []float32) {
	if t.op == nil {
		copy(t.w, v)
		return
	}
	t.op.Expand(t.w, v, t.d)
}

// score sets out (n x k) to the scores of V = v.
func (t *solver) score(out, v []float32) {
	t.expand(v)
	transposeTo(t.wt, t.w, t.k, t.d)
	clear(out)
	for i := range t.n {
		kernel.CombineAllRows(t.x[i*t.d:(i+1)*t.d], t.wt, t.k, out[i*t.k:(i+1)*t.k])
	}
}

// pull sets out to Aᵀ Rᵀ X + penalty v, R = res.
func (t *solver) pull(out, v []float32) {
	clear(t.wt)
	for f := range t.d {
		kernel.CombineAllRows(t.xt[f*t.n:(f+1)*t.n], t.res, t.k, t.wt[f*t.k:(f+1)*t.k])
	}
	transposeTo(t.w, t.wt, t.d, t.k)
	if t.op == nil {
		copy(out, t.w)
	} else {
		t.op.Pull(out, t.w, t.d)
	}
	kernel.Axpy(float32(t.penalty), v, out)
}

// differentiate sets the objective, p and the gradient from the scores z.
func (t *solver) differentiate() {
	t.objective = t.penalty / 2 * dot(t.v, t.v)
	for i, y := range t.y {
		lo, hi := i*t.k, (i+1)*t.k
		t.objective += t.model.evaluate(t.p[lo:hi], t.res[lo:hi], t.z[lo:hi], int(y))
	}
	t.pull(t.grad, t.v)
}

// multiply sets out to the second derivative times v.
func (t *solver) multiply(out, v []float32) {
	t.score(t.along, v)
	for i, y := range t.y {
		lo, hi := i*t.k, (i+1)*t.k
		t.model.curvature(t.res[lo:hi], t.p[lo:hi], t.along[lo:hi], int(y))
	}
	t.pull(out, v)
}

const (
	maxSteps    = 60   // Newton steps
	maxProducts = 200  // a Newton step
	tolerance   = 1e-4 // of the objective: what the last step may promise
)

// solve goes on from where it stands to the optimum for the prior τ².
func (t *solver) solve(ctx context.Context, prior float64) error {
	t.penalty = 1 / prior
	t.score(t.z, t.v)
	t.differentiate()
	for range maxSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		predicted := t.newtonStep()
		if !t.search() || predicted <= tolerance*t.objective {
			return nil
		}
	}
	return nil
}

// newtonStep sets step to an approximate minimiser of the quadratic model and
// returns by how much the model says that it lowers the objective.
func (t *solver) newtonStep() (predicted float64) {
	clear(t.step)
	for j, g := range t.grad {
		t.residual[j], t.dir[j] = -g, -g
	}
	rr := dot(t.residual, t.residual)
	for products := 1; products <= maxProducts && rr > 0; products++ {
		t.multiply(t.hes, t.dir)
		curvature := dot(t.dir, t.hes)
		if !(curvature > 0) {
			break
		}
		alpha := rr / curvature
		gain := alpha * rr / 2
		predicted += gain
		kernel.Axpy(float32(alpha), t.dir, t.step)
		kernel.Axpy(float32(-alpha), t.hes, t.residual)
		next := dot(t.residual, t.residual)
		// Rounds that gain little beside the rounds so far are not worth it far
		// from the optimum, and at the optimum not at all (Nash and Sofer 1990).
		if float64(products)*gain <= 0.3*predicted && (predicted > tolerance*t.objective || float64(products)*gain <= 0.05*predicted) {
			break
		}
		beta := float32(next / rr)
		rr = next
		kernel.Scale(beta, t.dir)
		kernel.Add(t.residual, t.dir)
	}
	return predicted
}

// search moves v along the step to a lower objective and tells whether it found
// one.
func (t *solver) search() bool {
	t.score(t.along, t.step)
	vv, vs, ss := dot(t.v, t.v), dot(t.v, t.step), dot(t.step, t.step)
	slope := dot(t.grad, t.step)
	alpha := 1.0
	for range 20 {
		value := t.penalty / 2 * (vv + 2*alpha*vs + alpha*alpha*ss)
		for i, y := range t.y {
			lo, hi := i*t.k, (i+1)*t.k
			copy(t.trial, t.z[lo:hi])
			kernel.Axpy(float32(alpha), t.along[lo:hi], t.trial)
			value += t.model.evaluate(t.p[lo:hi], t.res[lo:hi], t.trial, int(y))
		}
		if value <= t.objective+1e-4*alpha*slope {
			kernel.Axpy(float32(alpha), t.step, t.v)
			kernel.Axpy(float32(alpha), t.along, t.z)
			t.objective = value
			t.pull(t.grad, t.v) // p and res are those of the new scores already
			return true
		}
		alpha /= 2
	}
	return false // p and res are those of a trial: only a new solve may follow
}

// dot is the inner product, summed in float64 from sums of 1024.
func dot(x, y []float32) (sum float64) {
	for lo := 0; lo < len(x); lo += 1024 {
		hi := min(lo+1024, len(x))
		sum += float64(kernel.Dot(x[lo:hi], y[lo:hi]))
	}
	return sum
}
