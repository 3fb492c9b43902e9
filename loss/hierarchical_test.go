package loss

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

func trees(t *testing.T) map[string]*labeltree.Tree {
	t.Helper()
	return map[string]*labeltree.Tree{
		"one class on the root":        parseTree(t, "a;"),
		"one class below":              parseTree(t, "(((a)x)y)z;"),
		"star":                         star(t, 200),
		"even":                         bushy(t, 2, 9),
		"wide and even":                bushy(t, 20, 2),
		"uneven":                       parseTree(t, "((a,(b,(c,d,e,f,g))),h,((i,j),(k,(l,m)),n,o,p));"),
		"a chain of single children":   parseTree(t, "("+strings.Repeat("(", 300)+"a"+strings.Repeat(")", 300)+",b);"),
		"as deep as 3000 classes go":   caterpillar(t, 3000),
		"deep, and wide at the bottom": parseTree(t, "((((((((a,b,c,d,e),f),g),h),i),j),k),l);"),
	}
}

func TestHierarchicalProbabilities(t *testing.T) {
	for name, tree := range trees(t) {
		t.Run(name, func(t *testing.T) {
			distributions[float32](t, tree)
			distributions[float64](t, tree)
		})
	}
}

func distributions[T matrix.Float](t *testing.T, tree *labeltree.Tree) {
	rng := newRand(11)
	h := hierarchy(t, tree)
	for _, size := range []float64{0, 1e-3, 1, 30, 1e4} {
		for round := range 3 {
			scores := make([]T, h.Scores())
			for v := range scores {
				scores[v] = T(size * (2*rng.Float64() - 1))
				if round == 0 { // down the deepest path as far as it goes
					scores[v] = T(size * float64(tree.End(v+1)-v))
				}
			}
			p := make([]T, h.Classes())
			Probabilities(h, p, make([]T, h.Scores()), scores)
			checkDistribution(t, p)
			inPlace := make([]T, h.Classes())
			again := slices.Clone(scores)
			Probabilities(h, inPlace, again, again)
			if !slices.Equal(p, inPlace) {
				t.Fatal("other probabilities with scores for scratch")
			}
			if h.Classes() > 500 && round > 0 {
				continue
			}
			for y := range min(h.Classes(), 50) {
				cond, grad := make([]T, h.Scores()), make([]T, h.Scores())
				value := EvaluateHierarchical(h, cond, grad, scores, y)
				if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
					t.Fatalf("class %d: loss %v", y, value)
				}
				if want := math.Exp(-value); math.Abs(float64(p[y])-want) > 1e-5*want+1e-30 && size <= 30 {
					t.Fatalf("class %d: probability %v, exp of -loss is %v", y, p[y], want)
				}
			}
		}
	}
}

// By hand: ((a,b),c) with the node scores x, a, b, c in preorder.
func TestHierarchicalByHand(t *testing.T) {
	h := hierarchy(t, parseTree(t, "((a,b)x,c);"))
	scores := []float64{math.Log(3), 0, math.Log(4), 0} // x:c = 3:1, a:b = 1:4
	p := nan(3)
	Probabilities(h, p, nan(4), scores)
	near(t, "probabilities", p, []float64{0.75 * 0.2, 0.75 * 0.8, 0.25})
	cond, grad := nan(4), nan(4)
	if got := EvaluateHierarchical(h, cond, grad, scores, 1); math.Abs(got+math.Log(0.6)) > 1e-12 {
		t.Errorf("loss of b %v, want -log 0.6", got)
	}
	near(t, "p among siblings", cond, []float64{0.75, 0.2, 0.8, 0.25})
	near(t, "gradient", grad, []float64{-0.25, 0.2, -0.2, 0.25})
	if got := EvaluateHierarchical(h, cond, grad, scores, 2); math.Abs(got-math.Log(4)) > 1e-12 {
		t.Errorf("loss of c %v, want log 4", got)
	}
	near(t, "p off the path of c", cond, []float64{0.75, 0, 0, 0.25})
	near(t, "gradient off the path of c", grad, []float64{0.75, 0, 0, -0.75})
	out := nan(4)
	CurvatureHierarchical(h, out, cond, []float64{1, 7, 7, 0}, 2)
	near(t, "curvature off the path of c", out, []float64{0.1875, 0, 0, -0.1875})
}

func TestHierarchicalShape(t *testing.T) {
	tree := parseTree(t, "((a,b)x,c);")
	h := hierarchy(t, tree)
	if h.Tree() != tree || h.Classes() != 3 || h.Scores() != 4 {
		t.Errorf("%d classes and %d scores, want 3 and 4", h.Classes(), h.Scores())
	}
	_, err := NewHierarchicalSoftmax(parseTree(t, "(b[&class=1],c[&class=2])a[&class=0];"))
	if err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("U-tree: %v, want an error that names class a", err)
	}
}

// A tree of depth k must not take k² memory: 100,000 paths of up to 100,000
// nodes would be 20 GB.
func TestHierarchicalDeepTree(t *testing.T) {
	const k = 100_000
	h := hierarchy(t, caterpillar(t, k))
	scores, p, scratch := make([]float32, h.Scores()), make([]float32, k), make([]float32, h.Scores())
	Probabilities(h, p, scratch, scores)
	checkDistribution(t, p)
	value := EvaluateHierarchical(h, scratch, make([]float32, h.Scores()), scores, 0)
	if want := (k - 1) * math.Log(2); math.Abs(value-want) > 1e-6*want {
		t.Errorf("loss of the deepest class %v, want %v", value, want)
	}
}

// FuzzOutputs looks for scores that break the laws of every loss: finite and
// not negative, p sums to 1, gradients sum to 0.
func FuzzOutputs(f *testing.F) {
	f.Add(float32(0), float32(0), float32(0), float32(0), uint8(0))
	f.Add(float32(1e4), float32(-1e4), float32(1e4), float32(9999), uint8(1))
	f.Add(float32(math.MaxFloat32), float32(-math.MaxFloat32), float32(1e-45), float32(-1), uint8(2))
	const k = 4
	losses := []Loss{
		CrossEntropy{}, CrossEntropy{Smoothing: 0.25},
		simLossOf(f, k, func(y, c int) float64 { return 1 - 0.3*float64(max(y, c)-min(y, c)) }, 0.2),
	}
	h := hierarchy(f, parseTree(f, "(((a,b),c),d);"))
	f.Fuzz(func(t *testing.T, a, b, c, d float32, class uint8) {
		scores := []float32{a, b, c, d, b, c}
		for _, s := range scores {
			if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
				return
			}
		}
		y := int(class % k)
		p, grad := make([]float32, 6), make([]float32, 6)
		for n, l := range losses {
			value := Evaluate(l, p[:k], grad[:k], scores[:k], y)
			lawful(t, n, value, grad[:k])
			checkDistribution(t, p[:k])
		}
		lawful(t, -1, EvaluateHierarchical(h, p, grad, scores, y), grad)
		classes := make([]float32, k)
		Probabilities(h, classes, p, scores)
		checkDistribution(t, classes)
	})
}

func lawful(t *testing.T, n int, value float64, grad []float32) {
	t.Helper()
	var sum float64
	for _, g := range grad {
		sum += float64(g)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || !(math.Abs(sum) <= 1e-6) {
		t.Fatalf("loss %d: value %v, gradient %v", n, value, grad)
	}
}
