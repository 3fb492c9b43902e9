package sharing

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
)

func TestGram(t *testing.T) {
	for _, tc := range allSharings(t, 2, 11) {
		gram, err := Gram(tc.s)
		if err != nil {
			t.Fatal(err)
		}
		a := denseMatrix(tc.s)
		var want mat.Dense
		want.Mul(a, a.T())
		if !mat.EqualApprox(gram, &want, 1e-10) {
			t.Errorf("%s: Gram differs from A Aᵀ", tc.name)
		}
	}
	if _, err := Gram(None{K: maxDense + 1}); err == nil || !strings.Contains(err.Error(), "12801 classes") {
		t.Errorf("Gram of 12,801 classes: %v, want a refusal", err)
	}
}

// Of a weighted tree by linkage K_ij is H² - h_ij², h_ij the height at which i
// and j are joined.
func TestGramOfLinkageIsDecreasingInDistance(t *testing.T) {
	tree := parseTree(t, "((a:1,b:1)ab:3,c:4)abc:0;") // heights 1 and 2
	gram, err := Gram(NewTree(tree))
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(3, []float64{4, 3, 0, 3, 4, 0, 0, 0, 4})
	if !mat.EqualApprox(gram, want, 1e-12) {
		t.Errorf("K = %v, want %v", mat.Formatted(gram), mat.Formatted(want))
	}
}

func TestCompact(t *testing.T) {
	for _, k := range []int{2, 5, 30} {
		for _, tc := range allSharings(t, uint64(k), k) {
			c, err := Compact(tc.s)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			if tc.s.Rows() < 2*k && c != tc.s {
				t.Errorf("%s: %d rows are few, want it as it is", tc.name, tc.s.Rows())
			}
			if c.Classes() != k || c.Rows() >= 2*k {
				t.Errorf("%s: %d classes and %d rows, want %d and at most %d", tc.name, c.Classes(), c.Rows(), k, 2*k-1)
			}
			sameGram(t, tc.name, c, tc.s)
		}
	}
}

func sameGram(t *testing.T, name string, a, b Sharing) {
	t.Helper()
	ka, err := Gram(a)
	if err != nil {
		t.Fatal(err)
	}
	kb, err := Gram(b)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(ka, kb, 1e-9) {
		t.Errorf("%s: K changed", name)
	}
}

func TestCompactSingular(t *testing.T) {
	rng := newRand(11)
	// 12 classes in 4 groups of equal features: rank 4.
	e := &matrix.Sparse{Columns: 40}
	var groups []*matrix.Sparse
	for range 4 {
		groups = append(groups, randomFeatures(t, rng, 1, 40, false).E)
	}
	for c := range 12 {
		e.AppendRow(groups[c%4].Row(0))
	}
	s, err := NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compact(s)
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows() != 4 {
		t.Errorf("%d rows, want the rank, 4", c.Rows())
	}
	sameGram(t, "4 groups", c, s)

	empty := &matrix.Sparse{Columns: 10}
	for range 3 {
		empty.AppendRow(nil, nil)
	}
	nothing, err := NewFeatures(empty)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Compact(nothing); err != nil {
		t.Fatal(err)
	}
	if c.Rows() != 1 {
		t.Errorf("no features at all: %d rows, want 1", c.Rows())
	}
	sameGram(t, "no features", c, nothing)
}

func TestCompactRefusals(t *testing.T) {
	bad := &Dense{K: 2, M: 4, A: []float64{1, 2, 3, 4, math.NaN(), 6, 7, 8}}
	if _, err := Compact(bad); err == nil {
		t.Error("NaN features were made compact")
	}
	many := &Dense{K: maxCompact + 1, M: 2 * (maxCompact + 1)}
	if c, err := Compact(many); err != nil || c != Sharing(many) {
		t.Errorf("Compact of %d classes: %T, %v, want it as it is", many.K, c, err)
	}
}
