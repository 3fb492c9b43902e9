package experiment

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
)

// Fewer examples are the first of more, and sigma scales the same noise.
func TestDrawsAreShared(t *testing.T) {
	opts, _ := Options{Seed: 5}.withDefaults()
	small, large := newDraw(opts, 2, 6, 3, 10, 20), newDraw(opts, 2, 6, 3, 40, 20)
	if !slices.Equal(small.train.z, large.train.z[:30]) || !slices.Equal(small.train.y, large.train.y[:10]) {
		t.Error("10 examples are not the first of 40")
	}
	if !slices.Equal(small.all.z, large.all.z) || !slices.Equal(small.truth.Data, large.truth.Data) {
		t.Error("the test set or W* moved with n")
	}
	one, three := large.examples(large.train, 40, 1), large.examples(large.train, 40, 3)
	for i, y := range one.Class {
		for f, w := range large.truth.Row(int(y)) {
			if a, b := one.X.(*matrix.Dense).Row(i)[f]-w, three.X.(*matrix.Dense).Row(i)[f]-w; math.Abs(float64(3*a-b)) > 1e-4 {
				t.Fatalf("noise %v at sigma 1, %v at sigma 3", a, b)
			}
		}
	}
	other := newDraw(opts, 3, 6, 3, 10, 20)
	if slices.Equal(small.truth.Data, other.truth.Data) || slices.Equal(small.train.z, other.train.z) || slices.Equal(small.truth.Data, small.bad.Data) {
		t.Error("two runs, or W* and its bad twin, are the same")
	}
}

func TestTruths(t *testing.T) {
	const k, d = 36, 20
	of := func(truth Truth) *matrix.Dense { return drawTruth(truth, stream(1, streamTruth, 0, k, d), k, d) }
	dense := mat.NewDense(k, d, nil)
	for i, x := range of(LowRank).Data {
		dense.Set(i/d, i%d, float64(x))
	}
	var svd mat.SVD
	svd.Factorize(dense, mat.SVDNone)
	if s := svd.Values(nil); s[4] < 1 || s[5] > 1e-4 {
		t.Errorf("singular values %v, want five", s[:7])
	}
	var square float64
	for _, x := range of(Isotropic).Data {
		square += float64(x) * float64(x) / (k * d)
	}
	if math.Abs(square-1) > 0.2 {
		t.Errorf("isotropic numbers have variance %v", square)
	}
	// Clustered: each class is nearer to those of its centre than to others.
	w := of(Clustered)
	distance := func(a, b int) (sum float64) {
		for f := range d {
			x := float64(w.Row(a)[f] - w.Row(b)[f])
			sum += x * x
		}
		return sum
	}
	for c := 6; c < k; c++ {
		if distance(c, c%6) > distance(c, (c+1)%6) {
			t.Errorf("class %d is nearer to a class of another centre", c)
		}
	}
}

func TestVectorsMix(t *testing.T) {
	g := smallDraw(t, 5, 4, 1)
	if !slices.Equal(g.vectors(0).Data, g.truth.Data) || !slices.Equal(g.vectors(1).Data, g.bad.Data) {
		t.Error("the ends of the mixture are not W* and the bad one")
	}
	half := g.vectors(0.5)
	for i, x := range half.Data {
		if want := (g.truth.Data[i] + g.bad.Data[i]) / 2; math.Abs(float64(x-want)) > 1e-6 {
			t.Fatalf("number %d of the mixture is %v, want %v", i, x, want)
		}
	}
}
