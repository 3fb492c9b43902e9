package loss

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// step of the central differences, whose error is about step² and 1e-16/step.
const step = 1e-5

func TestGradientAgainstDifferences(t *testing.T) {
	for _, o := range outputs(t) {
		t.Run(o.name, func(t *testing.T) {
			rng := newRand(3)
			for _, size := range []float64{0, 1, 5} {
				for y := range o.classes {
					scores := randomScores(rng, o.scores, size)
					p, grad := nan(o.scores), nan(o.scores)
					value := o.evaluate(p, grad, scores, y)
					if value < -1e-12 || math.IsNaN(value) {
						t.Fatalf("class %d: loss %v", y, value)
					}
					other := nan(o.scores)
					at := slices.Clone(scores)
					var sum float64
					for c := range scores {
						at[c] = scores[c] + step
						above := o.evaluate(other, nan(o.scores), at, y)
						at[c] = scores[c] - step
						below := o.evaluate(other, nan(o.scores), at, y)
						at[c] = scores[c]
						if want := (above - below) / (2 * step); !(math.Abs(grad[c]-want) <= 1e-8) {
							t.Errorf("class %d, score %d: gradient %v, differences give %v", y, c, grad[c], want)
						}
						sum += grad[c]
					}
					if math.Abs(sum) > 1e-12 {
						t.Errorf("class %d: the gradient sums to %v, want 0", y, sum)
					}
				}
			}
		})
	}
}

// hessian returns the second derivative of the loss by differences of its
// gradient.
func hessian(o output, scores []float64, y int) *mat.SymDense {
	n := o.scores
	at := slices.Clone(scores)
	above, below := nan(n), nan(n)
	full := mat.NewDense(n, n, nil)
	for c := range n {
		at[c] = scores[c] + step
		o.evaluate(nan(n), above, at, y)
		at[c] = scores[c] - step
		o.evaluate(nan(n), below, at, y)
		at[c] = scores[c]
		for j := range n {
			full.Set(c, j, (above[j]-below[j])/(2*step))
		}
	}
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return h
}

func TestCurvatureAgainstDifferences(t *testing.T) {
	for _, o := range outputs(t) {
		t.Run(o.name, func(t *testing.T) {
			rng := newRand(4)
			loose := false
			for y := range o.classes {
				scores, p := randomScores(rng, o.scores, 2), nan(o.scores)
				o.evaluate(p, nan(o.scores), scores, y)
				if o.scores == 0 {
					o.curvature(nil, p, nil, y)
					continue
				}
				want := hessian(o, scores, y)
				got := mat.NewSymDense(o.scores, nil)
				for j := range o.scores { // H times each unit vector
					x, out := make([]float64, o.scores), nan(o.scores)
					x[j] = 1
					o.curvature(out, p, x, y)
					for i := j; i < o.scores; i++ {
						got.SetSym(i, j, out[i])
					}
				}
				if !o.bound {
					if !mat.EqualApprox(got, want, 1e-8) {
						t.Errorf("class %d: H is\n%v\ndifferences give\n%v", y, mat.Formatted(got), mat.Formatted(want))
					}
					continue
				}
				loose = loose || !mat.EqualApprox(got, want, 1e-3)
				got.AddSym(got, scaled(-1, want)) // the bound curves more in every direction
				var eigen mat.EigenSym
				if !eigen.Factorize(got, false) {
					t.Fatal("no eigenvalues")
				}
				if least := slices.Min(eigen.Values(nil)); least < -1e-8 {
					t.Errorf("class %d: the bound curves less than the loss, eigenvalue %v", y, least)
				}
			}
			if o.bound && !loose {
				t.Error("the bound's H is the loss's own; the test shows nothing")
			}
		})
	}
}

func scaled(f float64, a *mat.SymDense) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(f, a)
	return &out
}

// The bound of a loss that is not convex lies above it at any distance:
// L(s+x) <= L(s) + grad·x + [lse(s+x) - lse(s) - p·x].
func TestLossBelowItsBound(t *testing.T) {
	rng := newRand(8)
	const k = 7
	tree := parseTree(t, "((a,(b,(c,d))),e,(f,g));")
	lse := func(s []float64) float64 { // cross entropy of class 0, less its score
		return Evaluate(CrossEntropy{}, nan(k), nan(k), s, 0) + s[0]
	}
	for _, l := range []Loss{simLossOf(t, k, randomSimilarity(rng, k), 0.3), hxeOf(t, tree, 0.5)} {
		for round := range 200 {
			y := round % k
			s, x := randomScores(rng, k, 3), randomScores(rng, k, float64(1+round%10))
			moved := make([]float64, k)
			for c := range s {
				moved[c] = s[c] + x[c]
			}
			p, grad := nan(k), nan(k)
			bound := Evaluate(l, p, grad, s, y) + dot(grad, x) + lse(moved) - lse(s) - dot(p, x)
			if value := Evaluate(l, nan(k), nan(k), moved, y); value > bound+1e-9 {
				t.Errorf("%T, round %d: loss %v above its bound %v", l, round, value, bound)
			}
		}
	}
}

// out may be x in Curvature.
func TestCurvatureInPlace(t *testing.T) {
	p, x := []float64{0.2, 0.3, 0.5}, []float64{1, -2, 4}
	out := nan(3)
	Curvature(out, p, x)
	Curvature(x, p, x)
	if !slices.Equal(out, x) {
		t.Errorf("in place %v, else %v", x, out)
	}
}
