package loss

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
)

func TestCrossEntropyByHand(t *testing.T) {
	// Scores log 1, log 2, log 5: p = 1/8, 2/8, 5/8.
	scores := []float64{0, math.Log(2), math.Log(5)}
	p, grad := nan(3), nan(3)
	if got := Evaluate(CrossEntropy{}, p, grad, scores, 1); math.Abs(got-math.Log(4)) > 1e-12 {
		t.Errorf("loss %v, want log 4", got)
	}
	near(t, "p", p, []float64{0.125, 0.25, 0.625})
	near(t, "gradient", grad, []float64{0.125, -0.75, 0.625})
	// Smoothing 0.3 puts 0.7 + 0.1 on class 1 and 0.1 on the others.
	want := 0.1*math.Log(8) + 0.8*math.Log(4) + 0.1*math.Log(1.6)
	if got := Evaluate(CrossEntropy{Smoothing: 0.3}, p, grad, scores, 1); math.Abs(got-want) > 1e-12 {
		t.Errorf("smoothed loss %v, want %v", got, want)
	}
	near(t, "smoothed gradient", grad, []float64{0.025, -0.55, 0.525})
}

func TestSimLossByHand(t *testing.T) {
	scores := []float64{0, math.Log(2), math.Log(5)} // p = 1/8, 2/8, 5/8
	similarity := func(y, c int) float64 { return [][]float64{{9, 0.75, 0.2}, {0.75, 9, -1}, {2, -1, 9}}[y][c] }
	l := simLossOf(t, 3, similarity, 0.5)
	for y, likelihood := range []float64{
		(1 + 0.5*2) / 8, // S = 1, (0.75-0.5)/0.5, max(0, ...)
		(0.5*1 + 2) / 8,
		(1 + 5) / 8., // a similarity above 1 counts as 1
	} {
		if got := Evaluate(l, nan(3), nan(3), scores, y); math.Abs(got+math.Log(likelihood)) > 1e-12 {
			t.Errorf("class %d: loss %v, want -log %v", y, got, likelihood)
		}
	}
}

func TestSoftLabelsByHand(t *testing.T) {
	space := metric.Func(3, func(i, j int) float64 { return 10 * math.Abs(float64(i-j)) })
	l := softLabelsOf(t, space, 2*math.Log(3)) // targets of class 0: 1, 1/3, 1/9, over 13/9
	p, grad := nan(3), nan(3)
	got := Evaluate(l, p, grad, []float64{0, math.Log(2), math.Log(5)}, 0)
	want := (9*math.Log(8) + 3*math.Log(4) + math.Log(1.6)) / 13
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("loss %v, want %v", got, want)
	}
	near(t, "gradient", grad, []float64{1./8 - 9./13, 2./8 - 3./13, 5./8 - 1./13})
}

func near[T matrix.Float](t *testing.T, name string, got, want []T) {
	t.Helper()
	for c := range want {
		if !(math.Abs(float64(got[c]-want[c])) <= 1e-9) {
			t.Errorf("%s is %v, want %v", name, got, want)
			return
		}
	}
}

// What must be plain cross entropy: SimLoss with S = I, soft labels with a
// large beta, hierarchical softmax over a star.
func TestEqualToCrossEntropy(t *testing.T) {
	const k = 9
	rng := newRand(5)
	for _, o := range []output{
		flat("SimLoss, S = I", k, simLossOf(t, k, func(int, int) float64 { return 0.2 }, 0.5)),
		flat("SimLoss, negative similarities", k, simLossOf(t, k, func(int, int) float64 { return -1 }, 0)),
		flat("soft labels, large beta", k, softLabelsOf(t, metric.Func(k, func(i, j int) float64 { return math.Abs(float64(i - j)) }), 1e4)),
		flat("soft labels, largest beta", k, softLabelsOf(t, randomSpace(rng, k), math.MaxFloat64)),
		flat("soft labels, smallest distances", k, softLabelsOf(t, metric.Func(k, func(i, j int) float64 { return min(1, math.Abs(float64(i-j))) * 5e-324 }), 1e4)),
		flat("smoothing 0", k, CrossEntropy{Smoothing: 0}),
		flat("HXE, alpha 0", k, hxeOf(t, bushy(t, 3, 2), 0)),
		flat("HXE, alpha next to 0", k, hxeOf(t, bushy(t, 3, 2), 1e-15)), // goes through the groups
		flat("HXE, star", k, hxeOf(t, star(t, k), 0.7)),
		hierarchical(t, "hierarchical softmax, star", star(t, k)),
	} {
		for y := range k {
			scores := randomScores(rng, k, 4)
			p, grad, wantP, wantGrad := nan(k), nan(k), nan(k), nan(k)
			got, want := o.evaluate(p, grad, scores, y), Evaluate(CrossEntropy{}, wantP, wantGrad, scores, y)
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: loss %v, cross entropy %v", o.name, got, want)
			}
			near(t, o.name+": p", p, wantP)
			near(t, o.name+": gradient", grad, wantGrad)
		}
	}
}

