package kernel

import (
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// Softmax writes the softmax of scores to p and returns the log of the sum of
// exp(scores), in nats. It subtracts the largest score first and adds up in
// float64, so that p sums to 1 within 1e-6 for scores of any finite size. A
// score of -Inf has probability 0. If a score is NaN or +Inf, or all are -Inf,
// p and the result are NaN. No scores give -Inf. p may be scores, but must not
// overlap it otherwise.
//
// With vector instructions score minus largest is a float32, so that a
// probability of e^-m has a relative error of up to m*2^-24 beside a few
// roundings; one that is not a normal float32 has fewer digits still.
func Softmax[T matrix.Float](p, scores []T) (logSumExp float64) {
	if fast && isFloat32[T]() {
		return softmax32(best, float32s(p), float32s(scores))
	}
	return softmaxGo(p, scores)
}

// softmaxGo is Softmax as documented, to about the last digit of float64.
func softmaxGo[T matrix.Float](p, scores []T) (logSumExp float64) {
	p = p[:len(scores)]
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, float64(s))
	}
	var sum float64
	for j, s := range scores {
		e := math.Exp(float64(s) - top)
		p[j] = T(e)
		sum += e
	}
	scale := T(1 / sum)
	for j := range p {
		p[j] *= scale
	}
	return top + math.Log(sum)
}

// Exp sets dst to e^x, within 2 units in the last place for float32, results
// that are not normal numbers included. dst may be x, but must not overlap it
// otherwise; it must be at least as long.
func Exp[T matrix.Float](dst, x []T) {
	if fast && isFloat32[T]() {
		exp32(best, float32s(dst), float32s(x))
		return
	}
	expGo(dst, x)
}

// expGo is Exp by the standard library.
func expGo[T matrix.Float](dst, x []T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] = T(math.Exp(float64(v)))
	}
}
