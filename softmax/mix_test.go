package softmax

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// mixedSample is a sample of which two thirds of the examples are shared by
// several of the k classes, and the same with one weighted copy for each class.
func mixedSample(seed uint64, n, d, k int) (mixed, copies Examples) {
	random := rand.New(rand.NewPCG(seed, 3))
	mixed = sample(seed, n, d, k)
	mixed.Weight = make([]float32, n)
	mixed.Mix = &matrix.Sparse{Columns: k}
	var again []int
	for i := range n {
		mixed.Weight[i] = float32(1 + i%3)
		var index []int32
		var share []float32
		if i%3 > 0 {
			left := float32(1)
			for _, c := range slices.Sorted(slices.Values(random.Perm(k)[:3])) {
				s := float32(1+random.IntN(3)) / 8 // a number of bits, so that copies weigh the same
				if len(index) == 2 {
					s = left
				}
				index, share = append(index, int32(c)), append(share, s)
				left -= s
			}
			mixed.Class[i] = index[slices.Index(share, slices.Max(share))]
		}
		mixed.Mix.AppendRow(index, share)
		if len(index) == 0 {
			index, share = []int32{mixed.Class[i]}, []float32{1}
		}
		for j, c := range index {
			again = append(again, i)
			copies.Class = append(copies.Class, c)
			copies.Weight = append(copies.Weight, mixed.Weight[i]*share[j])
		}
	}
	copies.X = mixed.X.Select(again)
	return mixed, copies
}

// Training on a mix is training on weighted copies, whatever the output and the
// trainer. Converge ends within its tolerance of the same minimum.
func TestMixIsWeightedCopies(t *testing.T) {
	mixed, copies := mixedSample(41, 60, 8, 6)
	for _, p := range problems(t) {
		for name, trainer := range map[string]Trainer{
			"converge": Converge{Tolerance: 1e-7},
			"sgd":      SGD{Epochs: 30, Batch: 1 << 20, Rate: 0.5, Momentum: 0.5},
			"adamw":    AdamW{Epochs: 30, Batch: 1 << 20, Rate: 0.01},
		} {
			o := p.options
			o.Trainer = trainer
			a, ra := mustFit(t, mixed, 6, o)
			b, rb := mustFit(t, copies, 6, o)
			within := 2e-5 // rounding of sums of float32 in another order
			if name == "converge" {
				within = 2e-3
				if p.bent() {
					within = 0.02 // flat at the end
				}
				r := newReference(copies, p.a, p.loss, DefaultPrior)
				s := o.Sharing
				if s == nil {
					s = sharing.None{K: a.Outputs()}
				}
				if value, _ := r.at(t, a, s); math.Abs(ra.Objective-value) > 1e-4*value {
					t.Errorf("%s: objective %v, the expected loss of the copies and the penalty are %v", p.name, ra.Objective, value)
				}
			}
			if math.Abs(ra.Objective-rb.Objective) > 1e-5*rb.Objective {
				t.Errorf("%s, %s: objectives %v and %v", p.name, name, ra.Objective, rb.Objective)
			}
			if d := largestDifference(predictions(t, a, mixed.X), predictions(t, b, mixed.X)); d > within {
				t.Errorf("%s, %s: probabilities differ by %v", p.name, name, d)
			}
		}
	}
	// In float64 the minimum is the same to 1e-6, in every weight.
	for _, o := range []Options{{}, {Loss: loss.CrossEntropy{Smoothing: 0.1}}} {
		w, bias := weights64(t, mixed, 6, o, 10)
		w2, bias2 := weights64(t, copies, 6, o, 10)
		for j := range w {
			if math.Abs(w[j]-w2[j]) > 1e-6 {
				t.Fatalf("weight %d is %v, from copies %v", j, w[j], w2[j])
			}
		}
		for j := range bias {
			if math.Abs(bias[j]-bias2[j]) > 1e-6 {
				t.Fatalf("bias %d is %v, from copies %v", j, bias[j], bias2[j])
			}
		}
	}
}

// Validation counts the largest share as right, and the cross entropy against
// all shares as loss.
func TestValidateOnMix(t *testing.T) {
	l := &Layer{Classes: 3, Features: 1, Weight: make([]float32, 3), Bias: []float32{0, float32(math.Log(2)), float32(math.Log(5))}}
	ex := Examples{X: &matrix.Dense{Columns: 1, Data: []float32{1, 1}}, Class: []int32{2, 1}, Mix: &matrix.Sparse{Columns: 3}}
	ex.Mix.AppendRow([]int32{0, 2}, []float32{0.25, 0.75})
	ex.Mix.AppendRow(nil, nil)
	v, err := validate(l, &ex, 1)
	want := (0.25*math.Log(8) + 0.75*math.Log(8./5) + math.Log(4)) / 2
	if err != nil || v.Right != 0.5 || math.Abs(v.Loss-want) > 1e-6 {
		t.Errorf("%+v, %v, want half right and a loss of %v", v, err, want)
	}
}

func TestBadMixesAreRefused(t *testing.T) {
	mix := func(columns int, rows ...[]float32) *matrix.Sparse {
		m := &matrix.Sparse{Columns: columns}
		for _, share := range rows {
			index := []int32{0, 1, 2}[:len(share)]
			m.AppendRow(index, share)
		}
		return m
	}
	nan := float32(math.NaN())
	for _, tc := range []struct {
		name string
		mix  *matrix.Sparse
		want string
	}{
		{"rows are missing", mix(3, []float32{1}), "a mix of 1 rows"},
		{"other classes", mix(4, []float32{1}, nil), "4 classes for 2 examples of 3"},
		{"negative", mix(3, []float32{1.5, -0.5}, nil), "example 0: a share of -0.5"},
		{"sum below 1", mix(3, nil, []float32{0.5, 0.25}), "example 1: shares that sum to 0.75"},
		{"sum above 1", mix(3, nil, []float32{0.5, 0.75}), "example 1: shares that sum to 1.25"},
		{"NaN", mix(3, nil, []float32{nan}), "NaN"},
	} {
		ex := Examples{X: &matrix.Dense{Columns: 1, Data: []float32{1, 2}}, Class: []int32{0, 1}, Mix: tc.mix}
		if _, _, err := Fit(t.Context(), ex, 3, Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

// A checkpoint of other shares is another run.
func TestMixIsInTheFingerprint(t *testing.T) {
	mixed, _ := mixedSample(42, 9, 3, 4)
	before := mixed.fingerprint()
	other := mixed
	other.Mix = nil
	if other.fingerprint() == before {
		t.Error("without the mix the fingerprint is the same")
	}
	mixed.Mix.Value[0] += 0.125
	if mixed.fingerprint() == before {
		t.Error("with other shares the fingerprint is the same")
	}
}

func TestOutcomesRefuseOtherTargets(t *testing.T) {
	l := &Layer{Classes: 2, Features: 1, Weight: make([]float32, 2), Bias: make([]float32, 2)}
	x := &matrix.Dense{Columns: 1, Data: []float32{1, 1}}
	mix := &matrix.Sparse{Columns: 3}
	for name, ex := range map[string]Examples{
		"a class beyond the layer's": {X: x, Class: []int32{0, 2}},
		"no class":                   {X: x, Class: []int32{0, -1}},
		"too few classes":            {X: x, Class: []int32{0}},
		"shares of other classes":    {X: x, Class: []int32{0, 1}, Mix: mix},
		"inputs of another width":    {X: &matrix.Dense{Columns: 2, Data: []float32{1, 1}}, Class: []int32{0}},
	} {
		if _, err := l.Outcomes(ex, 1); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