// Classes at distance 0 share the target evenly, whatever beta is.
func TestSoftLabelsOfEqualClasses(t *testing.T) {
	alike := metric.Func(2, func(int, int) float64 { return 0 })
	third := metric.Func(3, func(i, j int) float64 {
		return [][]float64{{0, 0, 1}, {0, 0, 1}, {1, 1, 0}}[i][j]
	})
	grad := nan(3)
	Evaluate(softLabelsOf(t, alike, 1e3), nan(2), grad[:2], make([]float64, 2), 0)
	near(t, "two classes alike", grad[:2], []float64{0, 0})
	Evaluate(softLabelsOf(t, third, 1e3), nan(3), grad, make([]float64, 3), 0)
	near(t, "two of three alike", grad, []float64{1./3 - 0.5, 1./3 - 0.5, 1. / 3})
}

func TestEvaluateMayOverwriteScores(t *testing.T) {
	rng := newRand(6)
	const k = 8
	for _, l := range []Loss{CrossEntropy{}, CrossEntropy{Smoothing: 0.2}, simLossOf(t, k, randomSimilarity(rng, k), 0.2), softLabelsOf(t, randomSpace(rng, k), 3), hxeOf(t, caterpillar(t, k), 0.3)} {
		scores := randomScores(rng, k, 3)
		p, grad, inPlace := nan(k), nan(k), nan(k)
		want := Evaluate(l, p, grad, scores, 3)
		if got := Evaluate(l, scores, inPlace, scores, 3); got != want {
			t.Errorf("%T: loss %v in place, %v else", l, got, want)
		}
		if !slices.Equal(scores, p) || !slices.Equal(inPlace, grad) {
			t.Errorf("%T: p or gradient differ in place", l)
		}
	}
}

// Adding one number to all scores changes nothing.
func TestEvaluateIgnoresAShift(t *testing.T) {
	rng := newRand(7)
	const k = 6
	for _, l := range []Loss{CrossEntropy{}, CrossEntropy{Smoothing: 0.2}, simLossOf(t, k, randomSimilarity(rng, k), 0.2), softLabelsOf(t, randomSpace(rng, k), 3), hxeOf(t, caterpillar(t, k), 0.3)} {
		scores := randomScores(rng, k, 3)
		moved := slices.Clone(scores)
		for c := range moved {
			moved[c] += 1e4
		}
		a, b := Evaluate(l, nan(k), nan(k), scores, 1), Evaluate(l, nan(k), nan(k), moved, 1)
		if math.Abs(a-b) > 1e-9 {
			t.Errorf("%T: loss %v, %v with 1e4 added", l, a, b)
		}
	}
}

func TestExtremeScores(t *testing.T) {
	extremes[float32](t, math.MaxFloat32)
	extremes[float64](t, 1e300)
}

