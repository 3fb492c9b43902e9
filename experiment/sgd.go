package experiment

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/sharing"
)

// Constants of the authors' training scripts.
const (
	momentum    = 0.9
	weightDecay = 3e-4
)

// onePass trains on one example after the other, each once, by SGD with
// momentum and weight decay as PyTorch writes them:
//
//	velocity = momentum velocity + gradient + decay W,  W = W - rate velocity
//
// All of it is linear in V, so training V is training W with K g in place of g,
// g = the gradient in the scores and K = A Aᵀ: V itself is never needed. It
// returns the last W and the mean of W over the steps, outputs x d, both in new
// slices. One step takes O(k (d + k)).
func (m *model) onePass(start []float32, ex examples, rate float64) (last, mean []float32) {
	n, d, k := ex.x.Rows(), ex.x.Cols(), m.outputs
	kern := m.kernel()
	p, grad, shared, scores := make([]float32, k), make([]float32, k), make([]float32, k), make([]float32, k)
	// The longer of the two dimensions runs along a row, for long vectors.
	byFeature := k > d
	weight := append([]float32(nil), start...)
	if byFeature {
		weight = transpose(start, k, d)
	}
	velocity, sum := make([]float32, k*d), make([]float32, k*d)
	eta := float32(-rate * m.rate)
	for i := range n {
		x, y := ex.x.Row(i), int(ex.y[i])
		if byFeature {
			clear(scores)
			kernel.CombineAllRows(x, weight, k, scores)
		} else {
			for c := range scores {
				scores[c] = kernel.Dot(x, weight[c*d:(c+1)*d])
			}
		}
		m.evaluate(p, grad, scores, y)
		g := grad
		if kern != nil {
			clear(shared)
			kernel.CombineAllRows(grad, kern, k, shared)
			g = shared
		}
		kernel.Scale(momentum, velocity)
		kernel.Axpy(weightDecay, weight, velocity)
		if byFeature {
			for f, xf := range x {
				kernel.Axpy(xf, g, velocity[f*k:(f+1)*k])
			}
		} else {
			for c, gc := range g {
				if gc != 0 {
					kernel.Axpy(gc, x, velocity[c*d:(c+1)*d])
				}
			}
		}
		kernel.Axpy(eta, velocity, weight)
		kernel.Add(weight, sum)
	}
	if n > 0 {
		kernel.Scale(1/float32(n), sum)
	}
	if byFeature {
		return transpose(weight, d, k), transpose(sum, d, k)
	}
	return weight, sum
}

// kernel returns K, k x k, nil for the identity.
func (m *model) kernel() []float32 {
	if m.share == nil {
		return nil
	}
	k := m.outputs
	unit, kern := make([]float32, k*k), make([]float32, k*k)
	for i := range k {
		unit[i*k+i] = 1
	}
	sharing.NewOperator[float32](m.share).Kernel(kern, unit, k)
	return kern
}

// transpose returns the cols x rows transpose of a, rows x cols.
func transpose(a []float32, rows, cols int) []float32 {
	t := make([]float32, len(a))
	transposeTo(t, a, rows, cols)
	return t
}

// transposeTo sets t to the cols x rows transpose of a, rows x cols.
func transposeTo(t, a []float32, rows, cols int) {
	for i := range rows {
		for j, x := range a[i*cols : (i+1)*cols] {
			t[j*rows+i] = x
		}
	}
}
