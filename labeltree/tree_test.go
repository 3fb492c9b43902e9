package labeltree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/metric"
)

// randomSpace draws k points on a grid of whole numbers, so that ties and equal
// points occur, or in the unit square.
func randomSpace(seed uint64, k int, rough bool) metric.Space {
	random := rand.New(rand.NewPCG(seed, 3))
	x := make([][2]float64, k)
	for i := range x {
		for c := range 2 {
			x[i][c] = random.Float64()
			if rough {
				x[i][c] = float64(random.IntN(5))
			}
		}
	}
	return metric.Func(k, func(i, j int) float64 { return math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) })
}

func numbered(k int) []string {
	labels := make([]string, k)
	for c := range labels {
		labels[c] = fmt.Sprintf("class %d", c)
	}
	return labels
}

// randomTree draws a tree of any form the package can make.
func randomTree(t testing.TB, seed uint64) *Tree {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 4))
	k := 1 + random.IntN(40)
	space := randomSpace(seed, k, random.IntN(2) == 0)
	labels := numbered(k)
	awkward := []string{"it's", `say "hi"`, "a,b(c)[d];e:f", "two\nlines\r", `back\slash \n`, "❤ 🇺🇸", "<&>", "pseudo1", "pseudo2", "//", "]]>", "(x)", "a … b", " outer ", "class 1", "└── y", "\ufffe", "# c/d > e", "nan"}
	for n := range min(k, len(awkward)) {
		labels[(n*7)%k] = awkward[n] + strings.Repeat("x", (n*7)/k)
	}
	if labels = slices.Compact(labels); len(labels) != k {
		t.Fatal("labels clash")
	}
	var tree *Tree
	var err error
	switch random.IntN(3) {
	case 0:
		tree, err = Linkage(space, labels)
	default:
		var ct *covertree.Tree
		ct, err = covertree.New(space, covertree.Options{Base: 1.3, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		tree, err = V(ct, labels)
		if err == nil && random.IntN(2) == 0 {
			tree, err = U(ct, labels)
		}
		if err == nil && random.IntN(2) == 0 {
			length := make([]float64, tree.Len())
			for v := range length {
				length[v] = math.Exp(random.NormFloat64() * 50)
			}
			tree, err = tree.WithLengths(length)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sameTree compares everything a file holds.
func sameTree(t testing.TB, got, want *Tree) {
	t.Helper()
	if got.Len() != want.Len() || got.Classes() != want.Classes() || got.Weighted() != want.Weighted() {
		t.Fatalf("%d nodes, %d classes, weighted %v; want %d, %d, %v", got.Len(), got.Classes(), got.Weighted(), want.Len(), want.Classes(), want.Weighted())
	}
	for v := range want.Len() {
		if got.Parent(v) != want.Parent(v) || got.Class(v) != want.Class(v) || got.Name(v) != want.Name(v) || got.Length(v) != want.Length(v) {
			t.Fatalf("node %d: parent %d class %d name %q length %v, want %d %d %q %v", v,
				got.Parent(v), got.Class(v), got.Name(v), got.Length(v), want.Parent(v), want.Class(v), want.Name(v), want.Length(v))
		}
	}
}

// TestAccessors compares every method with its definition by the parents.
func TestAccessors(t *testing.T) {
	for seed := range uint64(60) {
		tree := randomTree(t, seed)
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
		above := func(a, v int) bool { // a is v or an ancestor of v
			for ; v >= 0; v = tree.Parent(v) {
				if v == a {
					return true
				}
			}
			return false
		}
		height := 0
		for v := range tree.Len() {
			var children, classes []int
			for u := range tree.Len() {
				if tree.Parent(u) == v {
					children = append(children, u)
				}
				if (u >= v && u < tree.End(v)) != above(v, u) {
					t.Fatalf("node %d is not where End(%d) = %d says", u, v, tree.End(v))
				}
				lca := -1
				for a := range tree.Len() {
					if above(a, u) && above(a, v) && a > lca { // deeper comes later
						lca = a
					}
				}
				if tree.LCA(u, v) != lca {
					t.Fatalf("LCA(%d, %d) = %d, want %d", u, v, tree.LCA(u, v), lca)
				}
			}
			for c := range tree.Classes() {
				if above(v, tree.Node(c)) {
					classes = append(classes, c)
				}
			}
			if !slices.Equal(tree.Children(v), children) || !slices.Equal(tree.ClassesBelow(v), classes) {
				t.Fatalf("node %d: children %v classes %v, want %v %v", v, tree.Children(v), tree.ClassesBelow(v), children, classes)
			}
			if tree.IsLeaf(v) != (len(children) == 0) {
				t.Fatalf("IsLeaf(%d) is wrong", v)
			}
			height = max(height, tree.Depth(v))
		}
		if tree.Height() != height {
			t.Errorf("height %d, want %d", tree.Height(), height)
		}
		for c, label := range tree.Labels() {
			path := tree.Path(c)
			if path[0] != tree.Node(c) || path[len(path)-1] != 0 || len(path) != tree.Depth(path[0])+1 || tree.Class(path[0]) != c || tree.Name(path[0]) != label {
				t.Fatalf("path of %q is %v", label, path)
			}
			names, err := tree.PathNames(label)
			if err != nil || len(names) != len(path) || names[0] != label || names[len(names)-1] != tree.Name(0) {
				t.Fatalf("path of %q is %q: %v", label, names, err)
			}
		}
	}
	if _, err := randomTree(t, 1).PathNames("nobody"); err == nil || !strings.Contains(err.Error(), `no class "nobody"`) {
		t.Errorf("unknown label: %v", err)
	}
}

func TestWithLengths(t *testing.T) {
	tree := randomTree(t, 5)
	length := make([]float64, tree.Len())
	length[0] = math.Copysign(0, -1)
	weighted, err := tree.WithLengths(length)
	if err != nil || !weighted.Weighted() || weighted.Length(1) != 0 || math.Signbit(weighted.Length(0)) {
		t.Fatalf("lengths of 0: %v", err)
	}
	length[1] = 7
	if weighted.Length(1) != 0 {
		t.Error("the lengths were not copied")
	}
	if unit, err := weighted.WithLengths(nil); err != nil || unit.Weighted() || unit.Length(1) != 1 {
		t.Errorf("back to lengths of 1: %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		length[1] = bad
		if _, err := tree.WithLengths(length); err == nil || !strings.Contains(err.Error(), tree.Name(1)) {
			t.Errorf("length %v: %v", bad, err)
		}
	}
	if _, err := tree.WithLengths(length[:1]); err == nil {
		t.Error("too few lengths passed")
	}
}

func TestCheckSees(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		spoil      func(*Tree)
	}{
		{"no nodes", "no nodes", func(t *Tree) { *t = Tree{} }},
		{"lists of different size", "do not make a tree", func(t *Tree) { t.name = t.name[1:] }},
		{"parent out of range", "parent 99", func(t *Tree) { t.parent[1] = 99 }},
		{"two roots", "no parent", func(t *Tree) { t.parent[1] = -1 }},
		{"cycle", "ancestor", func(t *Tree) { t.parent[1] = 2; t.parent[2] = 1 }},
		{"not in preorder", "preorder", func(t *Tree) { t.parent[len(t.parent)-1] = 1 }},
		{"two classes on one node", "class", func(t *Tree) { t.class[t.node[0]] = t.class[t.node[1]] }},
		{"class out of range", "class", func(t *Tree) { t.class[t.node[0]] = 1000 }},
		{"leaf without class", "leaf without a class", func(t *Tree) { t.class[t.node[len(t.node)-1]] = -1 }},
		{"no name", "no name", func(t *Tree) { t.name[2] = "" }},
		{"same names", "two nodes", func(t *Tree) { t.name[2] = t.name[1] }},
		{"not UTF-8", "UTF-8", func(t *Tree) { t.name[2] = "\xff" }},
		{"NaN length", "NaN", func(t *Tree) { t.length[1] = math.NaN() }},
		{"index", "index", func(t *Tree) { t.end[0]-- }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := Linkage(randomSpace(1, 6, false), numbered(6))
			if err != nil {
				t.Fatal(err)
			}
			tc.spoil(tree)
			if err := tree.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// agreesWithCover compares the U- and V-tree of a cover tree with the paper's
// words: P_i of the U-tree is the path of i in the cover tree with repeats
// removed, that of the V-tree the same path with nothing removed.
func agreesWithCover(t testing.TB, ct *covertree.Tree) {
	t.Helper()
	k := ct.Len()
	labels := numbered(k)
	u, err := U(ct, labels)
	if err != nil {
		t.Fatal(err)
	}
	v, err := V(ct, labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*Tree{u, v} {
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
	}
	height, depth := 0, make([]int, len(ct.Nodes()))
	for n, node := range ct.Nodes()[1:] {
		depth[n+1] = depth[node.Parent] + 1
		height = max(height, depth[n+1])
	}
	if u.Len() != k || v.Len() != len(ct.Nodes()) || v.Len() > 2*k-1 || v.Height() != height {
		t.Fatalf("k=%d: %d and %d nodes, height %d; the cover tree has %d, height %d", k, u.Len(), v.Len(), v.Height(), len(ct.Nodes()), height)
	}
	for n, node := range ct.Nodes() {
		if len(node.Children) > 0 {
			if v.Class(n) != -1 {
				t.Fatalf("inner node %d has class %d", n, v.Class(n))
			}
			continue
		}
		c := node.Point
		var want []int // points on the way up, and without repeats
		var distinct []int
		for a := n; a >= 0; a = ct.Nodes()[a].Parent {
			want = append(want, a)
			if p := ct.Nodes()[a].Point; len(distinct) == 0 || distinct[len(distinct)-1] != p {
				distinct = append(distinct, p)
			}
		}
		if !slices.Equal(v.Path(c), want) {
			t.Fatalf("V path of %d is %v, want %v", c, v.Path(c), want)
		}
		var got []int
		for _, a := range u.Path(c) {
			got = append(got, u.Class(a))
		}
		if !slices.Equal(got, distinct) {
			t.Fatalf("U path of %d is %v, want %v", c, got, distinct)
		}
		up := -1
		if parent := u.Parent(u.Node(c)); parent >= 0 {
			up = u.Class(parent)
		}
		above := -1
		top := slices.IndexFunc(ct.Nodes(), func(n covertree.Node) bool { return n.Point == c })
		if parent := ct.Nodes()[top].Parent; parent >= 0 {
			above = ct.Nodes()[parent].Point
		}
		if up != above {
			t.Fatalf("U parent of %d is %d, want %d", c, up, above)
		}
	}
}

func TestCoverTreeGivesThePaperTrees(t *testing.T) {
	for _, k := range []int{1, 2, 3, 10, 100} {
		for _, rough := range []bool{false, true} {
			for _, base := range []float64{1.1, 2} {
				ct, err := covertree.New(randomSpace(uint64(k), k, rough), covertree.Options{Base: base})
				if err != nil {
					t.Fatal(err)
				}
				agreesWithCover(t, ct)
			}
		}
	}
}

func FuzzCoverTree(f *testing.F) {
	f.Add(uint64(1), uint8(1), 2.0, true)
	f.Add(uint64(2), uint8(50), 1.3, true)
	f.Add(uint64(3), uint8(200), 1.01, false)
	f.Fuzz(func(t *testing.T, seed uint64, k uint8, base float64, rough bool) {
		ct, err := covertree.New(randomSpace(seed, int(k), rough), covertree.Options{Base: base, Seed: seed})
		if err != nil {
			return // a base or number of points out of range
		}
		agreesWithCover(t, ct)
	})
}

func TestPseudoclassesGiveWayToClasses(t *testing.T) {
	ct, err := covertree.New(randomSpace(1, 3, false), covertree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := V(ct, []string{"pseudo1", "pseudo1_", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if tree.Name(0) != "pseudo1__" || !slices.Equal(tree.Labels(), []string{"pseudo1", "pseudo1_", "x"}) {
		t.Errorf("root %q, labels %q", tree.Name(0), tree.Labels())
	}
}

func TestLabelsRefused(t *testing.T) {
	ct, err := covertree.New(randomSpace(1, 2, false), covertree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, want string
		labels     []string
	}{
		{"too few", "1 labels for 2", []string{"a"}},
		{"the same twice", `two classes have the label "a"`, []string{"a", "a"}},
		{"empty", "class 1", []string{"a", ""}},
		{"blank", "class 0", []string{" ", "a"}},
		{"not UTF-8", "UTF-8", []string{"a", "\xff"}},
	} {
		for name, build := range map[string]func() (*Tree, error){
			"U":       func() (*Tree, error) { return U(ct, tc.labels) },
			"V":       func() (*Tree, error) { return V(ct, tc.labels) },
			"Linkage": func() (*Tree, error) { return Linkage(randomSpace(1, 2, false), tc.labels) },
		} {
			if _, err := build(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, %s: got %v, want %q", name, tc.name, err, tc.want)
			}
		}
	}
	if _, err := Linkage(metric.Func(0, nil), nil); err == nil {
		t.Error("a linkage of nothing passed")
	}
}

func TestFromNestedRefuses(t *testing.T) {
	n := func(label string, children ...Nested) Nested { return Nested{label, children} }
	for _, tc := range []struct {
		name, want string
		tree       Nested
		kind       Kind
	}{
		{"no child of the label", `inner node "a" has 0 children`, n("a", n("b"), n("c")), VTree},
		{"two children of the label", `inner node "a" has 2`, n("a", n("a"), n("a")), UTree},
		{"a label on two branches", `label "b" stands on two leaves`, n("a", n("a"), n("b"), n("c", n("c"), n("b"))), VTree},
		{"an empty label", "class 0", n(""), VTree},
		{"no such kind", "Kind(7)", n("a"), 7},
	} {
		if _, err := FromNested(tc.tree, tc.kind); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
	for _, kind := range []Kind{UTree, VTree} {
		tree, err := FromNested(n("only"), kind)
		if err != nil || tree.Len() != 1 || tree.Class(0) != 0 || tree.Check() != nil {
			t.Errorf("one class: %v", err)
		}
	}
	// A chain far deeper than any stack of calls should be asked for.
	deep := n("0")
	for i := 1; i < 100_000; i++ {
		deep = n("0", deep, n(fmt.Sprint(i)))
	}
	tree, err := FromNested(deep, VTree)
	if err != nil || tree.Len() != 199_999 || tree.Height() != 99_999 {
		t.Errorf("deep chain: %v", err)
	}
}

// TestNew: nodes in any order make a weighted tree, and what is no tree is refused.
func TestNew(t *testing.T) {
	nodes := []Node{{"b", 2, 1, 2}, {"a", 2, 0, 0.5}, {"r", -1, -1, 1}}
	tree, err := New(nodes)
	if err != nil || tree.Check() != nil {
		t.Fatal(err)
	}
	if got := outline(tree, 0); got != "[r](b a)" || tree.Length(tree.Node(1)) != 2 || !tree.Weighted() {
		t.Errorf("%s, length %v of class 1, want [r](b a) and 2", got, tree.Length(tree.Node(1)))
	}
	nodes[0].Parent = 0
	if _, err := New(nodes); err == nil || !strings.Contains(err.Error(), `node "b" is its own ancestor`) {
		t.Errorf("a cycle: %v", err)
	}
}