func extremes[T matrix.Float](t *testing.T, largest float64) {
	const k = 6
	rng := newRand(9)
	losses := []Loss{
		CrossEntropy{}, CrossEntropy{Smoothing: 0.1},
		simLossOf(t, k, func(y, c int) float64 { return 1 / float64(1+y+c) }, 0.1),
		simLossOf(t, k, func(int, int) float64 { return 5e-324 }, 0), // S too small for exp of anything
		softLabelsOf(t, randomSpace(rng, k), 5),
		hxeOf(t, caterpillar(t, k), 0.2), hxeOf(t, parseTree(t, "((a,b,c),(d,(e,f)));"), 1),
	}
	for _, size := range []float64{0, 1e-30, 1, 100, 1e4, 1e10, largest} {
		for round := range 20 {
			scores := make([]T, k)
			for c := range scores {
				scores[c] = T(size * float64(rng.IntN(3)-1))
				if round%2 == 0 {
					scores[c] = T(size * (2*rng.Float64() - 1))
				}
			}
			for n, l := range losses {
				for y := range k {
					p, grad := make([]T, k), make([]T, k)
					value := Evaluate(l, p, grad, scores, y)
					if math.IsNaN(value) || math.IsInf(value, 0) || value < -1e-6*max(1, size) {
						t.Fatalf("loss %d of scores %v, class %d: %v", n, scores, y, value)
					}
					checkDistribution(t, p)
					var sum float64
					for _, g := range grad {
						if !(math.Abs(float64(g)) <= 1+1e-6) {
							t.Fatalf("loss %d of scores %v, class %d: gradient %v", n, scores, y, grad)
						}
						sum += float64(g)
					}
					if math.Abs(sum) > 1e-6 {
						t.Fatalf("loss %d of scores %v, class %d: the gradient sums to %v", n, scores, y, sum)
					}
				}
			}
		}
	}
}

// checkDistribution fails unless p sums to 1 within 1e-6.
func checkDistribution[T matrix.Float](t *testing.T, p []T) {
	t.Helper()
	var sum float64
	for c, x := range p {
		if !(x >= 0 && x <= 1+1e-6) {
			t.Fatalf("probability of class %d is %v", c, x)
		}
		sum += float64(x)
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		t.Fatalf("%d probabilities sum to %v", len(p), sum)
	}
}

func TestProbabilitiesOfManyClasses(t *testing.T) {
	rng := newRand(10)
	const k = 100_000
	for _, size := range []float64{0, 1, 1e4} {
		scores := make([]float32, k)
		for c := range scores {
			scores[c] = float32(size * (2*rng.Float64() - 1))
		}
		p, grad := make([]float32, k), make([]float32, k)
		Evaluate(CrossEntropy{}, p, grad, scores, 3)
		checkDistribution(t, p)
	}
}

