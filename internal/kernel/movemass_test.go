package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkMoveMass compares all kinds with float64, and the vector kinds with each
// other.
func checkMoveMass(t *testing.T, rng *rand.Rand, n int, makers [6]func(int) []float32) {
	t.Helper()
	var start [6][]float32
	for i := range start {
		start[i] = make([]float32, n)
		for j := range start[i] {
			start[i][j] = rng.Float32()
		}
	}
	weight, rate := 3*rng.Float32(), 3*rng.Float32()
	var vector [6][]float32
	for _, k := range kinds() {
		var x [6][]float32
		for i := range x {
			x[i] = makers[i](n)
			copy(x[i], start[i])
		}
		moveMass32(k, x[0], x[1], x[2], weight, rate, x[3], x[4], x[5])
		for i := range x {
			checkFence(t, fmt.Sprintf("kind=%v n=%d array %d", k, n, i), x[i])
		}
		for j := range n {
			from, to, w := float64(start[1][j]), float64(start[2][j]), float64(weight)
			moved := w * (from - to)
			want := [6]float64{moved, from, to, float64(start[3][j]) + moved, float64(start[4][j]) + float64(rate)*moved, float64(start[5][j]) + w*to*(1-to)}
			mass := w * (from + to)
			size := [6]float64{mass, from, to, float64(start[3][j]) + mass, float64(start[4][j]) + float64(rate)*mass, float64(start[5][j]) + w*to*(1+to)}
			for i := range x {
				checkSum(t, fmt.Sprintf("kind=%v n=%d array %d [%d]", k, n, i, j), x[i][j], want[i], size[i], 3)
				if vector[i] != nil && x[i][j] != vector[i][j] {
					t.Fatalf("n=%d array %d [%d]: avx2 gives %g, avx512 %g", n, i, j, vector[i][j], x[i][j])
				}
			}
		}
		for i := range x {
			if k != plain {
				vector[i] = append([]float32{}, x[i]...)
			}
		}
	}
}

func TestMoveMass(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	var makers [6]func(int) []float32
	for i := range makers {
		makers[i] = guarded(t, 200)
	}
	for n := range 200 {
		checkMoveMass(t, rng, n, makers)
	}
}

// checkSubtractAbove compares all kinds with the definition.
func checkSubtractAbove(t *testing.T, rng *rand.Rand, n int, makeX func(int) []float32) {
	t.Helper()
	start := make([]float32, n)
	fill(rng, start, true)
	if n > 0 {
		start[rng.IntN(n)] = float32(math.Inf(-1))
		start[rng.IntN(n)] = float32(math.NaN())
	}
	for _, k := range kinds() {
		x := makeX(n)
		copy(x, start)
		subtractAbove32(k, 0.25, -0.75, x)
		checkFence(t, k.String(), x)
		for j, v := range start {
			if want := max(v-0.25, -0.75); !same(x[j], want) {
				t.Fatalf("kind=%v n=%d: %g becomes %g, want %g", k, n, v, x[j], want)
			}
		}
	}
}

func TestSubtractAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	makeX := guarded(t, 200)
	for n := range 200 {
		checkSubtractAbove(t, rng, n, makeX)
	}
}
