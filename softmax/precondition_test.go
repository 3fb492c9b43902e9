package softmax

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// inverse is that of h XᵀX + λ I, also where columns are nearly the same.
func TestColumnsInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	const n, d = 90, 12
	x := matrix.NewDense(n, d)
	for i := range n {
		row := x.Row(i)
		for f := range row {
			row[f] = float32(rng.NormFloat64())
		}
		row[1] = row[0] + 0.01*row[1]
	}
	const scale, h, lambda = 0.5, 0.2, 0.3
	c := newColumnsInverse(&design[float32]{dense: x, rows: n, dim: d}, scale, 2)
	c.remake(h, lambda, 2)
	for f := range d {
		for g := range d {
			sum := 0.0 // of (h XᵀX + λ I) times the inverse
			for m := range d {
				p := 0.0
				for i := range n {
					p += h * scale * scale * float64(x.Row(i)[f]) * float64(x.Row(i)[m])
				}
				if f == m {
					p += lambda
				}
				sum += p * float64(c.inverse[m*d+g])
			}
			want := 0.0
			if f == g {
				want = 1
			}
			if math.Abs(sum-want) > 2e-3 {
				t.Errorf("(%d, %d) is %v, want %v", f, g, sum, want)
			}
		}
	}
	if newColumnsInverse(&design[float32]{sparse: &matrix.Sparse{}, rows: 1, dim: 1}, 1, 1) != nil {
		t.Error("sparse inputs: want none")
	}
}
