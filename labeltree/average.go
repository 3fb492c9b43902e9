package labeltree

import (
	"cmp"
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/metric"
)

// mostExact is the most classes whose distances are kept as float64.
const mostExact = 8192

// average runs average linkage over all distances of the space, each of which
// goes through check first.
func average(space metric.Space, check func(i, j int, x float64) error) ([]merge, error) {
	k := space.Len()
	if k <= mostExact {
		d, err := condense[float64](space, 1, math.MaxFloat64, check)
		if err != nil {
			return nil, err
		}
		return join(k, d), nil
	}
	return averageRounded(space, check)
}

// averageRounded is average in half the memory: the joins are those of
// distances in float32, their heights those of the space.
func averageRounded(space metric.Space, check func(i, j int, x float64) error) ([]merge, error) {
	k := space.Len()
	unit := 0.0
	for j := 1; j < k; j++ {
		x := space.Distance(0, j)
		if err := check(0, j, x); err != nil {
			return nil, err
		}
		unit = max(unit, x) // half the largest distance at least
	}
	d, err := condense[float32](space, cmp.Or(unit, 1), math.MaxFloat32, check)
	if err != nil {
		return nil, err
	}
	merges := join(k, d)
	measure(space, merges)
	return merges, nil
}

// rowGrain is how many rows of distances one goroutine takes at a time.
const rowGrain = 16

// condense asks for all distances, in the order of metric.Condensed, divided by
// unit; what is above largest, which no metric has, becomes largest. Spaces that give
// many distances at a time are asked by all processors.
func condense[T float32 | float64](space metric.Space, unit, largest float64, check func(i, j int, x float64) error) ([]T, error) {
	k := space.Len()
	d := make([]T, k*(k-1)/2)
	all := make([]int32, k)
	for i := range all {
		all[i] = int32(i)
	}
	failed := make([]error, (k+rowGrain-1)/rowGrain)
	kernel.Parallel(threads(space), k, rowGrain, func(block, lo, hi int) {
		away := make([]float64, k)
		for i := lo; i < hi; i++ {
			to := all[i+1:]
			metric.Distances(space, i, to, away)
			at := i * (2*k - i - 1) / 2 // Condensed(k, i, i+1), also for the last row, which is empty
			row := d[at : at+len(to)]
			for n, x := range away[:len(to)] {
				if !(x >= 0 && x <= maxHeight) {
					failed[block] = check(i, i+1+n, x)
					return
				}
				row[n] = T(min(x/unit, largest))
			}
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// threads is 0, all, for the spaces known to allow it, else 1.
func threads(space metric.Space) int {
	if _, ok := space.(metric.Batch); ok {
		return 0
	}
	return 1
}

// measure sets the height of each merge to the mean distance of the pairs of
// classes that it joins, or to that of a part of it, if rounding put it lower.
func measure(space metric.Space, merges []merge) {
	k := len(merges) + 1
	// In the order of the leaves, each group is a range, from start to start+size.
	start, size := make([]int, 2*k-1), make([]int, 2*k-1)
	for c := range k {
		size[c] = 1
	}
	for n, m := range merges {
		size[k+n] = size[m.left] + size[m.right]
	}
	for n := k - 2; n >= 0; n-- {
		m := merges[n]
		start[m.left] = start[k+n]
		start[m.right] = start[k+n] + size[m.left]
	}
	order, places := make([]int32, k), make([]int32, k)
	for c := range k {
		order[start[c]] = int32(c)
		places[c] = int32(c)
	}
	leaves := metric.Select(space, order)
	kernel.Parallel(threads(space), k-1, 1, func(_, n, _ int) {
		few, many := merges[n].left, merges[n].right
		if size[few] > size[many] {
			few, many = many, few
		}
		away := make([]float64, size[many])
		sum := 0.0
		for i := range size[few] {
			metric.Distances(leaves, start[few]+i, places[start[many]:start[many]+size[many]], away)
			part := 0.0
			for _, x := range away {
				part += x
			}
			sum += part
		}
		merges[n].height = sum / float64(size[few]) / float64(size[many])
	})
	for n, m := range merges {
		for _, part := range []int{m.left, m.right} {
			if part >= k {
				merges[n].height = max(merges[n].height, merges[part-k].height)
			}
		}
	}
}
