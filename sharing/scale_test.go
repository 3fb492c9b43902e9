package sharing

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/treeloss/treeloss/matrix"
)

// MeanEigenvalue is tr(C K C)/(k-1), and Normalized makes it 1.
func TestMeanEigenvalue(t *testing.T) {
	for _, k := range []int{2, 3, 19} {
		for _, tc := range allSharings(t, uint64(100+k), k) {
			a := denseMatrix(tc.s)
			centre := mat.NewDense(k, k, nil)
			for i := range k {
				for j := range k {
					centre.Set(i, j, -1/float64(k))
				}
				centre.Set(i, i, 1-1/float64(k))
			}
			var ca, want mat.Dense
			ca.Mul(centre, a)
			want.Mul(&ca, ca.T())
			mean := mat.Trace(&want) / float64(k-1)
			if got := MeanEigenvalue(tc.s); math.Abs(got-mean) > 1e-10*mean {
				t.Errorf("%s, k=%d: %v, want %v", tc.name, k, got, mean)
			}
			n, err := Normalized(tc.s)
			if err != nil {
				t.Fatalf("%s, k=%d: %v", tc.name, k, err)
			}
			if got := MeanEigenvalue(n); math.Abs(got-1) > 1e-12 {
				t.Errorf("%s, k=%d: normalized to %v, want 1", tc.name, k, got)
			}
			if again, err := Normalized(n); err != nil || math.Abs(MeanEigenvalue(again)-1) > 1e-12 {
				t.Errorf("%s, k=%d: normalized again: %v, %v", tc.name, k, again, err)
			}
		}
	}
	if s, err := Normalized(None{K: 4}); err != nil || s != (None{K: 4}) {
		t.Errorf("None normalized: %v, %v, want None", s, err)
	}
}

func TestNormalizedRefuses(t *testing.T) {
	same := &matrix.Sparse{Columns: 3}
	for range 7 {
		same.AppendRow([]int32{0, 2}, []float32{0.1, 0.7})
	}
	features, err := NewFeatures(same)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		s    Sharing
		want string
	}{
		{"equal sparse rows", features, "same features"},
		{"equal dense rows", &Dense{K: 3, M: 2, A: []float64{0.1, 1. / 3, 0.1, 1. / 3, 0.1, 1. / 3}}, "same features"},
		{"a tree of root length only", NewTree(parseTree(t, "(a:0,b:0,c:0)r:5;")), "same features"},
		{"factor 0", mustSum(t, Part{0, None{K: 3}}), "same features"},
		{"a NaN", &Dense{K: 2, M: 1, A: []float64{1, math.NaN()}}, "NaN"},
		{"too large", &Dense{K: 2, M: 1, A: []float64{-1e200, 1e200}}, "+Inf"},
	} {
		if s, err := Normalized(tc.s); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v, want an error about %q", tc.name, s, err, tc.want)
		}
	}
}

// A part that all classes share must not drown what tells them apart.
func TestMeanEigenvalueBesideALongRoot(t *testing.T) {
	tree := parseTree(t, "(a:1,b:1,c:1)r:1e20;")
	if got := MeanEigenvalue(NewTree(tree)); math.Abs(got-1) > 1e-12 {
		t.Errorf("tree: %v, want 1", got)
	}
	shifted := &Dense{K: 2, M: 2, A: []float64{1e9, 1, 1e9, 0}}
	if got := MeanEigenvalue(shifted); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("dense: %v, want 0.5", got)
	}
}

func TestNewSumRefuses(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts []Part
		want  string
	}{
		{"no parts", nil, "no parts"},
		{"nil", []Part{{1, None{K: 2}}, {1, nil}}, "part 1 of a sum is nil"},
		{"classes", []Part{{1, None{K: 2}}, {1, None{K: 3}}}, "part 1 of a sum has 3 classes, part 0 has 2"},
		{"NaN", []Part{{math.NaN(), None{K: 2}}}, "factor NaN"},
		{"Inf", []Part{{math.Inf(-1), None{K: 2}}}, "factor -Inf"},
	} {
		if _, err := NewSum(tc.parts...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.want)
		}
	}
	// What the caller does to the slice later is not the sum's business.
	parts := []Part{{1, None{K: 2}}}
	s := mustSum(t, parts...)
	parts[0].Sharing = nil
	s.Parts()[0].Factor = 7
	if s.Classes() != 2 || s.Parts()[0].Factor != 1 {
		t.Error("a sum changed with the slice it was made from or gave away")
	}
}

func TestNewFeaturesRefuses(t *testing.T) {
	if _, err := NewFeatures(&matrix.Sparse{Columns: 3}); err == nil {
		t.Error("features without rows were taken")
	}
	bad := &matrix.Sparse{Columns: 1}
	bad.AppendRow([]int32{0}, []float32{float32(math.Inf(1))})
	if _, err := NewFeatures(bad); err == nil || !strings.Contains(err.Error(), "class features") {
		t.Errorf("infinite feature: %v, want an error", err)
	}
}
