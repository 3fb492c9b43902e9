package loss

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Mix is a target that is a distribution over classes: Share[n] of the example
// belongs to Class[n]. Shares are at least 0 and sum to 1.
type Mix struct {
	Class []int32
	Share []float32
}

// Truth returns the class with the largest share, the first of equals.
func (m Mix) Truth() int {
	best := 0
	for n, s := range m.Share {
		if s > m.Share[best] {
			best = n
		}
	}
	return int(m.Class[best])
}

// EvaluateMix is Evaluate for a mix: the expected loss Σ_n Share[n] loss(Class[n])
// with its gradient, as if the example were given once for each class with its
// share as weight. For CrossEntropy that is the cross entropy against the mix,
// O(k + classes of the mix); for the other losses it takes an Evaluate for each
// class. Curvature is the same as for one class. spare has the length of grad
// and is overwritten; nothing may overlap.
func EvaluateMix[T matrix.Float](l Loss, p, grad, spare, scores []T, mix Mix) float64 {
	switch l := l.(type) {
	case CrossEntropy:
		return mixedCrossEntropy(l.Smoothing, p, grad, scores, mix)
	case *CrossEntropy:
		return mixedCrossEntropy(l.Smoothing, p, grad, scores, mix)
	}
	clear(grad[:len(scores)])
	var value float64
	for n, y := range mix.Class {
		share := mix.Share[n]
		value += float64(share) * Evaluate(l, p, spare, scores, int(y))
		for c, g := range spare[:len(scores)] {
			grad[c] += T(share) * g
		}
	}
	return value
}

// mixedCrossEntropy is crossEntropy with the target Σ share_n t(y_n). It costs one softmax,
// where the sum of as many losses would take one for each class of the mix. The shares sum
// to 1 but for rounding, for which total stands.
func mixedCrossEntropy[T matrix.Float](smoothing float64, p, grad, scores []T, mix Mix) float64 {
	var total, inner float64 // the sum of the shares, 1 but for rounding; target · scores
	for n, y := range mix.Class {
		total += float64(mix.Share[n])
		inner += (1 - smoothing) * float64(mix.Share[n]) * float64(scores[y])
	}
	if smoothing > 0 {
		var sum float64
		for _, s := range scores {
			sum += float64(s)
		}
		inner += total * smoothing / float64(len(scores)) * sum
	}
	logSum := kernel.Softmax(p, scores)
	each := T(total * smoothing / float64(len(scores)))
	for c, pc := range p[:len(scores)] {
		grad[c] = T(total)*pc - each
	}
	for n, y := range mix.Class {
		grad[y] -= T((1 - smoothing) * float64(mix.Share[n]))
	}
	return total*logSum - inner
}

// EvaluateHierarchicalMix is EvaluateHierarchical for a mix, the expected loss
// as in EvaluateMix. p is not 0 for all nodes whose parent has a part of the mix
// below it. O(nodes + depth x classes of the mix), no allocation.
func EvaluateHierarchicalMix[T matrix.Float](h *HierarchicalSoftmax, p, grad, scores []T, mix Mix) float64 {
	clear(p[:h.Scores()])
	total := spread(h, grad, mix)
	var value float64
	upward(h, grad, total, func(siblings []int, mass T) {
		top, sum := softmaxAmong(p, scores, siblings)
		value += float64(mass) * (top + math.Log(sum))
		for _, s := range siblings {
			value -= float64(grad[s-1]) * float64(scores[s-1])
			grad[s-1] = mass*p[s-1] - grad[s-1]
		}
	})
	return value
}

// CurvatureHierarchicalMix is CurvatureHierarchical for a mix, given the p that
// EvaluateHierarchicalMix found.
func CurvatureHierarchicalMix[T matrix.Float](h *HierarchicalSoftmax, out, p, x []T, mix Mix) {
	total := spread(h, out, mix)
	upward(h, out, total, func(siblings []int, mass T) {
		var mean T
		for _, s := range siblings {
			mean += p[s-1] * x[s-1]
		}
		for _, s := range siblings {
			out[s-1] = mass * p[s-1] * (x[s-1] - mean)
		}
	})
}

// spread sets mass to the part of the mix at or below each node but the root,
// and returns that of the root.
func spread[T matrix.Float](h *HierarchicalSoftmax, mass []T, mix Mix) (total T) {
	clear(mass[:h.Scores()])
	for n, y := range mix.Class {
		for v := h.tree.Node(int(y)); v > 0; v = h.tree.Parent(v) {
			mass[v-1] += T(mix.Share[n])
		}
		total += T(mix.Share[n])
	}
	return total
}

// upward calls visit with the children of each node that has a part of the mix
// and with that part. Lower nodes come first, so visit may overwrite the masses
// of the children.
func upward[T matrix.Float](h *HierarchicalSoftmax, mass []T, total T, visit func(siblings []int, mass T)) {
	for v := h.tree.Len() - 1; v >= 0; v-- {
		m := total
		if v > 0 {
			m = mass[v-1]
		}
		if siblings := h.tree.Children(v); m > 0 && len(siblings) > 0 {
			visit(siblings, m)
		}
	}
}
