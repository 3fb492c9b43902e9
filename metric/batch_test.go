package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// TestDistancesAndSelectChangeNoBit: many distances at once, and points in
// another order, some twice, are the distances one by one.
func TestDistancesAndSelectChangeNoBit(t *testing.T) {
	const k = 30
	for _, d := range []int{1, 7, 8, 50} {
		dense := randomRows(4, k, d)
		spaces := map[string]Space{"function": Func(k, func(i, j int) float64 { return math.Abs(float64(i - j)) })}
		for form, m := range map[string]matrix.Matrix{"dense": dense, "sparse": sparsify(dense)} {
			for kind, build := range map[string]func(matrix.Matrix) (Space, error){"euclidean": Euclidean, "cosine": Cosine} {
				s, err := build(m)
				if err != nil {
					t.Fatal(err)
				}
				spaces[form+" "+kind] = s
			}
		}
		random := rand.New(rand.NewPCG(1, uint64(d)))
		points := make([]int32, 40)
		for n := range points {
			points[n] = int32(random.IntN(k))
		}
		out := make([]float64, len(points)+1)
		for name, s := range spaces {
			picked := Select(s, points)
			if picked.Len() != len(points) {
				t.Errorf("%s: %d points, want %d", name, picked.Len(), len(points))
			}
			for i := range k {
				Distances(s, i, points, out)
				for n, p := range points {
					if want := s.Distance(i, int(p)); out[n] != want {
						t.Errorf("%s d=%d: distance of %d and %d is %v in a batch, %v alone", name, d, i, p, out[n], want)
					}
				}
			}
			for a, p := range points {
				for b, q := range points {
					if p == q {
						continue // as equal rows are: 0, or pi/2 for two rows of zeros
					}
					if got, want := picked.Distance(a, b), s.Distance(int(p), int(q)); got != want {
						t.Errorf("%s d=%d: selected %d and %d are %v apart, want %v", name, d, a, b, got, want)
					}
				}
			}
		}
	}
}

// TestRoundingStaysWithinItsBound holds the vector kernels to what Euclidean
// promises, against a sum with more digits.
func TestRoundingStaysWithinItsBound(t *testing.T) {
	for _, d := range []int{5, 50, 300, 1000} {
		m := randomRows(uint64(d), 12, d)
		s, err := Euclidean(m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			for j := range i {
				var sum, rest float64 // a compensated sum (Neumaier)
				for c, v := range m.Row(i) {
					x := float64(v) - float64(m.Row(j)[c])
					term := x * x
					next := sum + term
					if sum >= term {
						rest += (sum - next) + term
					} else {
						rest += (term - next) + sum
					}
					sum = next
				}
				want := math.Sqrt(sum + rest)
				if got := s.Distance(i, j); math.Abs(got-want) > float64(d+2)*0x1p-53*want {
					t.Errorf("d=%d: %v, want %v", d, got, want)
				}
			}
		}
	}
}
