package kernel

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var exhaustive = flag.Bool("exhaustive", false, "test Exp on every float32: five minutes of CPU time, so add -timeout 30m")

// TestExpWithinTwoUnits compares with math.Exp in float64, over one in 997 of
// all float32 or all of them.
func TestExpWithinTwoUnits(t *testing.T) {
	step := 997
	if *exhaustive {
		step = 1
	} else if testing.Short() {
		step = 9973
	}
	const batch = 1 << 16
	for _, k := range kinds()[1:] {
		worst := make([]float64, 1<<32/step/batch+1) // of each block
		at := make([]float32, len(worst))
		Parallel(0, (1<<32-1)/step+1, batch, func(block, lo, hi int) {
			x, got := make([]float32, hi-lo), make([]float32, hi-lo)
			for i := range x {
				x[i] = math.Float32frombits(uint32((lo + i) * step))
			}
			exp32(k, got, x)
			for i, v := range x {
				if units := expError(got[i], math.Exp(float64(v))); units > worst[block] {
					worst[block], at[block] = units, v
				}
			}
		})
		top := slices.Max(worst)
		x := at[slices.Index(worst, top)]
		t.Logf("kind=%v: largest error %.3f units in the last place, at %g", k, top, x)
		if top > 2 {
			t.Errorf("kind=%v: e^%g is off by %.3f units in the last place, want at most 2", k, x, top)
		}
	}
}

// TestExpSameBits compares the kinds with each other.
func TestExpSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	makeX, makeDst := guarded(t, 300), guarded(t, 300)
	for n := range 300 {
		x := makeX(n)
		for i := range x {
			x[i] = math.Float32frombits(rng.Uint32())
			if i%2 == 0 {
				x[i] = (rng.Float32()*2 - 1) * 110
			}
		}
		var vector []float32
		for _, k := range kinds()[1:] {
			dst := makeDst(n)
			exp32(k, dst, x)
			checkFence(t, k.String(), dst)
			for i := range vector {
				if !same(dst[i], vector[i]) {
					t.Fatalf("n=%d: e^%g: avx2 gives %g, avx512 %g", n, x[i], vector[i], dst[i])
				}
			}
			vector = append([]float32{}, dst...)
		}
	}
}

// expError returns |got-want| in units of the last place of a float32 near
// want, infinity if only one of the two is NaN or too large.
func expError(got float32, want float64) float64 {
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(float64(float32(want)), 1):
		if math.IsInf(float64(got), 1) {
			return 0
		}
	case math.IsInf(float64(got), 1):
		return math.Inf(1)
	}
	exponent := int(math.Float64bits(want)>>52) - 1023 // 2^exponent <= want
	unit := math.Float64frombits(uint64(max(exponent-23, -149)+1023) << 52)
	return math.Abs(float64(got)-want) / unit
}

func TestExpEdges(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, k := range kinds() {
		x := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, 88.7, 88.8, 1e30, -103.9, -104, -1e30, 0x1p-149}
		got := make([]float32, len(x))
		exp32(k, got, x)
		want := []float32{1, 1, inf, 0, float32(math.Exp(float64(x[4]))), inf, inf, 0x1p-149, 0, 0, 1}
		for i := range x {
			if expError(got[i], float64(want[i])) > 2 || (want[i] == 0) != (got[i] == 0) {
				t.Errorf("kind=%v: e^%g = %g, want %g", k, x[i], got[i], want[i])
			}
		}
	}
}