func TestCheck(t *testing.T) {
	sim := simLossOf(t, 3, func(int, int) float64 { return 0 }, 0)
	soft := softLabelsOf(t, metric.Func(3, func(i, j int) float64 { return math.Abs(float64(i - j)) }), 1)
	for _, tc := range []struct {
		name string
		l    Loss
		k    int
		want string // "" for no error
	}{
		{"cross entropy", CrossEntropy{}, 3, ""},
		{"smoothing", CrossEntropy{Smoothing: 0.999}, 3, ""},
		{"smoothing 1 leaves nothing of the class", CrossEntropy{Smoothing: 1}, 3, "label smoothing 1"},
		{"negative smoothing", CrossEntropy{Smoothing: -0.1}, 3, "label smoothing -0.1"},
		{"smoothing NaN", CrossEntropy{Smoothing: math.NaN()}, 3, "label smoothing NaN"},
		{"SimLoss", sim, 3, ""},
		{"SimLoss of other classes", sim, 4, "SimLoss was made for 3 classes, the data has 4"},
		{"soft labels", soft, 3, ""},
		{"HXE", hxeOf(t, star(t, 3), 1), 3, ""},
		{"HXE of other classes", hxeOf(t, star(t, 3), 1), 4, "HXE was made for 3 classes, the data has 4"},
		{"soft labels of other classes", soft, 2, "soft labels was made for 3 classes, the data has 2"},
	} {
		err := tc.l.Check(tc.k)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestBadArguments(t *testing.T) {
	one := func(int, int) float64 { return 1 }
	constant := func(d float64) metric.Space { return metric.Func(2, func(int, int) float64 { return d }) }
	sim := func(k int, s func(y, c int) float64, r float64) error { _, err := NewSimLoss(k, s, r); return err }
	soft := func(s metric.Space, beta float64) error { _, err := NewSoftLabels(s, beta); return err }
	hxe := func(tree *labeltree.Tree, alpha float64) error { _, err := NewHXE(tree, alpha); return err }
	uTree, err := labeltree.FromNested(labeltree.Nested{Label: "a", Children: []labeltree.Nested{{Label: "a"}, {Label: "b"}}}, labeltree.UTree)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		err  error
		want string
		is   error
	}{
		{"alpha below 0", hxe(star(t, 2), -0.1), "alpha -0.1", nil},
		{"alpha NaN", hxe(star(t, 2), math.NaN()), "alpha NaN", nil},
		{"alpha infinite", hxe(star(t, 2), math.Inf(1)), "alpha +Inf", nil},
		{"class on an inner node", hxe(uTree, 0.1), `"a" has nodes below it`, nil},
		{"bound 1", sim(2, one, 1), "lower bound 1", nil},
		{"bound below 0", sim(2, one, -0.5), "lower bound -0.5", nil},
		{"bound NaN", sim(2, one, math.NaN()), "lower bound NaN", nil},
		{"similarity NaN", sim(2, func(int, int) float64 { return math.NaN() }, 0), "classes 0 and 1 is NaN", nil},
		{"similarity infinite", sim(2, func(int, int) float64 { return math.Inf(1) }, 0), "classes 0 and 1 is +Inf", nil},
		{"no classes", sim(0, one, 0), "0 classes", nil},
		{"fewer than no classes", sim(-1, one, 0), "-1 classes", nil},
		{"many classes", sim(20_001, one, 0), "20001 classes", ErrTooManyClasses},
		{"soft labels of many classes", soft(metric.Func(20_001, nil), 1), "20001 classes", ErrTooManyClasses},
		{"soft labels of no classes", soft(metric.Func(0, nil), 1), "0 classes", nil},
		{"beta below 0", soft(constant(0), -1), "beta -1", nil},
		{"beta NaN", soft(constant(0), math.NaN()), "beta NaN", nil},
		{"beta infinite", soft(constant(0), math.Inf(1)), "beta +Inf", nil},
		{"distance NaN", soft(constant(math.NaN()), 1), "NaN", nil},
		{"distance infinite", soft(constant(math.Inf(1)), 1), "Inf", nil},
		{"distance below 0", soft(constant(-2), 1), "-2", nil},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) || !strings.HasPrefix(tc.err.Error(), "loss: ") {
			t.Errorf("%s: %v, want an error of package loss about %q", tc.name, tc.err, tc.want)
		}
		if tc.is != nil && !errors.Is(tc.err, tc.is) {
			t.Errorf("%s: %v is not %v", tc.name, tc.err, tc.is)
		}
	}
	var pair *metric.PairError
	if err := soft(constant(-2), 1); !errors.As(err, &pair) {
		t.Errorf("%v does not name the pair", err)
	}
}

func TestEvaluateDoesNotAllocate(t *testing.T) {
	l := simLossOf(t, 5, func(int, int) float64 { return 0.5 }, 0)
	h := hierarchy(t, caterpillar(t, 5))
	groups := hxeOf(t, caterpillar(t, 5), 0.2)
	mix := Mix{Class: []int32{1, 4}, Share: []float32{0.25, 0.75}}
	p, grad, scores := make([]float32, 8), make([]float32, 8), make([]float32, 8)
	classes, scratch := make([]float32, 5), make([]float32, 8)
	n := testing.AllocsPerRun(5, func() {
		Evaluate(l, p[:5], grad[:5], scores[:5], 2)
		Curvature(grad[:5], p[:5], scores[:5])
		EvaluateHierarchical(h, p, grad, scores, 2)
		CurvatureHierarchical(h, grad, p, scores, 2)
		Probabilities(h, classes, scratch, scores)
		Evaluate(groups, p[:5], grad[:5], scores[:5], 2)
		EvaluateMix(groups, p[:5], grad[:5], scratch[:5], scores[:5], mix)
		EvaluateMix(CrossEntropy{Smoothing: 0.1}, p[:5], grad[:5], scratch[:5], scores[:5], mix)
		EvaluateHierarchicalMix(h, p, grad, scores, mix)
		CurvatureHierarchicalMix(h, grad, p, scores, mix)
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
