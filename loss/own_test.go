package loss

import (
	"math"
	"strings"
	"testing"
)

// crossAsOwn is cross entropy as one would write it outside.
type crossAsOwn struct{ add, scale, bend float64 }

func (f crossAsOwn) Evaluate(gradient, scores []float64, y int) float64 {
	var sum float64
	for _, s := range scores {
		sum += math.Exp(s)
	}
	for c, s := range scores {
		gradient[c] = f.scale*math.Exp(s)/sum + f.add
	}
	gradient[y] -= f.scale
	return math.Log(sum) - scores[y]
}

func (f crossAsOwn) Curvature(out, p, x []float64, _ int) {
	Curvature(out, p, x)
	for c := range out {
		out[c] *= f.bend
	}
}

func TestOwn(t *testing.T) {
	l := New(crossAsOwn{0, 1, 1})
	if err := l.Check(5); err != nil {
		t.Fatal(err)
	}
	scores := []float64{0.5, -1, 2, 0, 0.25}
	p, grad, wantP, want := make([]float64, 5), make([]float64, 5), make([]float64, 5), make([]float64, 5)
	for y := range scores {
		a, b := Evaluate(l, p, grad, scores, y), Evaluate(CrossEntropy{}, wantP, want, scores, y)
		if math.Abs(a-b) > 1e-12 {
			t.Errorf("class %d: loss %v, want %v", y, a, b)
		}
		for c := range want {
			if math.Abs(grad[c]-want[c]) > 1e-12 || p[c] != wantP[c] {
				t.Errorf("class %d: gradient %v, want %v", y, grad, want)
			}
		}
		out, bent := make([]float64, 5), make([]float64, 5)
		CurvatureOwn(l, out, p, scores, y, 0.5)
		Curvature(bent, p, scores)
		for c := range out {
			if math.Abs(out[c]-0.5*bent[c]) > 1e-12 {
				t.Errorf("curvature %v, want half of %v", out, bent)
			}
		}
	}
}

// Check finds what would make a training go wrong.
func TestOwnIsChecked(t *testing.T) {
	for _, tc := range []struct {
		f    Function
		want string
	}{
		{nil, "without a function"},
		{crossAsOwn{0, 2, 1}, "where its values have"},
		{crossAsOwn{0.1, 1, 1}, "sums to"},
		{crossAsOwn{0, 1, -1}, "curvature"},
		{crossAsOwn{math.NaN(), 1, 1}, "want finite numbers"},
	} {
		if err := New(tc.f).Check(4); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.f, err, tc.want)
		}
	}
}
