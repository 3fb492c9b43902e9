package loss

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Evaluate returns the loss of one example of class y, in nats. It sets p to
// the softmax of scores and grad to the gradient of the loss in the scores,
// which sums to 0. All three have length k; p may be scores, grad must not
// overlap them. Scores are finite. O(k), no allocation.
//
// l must have passed its Check(k), and y be one of the k classes: anything else
// is a bug in the caller, and may panic.
func Evaluate[T matrix.Float](l Loss, p, grad, scores []T, y int) float64 {
	switch l := l.(type) {
	case CrossEntropy:
		return crossEntropy(l.Smoothing, p, grad, scores, y)
	case *CrossEntropy: // a pointer has the methods of CrossEntropy, too
		return crossEntropy(l.Smoothing, p, grad, scores, y)
	case *SimLoss:
		return simLoss(l.log[y*l.k:(y+1)*l.k], p, grad, scores)
	case *SoftLabels:
		return softLabels(l.target[y*l.k:(y+1)*l.k], p, grad, scores)
	case *HXE:
		return hxe(l, p, grad, scores, y)
	case *Own:
		return own(l, p, grad, scores, y)
	}
	panic("loss: unknown loss")
}

// crossEntropy has the target t = (1-s) e_y + s/k 1, s the smoothing (Szegedy et al. 2016):
// the loss is log Σ exp(scores) - t·scores, its gradient p - t.
func crossEntropy[T matrix.Float](smoothing float64, p, grad, scores []T, y int) float64 {
	each := smoothing / float64(len(scores))
	inner := (1 - smoothing) * float64(scores[y]) // target · scores
	if each > 0 {
		for _, s := range scores {
			inner += each * float64(s)
		}
	}
	logSum := kernel.Softmax(p, scores)
	for c, pc := range p[:len(scores)] {
		grad[c] = pc - T(each)
	}
	grad[y] -= T(1 - smoothing)
	return logSum - inner
}

// softLabels is log Σ exp(scores) - t·scores with the gradient p - t, for a target t that
// sums to 1.
func softLabels[T matrix.Float](target []float64, p, grad, scores []T) float64 {
	var inner float64
	for c, t := range target {
		inner += t * float64(scores[c])
	}
	logSum := kernel.Softmax(p, scores)
	for c, t := range target {
		grad[c] = p[c] - T(t)
	}
	return logSum - inner
}

// simLoss is the difference of two log-sums: that of the scores, and that of
// the scores plus log S. The gradient is that of their softmaxes, p - q. In
// logs even a class too unlikely for p to show counts.
func simLoss[T matrix.Float](logS []float64, p, grad, scores []T) float64 {
	top := math.Inf(-1)
	for c, l := range logS {
		top = max(top, l+float64(scores[c]))
	}
	var sum float64
	for c, l := range logS {
		e := math.Exp(l + float64(scores[c]) - top)
		grad[c] = T(e)
		sum += e
	}
	logSum := kernel.Softmax(p, scores)
	scale := T(1 / sum)
	for c := range grad[:len(logS)] {
		grad[c] = p[c] - grad[c]*scale
	}
	return logSum - (top + math.Log(sum))
}

// Curvature sets out to H x, H = diag(p) - p pᵀ the second derivative of the
// loss of one example in the scores, given the p that Evaluate found; it is the
// same for every class and target. An Own has a curvature of its own. Of SimLoss and HXE, which are not convex, H is
// that of a convex bound: they are a convex log-sum less another, or a positive
// sum of others, and the bound has a tangent in place of these, so it touches the
// loss at these scores and lies above it elsewhere. out may be x. O(k), no allocation.
func Curvature[T matrix.Float](out, p, x []T) {
	mean := kernel.Dot(p, x)
	for c := range out {
		out[c] = p[c] * (x[c] - mean)
	}
}
