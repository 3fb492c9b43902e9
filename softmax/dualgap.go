package softmax

import "github.com/treeloss/treeloss/internal/kernel"

// certify returns the duality gap and the objective at V and b.
func (t *dual[T]) certify(lambda float64) (gap, objective float64) {
	n, k := t.x.Rows(), t.k
	blocks := (n + rowGrain - 1) / rowGrain
	gaps, losses := make([]float64, blocks), make([]float64, blocks)
	kernel.Parallel(t.threads, n, rowGrain, func(block, lo, hi int) {
		s, p, spare := make([]T, k), make([]T, k), make([]T, k)
		for i := lo; i < hi; i++ {
			w := t.weightOf(i)
			clear(s)
			index, value := t.x.Row(i)
			kernel.CombineRows(index, value, t.v, t.stride, s)
			kernel.Scale(t.scale, s)
			kernel.Add(t.bias, s)
			losses[block] -= w * t.targetScore(i, s, spare)
			logP := t.logP[i*t.stride : i*t.stride+k]
			kernel.Exp(p, logP)
			gaps[block] += w * (float64(kernel.Dot(p, logP)) - float64(kernel.Dot(p, s)))
			logSum := kernel.Softmax(p, s)
			losses[block] += w * logSum
			gaps[block] += w * logSum
		}
	})
	for b := range blocks {
		gap += gaps[b]
		objective += losses[b]
	}
	return gap + t.biasGap(lambda), objective + t.penalty(lambda)
}

// biasGap estimates from the bias's gradient, the surplus, how far it keeps the
// objective above its minimum, V following: ½ Σ_c surplus_c² (1/h_c + length/lambda),
// h the second derivative in the bias alone, and length the most by which
// inputs can stand in for a bias.
func (t *dual[T]) biasGap(lambda float64) float64 {
	var gap float64
	for c, s := range t.surplus {
		gap += float64(s) * float64(s) / 2 * (float64(t.freedom(c)) + t.length/lambda)
	}
	return gap
}

// freedom is 1/h_c.
func (t *dual[T]) freedom(c int) T { return 1 / max(t.curvature[c], 1e-20) }

// penalty is lambda/2 ‖V‖².
func (t *dual[T]) penalty(lambda float64) float64 {
	return lambda / 2 * kernel.ParallelSum(t.threads, len(t.v), func(lo, hi int) float64 {
		var sum float64
		for ; lo < hi; lo += 1024 { // float32 sums of 1024, added in float64
			block := t.v[lo:min(lo+1024, hi)]
			sum += float64(kernel.Dot(block, block))
		}
		return sum
	})
}

// rescale changes V for another lambda: the distributions stay.
func (t *dual[T]) rescale(from, to float64) {
	kernel.Parallel(t.threads, len(t.v), part, func(_, lo, hi int) { kernel.Scale(T(from/to), t.v[lo:hi]) })
}

// copyWeights sets v (d x k) to V.
func (t *dual[T]) copyWeights(v []T) {
	for f := range t.x.Columns {
		copy(v[f*t.k:(f+1)*t.k], t.v[f*t.stride:])
	}
}
