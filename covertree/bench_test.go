package covertree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/treeloss/treeloss/matrix"
)

// benchRows draws k points in 50 dimensions:
//
//	hier  a hierarchy, each cluster of four clusters of half its size
//	low   a smooth map of 5 dimensions
//	flat  sqrt(k) clusters of 50-d Gaussian points, each a star
//	even  evenly over the unit cube: 50 dimensions indeed, the worst case
func benchRows(kind string, k int) *matrix.Dense {
	const d = 50
	random := rand.New(rand.NewPCG(uint64(k), 7))
	m := matrix.NewDense(k, d)
	normal := func(row []float32, size float64) {
		for c := range row {
			row[c] += float32(random.NormFloat64() * size)
		}
	}
	switch kind {
	case "hier":
		// Row i is near its cluster, row i/4 of the level above.
		above, size := matrix.NewDense(1, d), 1.0
		for n := 4; ; n *= 4 {
			here := matrix.NewDense(min(n, k), d)
			for i := range here.Rows() {
				copy(here.Row(i), above.Row(i/4))
				normal(here.Row(i), size)
			}
			if n >= k {
				return here
			}
			above, size = here, size/2
		}
	case "low":
		at := make([]float64, 5)
		direction := matrix.NewDense(d, len(at))
		for c := range d {
			normal(direction.Row(c), 1)
		}
		for i := range k {
			for n := range at {
				at[n] = random.Float64()
			}
			row := m.Row(i)
			for c := range row {
				sum := 0.0
				for n, a := range direction.Row(c) {
					sum += float64(a) * at[n]
				}
				row[c] = float32(math.Sin(sum))
			}
		}
	case "flat":
		centre := matrix.NewDense(int(math.Sqrt(float64(k))), d)
		for i := range centre.Rows() {
			normal(centre.Row(i), 1)
		}
		for i := range k {
			copy(m.Row(i), centre.Row(random.IntN(centre.Rows())))
			normal(m.Row(i), 0.1)
		}
	case "even":
		for n := range m.Data {
			m.Data[n] = random.Float32()
		}
	}
	return m
}

// BenchmarkNew reports, besides the time, how it grows: an exponent is the
// slope of the logarithm over that of k since a tree of a quarter of the points.
func BenchmarkNew(b *testing.B) {
	for _, kind := range []string{"hier", "low", "flat", "even"} {
		for _, k := range []int{1000, 10_000, 100_000, 1_000_000} {
			for _, base := range []float64{1.3, 2} {
				b.Run(fmt.Sprintf("data=%s/k=%d/d=50/base=%v", kind, k, base), func(b *testing.B) {
					build := func(k int) (*Tree, time.Duration) {
						space := euclid(benchRows(kind, k))
						start := cpuTime()
						tree, err := New(space, Options{Base: base})
						if err != nil {
							b.Fatal(err)
						}
						return tree, cpuTime() - start
					}
					quarter, before := build(k / 4)
					space := euclid(benchRows(kind, k))
					var tree *Tree
					b.ResetTimer()
					start := cpuTime()
					for b.Loop() {
						var err error
						if tree, err = New(space, Options{Base: base}); err != nil {
							b.Fatal(err)
						}
					}
					b.StopTimer()
					took := (cpuTime() - start) / time.Duration(b.N)
					b.ReportMetric(took.Seconds(), "cpu-s/op")
					slope := func(more, less float64) float64 { return math.Log(more/less) / math.Log(4) }
					b.ReportMetric(slope(took.Seconds(), before.Seconds()), "time-exponent")
					b.ReportMetric(slope(float64(tree.Distances()), float64(quarter.Distances())), "distance-exponent")
					b.ReportMetric(float64(tree.Distances())/float64(k), "distances/point")
					b.ReportMetric(float64(tree.fanOut().Max), "widest")
				})
			}
		}
	}
}
