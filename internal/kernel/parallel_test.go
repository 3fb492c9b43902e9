package kernel

import (
	"math"
	"sync/atomic"
	"testing"
)

func TestParallelVisitsEachBlockOnce(t *testing.T) {
	for _, tc := range []struct{ n, grain, blocks int }{{0, 4, 0}, {-1, 4, 0}, {1, 4, 1}, {8, 4, 2}, {9, 4, 3}, {5, 0, 5}} {
		for _, threads := range []int{0, 1, 3, 100} {
			count := make([]atomic.Int32, max(tc.n, 0))
			var blocks atomic.Int32
			Parallel(threads, tc.n, tc.grain, func(block, lo, hi int) {
				blocks.Add(1)
				if lo != block*max(tc.grain, 1) {
					t.Errorf("block %d starts at %d", block, lo)
				}
				for i := lo; i < hi; i++ {
					count[i].Add(1)
				}
			})
			for i := range count {
				if count[i].Load() != 1 {
					t.Errorf("%+v on %d threads: number %d came %d times", tc, threads, i, count[i].Load())
				}
			}
			if int(blocks.Load()) != tc.blocks {
				t.Errorf("%+v on %d threads: %d blocks", tc, threads, blocks.Load())
			}
		}
	}
}

func TestParallelSumHasTheSameBitsOnAnyThreads(t *testing.T) {
	term := func(lo, hi int) float64 {
		var sum float64
		for i := lo; i < hi; i++ {
			sum += math.Sin(float64(i))
		}
		return sum
	}
	want := ParallelSum(1, 100_000, term)
	for _, threads := range []int{0, 2, 7} {
		if got := ParallelSum(threads, 100_000, term); got != want {
			t.Errorf("%d threads: %v, one: %v", threads, got, want)
		}
	}
}
