package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// fence is how many numbers before each guarded slice must keep their value.
const fence = 16

const untouched = 0x1p-77

// fenced sets the first fence numbers of x and returns the rest.
func fenced(x []float32) []float32 {
	for i := range fence {
		x[i] = untouched
	}
	return x[fence:]
}

// checkFence reports a write before x, which guarded made.
func checkFence(t *testing.T, name string, x []float32) {
	t.Helper()
	if len(x) == 0 {
		return // an empty slice may point anywhere
	}
	start := unsafe.Pointer(unsafe.SliceData(x))
	for i := 1; i <= fence; i++ {
		if v := *(*float32)(unsafe.Add(start, -4*i)); v != untouched {
			t.Fatalf("%s: wrote %v to place %d", name, v, -i)
		}
	}
}

// fill sets x to numbers of one size, or if wild of all sizes from denormal to
// 2^40, with zeros of both signs among them.
func fill(rng *rand.Rand, x []float32, wild bool) {
	for i := range x {
		x[i] = rng.Float32()*2 - 1
		if !wild {
			continue
		}
		switch rng.IntN(8) {
		case 0:
			x[i] = float32(math.Copysign(0, float64(x[i])))
		case 1:
			x[i] *= 0x1p-130
		case 2:
			x[i] *= 0x1p40
		}
	}
}

func as64(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// magnitude returns the absolute values of x.
func magnitude(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Abs(v)
	}
	return y
}

// same reports whether x and y have the same bits, any NaN being one value.
func same[T ~float32 | ~float64](x, y T) bool {
	return math.Float64bits(float64(x)) == math.Float64bits(float64(y)) || x != x && y != y
}

// checkSum compares got with the exact sum want of n products whose absolute
// values add up to size, within the bound that the package promises.
func checkSum(t *testing.T, name string, got float32, want, size float64, n int) {
	t.Helper()
	if bound := float64(n+2)*(size*0x1p-24+0x1p-149) + 0x1p-149; !(math.Abs(float64(got)-want) <= bound) {
		t.Fatalf("%s: got %g, want %g within %g", name, got, want, bound)
	}
}
