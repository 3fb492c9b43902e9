package softmax

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// wideExamples makes n rows of many features, two of them equal and one empty.
func wideExamples(n, d, nonzeros, k int) Examples {
	random := rand.New(rand.NewPCG(11, 12))
	x := &matrix.Sparse{Columns: d}
	var class []int32
	for i := range n {
		var index []int32
		var value []float32
		if i != 1 {
			for f, step := random.IntN(5), d/nonzeros; f < d; f += 1 + random.IntN(2*step) {
				index = append(index, int32(f))
				value = append(value, float32(0.2+random.Float64()))
			}
		}
		if i == 2 {
			index, value = x.Row(0)
		}
		x.AppendRow(index, value)
		class = append(class, int32(i%k))
	}
	return Examples{X: x, Class: class}
}

// The basis of the examples must be one: equal scores and lengths there and
// here, and back again.
func TestSpan(t *testing.T) {
	ex := wideExamples(12, 400, 30, 3)
	basis, small := newSpan[float64](ex.X, 2)
	if basis == nil {
		t.Fatal("12 rows of 400 features did not pay")
	}
	for i := range 12 {
		for j := range 12 {
			if a, b := matrix.Dot(ex.X, i, j), matrix.Dot(small, i, j); math.Abs(a-b) > 1e-5 {
				t.Errorf("rows %d and %d: inner product %v became %v", i, j, a, b)
			}
		}
	}
	const r = 2
	random := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, 12*r) // Lᵀ times anything: what training can reach
	for i := range 12 {
		for c := range r {
			u := random.NormFloat64()
			for j := range 12 {
				v[j*r+c] += basis.lower[i*12+j] * u
			}
		}
	}
	full := basis.expand(v, r, 2)
	back := make([]float64, len(v))
	basis.project(back, full, r)
	whole, part := newDesign[float64](ex.X, false), newDesign[float64](small, false)
	a, b := make([]float64, r), make([]float64, r)
	for i := range 12 {
		whole.scores(a, full, i)
		part.scores(b, v, i)
		for c := range a {
			if math.Abs(a[c]-b[c]) > 1e-4 {
				t.Errorf("row %d: score %v in the basis, %v of the features", i, b[c], a[c])
			}
		}
		part.scores(b, back, i)
		for c := range a {
			if math.Abs(a[c]-b[c]) > 1e-4 {
				t.Errorf("row %d: score %v after the way back, want %v", i, b[c], a[c])
			}
		}
	}
	if nilBasis, same := newSpan[float64](matrix.NewDense(3, 3), 1); nilBasis != nil || same.Rows() != 3 {
		t.Error("dense inputs have a span")
	}
}

// Training in the span finds the optimum of the whole problem: the gradient
// there is 0.
func TestSpanFitIsOptimal(t *testing.T) {
	ex := wideExamples(40, 3000, 60, 4)
	layer, record, err := Fit(context.Background(), ex, 4, Options{Trainer: Converge{Tolerance: 1e-7}, Prior: 30})
	if err != nil || !record.Converged {
		t.Fatal(record, err)
	}
	// The same examples in a dense array are trained without a span.
	dense := matrix.NewDense(40, 3000)
	for i := range 40 {
		index, value := ex.X.(*matrix.Sparse).Row(i)
		for n, f := range index {
			dense.Row(i)[f] = value[n]
		}
	}
	other, otherRecord, err := Fit(context.Background(), Examples{X: dense, Class: ex.Class}, 4, Options{Trainer: Converge{Tolerance: 1e-7}, Prior: 30})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := record.Objective, otherRecord.Objective; math.Abs(a-b) > 1e-5*b {
		t.Errorf("objective %v in the span, %v without", a, b)
	}
	for i, w := range layer.Weight {
		if math.Abs(float64(w-other.Weight[i])) > 2e-3 {
			t.Fatalf("weight %d is %v in the span, %v without", i, w, other.Weight[i])
		}
	}
}
