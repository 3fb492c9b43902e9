package classinfo

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

func dense(x *matrix.Sparse) *matrix.Dense {
	out := matrix.NewDense(x.Rows(), x.Columns)
	for i := range x.Rows() {
		index, value := x.Row(i)
		for n, j := range index {
			out.Row(i)[j] = value[n]
		}
	}
	return out
}

func TestClassMeansByHand(t *testing.T) {
	x := &matrix.Dense{Columns: 2, Data: []float32{1, 2, 3, 4, 5, -4, 100, 100}}
	class := []int32{0, 2, 0, -1}
	got := ClassMeans(x, class, 3).(*matrix.Dense)
	for i, want := range []float32{3, -1, 0, 0, 3, 4} {
		if got.Data[i] != want {
			t.Errorf("number %d is %v, want %v", i, got.Data[i], want)
		}
	}
}

func TestClassMeansSparseEqualDense(t *testing.T) {
	x, class := randomExamples(7, 3, 11)
	class[4], class[11] = -1, -1 // two of the three rows of class 4
	for i, c := range class {
		if c == 5 {
			class[i] = 6 // and class 5 has none
		}
	}
	sparse := ClassMeans(x, class, 7).(*matrix.Sparse)
	if err := sparse.Check(); err != nil {
		t.Fatal(err)
	}
	want := ClassMeans(dense(x), class, 7).(*matrix.Dense)
	got := dense(sparse)
	if got.Rows() != 7 || got.Columns != want.Columns {
		t.Fatalf("%d x %d", got.Rows(), got.Columns)
	}
	for i := range want.Data {
		if got.Data[i] != want.Data[i] {
			t.Errorf("number %d is %v, want %v", i, got.Data[i], want.Data[i])
		}
	}
	if want.SquaredNorm(5) != 0 {
		t.Errorf("a class without rows has mean %v", want.Row(5))
	}
}

func gram(t *testing.T, s sharing.Sharing) *mat.SymDense {
	t.Helper()
	g, err := sharing.Gram(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestMeansByBruteForce(t *testing.T) {
	for _, tc := range []struct {
		name    string
		k, n    int
		oneOnly bool // class 0 has one row
	}{
		{"two classes of one row", 2, 1, false},
		{"one row a class", 6, 1, false},
		{"two rows a class, noise above signal", 6, 2, false},
		{"as many classes as features", 12, 4, false},
		{"more classes than features", 30, 3, false},
		{"one class of one row", 5, 8, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x, class := randomExamples(tc.k, tc.n, 21)
			if tc.oneOnly {
				for i := tc.k; i < len(class); i += tc.k {
					class[i] = 1
				}
			}
			want := slowMeans(x, class, tc.k)
			for _, x := range []matrix.Matrix{x, dense(x)} {
				s, err := meansSharing(x, class, tc.k)
				if err != nil {
					t.Fatal(err)
				}
				requireEqual(t, gram(t, s), want, 1e-5*mat.Trace(want))
			}
		})
	}
}

// A class without rows shares with no other, and does not move the others.
func TestMeansOfClassWithoutRows(t *testing.T) {
	x, class := randomExamples(4, 5, 2)
	want, err := meansSharing(x, class, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range class {
		if c > 1 {
			class[i] = c + 1 // class 2 is new
		}
	}
	x.AppendRow([]int32{0}, []float32{1000})
	class = append(class, -1) // a row of no class does not count
	got, err := meansSharing(x, class, 5)
	if err != nil {
		t.Fatal(err)
	}
	a, b := gram(t, want), gram(t, got)
	place := []int{0, 1, 3, 4}
	for i := range place {
		for j := range place {
			if math.Abs(a.At(i, j)-b.At(place[i], place[j])) > 1e-9 {
				t.Errorf("classes %d and %d share %v, want %v", place[i], place[j], b.At(place[i], place[j]), a.At(i, j))
			}
		}
		if math.Abs(b.At(2, place[i])) > 1e-12 {
			t.Errorf("the class without rows shares %v with class %d", b.At(2, place[i]), place[i])
		}
	}
	s, _, err := Build(Spec{Means}, Info{Labels: []string{"a", "b", "c", "d", "e"}, X: x, Class: class}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	kernel(t, s, 5)
}

func TestMeansRefuse(t *testing.T) {
	same := &matrix.Dense{Columns: 3, Data: []float32{0.1, 0.7, 0.3, 0.1, 0.7, 0.3, 0.1, 0.7, 0.3}}
	x, _ := randomExamples(1, 4, 1)
	for _, tc := range []struct {
		name  string
		x     matrix.Matrix
		class []int32
		k     int
		want  string
	}{
		{"equal means", same, []int32{0, 1, 2}, 3, "do not differ by more than their noise"},
		{"noise alone", &matrix.Dense{Columns: 1, Data: []float32{5, -5, 6, -4}}, []int32{0, 0, 1, 1}, 2, "do not differ by more than their noise"},
		{"rows in one class only", x, []int32{1, 1, 1, 1}, 3, "1 of 3 classes have rows"},
		{"no rows", &matrix.Sparse{Columns: 3}, nil, 3, "0 of 3 classes have rows"},
		{"too many classes", x, []int32{1, 1, 1, 1}, MaxGram + 1, "4001 classes, want at most 4000; use names or a taxonomy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := meansSharing(tc.x, tc.class, tc.k); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
