package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Each benchmark runs all kinds side by side, so that one run shows the ratio.

func BenchmarkKernel(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const room = 10 << 20 // 40 MB: far more than the second-level cache
	rows := make([]float32, room)
	for i := range rows {
		rows[i] = rng.Float32() - 0.5
	}
	for _, cols := range []int{10, 77, 150, 1000} {
		for _, nonzeros := range []int{30, 150, 2000} {
			value, y := rows[:nonzeros], make([]float32, cols)
			// Rows as frequent as words are, and rows that are never cached.
			zipf := rand.NewZipf(rng, 1.1, 4, uint64(room/cols-1))
			for _, draw := range []struct {
				name string
				row  func() int32
			}{
				{"zipf", func() int32 { return int32(zipf.Uint64()) }},
				{"uniform", func() int32 { return int32(rng.IntN(room / cols)) }},
			} {
				lists := make([][]int32, max(1, 100_000/nonzeros))
				for l := range lists {
					lists[l] = make([]int32, nonzeros)
					for n := range lists[l] {
						lists[l][n] = draw.row()
					}
				}
				eachKind(b, fmt.Sprintf("op=combine/rows=%s/cols=%d/nnz=%d", draw.name, cols, nonzeros), nonzeros*cols, func(k kind, n int) {
					combineRows32(k, lists[n%len(lists)], value, rows, cols, y)
				})
			}
		}
	}
	for _, s := range []struct{ cols, d int }{{150, 300}, {1000, 768}} {
		y := make([]float32, s.cols)
		eachKind(b, fmt.Sprintf("op=combineAll/cols=%d/nnz=%d", s.cols, s.d), s.cols*s.d, func(k kind, _ int) {
			combineAllRows32(k, rows[room-s.d:], rows, s.cols, y)
		})
	}
	for _, n := range []int{4, 10, 50, 150, 1000} {
		x, p := rows[:n], make([]float32, n)
		of := func(op string) string { return fmt.Sprintf("op=%s/n=%d", op, n) }
		eachKind(b, of("softmax"), n, func(k kind, _ int) { softmax32(k, p, x) })
		eachKind(b, of("exp"), n, func(k kind, _ int) { exp32(k, p, x) })
		eachKind(b, of("dot"), n, func(k kind, _ int) { dot32(k, p, x) })
		eachKind(b, of("squaredDistance"), n, func(k kind, _ int) { squaredDistance32(k, p, x) })
		eachKind(b, of("scaledSquares"), n, func(k kind, _ int) { scaledSquares32(k, 1, p, 1, x) })
		eachKind(b, of("axpy"), n, func(k kind, _ int) { axpy32(k, 1e-9, x, p) })
		eachKind(b, of("add"), n, func(k kind, _ int) { add32(k, x, p) })
		eachKind(b, of("scale"), n, func(k kind, _ int) { scale32(k, -1, p) })
	}
}

// eachKind measures one call of run, which gets the number of the call.
func eachKind(b *testing.B, name string, elements int, run func(k kind, n int)) {
	for _, k := range kinds() {
		b.Run(fmt.Sprintf("%s/kind=%v", name, k), func(b *testing.B) {
			n := 0
			for b.Loop() {
				run(k, n)
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(elements), "ns/element")
		})
	}
}
