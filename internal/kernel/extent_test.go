package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every kind finds the same numbers, and the same sum to the last bit.
func TestExtent(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	make32 := guarded(t, 300)
	for n := range 300 {
		x := make32(n)
		fill(random, x, n%2 == 0)
		least, largest, exact, size := float32(math.Inf(1)), float32(math.Inf(-1)), 0.0, 0.0
		if n > 0 {
			least, largest = slices.Min(x), slices.Max(x)
		}
		for _, v := range x {
			exact += float64(v)
			size += math.Abs(float64(v))
		}
		var first float32
		for _, k := range kinds() {
			a, b, sum := extent32(k, x)
			if a != least || b != largest {
				t.Fatalf("%v, %d numbers: %v to %v, want %v to %v", k, n, a, b, least, largest)
			}
			checkSum(t, fmt.Sprint(k, n), sum, exact, size, n+1)
			if k == plain {
				first = sum
			} else if sum != first {
				t.Fatalf("%v, %d numbers: sum %v, plain Go %v", k, n, sum, first)
			}
		}
	}
	for _, k := range kinds() {
		for _, at := range []int{0, 17, 40} {
			x := make([]float32, 41)
			x[at] = float32(math.NaN())
			if _, _, sum := extent32(k, x); sum == sum {
				t.Errorf("%v: NaN at %d, and the sum is %v", k, at, sum)
			}
		}
	}
}

func BenchmarkExtent(b *testing.B) {
	x := make([]float32, 100_000)
	for _, k := range kinds() {
		b.Run(fmt.Sprintf("kind=%v/n=%d", k, len(x)), func(b *testing.B) {
			for b.Loop() {
				extent32(k, x)
			}
		})
	}
}
