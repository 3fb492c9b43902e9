package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bisectOmega solves w + ln w = x in y = ln w, where it cannot under- or
// overflow.
func bisectOmega(x float64) float64 {
	low, high := min(x, 0)-1, math.Log(max(x, 0)+1)
	for range 200 {
		if y := (low + high) / 2; math.Exp(y)+y < x {
			low = y
		} else {
			high = y
		}
	}
	return math.Exp((low + high) / 2)
}

func TestBisectOmega(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 0: 0.5671432904097838, 2 + math.Ln2: 2, 1e3: 993.0991, -20: math.Exp(-20)} {
		if got := bisectOmega(x); math.Abs(got/want-1) > 1e-7 {
			t.Errorf("ω(%v) = %v, want %v", x, got, want)
		}
	}
}

// checkOmega compares all kinds with bisection, and the vector kinds with each
// other.
func checkOmega(t *testing.T, x []float32, shift float32, makeW func(int) []float32) {
	t.Helper()
	var vector []float32
	var vectorSum, vectorSlope float32
	for _, k := range kinds() {
		name := fmt.Sprintf("kind=%v n=%d", k, len(x))
		w := makeW(len(x))
		sum, slope := wrightOmega32(k, w, x, shift)
		checkFence(t, name, w)
		var total, slopes float64
		for j, v := range x {
			at := v - shift
			want := bisectOmega(float64(at))
			switch {
			case at != at || math.IsInf(float64(at), 1):
				if w[j] == w[j] && k != plain {
					t.Fatalf("%s: ω(%g) = %g, want NaN", name, at, w[j])
				}
				want = math.NaN()
			case !(math.Abs(float64(w[j])-want) <= 3e-5*want+0x1p-126):
				t.Fatalf("%s: ω(%g) = %g, want %g", name, at, w[j], want)
			}
			if vector != nil && !same(w[j], vector[j]) {
				t.Fatalf("%s: ω(%g): avx2 gives %g, avx512 %g", name, at, vector[j], w[j])
			}
			total += want
			slopes += want / (1 + want)
		}
		if total == total {
			if bound := 4e-5*total + 0x1p-120; total < math.MaxFloat32 && math.Abs(float64(sum)-total) > bound {
				t.Fatalf("%s: the sum is %g, want %g", name, sum, total)
			}
			if bound := 4e-5*slopes + 0x1p-120; math.Abs(float64(slope)-slopes) > bound {
				t.Fatalf("%s: the derivatives sum to %g, want %g", name, slope, slopes)
			}
		}
		if vector != nil && (!same(sum, vectorSum) || !same(slope, vectorSlope)) {
			t.Fatalf("%s: sums: avx2 gives %g and %g, avx512 %g and %g", name, vectorSum, vectorSlope, sum, slope)
		}
		if k != plain {
			vector, vectorSum, vectorSlope = append([]float32{}, w...), sum, slope
		}
	}
}

func TestWrightOmega(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	makeX, makeW := guarded(t, 1000), guarded(t, 1000)
	sizes := []int{1000}
	for n := range 200 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		// Up to 80 the derivative stays normal on both sides.
		for _, spread := range []float32{0.1, 3, 80, 1e4, 1e30} {
			x := makeX(n)
			for j := range x {
				x[j] = (rng.Float32()*2 - 1) * spread
			}
			checkOmega(t, x, 0, makeW)
			checkOmega(t, x, 5, makeW)
			for j := range x { // few lanes of at least 0, as in a long tail of classes
				if x[j] > 0 && j%13 != 5 {
					x[j] = -x[j]
				}
			}
			checkOmega(t, x, 0, makeW)
		}
	}
}

func TestWrightOmegaEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	makeW := guarded(t, 100)
	for _, odd := range []float32{-inf, inf, nan, 0, float32(math.Copysign(0, -1)), -1e4, -math.MaxFloat32, 3e38, 0x1p-149, -87, -104} {
		for _, n := range []int{1, 2, 8, 15, 16, 17, 33, 100} {
			for _, at := range []int{0, n / 2, n - 1} {
				x := make([]float32, n)
				x[at] = odd
				checkOmega(t, x, 0, makeW)
				checkOmega(t, x, 1, makeW)
			}
		}
	}
	for _, k := range kinds() {
		x := []float32{-3, -2, -1, 0, 1, 2, 3, 4, 500}
		w := make([]float32, len(x))
		wrightOmega32(k, w, x, 0.5)
		if wrightOmega32(k, x, x, 0.5); !slices.Equal(x, w) {
			t.Errorf("kind=%v: in place %v, else %v", k, x, w)
		}
		if sum, slope := wrightOmega32(k, nil, nil, 1); sum != 0 || slope != 0 {
			t.Errorf("kind=%v: nothing sums to %v, %v", k, sum, slope)
		}
	}
}

func FuzzWrightOmega(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), float32(1))
	f.Add([]byte("\x00\x00\x80\xff\x00\x00\x00\x00"), float32(-2))
	f.Fuzz(func(t *testing.T, data []byte, shift float32) {
		x := floatsOf(data)
		checkOmega(t, x, shift, guarded(t, len(x)))
	})
}

func BenchmarkWrightOmega(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 6))
	x, w := make([]float32, 150), make([]float32, 150)
	for j := range x {
		x[j] = -5 - 5*rng.Float32()
	}
	for _, large := range []int{0, 3} {
		for j := range large {
			x[j*50] = 3
		}
		for _, k := range kinds() {
			b.Run(fmt.Sprintf("kind=%v/large=%d", k, large), func(b *testing.B) {
				for b.Loop() {
					wrightOmega32(k, w, x, 0)
				}
			})
		}
	}
}
