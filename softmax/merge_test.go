package softmax

import (
	"context"
	"math"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

func TestMergeFeatures(t *testing.T) {
	x := &matrix.Sparse{Columns: 9}
	// 0 and 3 are equal, 1 is of the first row alone as are 4 and 5, 2 differs from 6
	// in one number, 7 is nowhere, 8 has the rows of 2.
	x.AppendRow([]int32{0, 1, 3, 4, 5}, []float32{2, 1, 2, 2, 2})
	x.AppendRow([]int32{0, 2, 3, 6, 8}, []float32{1, 4, 1, 4, 9})
	x.AppendRow([]int32{2, 6, 8}, []float32{5, 6, 5})
	small, m := mergeFeatures(x)
	if m == nil || small.Columns != 5 {
		t.Fatalf("%d features, want 5: %+v", small.Columns, m)
	}
	if err := small.Check(); err != nil {
		t.Fatal(err)
	}
	same := func(a, b int) bool { return m.of[a] == m.of[b] }
	if !same(0, 3) || !same(1, 4) || !same(1, 5) || same(0, 1) || same(2, 6) || same(2, 8) || m.of[7] != -1 {
		t.Errorf("merged into %v", m.of)
	}
	for i := range x.Rows() {
		if a, b := x.SquaredNorm(i), small.SquaredNorm(i); math.Abs(a-b) > 1e-5*a {
			t.Errorf("row %d: squared length %v, was %v", i, b, a)
		}
		index, value := x.Row(i) // X = X' Qᵀ
		at, merged := small.Row(i)
		for n, f := range index {
			var v float64
			for j, g := range at {
				if of, factor := m.place(int(f)); of == int(g) {
					v += factor * float64(merged[j])
				}
			}
			if math.Abs(v-float64(value[n])) > 1e-6 {
				t.Errorf("row %d, feature %d: %v, want %v", i, f, v, value[n])
			}
		}
	}
	x = &matrix.Sparse{Columns: 2}
	x.AppendRow([]int32{0, 1}, []float32{1, 2})
	x.AppendRow([]int32{0, 1}, []float32{2, 1})
	if same, m := mergeFeatures(x); m != nil || same != x {
		t.Error("two features that differ were merged")
	}
}

// doubled gives each feature of sparse examples twice, and each example one of its own.
func doubled(ex Examples) Examples {
	x := ex.X.(*matrix.Sparse)
	double := &matrix.Sparse{Columns: 2*x.Columns + x.Rows()}
	for i := range x.Rows() {
		index, value := x.Row(i)
		var at []int32
		var v []float32
		for n, f := range index {
			at = append(at, 2*f, 2*f+1)
			v = append(v, value[n], value[n])
		}
		double.AppendRow(append(at, int32(2*x.Columns+i)), append(v, 0.5))
	}
	ex.X = double
	return ex
}

// Features given twice are weights halved, whatever the solver.
func TestMergedFeaturesHaveTheSameScores(t *testing.T) {
	once := texts(3, 300, 100, 6)
	x := once.X.(*matrix.Sparse)
	twice := doubled(once)
	if bytes := ConvergeBytes(twice.X, 6, Options{}); bytes != 4*6*(2*500+300) {
		t.Errorf("%v bytes", bytes)
	}
	if dualPays(twice, dualOptions(t, 6, Options{}), []float64{20}) == spanPays(twice.X) {
		t.Fatal("not a problem for the dual")
	}
	l, r, err := Fit(context.Background(), twice, 6, Options{Prior: 20, Seed: 1, Trainer: Converge{Tolerance: 1e-5}})
	if err != nil || !r.Converged {
		t.Fatal(r, err)
	}
	least := newtons(t, twice, dualOptions(t, 6, Options{}), 20)
	if math.Abs(r.Objective-least) > 2e-5*least {
		t.Errorf("objective %v, the least is %v", r.Objective, least)
	}
	for f := range x.Columns {
		for c := range 6 {
			if a, b := l.Weight[2*f*6+c], l.Weight[(2*f+1)*6+c]; a != b {
				t.Fatalf("feature %d, class %d: weights %v and %v of equal columns", f, c, a, b)
			}
		}
	}
}
