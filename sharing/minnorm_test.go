package sharing

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

func TestMinNorm(t *testing.T) {
	for seed, k := range []int{2, 3, 8, 17} {
		for _, tc := range allSharings(t, uint64(seed)+20, k) {
			for _, cols := range []int{1, 5} {
				t.Run(fmt.Sprintf("%s/k=%d/cols=%d", tc.name, k, cols), func(t *testing.T) {
					if tc.singular {
						v := rubbish[float64](tc.s.Rows() * cols)
						err := NewOperator[float64](tc.s).MinNorm(v, make([]float64, k*cols), cols)
						if !errors.Is(err, ErrSingular) {
							t.Errorf("MinNorm: %v, want ErrSingular", err)
						}
						return
					}
					minNormAgainstDense[float64](t, tc.s, cols, 1e-10)
					minNormAgainstDense[float32](t, tc.s, cols, 1e-5)
				})
			}
		}
	}
}

// minNormAgainstDense compares MinNorm with the pseudo-inverse of A, found by
// another way: its singular values.
func minNormAgainstDense[T matrix.Float](t *testing.T, s Sharing, cols int, tolerance float64) {
	t.Helper()
	a := denseMatrix(s)
	k, m := a.Dims()
	op := NewOperator[T](s)
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	// Digits lost to the condition of A are not MinNorm's fault.
	if c := svd.Cond(); c > 10 {
		tolerance *= c * c / 100
	}
	for round := range 2 { // the second uses what the first kept
		w := randomNumbers[T](newRand(uint64(40+round)), k*cols)
		v := rubbish[T](m * cols)
		if err := op.MinNorm(v, w, cols); err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		svd.SolveTo(&want, toDense(w, k, cols), k)
		if d := difference(v, &want); d > tolerance {
			t.Errorf("%T: V differs from the pseudo-inverse's by %g", *op, d)
		}
		if d := difference(w, product(a, toDense(v, m, cols))); d > tolerance {
			t.Errorf("%T: A V differs from W by %g", *op, d)
		}
		var solved mat.Dense
		if err := solved.Solve(product(a, a.T()), toDense(w, k, cols)); err == nil {
			if d := difference(v, product(a.T(), &solved)); d > tolerance {
				t.Errorf("%T: V differs from Aᵀ K⁻¹ W by %g", *op, d)
			}
		}
	}
}

// The paper's Lemma 2 without its premises, for the V of least norm: on any
// tree with the root kept ‖V*‖ <= ‖U*‖ and ‖V*‖ <= ‖W‖.
func TestNormsOfTrees(t *testing.T) {
	const cols = 2
	strictly := 0
	for seed := range 1000 {
		rng := newRand(uint64(seed))
		k := 2 + rng.IntN(30)
		uTree, vTree := coverTrees(t, rng, k)
		w := randomNumbers[float64](rng, k*cols)
		if seed%3 == 0 { // alike classes, where trees help
			for i := range w {
				w[i] = 5 + w[i]/5
			}
		}
		norm := func(tree *labeltree.Tree) float64 {
			s := NewTree(tree)
			v := make([]float64, s.Rows()*cols)
			if err := NewOperator[float64](s).MinNorm(v, w, cols); err != nil {
				t.Fatal(err)
			}
			return frobenius(v)
		}
		u, v, plain := norm(uTree), norm(vTree), frobenius(w)
		if v > u*(1+1e-12) || v > plain*(1+1e-12) {
			t.Errorf("seed %d, k=%d: ‖V*‖ = %v, ‖U*‖ = %v, ‖W‖ = %v", seed, k, v, u, plain)
		}
		if v < 0.99*min(u, plain) {
			strictly++
		}
	}
	if strictly < 500 {
		t.Errorf("V* is shorter than U* and W in %d of 1000 trees only; are U and V trees the same?", strictly)
	}
}

// A U-tree has as many nodes as classes: u_i = w_i - w_parent(i), and u_root =
// w_root (the paper prints the other sign).
func TestMinNormOfUTree(t *testing.T) {
	rng := newRand(2)
	u, _ := coverTrees(t, rng, 25)
	w, v := randomNumbers[float64](rng, 25), make([]float64, 25)
	if err := NewOperator[float64](NewTree(u)).MinNorm(v, w, 1); err != nil {
		t.Fatal(err)
	}
	for n := range v {
		want := w[u.Class(n)]
		if p := u.Parent(n); p >= 0 {
			want -= w[u.Class(p)]
		}
		if math.Abs(v[n]-want) > 1e-12 {
			t.Errorf("node %d: %v, want %v", n, v[n], want)
		}
	}
}

