package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

// randomScores are normal with the given standard deviation.
func randomScores(rng *rand.Rand, n int, size float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = size * rng.NormFloat64()
	}
	return x
}

// randomSpace has distances that are those of random points on a line.
func randomSpace(rng *rand.Rand, k int) metric.Space {
	at := randomScores(rng, k, 1)
	return metric.Func(k, func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
}

func parseTree(t testing.TB, newick string) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.Read(strings.NewReader(newick), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// caterpillar returns the tree of k leaves that is as deep as can be: class 0
// is k-1 edges from the root, class k-1 one.
func caterpillar(t testing.TB, k int) *labeltree.Tree {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Repeat("(", k-1) + "c0")
	for c := 1; c < k; c++ {
		fmt.Fprintf(&b, ",c%d)", c)
	}
	return parseTree(t, b.String()+";")
}

// bushy returns a tree with fans children a node, depth levels down.
func bushy(t testing.TB, fans, depth int) *labeltree.Tree {
	t.Helper()
	count := 0
	var grow func(depth int) string
	grow = func(depth int) string {
		if depth == 0 {
			count++
			return fmt.Sprintf("c%d", count)
		}
		var children []string
		for range fans {
			children = append(children, grow(depth-1))
		}
		return "(" + strings.Join(children, ",") + ")"
	}
	return parseTree(t, grow(depth)+";")
}

func star(t testing.TB, k int) *labeltree.Tree { return bushy(t, k, 1) }

func hierarchy(t testing.TB, tree *labeltree.Tree) *HierarchicalSoftmax {
	t.Helper()
	h, err := NewHierarchicalSoftmax(tree)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func simLossOf(t testing.TB, k int, similarity func(y, c int) float64, r float64) *SimLoss {
	t.Helper()
	l, err := NewSimLoss(k, similarity, r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func softLabelsOf(t testing.TB, space metric.Space, beta float64) *SoftLabels {
	t.Helper()
	l, err := NewSoftLabels(space, beta)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func hxeOf(t testing.TB, tree *labeltree.Tree, alpha float64) *HXE {
	t.Helper()
	l, err := NewHXE(tree, alpha)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// randomSimilarity is not symmetric: SimLoss does not ask for that. About a
// third of the pairs are below the bound 0.5 that tests use with it.
func randomSimilarity(rng *rand.Rand, k int) func(y, c int) float64 {
	s := randomScores(rng, k*k, 1)
	return func(y, c int) float64 { return math.Tanh(math.Abs(s[y*k+c])) }
}

// output is a loss with its second derivative, whatever its kind, in float64.
type output struct {
	name      string
	classes   int
	scores    int
	evaluate  func(p, grad, scores []float64, y int) float64
	curvature func(out, p, x []float64, y int)
	bound     bool // curvature is that of a convex bound
}

func flat(name string, k int, l Loss) output {
	return output{
		name: name, classes: k, scores: k,
		evaluate:  func(p, grad, scores []float64, y int) float64 { return Evaluate(l, p, grad, scores, y) },
		curvature: func(out, p, x []float64, _ int) { Curvature(out, p, x) },
	}
}

func bounded(o output) output {
	o.bound = true
	return o
}

func hierarchical(t testing.TB, name string, tree *labeltree.Tree) output {
	h := hierarchy(t, tree)
	return output{
		name: name, classes: h.Classes(), scores: h.Scores(),
		evaluate:  func(p, grad, scores []float64, y int) float64 { return EvaluateHierarchical(h, p, grad, scores, y) },
		curvature: func(out, p, x []float64, y int) { CurvatureHierarchical(h, out, p, x, y) },
	}
}

// outputs returns every loss in every shape that a gradient could trip over.
func outputs(t testing.TB) []output {
	rng := newRand(1)
	ten := randomSimilarity(rng, 10)
	ct := parseTree(t, "((a,(b,c,d)),e,((f,g),(h,(i,j))));")
	chains := parseTree(t, "((((a)x,(b,(c)w)v)y)z);")
	return []output{
		flat("cross entropy", 10, CrossEntropy{}),
		flat("cross entropy of two classes", 2, CrossEntropy{}),
		flat("cross entropy of one class", 1, CrossEntropy{}),
		flat("label smoothing", 10, CrossEntropy{Smoothing: 0.1}),
		flat("label smoothing, nearly all of it", 10, CrossEntropy{Smoothing: 0.99}),
		flat("pointer to cross entropy", 10, &CrossEntropy{Smoothing: 0.2}),
		bounded(flat("SimLoss", 10, simLossOf(t, 10, ten, 0.5))),
		bounded(flat("SimLoss, all classes similar", 10, simLossOf(t, 10, ten, 0))),
		flat("soft labels", 10, softLabelsOf(t, randomSpace(rng, 10), 4)),
		flat("soft labels, beta 0", 10, softLabelsOf(t, randomSpace(rng, 10), 0)),
		bounded(flat("HXE, uneven tree", 10, hxeOf(t, ct, 0.4))),
		bounded(flat("HXE, large alpha", 10, hxeOf(t, ct, 5))),
		bounded(flat("HXE, deep chain", 12, hxeOf(t, caterpillar(t, 12), 0.2))),
		bounded(flat("HXE, even tree", 9, hxeOf(t, bushy(t, 3, 2), 0.3))),
		bounded(flat("HXE, single children", 3, hxeOf(t, chains, 0.3))),
		flat("HXE, alpha 0", 10, hxeOf(t, ct, 0)),
		flat("HXE, star", 4, hxeOf(t, star(t, 4), 0.5)),
		flat("HXE, one class on the root", 1, hxeOf(t, parseTree(t, "a;"), 0.5)),
		flat("HXE, one class below", 1, hxeOf(t, parseTree(t, "((a)x)y;"), 0.5)),
		hierarchical(t, "hierarchical softmax, uneven tree", ct),
		hierarchical(t, "hierarchical softmax, deep chain", caterpillar(t, 12)),
		hierarchical(t, "hierarchical softmax, even tree", bushy(t, 3, 2)),
		hierarchical(t, "hierarchical softmax, single children", parseTree(t, "((((a)x,b)y)z,c);")),
		hierarchical(t, "hierarchical softmax, one class on the root", parseTree(t, "a;")),
		hierarchical(t, "hierarchical softmax, one class below", parseTree(t, "((a)x)y;")),
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func nan(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}
