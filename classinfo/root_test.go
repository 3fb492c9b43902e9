package classinfo

import (
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// withoutSome returns seven classes, of which "bus", "pseudo2" and "zoo" have no
// vector. One of these is called as a pseudoclass is.
func withoutSome() Info {
	v := matrix.NewDense(7, 3)
	for c, row := range map[int][]float32{1: {1, 0.1, 0}, 2: {1, 0, 0}, 4: {0, 1, 0.2}, 5: {0, 1, 0}} {
		copy(v.Row(c), row)
	}
	return Info{Labels: []string{"bus", "cat", "dog", "pseudo2", "rose", "tulip", "zoo"}, Vectors: v}
}

// A class without a vector hangs right below the root, and the others have the
// tree that they would have alone.
func TestClassesWithoutVectorHangAtTheRoot(t *testing.T) {
	c := withoutSome()
	have := []int{1, 2, 4, 5}
	alone := Info{Labels: []string{"cat", "dog", "rose", "tulip"}, Vectors: c.Vectors.Select(have).(*matrix.Dense)}
	for _, source := range []Source{UTree, VTree, Linkage} {
		for _, from := range []Source{"", Vectors} {
			tree, err := BuildTree(source, c, Options{From: from, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil {
				t.Errorf("%s: %v", source, err)
			}
			if !slices.Equal(tree.Labels(), c.Labels) {
				t.Errorf("%s: classes %v", source, tree.Labels())
			}
			for _, class := range []int{0, 3, 6} {
				if v := tree.Node(class); tree.Parent(v) != 0 || !tree.IsLeaf(v) {
					t.Errorf("%s: %s is not a leaf below the root", source, c.Labels[class])
				}
			}
			part, err := BuildTree(source, alone, Options{From: Vectors, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			d, want := treetest.LengthDistance(tree), treetest.LengthDistance(part)
			for i, a := range have {
				for j, b := range have {
					if got := d.Distance(a, b); got != want.Distance(i, j) {
						t.Errorf("%s: %s and %s are %v apart, alone %v", source, c.Labels[a], c.Labels[b], got, want.Distance(i, j))
					}
				}
			}
		}
	}
}

// Classes without a vector share with none, and are worth as much as others.
func TestClassesWithoutVectorShareNothing(t *testing.T) {
	c := withoutSome()
	for _, spec := range []Spec{{Vectors}, {Linkage}, {VTree}} {
		s, _, err := Build(spec, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := kernelOf(t, s)
		for _, class := range []int{0, 3, 6} {
			for other := range c.Labels {
				if other != class && g(class, other) != g(0, 1) {
					t.Errorf("%v: %s shares %v with %s, %v is what all share", spec, c.Labels[class], g(class, other), c.Labels[other], g(0, 1))
				}
			}
		}
		if g(1, 2) <= g(0, 1) {
			t.Errorf("%v: cat shares %v with dog, no more than with bus", spec, g(1, 2))
		}
	}
}

func kernelOf(t *testing.T, s sharing.Sharing) func(a, b int) float64 {
	t.Helper()
	g, err := sharing.Gram(s)
	if err != nil {
		t.Fatal(err)
	}
	return g.At
}

func TestFewClassesWithVector(t *testing.T) {
	for _, tc := range []struct {
		name string
		have int // classes with a vector, all the same
		want string
	}{{"none", 0, "none of the 4 classes"}, {"one", 1, ""}, {"two alike", 2, ""}} {
		for _, source := range []Source{UTree, VTree, Linkage} {
			c := Info{Labels: []string{"a", "b", "root", "root_"}, Vectors: matrix.NewDense(4, 2)}
			for i := range tc.have {
				c.Vectors.Row(i)[0] = 1
			}
			tree, err := BuildTree(source, c, Options{})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s, %s: error %v, want one with %q", tc.name, source, err, tc.want)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil || !slices.Equal(tree.Labels(), c.Labels) {
				t.Errorf("%s, %s: classes %v, %v", tc.name, source, tree.Labels(), err)
			}
			if _, _, err := Build(Spec{source}, c, Options{}); err != nil {
				t.Errorf("%s, %s: %v", tc.name, source, err)
			}
		}
	}
}
