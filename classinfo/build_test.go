package classinfo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
)

const taxonomyCSV = `label,parent
card_arrival,cards
card_lost,cards
card_payment_fee,cards
top_up_failed,money
top_up_fee,money
transfer_fee,money
`

// bank returns six classes of which everything is known.
func bank(tb testing.TB) Info {
	tb.Helper()
	c := Info{Labels: []string{"card_arrival", "card_lost", "card_payment_fee", "top_up_failed", "top_up_fee", "transfer_fee"}}
	var err error
	if c.Taxonomy, err = labeltree.ReadTaxonomy(strings.NewReader(taxonomyCSV), "taxonomy.csv", c.Labels); err != nil {
		tb.Fatal(err)
	}
	c.X, c.Class = randomExamples(len(c.Labels), 4, 1)
	return c
}

// randomExamples returns n sparse rows of each of k classes, whose features
// depend on the class in part.
func randomExamples(k, n int, seed uint64) (*matrix.Sparse, []int32) {
	r := rand.New(rand.NewPCG(seed, 0))
	x := &matrix.Sparse{Columns: 12}
	var class []int32
	for i := range n * k {
		c := i % k
		var index []int32
		var value []float32
		for j := range x.Columns {
			if r.IntN(3) == 0 {
				index = append(index, int32(j))
				value = append(value, float32(r.NormFloat64()+2*math.Sin(float64(c*j))))
			}
		}
		x.AppendRow(index, value)
		class = append(class, int32(c))
	}
	return x, class
}

// centred returns C g C.
func centred(g mat.Symmetric) *mat.Dense {
	k := g.SymmetricDim()
	c := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			c.Set(i, j, -1/float64(k))
		}
		c.Set(i, i, 1-1/float64(k))
	}
	var out mat.Dense
	out.Product(c, g, c)
	return &out
}

