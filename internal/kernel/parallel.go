package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls work(block, lo, hi) once for each block of at most grain
// consecutive numbers of 0..n-1, on up to threads goroutines (0: one a CPU).
// Which numbers form a block depends on n and grain only, never on threads, so
// that whoever adds up by block number gets the same bits on any machine size.
func Parallel(threads, n, grain int, work func(block, lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	blocks := (n + grain - 1) / grain
	threads = min(Threads(threads), blocks)
	if threads <= 1 {
		for b := range blocks {
			work(b, b*grain, min((b+1)*grain, n))
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
				work(b, b*grain, min((b+1)*grain, n))
			}
		})
	}
	wg.Wait()
}

// sumGrain is the block length of the sums below: long enough to hide the
// cost of a block, short enough to share the work.
const sumGrain = 1 << 14

// ParallelSum adds term(lo, hi) over fixed blocks of 0..n-1, by block number.
func ParallelSum(threads, n int, term func(lo, hi int) float64) float64 {
	part := make([]float64, (n+sumGrain-1)/sumGrain)
	Parallel(threads, n, sumGrain, func(block, lo, hi int) { part[block] = term(lo, hi) })
	var sum float64
	for _, p := range part {
		sum += p
	}
	return sum
}

// Threads returns how many goroutines a number of threads means: 0 is one a CPU.
func Threads(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}
