package kernel

import (
	"math/rand/v2"
	"testing"
)

// fuzzSizes runs check on sizes and seeds that the tests do not walk over.
func fuzzSizes(f *testing.F, check func(t *testing.T, rng *rand.Rand, n, m int, wild bool)) {
	for seed, sizes := range [][2]uint16{{0, 1}, {1, 40}, {15, 3}, {33, 64}, {257, 31}} {
		f.Add(uint64(seed), sizes[0], sizes[1])
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, m uint16) {
		check(t, rand.New(rand.NewPCG(seed, 9)), int(n%2000), int(m%2000), seed%2 == 1)
	})
}

func FuzzVectorOps(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, _ int, wild bool) {
		checkVectorOps(t, rng, n, wild, guarded(t, n+20), guarded(t, n))
	})
}

func FuzzDistances(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, _ int, wild bool) {
		checkDistances(t, rng, n, wild, guarded(t, n), guarded(t, n))
	})
}

func FuzzSteps(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, _ int, wild bool) {
		checkSteps(t, rng, n, wild, guarded(t, n), guarded(t, n), guarded(t, n))
	})
}

func FuzzMoveMass(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, _ int, _ bool) {
		var makers [6]func(int) []float32
		for i := range makers {
			makers[i] = guarded(t, n)
		}
		checkMoveMass(t, rng, n, makers)
		checkSubtractAbove(t, rng, n, guarded(t, n))
	})
}

func FuzzTranspose(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, m int, _ bool) {
		rows, cols := 1+n%200, 1+m%200
		checkTranspose(t, rng, rows, cols, guarded(t, 210*210), guarded(t, 210*210))
	})
}

func FuzzColumns(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, m int, _ bool) {
		z, bias := scoresOf(rng, 1+n, float32(m%80))
		checkColumns(t, 1+n, z, bias, 32, guarded(t, 32*(1+n)))
	})
}

func FuzzMultiplyRows(f *testing.F) {
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, m int, _ bool) {
		k, rows := 1+n%200, m%100
		checkMultiplyRows(t, rng, k, rows, guarded(t, k*rows))
	})
}

func FuzzDense(f *testing.F) {
	three := NewTeam(3)
	f.Cleanup(three.Close)
	fuzzSizes(f, func(t *testing.T, rng *rand.Rand, n, _ int, _ bool) {
		checkDense(t, rng, n, three, guarded(t, 70*200))
	})
}
