package extreme

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

const (
	// Dimensions is the length of the class vectors that a partition is made of.
	Dimensions = 256
	// projected is how many of the dimensions each feature is spread over: with 8 of 256
	// a cosine is off by some 0.06, as with a dense projection (Kane and Nelson 2014).
	projected = 8

	// What is known about a class beside its rows counts so much, each part of length 1.
	namesWeight, taxonomyWeight, vectorsWeight = 0.5, 0.5, 0.5
	// higher is what an ancestor in the taxonomy counts beside the one below it.
	higher = 0.7
)

// Parts of a class vector have directions of their own.
const (
	rowsPart = iota
	namesPart
	taxonomyPart
	vectorsPart
)

// ClassVectors returns the vectors (k x Dimensions) that similar classes are found by: the
// mean of the rows of each class, its name's n-grams, its ancestors in the taxonomy and its
// label vector, as far as they are there, each of length 1 times a weight, by a sparse random
// projection. A class without rows still has a name. It takes O(values of x).
func ClassVectors(x *matrix.Sparse, class []int32, about classinfo.Info, threads int) *matrix.Dense {
	sums := matrix.NewDense(len(about.Labels), Dimensions)
	addRows(sums, x, class, threads)
	complete(sums, about, threads)
	return sums
}

// addRows adds the projections of rows to the sums (k x Dimensions) of their classes, in their
// order.
func addRows(sums *matrix.Dense, x *matrix.Sparse, class []int32, threads int) {
	rows := make([]int32, 0, len(class)) // with a class, by it
	for i, c := range class {
		if c >= 0 {
			rows = append(rows, int32(i))
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(class[a], class[b]) })
	var starts []int // of the classes in rows
	for n, i := range rows {
		if n == 0 || class[i] != class[rows[n-1]] {
			starts = append(starts, n)
		}
	}
	starts = append(starts, len(rows))
	kernel.Parallel(threads, len(starts)-1, 64, func(_, lo, hi int) {
		for _, i := range rows[starts[lo]:starts[hi]] {
			index, value := x.Row(int(i))
			project(sums.Row(int(class[i])), rowsPart, index, value)
		}
	})
}

// complete makes class vectors of the sums of rows.
func complete(sums *matrix.Dense, about classinfo.Info, threads int) {
	names, err := feature.Names(about.Labels)
	if err != nil {
		names = nil // blank names are like no others
	}
	kernel.Parallel(threads, len(about.Labels), 256, func(_, lo, hi int) {
		part := make([]float32, Dimensions)
		for c := lo; c < hi; c++ {
			v := sums.Row(c)
			add := func(weight float32) {
				unit(part)
				kernel.Axpy(weight, part, v)
				clear(part)
			}
			unit(v)
			if names != nil {
				index, value := names.Row(c)
				project(part, namesPart, index, value)
				add(namesWeight)
			}
			if t := about.Taxonomy; t != nil {
				weight := float32(1)
				for _, node := range t.Path(c)[1:] {
					project(part, taxonomyPart, []int32{int32(node)}, []float32{weight})
					weight *= higher
				}
				add(taxonomyWeight)
			}
			if m := about.Vectors; m != nil {
				for j, w := range m.Row(c) {
					project(part, vectorsPart, []int32{int32(j)}, []float32{w})
				}
				add(vectorsWeight)
			}
			unit(v)
		}
	})
}

// project adds a sparse vector to v: each of its numbers, with a random sign, at some
// random places, which depend on the part and the index alone.
func project(v []float32, part uint64, index []int32, value []float32) {
	scale := float32(1 / math.Sqrt(projected))
	for n, j := range index {
		random := rand.NewPCG(part, uint64(j))
		bits := random.Uint64()
		signs := random.Uint64()
		x := scale * value[n]
		for range projected {
			if signs&1 == 0 {
				v[bits%Dimensions] += x
			} else {
				v[bits%Dimensions] -= x
			}
			bits, signs = bits>>8, signs>>1
		}
	}
}