func TestMinNormSingular(t *testing.T) {
	features := func(rows ...[]float32) Sharing {
		e := &matrix.Sparse{Columns: len(rows[0])}
		for _, r := range rows {
			var index []int32
			for j := range r {
				index = append(index, int32(j))
			}
			e.AppendRow(index, r)
		}
		s, err := NewFeatures(e)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tc := range []struct {
		name     string
		s        Sharing
		singular bool
	}{
		{"two leaves at distance 0", NewTree(parseTree(t, "(a:0,b:0,c:1)r:1;")), true},
		{"two leaves at distance 0 through pseudoclasses", NewTree(parseTree(t, "((a:0,b:1)x:0,(c:0,d:1)y:0)r:1;")), true},
		{"a class at distance 0 from the class above", NewTree(parseTree(t, "(b[&class=1]:0)a[&class=0]:1;")), true},
		{"the same through a pseudoclass", NewTree(parseTree(t, "((b[&class=1]:0,c[&class=2]:1)x:0)a[&class=0]:1;")), true},
		{"a leaf at the root, which has no length", NewTree(parseTree(t, "(a:0,b:1)r:0;")), true},
		{"a class on a root without length", NewTree(parseTree(t, "(b[&class=1]:1)a[&class=0]:0;")), true},
		{"one class without length", NewTree(parseTree(t, "a:0;")), true},
		{"scaled tree", mustSum(t, Part{2, NewTree(parseTree(t, "(a:0,b:0,c:1)r:1;"))}), true},
		{"one leaf at the root, which has a length", NewTree(parseTree(t, "(a:0,b:1)r:1;")), false},
		{"pseudoclasses at distance 0", NewTree(parseTree(t, "((a:1,b:1)x:0,(c:1,d:1)y:0)r:0;")), false},
		{"a leaf at the place of its pseudoclass", NewTree(parseTree(t, "((a:0,b:1)x:1,c:1)r:1;")), false},
		{"a chain of single children", NewTree(parseTree(t, "(((a:1)x:0)y:2,b:1)r:1;")), false},
		{"duplicate features", features([]float32{1, 2, 3}, []float32{1, 2, 3}), true},
		{"a multiple", features([]float32{0.1, 0.2, 0.3}, []float32{0.3, 0.6, 0.9}, []float32{1, 0, 0}), true},
		{"a row of zeros", features([]float32{0, 0}, []float32{1, 0}), true},
		{"rows of very different size", features([]float32{1e-12, 0}, []float32{0, 1e12}), false},
		{"factor 0", mustSum(t, Part{0, None{K: 2}}), true},
		{"a NaN", &Dense{K: 2, M: 2, A: []float64{1, 0, math.NaN(), 1}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := tc.s.Classes()
			w := randomNumbers[float64](newRand(6), k)
			v := make([]float64, tc.s.Rows())
			op := NewOperator[float64](tc.s)
			for range 2 { // the error stays
				err := op.MinNorm(v, w, 1)
				if errors.Is(err, ErrSingular) != tc.singular || err != nil && !tc.singular {
					t.Fatalf("MinNorm: %v, want singular %v", err, tc.singular)
				}
			}
			if !tc.singular {
				minNormAgainstDense[float64](t, tc.s, 2, 1e-10)
			}
		})
	}
}

func TestMinNormRefusesManyClasses(t *testing.T) {
	e := &matrix.Sparse{Columns: 1}
	for range maxDense + 1 {
		e.AppendRow([]int32{0}, []float32{1})
	}
	s, err := NewFeatures(e)
	if err != nil {
		t.Fatal(err)
	}
	err = NewOperator[float32](s).MinNorm(make([]float32, 1), make([]float32, maxDense+1), 1)
	if err == nil || errors.Is(err, ErrSingular) {
		t.Errorf("MinNorm of 12,801 classes: %v, want a refusal that says so", err)
	}
}

// FuzzMinNormTree gives a tree lengths of any size: A V = W with V of least
// norm, or ErrSingular.
func FuzzMinNormTree(f *testing.F) {
	f.Add(uint64(1), []byte{1, 2, 3, 0, 0, 4})
	f.Add(uint64(2), []byte{0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint64(3), []byte{255, 1, 255, 1, 255, 1, 255, 1})
	f.Fuzz(func(t *testing.T, seed uint64, size []byte) {
		rng := newRand(seed)
		u, v := coverTrees(t, rng, 2+rng.IntN(12))
		for _, tree := range []*labeltree.Tree{u, v} {
			length := make([]float64, tree.Len())
			for n := range length {
				length[n] = 1
				if len(size) > 0 {
					if b := size[n%len(size)]; b == 0 {
						length[n] = 0
					} else {
						length[n] = math.Exp2(float64(b)/8 - 16) // 2⁻¹⁶ .. 2¹⁶
					}
				}
			}
			tree, err := tree.WithLengths(length)
			if err != nil {
				t.Fatal(err)
			}
			s := NewTree(tree)
			w := randomNumbers[float64](rng, s.Classes())
			least, back := make([]float64, s.Rows()), make([]float64, s.Classes())
			op := NewOperator[float64](s)
			if err := op.MinNorm(least, w, 1); err != nil {
				if !errors.Is(err, ErrSingular) {
					t.Fatal(err)
				}
				continue
			}
			op.Expand(back, least, 1)
			for c := range w {
				if !(math.Abs(back[c]-w[c]) <= 1e-9) {
					t.Fatalf("class %d: A V = %v, W = %v", c, back[c], w[c])
				}
			}
			if err := leastNorm(s, least); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// leastNorm returns an error if v is not orthogonal to what A kills: a step of
// a pseudoclass that its children take back. That is, v/coef of a pseudoclass
// must be the sum of v/coef of its children.
func leastNorm(s *Tree, v []float64) error {
	for n := range v {
		if s.LabelTree().Class(n) >= 0 || s.coef[n] == 0 {
			continue
		}
		sum, size := v[n]/s.coef[n], math.Abs(v[n]/s.coef[n])
		for _, c := range s.LabelTree().Children(n) {
			if s.coef[c] == 0 { // the step cannot be taken back
				sum, size = 0, 0
				break
			}
			sum -= v[c] / s.coef[c]
			// v is the difference of two places near 1, over coef.
			size += math.Abs(v[c]/s.coef[c]) + 1e-7/(s.coef[c]*s.coef[c])
		}
		if math.Abs(sum) > 1e-6*size {
			return fmt.Errorf("node %d: v/coef is off by %v of %v from the sum of its children", n, sum, size)
		}
	}
	return nil
}