// checkSoftmax compares all kinds with each other and, for finite scores, with
// float64 within the error that Softmax promises.
func checkSoftmax(t *testing.T, scores []float32, makeP func(int) []float32) {
	t.Helper()
	exact := make([]float64, len(scores))
	logSum := softmaxGo(exact, as64(scores))
	top := float32(math.Inf(-1))
	if len(scores) > 0 {
		top = slices.Max(scores)
	}
	var vector []float32
	var vectorLog float64
	for _, k := range kinds() {
		name := fmt.Sprintf("kind=%v n=%d", k, len(scores))
		p := makeP(len(scores))
		got := softmax32(k, p, scores)
		checkFence(t, name, p)
		if (got != got) != (logSum != logSum) || math.IsInf(got, 0) != math.IsInf(logSum, 0) || math.Abs(got-logSum) > 1e-6 {
			t.Fatalf("%s: log of the sum %g, want %g", name, got, logSum)
		}
		var sum float64
		for j := range p {
			sum += float64(p[j])
			// 2^-21 covers the roundings of exp, sum, 1/sum and product.
			relative := math.Abs(float64(top)-float64(scores[j]))*0x1p-24 + 0x1p-21
			bound := exact[j]*relative + 0x1p-148 // two roundings of a denormal
			if exact[j] != exact[j] {
				if p[j] == p[j] {
					t.Fatalf("%s: p[%d] = %g, want NaN", name, j, p[j])
				}
			} else if !(math.Abs(float64(p[j])-exact[j]) <= bound) && exact[j] > 0 || exact[j] == 0 && p[j] != 0 {
				t.Fatalf("%s: p[%d] = %g, want %g within %g", name, j, p[j], exact[j], bound)
			}
			if vector != nil && !same(p[j], vector[j]) {
				t.Fatalf("%s: p[%d]: avx2 gives %g, avx512 %g", name, j, vector[j], p[j])
			}
		}
		if len(p) > 0 && math.Abs(sum-1) > 1e-6 {
			t.Fatalf("%s: the sum is %v", name, sum)
		}
		if vector != nil && !same(got, vectorLog) {
			t.Fatalf("%s: log of the sum: avx2 gives %v, avx512 %v", name, vectorLog, got)
		}
		if k != plain {
			vector, vectorLog = append([]float32{}, p...), got
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const most = 100_000
	makeScores, makeP := guarded(t, most), guarded(t, most)
	sizes := []int{1000, 1024, 9999, most}
	for n := range 300 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, spread := range []float32{0, 1, 30, 100, 1e4} {
			scores := makeScores(n)
			for j := range scores {
				scores[j] = (rng.Float32()*2 - 1) * spread
			}
			checkSoftmax(t, scores, makeP)
			if n > 0 {
				scores[rng.IntN(n)] = 1e4 // one class takes all
				checkSoftmax(t, scores, makeP)
			}
		}
	}
}

func TestSoftmaxEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	makeP := guarded(t, 100)
	for _, tc := range []struct {
		name   string
		common float32
		odd    float32
	}{
		{"one impossible class", 1, -inf},
		{"one possible class", -inf, 3},
		{"all impossible", -inf, -inf},
		{"a certain class is not defined", 0, inf},
		{"not a number", 0, nan},
		{"all not a number", nan, nan},
		{"largest finite numbers", -math.MaxFloat32, math.MaxFloat32},
		{"denormal scores", 0x1p-149, -0x1p-149},
		{"denormal probability", 0, -100},
		{"large and equal", 1e4, 1e4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 8, 15, 16, 17, 32, 33, 100} {
				for odd := range n {
					scores := make([]float32, n)
					for j := range scores {
						scores[j] = tc.common
					}
					scores[odd] = tc.odd
					checkSoftmaxNaN(t, scores, makeP)
				}
			}
		})
	}
	for _, k := range kinds() {
		if got := softmax32(k, nil, nil); !math.IsInf(got, -1) {
			t.Errorf("kind=%v: no scores give %v, want -Inf", k, got)
		}
		scores := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
		p := make([]float32, len(scores))
		softmax32(k, p, scores)
		if softmax32(k, scores, scores); !slices.Equal(scores, p) {
			t.Errorf("kind=%v: in place %v, else %v", k, scores, p)
		}
	}
}

// checkSoftmaxNaN is checkSoftmax, or where the result must be NaN throughout,
// the check of that.
func checkSoftmaxNaN(t *testing.T, scores []float32, makeP func(int) []float32) {
	t.Helper()
	if exact := make([]float64, len(scores)); softmaxGo(exact, as64(scores)) == softmaxGo(exact, as64(scores)) {
		checkSoftmax(t, scores, makeP)
		return
	}
	for _, k := range kinds() {
		p := makeP(len(scores))
		got := softmax32(k, p, scores)
		checkFence(t, k.String(), p)
		if got == got || slices.ContainsFunc(p, func(v float32) bool { return v == v }) {
			t.Fatalf("kind=%v: got %v and %v, want NaN", k, got, p)
		}
	}
}

func FuzzSoftmax(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"))
	f.Add([]byte("\x00\x00\x80\xff\x00\x00\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		scores := floatsOf(data)
		checkSoftmaxNaN(t, scores, guarded(t, len(scores)))
	})
}
