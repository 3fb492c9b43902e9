package loss

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// mixed makes an output of a mix of classes: its only class, 0, stands for it.
func mixed(o output, mix Mix, evaluate func(p, grad, scores []float64) float64, curvature func(out, p, x []float64)) output {
	return output{name: o.name, classes: 1, scores: o.scores, bound: o.bound,
		evaluate:  func(p, grad, scores []float64, _ int) float64 { return evaluate(p, grad, scores) },
		curvature: func(out, p, x []float64, _ int) { curvature(out, p, x) },
	}
}

// A mix is the mean of its classes, in value, gradient and second derivative.
func TestMixIsTheMeanOfItsClasses(t *testing.T) {
	rng := newRand(31)
	ct := parseTree(t, "((a,(b,c,d)),e,((f,g),(h,(i,j))));")
	const k = 10
	// Numbers that float32 holds; they need not sum to 1.
	mixes := []Mix{
		{[]int32{3}, []float32{1}},
		{[]int32{1, 4, 9}, []float32{0.5, 0.25, 0.25}},
		{[]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, slices.Repeat([]float32{0.125}, k)},
		{[]int32{2, 3}, []float32{0, 1}},
	}
	var list []output
	for _, m := range mixes {
		for name, l := range map[string]Loss{
			"cross entropy": CrossEntropy{}, "smoothing": CrossEntropy{Smoothing: 0.2}, "pointer": &CrossEntropy{Smoothing: 0.1},
			"SimLoss": simLossOf(t, k, randomSimilarity(rng, k), 0.5), "HXE": hxeOf(t, ct, 0.4),
			"soft labels": softLabelsOf(t, randomSpace(rng, k), 4),
		} {
			one := flat(name, k, l)
			check(t, one, m, mixed(one, m, func(p, grad, scores []float64) float64 {
				return EvaluateMix(l, p, grad, nan(k), scores, m)
			}, nil))
		}
		for name, tree := range map[string]int{"uneven": 0, "chain": 1} {
			h := hierarchy(t, ct)
			if tree == 1 {
				h = hierarchy(t, caterpillar(t, k))
			}
			one := output{name: name, classes: k, scores: h.Scores(),
				evaluate:  func(p, grad, scores []float64, y int) float64 { return EvaluateHierarchical(h, p, grad, scores, y) },
				curvature: func(out, p, x []float64, y int) { CurvatureHierarchical(h, out, p, x, y) }}
			all := mixed(one, m, func(p, grad, scores []float64) float64 {
				return EvaluateHierarchicalMix(h, p, grad, scores, m)
			}, func(out, p, x []float64) { CurvatureHierarchicalMix(h, out, p, x, m) })
			check(t, one, m, all)
			list = append(list, all)
		}
	}
	for _, o := range list { // H against differences of the gradient
		scores, p := randomScores(rng, o.scores, 2), nan(o.scores)
		o.evaluate(p, nan(o.scores), scores, 0)
		got := mat.NewSymDense(o.scores, nil)
		for j := range o.scores {
			x, out := make([]float64, o.scores), nan(o.scores)
			x[j] = 1
			o.curvature(out, p, x, 0)
			for i := j; i < o.scores; i++ {
				got.SetSym(i, j, out[i])
			}
		}
		if want := hessian(o, scores, 0); !mat.EqualApprox(got, want, 1e-8) {
			t.Errorf("%s: H is\n%v\ndifferences give\n%v", o.name, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// check compares a mix with the sum over its classes, and its gradient with
// central differences.
func check(t *testing.T, one output, m Mix, all output) {
	t.Helper()
	rng := newRand(32)
	n := one.scores
	for range 3 {
		scores := randomScores(rng, n, 3)
		var value float64
		sum, grad, p := make([]float64, n), nan(n), nan(n)
		for i, y := range m.Class {
			value += float64(m.Share[i]) * one.evaluate(nan(n), grad, scores, int(y))
			for c, g := range grad {
				sum[c] += float64(m.Share[i]) * g
			}
		}
		if got := all.evaluate(p, grad, scores, 0); math.Abs(got-value) > 1e-12*(1+value) {
			t.Errorf("%s of %v: %v, its classes give %v", one.name, m, got, value)
		}
		near(t, one.name+": gradient", grad, sum)
		at := slices.Clone(scores)
		for c := range scores {
			at[c] = scores[c] + step
			above := all.evaluate(nan(n), nan(n), at, 0)
			at[c] = scores[c] - step
			below := all.evaluate(nan(n), nan(n), at, 0)
			at[c] = scores[c]
			if want := (above - below) / (2 * step); !(math.Abs(grad[c]-want) <= 1e-8) {
				t.Errorf("%s of %v: gradient in score %d is %v, differences give %v", one.name, m, c, grad[c], want)
			}
		}
	}
}
