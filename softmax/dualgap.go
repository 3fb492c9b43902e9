package softmax

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
)

// certify returns the duality gap and the objective at W and b.
func (t *dual[T]) certify(lambda float64) (gap, objective float64) {
	n, k := t.x.Rows(), t.k
	blocks := (n + rowGrain - 1) / rowGrain
	gaps, losses := make([]float64, blocks), make([]float64, blocks)
	kernel.Parallel(t.threads, n, rowGrain, func(block, lo, hi int) {
		s, p, spare := make([]T, k), make([]T, k), make([]T, k)
		for i := lo; i < hi; i++ {
			w := t.ex.weightOf(i)
			clear(s)
			index, value := t.x.Row(i)
			kernel.CombineRows(index, value, t.w, t.stride, s)
			kernel.Scale(t.scale, s)
			logP := t.logP[i*t.stride : i*t.stride+k]
			kernel.Exp(p, logP)
			losses[block] += w * (t.targetScore(i, s, spare) - float64(kernel.Dot(p, s))) / 2
			kernel.Add(t.bias, s)
			losses[block] -= w * t.targetScore(i, s, spare)
			own := float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s))
			logSum := kernel.Softmax(p, s)
			losses[block] += w * logSum
			t.gaps[i] = w * (own + logSum)
			gaps[block] += t.gaps[i]
		}
	})
	for b := range blocks {
		gap += gaps[b]
		objective += losses[b]
	}
	return gap + t.biasGap(lambda), objective
}

// biasGap estimates from the bias's gradient, the residual, how far it keeps the
// objective above its minimum, W following: ½ Σ_c residual_c² (1/h_c + withinClass reach/lambda),
// h the second derivative in the bias alone. Inputs x_i stand in for a bias as far as
// they have a part in common, ‖Σ h_i x_i‖² / (Σ h_i)² for the weights h_i of the
// examples in h_c: withinClass at most, if half of these have one class.
func (t *dual[T]) biasGap(lambda float64) float64 {
	if t.noBias {
		return 0
	}
	var gap float64
	for c, s := range t.residual {
		gap += float64(s) * float64(s) / 2 * (float64(t.inverseCurvature(c)) + t.withinClass*t.reach/lambda)
	}
	return gap
}

// inverseCurvature is 1/h_c.
func (t *dual[T]) inverseCurvature(c int) T { return 1 / max(t.curvature[c], 1e-20) }

// rescale prepares for another lambda. Along a path W grows as lambda falls, and
// t - p shrinks: W ∝ 1/lambda Σ K (t - p) xᵀ. For W ∝ lambda^(rescaled-1) the next
// solution is nearest.
func (t *dual[T]) rescale(from, to float64) {
	ratio := math.Pow(min(1, to/from), rescaled) // of t - p; one above 1 may leave no distribution
	kernel.Parallel(t.threads, len(t.w), part, func(_, lo, hi int) { kernel.Scale(T(from/to*ratio), t.w[lo:hi]) })
	kernel.Scale(T(ratio), t.residual)
	shift := T(math.Log(ratio))
	t.eachTarget(func(_ int, logP, target []T) {
		for c, p := range target {
			if p == 0 {
				logP[c] = max(logP[c]+shift, noMass)
			} else {
				logP[c] = logOf(p + T(ratio)*(T(math.Exp(float64(logP[c])))-p))
			}
		}
	})
}

// rescaled was found on clinc150's texts: a pass less for each prior than with 0.
const rescaled = 0.75
