package loss

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/labeltree"
)

// byDefinition is the loss as the paper writes it, node by node.
func byDefinition(tree *labeltree.Tree, alpha float64, scores []float64, y int) float64 {
	p := nan(len(scores))
	Evaluate(CrossEntropy{}, p, nan(len(scores)), scores, y)
	below := func(v int) (sum float64) {
		for _, c := range tree.ClassesBelow(v) {
			sum += p[c]
		}
		return sum
	}
	var value float64
	for v := tree.Node(y); v > 0; v = tree.Parent(v) {
		value -= math.Exp(-alpha*float64(tree.Depth(v)-1)) * math.Log(below(v)/below(tree.Parent(v)))
	}
	return value
}

// shuffledTree has the labels of k classes at random places below a root with
// several children, so that the classes are not in the order of the leaves.
func shuffledTree(t testing.TB, k int, seed uint64) *labeltree.Tree {
	t.Helper()
	rng := newRand(seed)
	labels, parents := make([]string, k), map[string]string{}
	for c, n := range rng.Perm(k) {
		labels[c] = "c" + strconv.Itoa(n)
	}
	inner := 2 + k/3
	for n := range inner {
		parents[fmt.Sprintf("n%d", n)] = "root"
		if n > 2 {
			parents[fmt.Sprintf("n%d", n)] = fmt.Sprintf("n%d", rng.IntN(n))
		}
	}
	for _, label := range labels {
		parents[label] = fmt.Sprintf("n%d", rng.IntN(inner))
	}
	parents[labels[0]], parents[labels[1]] = "n0", "n1"
	tree, err := labeltree.FromParents(parents, labels)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestHXEByDefinition(t *testing.T) {
	rng := newRand(21)
	moved := false
	for seed := range uint64(30) {
		k := 2 + rng.IntN(20)
		tree := shuffledTree(t, k, seed)
		for _, alpha := range []float64{0, 0.1, 0.5, 3} {
			l := hxeOf(t, tree, alpha)
			moved = moved || len(l.cycles) > 1
			for y := range k {
				scores := randomScores(rng, k, 2)
				got, want := Evaluate(l, nan(k), nan(k), scores, y), byDefinition(tree, alpha, scores, y)
				if !(math.Abs(got-want) <= 1e-12*(1+want)) {
					t.Errorf("seed %d, k %d, alpha %v, class %d: loss %v, by definition %v", seed, k, alpha, y, got, want)
				}
			}
		}
	}
	if !moved {
		t.Error("all classes were in the order of the leaves: the test shows nothing")
	}
}

func TestHXEByHand(t *testing.T) {
	// p = 1/8, 2/8, 5/8; class 1 is alone, 0 and 2 are a group.
	tree := parseTree(t, "((a,c),b);")
	labels := tree.Labels()
	scores := make([]float64, 3)
	for label, s := range map[string]float64{"a": 0, "b": math.Log(2), "c": math.Log(5)} {
		scores[slices.Index(labels, label)] = s
	}
	for label, want := range map[string]float64{
		"a": -math.Log(6./8) - math.Exp(-0.5)*math.Log(1./6),
		"b": -math.Log(2. / 8),
		"c": -math.Log(6./8) - math.Exp(-0.5)*math.Log(5./6),
	} {
		if got := Evaluate(hxeOf(t, tree, 0.5), nan(3), nan(3), scores, slices.Index(labels, label)); math.Abs(got-want) > 1e-12 {
			t.Errorf("class %s: loss %v, want %v", label, got, want)
		}
	}
}

// The loss summed over Nodes is the loss, and the nodes are in the order that they
// promise, those without a choice left out.
func TestNodesOfHXE(t *testing.T) {
	rng := newRand(23)
	for seed := range uint64(20) {
		k := 2 + rng.IntN(20)
		for _, tree := range []*labeltree.Tree{shuffledTree(t, k, seed), caterpillar(t, k)} {
			for _, alpha := range []float64{0, 0.4} {
				l := hxeOf(t, tree, alpha)
				nodes := l.Nodes()
				children, leaf := make([]int, len(nodes)), make([]int, k)
				for v, n := range nodes {
					if n.Class >= 0 {
						leaf[n.Class] = v
					}
					switch {
					case v == 0 && n.Parent == -1:
						continue
					case n.Parent < 0 || n.Parent >= v:
						t.Fatalf("node %d below %d", v, n.Parent)
					}
					children[n.Parent]++
					above := v - 1 // or a node above it
					for above != n.Parent && above > 0 {
						above = nodes[above].Parent
					}
					if above != n.Parent {
						t.Fatalf("node %d, below %d, stands behind one that is not", v, n.Parent)
					}
				}
				for v, n := range nodes {
					if n.Class >= 0 && children[v] > 0 || n.Class < 0 && children[v] < 2 {
						t.Errorf("k %d, alpha %v: node %d of class %d has %d children", k, alpha, v, n.Class, children[v])
					}
				}
				if alpha == 0 && len(nodes) != k+1 {
					t.Errorf("k %d: %d nodes without alpha", k, len(nodes))
				}
				scores := randomScores(rng, k, 2)
				sums := make([]float64, len(nodes))
				for c, v := range leaf {
					for ; v >= 0; v = nodes[v].Parent {
						sums[v] += math.Exp(scores[c])
					}
				}
				for y, v := range leaf {
					var got float64
					for ; nodes[v].Parent >= 0; v = nodes[v].Parent {
						got -= nodes[v].Weight * math.Log(sums[v]/sums[nodes[v].Parent])
					}
					if want := byDefinition(tree, alpha, scores, y); !(math.Abs(got-want) <= 1e-12*(1+want)) {
						t.Errorf("k %d, alpha %v, class %d: loss %v over the nodes, by definition %v", k, alpha, y, got, want)
					}
				}
			}
		}
	}
	if n := hxeOf(t, parseTree(t, "a;"), 0.3).Nodes(); len(n) != 1 || n[0].Class != 0 || n[0].Parent != -1 {
		t.Errorf("one class: nodes %+v", n)
	}
}

// Thousands of classes in float32, against float64; a mistake within the group
// costs less than one outside that is as sure.
func TestHXEOfManyClasses(t *testing.T) {
	const k = 6000
	tree := shuffledTree(t, k, 1)
	l := hxeOf(t, tree, 0.3)
	rng := newRand(22)
	scores := randomScores(rng, k, 4)
	single := make([]float32, k)
	for c := range scores {
		single[c] = float32(scores[c])
		scores[c] = float64(single[c])
	}
	p, grad := nan(k), nan(k)
	p32, grad32 := make([]float32, k), make([]float32, k)
	for y := 0; y < k; y += 500 {
		want, got := Evaluate(l, p, grad, scores, y), Evaluate(l, p32, grad32, single, y)
		if math.Abs(got-want) > 1e-5*(1+want) {
			t.Errorf("class %d: loss %v in float32, %v in float64", y, got, want)
		}
		for c := range grad {
			if math.Abs(float64(grad32[c])-grad[c]) > 1e-5 {
				t.Fatalf("class %d: gradient in score %d is %v in float32, %v in float64", y, c, grad32[c], grad[c])
			}
		}
	}
	ct := parseTree(t, "((a,b),(c,d));")
	small := hxeOf(t, ct, 0.5)
	near, far := Evaluate(small, nan(4), nan(4), []float64{0, 5, 0, 0}, 0), Evaluate(small, nan(4), nan(4), []float64{0, 0, 5, 0}, 0)
	if near >= far {
		t.Errorf("a mistake within the group costs %v, one outside %v", near, far)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for _, k := range []int{100, 1000, 6000} {
		tree := shuffledTree(b, k, 1)
		for _, l := range []Loss{CrossEntropy{}, hxeOf(b, tree, 0.3)} {
			b.Run(fmt.Sprintf("loss=%T/k=%d", l, k), func(b *testing.B) {
				scores, p, grad := make([]float32, k), make([]float32, k), make([]float32, k)
				for b.Loop() {
					Evaluate(l, p, grad, scores, k/2)
				}
			})
		}
	}
}
