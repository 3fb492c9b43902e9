package sharing

import (
	"fmt"
	"math"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

func TestOperatorAgainstDenseMatrix(t *testing.T) {
	for seed, k := range []int{2, 3, 7, 20} {
		for _, tc := range allSharings(t, uint64(seed), k) {
			for _, cols := range []int{1, 4, 7} {
				t.Run(fmt.Sprintf("%s/k=%d/cols=%d", tc.name, k, cols), func(t *testing.T) {
					againstDense[float64](t, tc.s, cols, 1e-10)
					againstDense[float32](t, tc.s, cols, 1e-5)
				})
			}
		}
	}
}

// againstDense compares Expand, Pull and Kernel with products of the matrix
// written out, starting from results full of rubbish, and twice, so that what
// a call leaves in the operator's memory cannot matter.
func againstDense[T matrix.Float](t *testing.T, s Sharing, cols int, tolerance float64) {
	t.Helper()
	rng := newRand(9)
	a := denseMatrix(s)
	k, m := a.Dims()
	if k != s.Classes() || m != s.Rows() {
		t.Fatalf("A is %d x %d, Classes and Rows say %d and %d", k, m, s.Classes(), s.Rows())
	}
	op := NewOperator[T](s)
	for range 2 {
		v, g := randomNumbers[T](rng, m*cols), randomNumbers[T](rng, k*cols)
		vDense, gDense := toDense(v, m, cols), toDense(g, k, cols)
		w, pulled, w2 := rubbish[T](k*cols), rubbish[T](m*cols), rubbish[T](k*cols)
		op.Expand(w, v, cols)
		op.Pull(pulled, g, cols)
		op.Kernel(w2, g, cols)
		if d := difference(w, product(a, vDense)); d > tolerance {
			t.Errorf("%T: Expand differs from A v by %g", *op, d)
		}
		pullWant := product(a.T(), gDense)
		if d := difference(pulled, pullWant); d > tolerance {
			t.Errorf("%T: Pull differs from Aᵀ g by %g", *op, d)
		}
		if d := difference(w2, product(a, pullWant)); d > tolerance {
			t.Errorf("%T: Kernel differs from A Aᵀ g by %g", *op, d)
		}
	}
}

func rubbish[T matrix.Float](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(math.NaN())
	}
	return x
}

