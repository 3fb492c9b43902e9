package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

func TestCosineDenseAndSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const k, d = 12, 7
	dense, sparse := matrix.NewDense(k, d), &matrix.Sparse{Columns: d}
	for i := range k {
		var index []int32
		var value []float32
		for j := range d {
			if i == 3 || rng.IntN(2) == 0 { // class 5 stays empty below
				continue
			}
			v := float32(rng.NormFloat64())
			dense.Row(i)[j] = v
			index, value = append(index, int32(j)), append(value, v)
		}
		sparse.AppendRow(index, value)
	}
	a, err := NewSimilarity(dense)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewSimilarity(sparse)
	if err != nil {
		t.Fatal(err)
	}
	if a.Classes() != k || b.Classes() != k {
		t.Errorf("%d and %d classes, want %d", a.Classes(), b.Classes(), k)
	}
	for i := range k {
		for j := range k {
			var dot, ii, jj float64
			for n := range d {
				x, y := float64(dense.Row(i)[n]), float64(dense.Row(j)[n])
				dot, ii, jj = dot+x*y, ii+x*x, jj+y*y
			}
			want := 0.0
			if i == j {
				want = 1
			} else if ii*jj > 0 {
				want = dot / math.Sqrt(ii*jj)
			}
			if got := a.Cosine(i, j); !near(got, want) {
				t.Errorf("dense cosine of %d and %d: %v, want %v", i, j, got, want)
			}
			if got := b.Cosine(i, j); !near(got, want) {
				t.Errorf("sparse cosine of %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
	if a.Cosine(3, 3) != 1 || a.Cosine(3, 4) != 0 {
		t.Error("a zero vector must have cosine 1 with itself and 0 with others")
	}
}

func TestCosineKeepsItsRange(t *testing.T) {
	s, err := NewSimilarity(&matrix.Dense{Columns: 3, Data: []float32{0.1, 0.2, 0.3, 0.3, 0.6, 0.9, -1e-30, -2e-30, -3e-30, 1e38, 2e38, 3e38}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Classes() {
		for j := range s.Classes() {
			got := s.Cosine(i, j)
			if want := map[bool]float64{true: 1, false: -1}[(i == 2) == (j == 2)]; math.Abs(got-want) > 1e-6 || math.Abs(got) > 1 {
				t.Errorf("cosine of %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestNewSimilarityRefuses(t *testing.T) {
	for _, tc := range []struct {
		name    string
		vectors matrix.Matrix
	}{
		{"nil", nil},
		{"no rows", &matrix.Sparse{Columns: 3}},
		{"NaN", &matrix.Dense{Columns: 1, Data: []float32{1, float32(math.NaN())}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := NewSimilarity(tc.vectors); err == nil {
				t.Error("want an error")
			}
		})
	}
}
