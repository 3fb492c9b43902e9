package encoder

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// All components are a rotation about the mean, the first ones have the most variance, and
// points on a line have one.
func TestPCA(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := matrix.NewDense(3000, 5) // several blocks
	for i := range x.Rows() {
		for j := range x.Columns {
			x.Row(i)[j] = float32(float64(j+1)*rng.NormFloat64()) + 7
		}
	}
	distance := func(m *matrix.Dense, a, b int) (sum float64) {
		for j, v := range m.Row(a) {
			d := float64(v) - float64(m.Row(b)[j])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	whole, err := PCA(x, 9)
	if err != nil || whole.Columns != 5 {
		t.Fatalf("%d columns, %v", whole.Columns, err)
	}
	for i := range 100 {
		if got, want := distance(whole, i, 2*i+1), distance(x, i, 2*i+1); math.Abs(got-want) > 1e-4*(1+want) {
			t.Fatalf("%d: %v apart, want %v", i, got, want)
		}
	}
	short, err := PCA(x, 2)
	if err != nil {
		t.Fatal(err)
	}
	var variance [2]float64
	for i := range short.Rows() {
		for j, v := range short.Row(i) {
			variance[j] += float64(v) * float64(v) / float64(short.Rows())
			if v != whole.Row(i)[j] {
				t.Fatal("fewer components are others")
			}
		}
	}
	if math.Abs(variance[0]-25) > 3 || math.Abs(variance[1]-16) > 2 {
		t.Errorf("variances %v, want about 25 and 16", variance)
	}
	for i := range x.Rows() {
		for j := range x.Columns {
			x.Row(i)[j] = float32(i * (j + 1))
		}
	}
	line, err := PCA(x, 2)
	if err != nil || math.Abs(float64(line.Row(0)[0])+1499.5*math.Sqrt(55)) > 1 || math.Abs(float64(line.Row(0)[1])) > 1e-2 {
		t.Errorf("a line: %v, %v", line.Row(0), err)
	}
	if _, err := PCA(matrix.NewDense(0, 3), 2); err == nil {
		t.Error("components of nothing")
	}
}