// Pull is the adjoint of Expand: <A v, g> = <v, Aᵀ g>.
func TestPullIsAdjointOfExpand(t *testing.T) {
	rng := newRand(3)
	for _, tc := range allSharings(t, 5, 13) {
		k, m, cols := tc.s.Classes(), tc.s.Rows(), 3
		op := NewOperator[float64](tc.s)
		v, g := randomNumbers[float64](rng, m*cols), randomNumbers[float64](rng, k*cols)
		av, atg := make([]float64, k*cols), make([]float64, m*cols)
		op.Expand(av, v, cols)
		op.Pull(atg, g, cols)
		if left, right := dot(av, g), dot(v, atg); math.Abs(left-right) > 1e-10*(1+math.Abs(left)) {
			t.Errorf("%s: <A v, g> = %v, <v, Aᵀ g> = %v", tc.name, left, right)
		}
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func TestOperatorDoesNotAllocate(t *testing.T) {
	for _, tc := range allSharings(t, 1, 12) {
		op := NewOperator[float32](tc.s)
		v, w, g := make([]float32, tc.s.Rows()*2), make([]float32, 24), make([]float32, 24)
		n := testing.AllocsPerRun(3, func() {
			op.Expand(w, v, 2)
			op.Pull(v, w, 2)
			op.Kernel(g, w, 2)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a call, want 0", tc.name, n)
		}
	}
}

// A pointer to None has the methods of None: it must not mean anything else.
func TestPointerToNone(t *testing.T) {
	op := NewOperator[float64](&None{K: 2})
	w := make([]float64, 2)
	op.Kernel(w, []float64{3, 4}, 1)
	if w[0] != 3 || w[1] != 4 {
		t.Errorf("Kernel of *None: %v, want [3 4]", w)
	}
	if err := op.MinNorm(w, []float64{5, 6}, 1); err != nil || w[0] != 5 || w[1] != 6 {
		t.Errorf("MinNorm of *None: %v, %v, want [5 6]", w, err)
	}
	if got := MeanEigenvalue(&None{K: 2}); got != 1 {
		t.Errorf("MeanEigenvalue of *None: %v, want 1", got)
	}
}

func TestOneClass(t *testing.T) {
	tree := parseTree(t, "only;")
	for _, s := range []Sharing{None{K: 1}, NewTree(tree), &Dense{K: 1, M: 1, A: []float64{1}}} {
		op := NewOperator[float64](s)
		w, v := []float64{0}, []float64{0}
		op.Expand(w, []float64{2}, 1)
		op.Kernel(v, w, 1)
		if w[0] != 2 || v[0] != 2 {
			t.Errorf("%T: A v = %v, K A v = %v, want 2 and 2", s, w, v)
		}
		if err := op.MinNorm(v, []float64{7}, 1); err != nil || math.Abs(v[0]-7) > 1e-12 {
			t.Errorf("%T: MinNorm = %v, %v, want 7", s, v, err)
		}
		if got := MeanEigenvalue(s); got != 0 {
			t.Errorf("%T: MeanEigenvalue = %v, want 0", s, got)
		}
		if n, err := Normalized(s); err != nil || n != s {
			t.Errorf("%T: Normalized = %v, %v, want it as it is", s, n, err)
		}
		if c, err := Compact(s); err != nil || c != s {
			t.Errorf("%T: Compact = %v, %v, want it as it is", s, c, err)
		}
	}
}

// On centred gradients the V-tree of a star is plain
// cross entropy, and a column that all classes share (the root) does nothing.
func TestStarIsNone(t *testing.T) {
	const k, cols = 9, 3
	rng := newRand(4)
	g := randomNumbers[float64](rng, k*cols)
	for j := range cols { // p - y sums to 0 over the classes
		var mean float64
		for c := range k {
			mean += g[c*cols+j] / k
		}
		for c := range k {
			g[c*cols+j] -= mean
		}
	}
	const length = 2.5
	tree, err := star(t, k).WithLengths([]float64{77, length, length, length, length, length, length, length, length, length})
	if err != nil {
		t.Fatal(err)
	}
	s := NewTree(tree)
	w, v := make([]float64, k*cols), make([]float64, (k+1)*cols)
	op := NewOperator[float64](s)
	op.Kernel(w, g, cols)
	for i := range w {
		if math.Abs(w[i]-length*g[i]) > 1e-12 {
			t.Fatalf("K g = %v, want %v times g = %v", w[i], length, g[i])
		}
	}
	op.Pull(v, g, cols)
	for j := range cols {
		if math.Abs(v[j]) > 1e-12 {
			t.Errorf("the root's gradient is %v, want 0", v[j])
		}
	}
	if got := MeanEigenvalue(s); math.Abs(got-length) > 1e-12 {
		t.Errorf("MeanEigenvalue = %v, want %v", got, length)
	}
	// A column of ones beside any A: K + c 11ᵀ acts as K.
	ones := &Dense{K: k, M: 1, A: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}}
	names := randomFeatures(t, rng, k, 30, false)
	plain, more := make([]float64, k*cols), make([]float64, k*cols)
	NewOperator[float64](names).Kernel(plain, g, cols)
	NewOperator[float64](mustSum(t, Part{1, names}, Part{100, ones})).Kernel(more, g, cols)
	for i := range plain {
		if math.Abs(plain[i]-more[i]) > 1e-9 {
			t.Fatalf("K g changed from %v to %v with a column that all classes share", plain[i], more[i])
		}
	}
}

// The U-tree of a star is not cross entropy: its centre is a class.
func TestStarUTreeIsNotNone(t *testing.T) {
	u := parseTree(t, "(b[&class=1],c[&class=2])a[&class=0];")
	w := make([]float64, 3)
	NewOperator[float64](NewTree(u)).Kernel(w, []float64{-1, 0.5, 0.5}, 1)
	// A = [1 0 0; 1 1 0; 1 0 1], so K g = A (0, 0.5, 0.5) = (0, 0.5, 0.5).
	for i, want := range []float64{0, 0.5, 0.5} {
		if w[i] != want {
			t.Errorf("K g [%d] = %v, want %v", i, w[i], want)
		}
	}
}

func TestLargeTree(t *testing.T) {
	const k = 100_000
	tree := NewTree(balanced(t, k))
	if m := tree.Rows(); m >= 2*k || m < k {
		t.Fatalf("%d nodes for %d classes", m, k)
	}
	s, err := Normalized(tree)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Compact(s); err != nil || c != s {
		t.Errorf("Compact made %T, %v of a tree, want it as it is", c, err)
	}
	rng := newRand(8)
	w := randomNumbers[float32](rng, k)
	v, back := make([]float32, s.Rows()), make([]float32, k)
	op := NewOperator[float32](s)
	if err := op.MinNorm(v, w, 1); err != nil {
		t.Fatal(err)
	}
	op.Expand(back, v, 1)
	for c := range w {
		if math.Abs(float64(back[c]-w[c])) > 1e-5 {
			t.Fatalf("class %d: A V = %v, W = %v", c, back[c], w[c])
		}
	}
	if nv, nw := frobenius(v)/math.Sqrt(MeanEigenvalue(tree)), frobenius(w); nv > nw {
		t.Errorf("norm of V %v above that of W %v", nv, nw)
	}
	op.Kernel(back, w, 1)
	// One entry by hand: K_0j is the length of the common path.
	var want float64
	scale := 1 / MeanEigenvalue(tree)
	path := map[int]bool{}
	for _, n := range tree.LabelTree().Path(0) {
		path[n] = true
	}
	for c := range k {
		for _, n := range tree.LabelTree().Path(c) {
			if path[n] {
				want += scale * float64(w[c])
			}
		}
	}
	if math.Abs(float64(back[0])-want) > 1e-3*(1+math.Abs(want)) {
		t.Errorf("K w [0] = %v, want %v", back[0], want)
	}
}