// kernel returns K = A Aᵀ, and checks what Build promises of every sharing.
func kernel(t *testing.T, s sharing.Sharing, k int) *mat.SymDense {
	t.Helper()
	if s.Classes() != k || s.Rows() < 1 {
		t.Fatalf("a sharing of %d classes and %d rows, want %d classes", s.Classes(), s.Rows(), k)
	}
	if got := sharing.MeanEigenvalue(s); math.Abs(got-1) > 1e-9 {
		t.Errorf("mean eigenvalue %v, want 1", got)
	}
	g, err := sharing.Gram(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := mat.Trace(centred(g)) / float64(k-1); math.Abs(got-1) > 1e-6 {
		t.Errorf("tr(C K C)/(k-1) = %v, want 1", got)
	}
	return g
}

// scaledTo returns g times (k-1) / tr(C g C).
func scaledTo(g *mat.SymDense) *mat.SymDense {
	k := g.SymmetricDim()
	var out mat.SymDense
	out.ScaleSym(float64(k-1)/mat.Trace(centred(g)), g)
	return &out
}

// plus returns the sum of parts, each scaled first, and rho I, scaled.
func plus(rho float64, parts ...*mat.SymDense) *mat.SymDense {
	k := parts[0].SymmetricDim()
	sum := mat.NewSymDense(k, nil)
	for _, g := range parts {
		sum.AddSym(sum, scaledTo(g))
	}
	for c := range k {
		sum.SetSym(c, c, sum.At(c, c)+rho)
	}
	return scaledTo(sum)
}

// grams returns E Eᵀ of the names.
func grams(t *testing.T, labels []string) *mat.SymDense {
	t.Helper()
	e, err := feature.Names(labels)
	if err != nil {
		t.Fatal(err)
	}
	g := mat.NewSymDense(len(labels), nil)
	for a := range labels {
		for b := a; b < len(labels); b++ {
			g.SetSym(a, b, matrix.Dot(e, a, b))
		}
	}
	return g
}

// paths returns A Aᵀ of a tree by walking its paths.
func paths(tree *labeltree.Tree) *mat.SymDense {
	k := tree.Classes()
	g := mat.NewSymDense(k, nil)
	for a := range k {
		on := make(map[int]bool)
		for _, v := range tree.Path(a) {
			on[v] = true
		}
		for b := a; b < k; b++ {
			for _, v := range tree.Path(b) {
				if on[v] {
					g.SetSym(a, b, g.At(a, b)+tree.Length(v))
				}
			}
		}
	}
	return g
}

// slowMeans returns the positive part of C (M Mᵀ - diag v) C in float64.
func slowMeans(x matrix.Matrix, class []int32, k int) *mat.SymDense {
	mean := mat.NewDense(k, x.Cols(), nil)
	row := func(i int) []float64 {
		out := make([]float64, x.Cols())
		switch x := x.(type) {
		case *matrix.Sparse:
			index, value := x.Row(i)
			for n, j := range index {
				out[j] = float64(value[n])
			}
		case *matrix.Dense:
			for j, v := range x.Row(i) {
				out[j] = float64(v)
			}
		}
		return out
	}
	count := make([]float64, k)
	for i, c := range class {
		count[c]++
		for j, v := range row(i) {
			mean.Set(int(c), j, mean.At(int(c), j)+v)
		}
	}
	for c := range k {
		for j := range x.Cols() {
			mean.Set(c, j, mean.At(c, j)/count[c])
		}
	}
	noise := make([]float64, k)
	for i, c := range class {
		if n := count[c]; n > 1 {
			for j, v := range row(i) {
				d := v - mean.At(int(c), j)
				noise[c] += d * d / (n * (n - 1))
			}
		}
	}
	g := mat.NewSymDense(k, nil)
	g.SymOuterK(1, mean)
	for c := range k {
		g.SetSym(c, c, g.At(c, c)-noise[c])
	}
	var eigen mat.EigenSym
	sym := mat.NewSymDense(k, nil)
	for a, dense := 0, centred(g); a < k; a++ {
		for b := a; b < k; b++ {
			sym.SetSym(a, b, dense.At(a, b))
		}
	}
	eigen.Factorize(sym, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := mat.NewSymDense(k, nil)
	for j, v := range eigen.Values(nil) {
		if v > 1e-10 {
			out.SymRankOne(out, v, vectors.ColView(j))
		}
	}
	return out
}

func requireEqual(t *testing.T, got, want mat.Symmetric, tolerance float64) {
	t.Helper()
	var diff mat.Dense
	diff.Sub(got, want)
	if worst := mat.Max(&diff) - mat.Min(&diff); worst > tolerance {
		t.Errorf("K is off by %g:\n%v\nwant\n%v", worst, mat.Formatted(got), mat.Formatted(want))
	}
}

// K of every specification against the formulas, number by number.
func TestKernels(t *testing.T) {
	c := bank(t)
	k := len(c.Labels)
	tree := func(source Source) *mat.SymDense {
		tree, err := BuildTree(source, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return paths(tree)
	}
	identity := mat.NewSymDense(k, nil)
	for i := range k {
		identity.SetSym(i, i, 1)
	}
	names, means := grams(t, c.Labels), slowMeans(c.X, c.Class, k)
	for _, tc := range []struct {
		spec string
		opts Options
		want *mat.SymDense
		tree bool
	}{
		{"none", Options{}, identity, false},
		{"names", Options{}, plus(0.1, names), false},
		{"names", Options{Rho: 2}, plus(2, names), false},
		{"means", Options{}, plus(0.3, means), false},
		{"taxonomy", Options{}, plus(0, tree(Taxonomy)), true},
		{"v-tree", Options{}, plus(0, tree(VTree)), true},
		{"u-tree", Options{}, plus(0, tree(UTree)), true},
		{"linkage", Options{}, plus(0, tree(Linkage)), true},
		{"names+means", Options{}, plus(0.4, names, means), false},
		{"names+means", Options{Rho: 0.5}, plus(1, names, means), false},
		{"names+taxonomy", Options{}, plus(0.1, names, tree(Taxonomy)), true},
		{"v-tree+u-tree+linkage", Options{}, plus(0, tree(VTree), tree(UTree), tree(Linkage)), true},
		{"names+means+taxonomy+linkage", Options{}, plus(0.4, names, means, tree(Taxonomy), tree(Linkage)), true},
	} {
		t.Run(fmt.Sprintf("%s/rho=%v", tc.spec, tc.opts.Rho), func(t *testing.T) {
			spec, err := ParseSpec(tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			s, tree, err := Build(spec, c, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, kernel(t, s, k), tc.want, 1e-5) // features are float32
			if (tree != nil) != tc.tree {
				t.Errorf("tree %v, want one: %v", tree, tc.tree)
			}
		})
	}
}

// names+means is K = G_n/2 + G_m/2 + 0.2 I but for the scale.
func TestNamesAndMeansByTheBook(t *testing.T) {
	c := bank(t)
	s, _, err := Build(Spec{Names, Means}, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(len(c.Labels), nil)
	for _, g := range []*mat.SymDense{grams(t, c.Labels), slowMeans(c.X, c.Class, len(c.Labels))} {
		var half mat.SymDense
		half.ScaleSym(0.5, scaledTo(g))
		want.AddSym(want, &half)
	}
	for i := range c.Labels {
		want.SetSym(i, i, want.At(i, i)+0.2)
	}
	requireEqual(t, kernel(t, s, len(c.Labels)), scaledTo(want), 1e-5)
}

func TestFewClasses(t *testing.T) {
	for _, labels := range [][]string{nil, {"one"}, {"one", "two"}, {"👍", "👎"}} {
		k := len(labels)
		x, class := randomExamples(max(k, 1), 20, 4)
		for _, source := range []Source{None, Names, Means, UTree, VTree, Linkage} {
			s, _, err := Build(Spec{source}, Info{Labels: labels, X: x, Class: class}, Options{})
			if err != nil {
				t.Errorf("%d classes, %s: %v", k, source, err)
				continue
			}
			if k > 1 {
				kernel(t, s, k)
			} else if s != (sharing.None{K: k}) {
				t.Errorf("%d classes, %s: sharing %v, want none", k, source, s)
			}
		}
	}
	if s, _, err := Build(nil, Info{Labels: []string{"a", "b"}}, Options{}); s != (sharing.None{K: 2}) || err != nil {
		t.Errorf("an empty specification: %v, %v", s, err)
	}
}

// Classes whose names look the same must still differ in every sharing.
func TestNamesThatLookTheSame(t *testing.T) {
	labels := []string{"card_lost", "cardLost", "Card Lost", "transfer", "top up"}
	for _, source := range []Source{Names, UTree, VTree, Linkage} {
		t.Run(string(source), func(t *testing.T) {
			s, _, err := Build(Spec{source}, Info{Labels: labels}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var eigen mat.EigenSym
			if !eigen.Factorize(kernel(t, s, len(labels)), false) {
				t.Fatal("no eigenvalues")
			}
			if least := eigen.Values(nil)[0]; least < 1e-3 {
				t.Errorf("the least eigenvalue of K is %v: classes without parameters of their own", least)
			}
		})
	}
	same := Info{Labels: []string{"card_lost", "cardLost"}}
	for _, source := range []Source{Names, Linkage} {
		if _, _, err := Build(Spec{source}, same, Options{}); err == nil || !strings.Contains(err.Error(), "sharing "+string(source)) || !strings.Contains(err.Error(), "nothing tells them apart") {
			t.Errorf("%s of two equal names: error %v", source, err)
		}
	}
}

func TestNamesWithoutLetters(t *testing.T) {
	for _, tc := range []struct {
		name   string
		labels []string
	}{
		{"emoji share nothing", []string{"❤", "😂", "🔥", "👩\u200d💻"}},
		{"digits", []string{"100", "101", "200", "7"}},
		{"signs", []string{"+", "-", "?", "_"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, source := range []Source{Names, UTree, VTree, Linkage} {
				s, _, err := Build(Spec{source}, Info{Labels: tc.labels}, Options{})
				if err != nil {
					t.Fatalf("%s: %v", source, err)
				}
				kernel(t, s, len(tc.labels))
			}
		})
	}
	if _, _, err := Build(Spec{Names}, Info{Labels: []string{"a", "b", " "}}, Options{}); err != nil {
		t.Errorf("one blank name: %v", err)
	}
	s, _, err := Build(Spec{Names}, Info{Labels: []string{"❤", "😂", "🔥"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if k := kernel(t, s, 3); math.Abs(k.At(0, 1)) > 1e-9 {
		t.Errorf("two emoji share %v, want nothing", k.At(0, 1))
	}
}

func TestErrors(t *testing.T) {
	c := bank(t)
	bare := Info{Labels: c.Labels}
	short := c
	short.Class = c.Class[:3]
	beyond := c
	beyond.Class = append([]int32{9}, c.Class[1:]...)
	other := c
	other.Labels = c.Labels[:4]
	build := func(c Info, source Source, opts Options) error {
		_, _, err := Build(Spec{source}, c, opts)
		return err
	}
	space := func(c Info, source Source) error { _, err := Metric(source, c); return err }
	tree := func(source Source) error { _, err := BuildTree(source, c, Options{}); return err }
	for _, tc := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"no taxonomy", build(bare, Taxonomy, Options{}), ErrMissing, "give one with Options.Taxonomy"},
		{"no examples", build(bare, Means, Options{}), ErrMissing, "give some"},
		{"no taxonomy for a metric", space(bare, Taxonomy), ErrMissing, "metric taxonomy: no tree over the classes, give one with Options.Taxonomy"},
		{"no examples for a metric", space(bare, Means), ErrMissing, "metric means: no examples of the classes, give some"},
		{"no examples for a v-tree", build(bare, VTree, Options{From: Means}), ErrMissing, "no examples of the classes"},
		{"no metric from a tree", space(c, VTree), ErrSpec, `no metric from "v-tree", want one of names, vectors, taxonomy, distances, weights, means`},
		{"names are no tree", tree(Names), ErrSpec, `"names" is no tree, want taxonomy, u-tree, v-tree, linkage`},
		{"unknown source", build(c, "words", Options{}), ErrSpec, `"words" is no tree`},
		{"blank names", build(Info{Labels: []string{"", " "}}, Names, Options{}), nil, "all of the 2 class names are blank"},
		{"blank names for a metric", space(Info{Labels: []string{"", " "}}, ""), nil, "blank"},
		{"taxonomy of other classes", build(other, Taxonomy, Options{}), nil, "a tree of 6 classes, want one of the 4 labels"},
		{"fewer classes of rows than rows", build(short, Means, Options{}), nil, "24 rows and classes of 3 rows"},
		{"a class that is none", space(beyond, Means), nil, "row 0 is of class 9, want -1 to 5"},
		{"negative rho", build(c, Names, Options{Rho: -1}), nil, "Rho is -1"},
		{"Rho is NaN", build(c, Names, Options{Rho: math.NaN()}), nil, "Rho is NaN"},
		{"base 1", build(c, VTree, Options{Base: 1}), nil, "Base"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) || tc.is != nil && !errors.Is(tc.err, tc.is) {
				t.Errorf("error %v, want one with %q", tc.err, tc.want)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	c := bank(t)
	e, err := feature.Names(c.Labels)
	if err != nil {
		t.Fatal(err)
	}
	means := ClassMeans(c.X, c.Class, len(c.Labels))
	for _, tc := range []struct {
		source Source
		want   func(a, b int) float64
	}{
		{"", func(a, b int) float64 { return math.Acos(matrix.Cosine(e, a, b)) }},
		{Names, func(a, b int) float64 { return math.Acos(matrix.Cosine(e, a, b)) }},
		{Means, func(a, b int) float64 { return math.Acos(matrix.Cosine(means, a, b)) }},
		{Taxonomy, func(a, b int) float64 { // up to the root of six classes or to one of two groups
			if a/3 == b/3 {
				return 2
			}
			return 4
		}},
	} {
		space, err := Metric(tc.source, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := metric.Check(space); err != nil {
			t.Error(err)
		}
		for a := range c.Labels {
			for b := range c.Labels {
				if a != b && math.Abs(space.Distance(a, b)-tc.want(a, b)) > 1e-6 {
					t.Errorf("%q: distance of %d and %d is %v, want %v", tc.source, a, b, space.Distance(a, b), tc.want(a, b))
				}
			}
		}
	}
}

func TestTrees(t *testing.T) {
	c := bank(t)
	for _, source := range []Source{UTree, VTree, Linkage, Taxonomy} {
		for _, from := range []Source{"", Names, Means, Taxonomy} {
			tree, err := BuildTree(source, c, Options{From: from, Base: 2, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil || tree.Classes() != len(c.Labels) {
				t.Errorf("%s from %q: %d classes, %v", source, from, tree.Classes(), err)
			}
			if source == UTree && tree.Len() != len(c.Labels) || source == Taxonomy && tree != c.Taxonomy {
				t.Errorf("%s has %d nodes", source, tree.Len())
			}
		}
	}
}

// What class names tell: which of the others look most alike.
func ExampleMetric() {
	labels := []string{"card_arrival", "cardDelivery", "lost-card", "top_up_failed", "topUpFee", "transferFee"}
	space, err := Metric(Names, Info{Labels: labels})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, label := range labels {
		nearest := (i + 1) % len(labels)
		for j := range labels {
			if j != i && space.Distance(i, j) < space.Distance(i, nearest) {
				nearest = j
			}
		}
		fmt.Printf("%s: %s, cosine %.2f\n", label, labels[nearest], math.Cos(space.Distance(i, nearest)))
	}
	// Output:
	// card_arrival: lost-card, cosine 0.28
	// cardDelivery: lost-card, cosine 0.25
	// lost-card: card_arrival, cosine 0.28
	// top_up_failed: topUpFee, cosine 0.52
	// topUpFee: top_up_failed, cosine 0.52
	// transferFee: topUpFee, cosine 0.31
}

// Vectors enter as rows of length 1, whatever their own; a row of zeros shares
// with none.
func TestVectors(t *testing.T) {
	v := &matrix.Dense{Columns: 2, Data: []float32{3, 0, 1, 1, 0, 0, -2, 0}}
	c := Info{Labels: []string{"a", "b", "c", "d"}, Vectors: v}
	s, _, err := Build(Spec{Vectors}, c, Options{Rho: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	gram, err := sharing.Gram(s)
	if err != nil {
		t.Fatal(err)
	}
	scale := gram.At(0, 1) / math.Sqrt(0.5) // of the cosines
	want := [4][4]float64{{1, math.Sqrt(0.5), 0, -1}, {math.Sqrt(0.5), 1, 0, -math.Sqrt(0.5)}, {}, {-1, -math.Sqrt(0.5), 0, 1}}
	own := gram.At(2, 2)
	for i := range 4 {
		for j := range 4 {
			w := scale * want[i][j]
			if i == j {
				w += own
			}
			if math.Abs(gram.At(i, j)-w) > 1e-6 {
				t.Errorf("K[%d,%d] is %v, want %v", i, j, gram.At(i, j), w)
			}
		}
	}
	space, err := Metric("", c)
	if err != nil {
		t.Fatal(err)
	}
	if d := space.Distance(0, 3); math.Abs(d-math.Pi) > 1e-6 {
		t.Errorf("opposite vectors are %v apart, want pi", d)
	}
	for _, bad := range []Info{{Labels: c.Labels}, {Labels: c.Labels[:3], Vectors: v}} {
		if _, _, err := Build(Spec{Vectors}, bad, Options{}); err == nil {
			t.Error("missing or too many vectors were taken")
		}
	}
}
