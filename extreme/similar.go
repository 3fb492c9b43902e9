package extreme

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/safetensors"
)

const (
	// similarFeatures is the number of features of a class that its similarity is told by, the
	// largest ones.
	similarFeatures = 100
	// similarGain is by how much more often the leaf of a held-out row must be among those of
	// its similar classes than among those of the softmaxes above the leaves, for the former
	// to be taken. By less the softmaxes are better, as they know more of a leaf than how
	// often it has the right class.
	similarGain = 0.02
	// similarGrain is the number of classes that a goroutine takes at a time.
	similarGrain = 64
)

// A similarity tells how similar a row x is to each class c, as the dot product x·d_c, where
//
//	d_cf ∝ sqrt(Σ x_f over the rows of c) · log²((k + 1) / classes that have f)
//
// without all but the largest similarFeatures, and of length 1: a nearest-centroid classifier.
// The root damps what a few rows of a class repeat; the square, beside the idf of x, is for
// classes that are as many as words are. Classes are the places of Partition.Order. Immutable.
type similarity struct {
	start []int32  // the classes that have feature f are place[start[f]:start[f+1]]
	place []int32  // ascending for each feature
	value []uint16 // d_cf in half precision
}

// newSimilarity makes that of rows in the order of a partition of k classes. It reads the rows
// twice and takes O(their values), and 14 bytes of memory for each feature that is kept of a
// class.
func newSimilarity(rows *examples, threads int) (*similarity, error) {
	k := len(rows.start) - 1
	classes := make([]atomic.Int32, rows.columns) // that have a feature
	err := rows.sums(threads, func(_ int, features []int32, _ []float32) {
		for _, f := range features {
			classes[f].Add(1)
		}
	})
	if err != nil {
		return nil, err
	}
	idf := make([]float64, rows.columns)
	for f := range idf {
		idf[f] = math.Pow(math.Log(float64(k+1)/float64(max(1, classes[f].Load()))), 2)
	}
	type entry struct {
		feature int32
		value   float32
	}
	kept := make([][]entry, k)
	err = rows.sums(threads, func(n int, features []int32, sum []float32) {
		list := make([]entry, 0, len(features))
		for i, f := range features {
			if v := math.Sqrt(float64(max(sum[i], 0))) * idf[f]; v > 0 {
				list = append(list, entry{f, float32(v)})
			}
		}
		slices.SortFunc(list, func(a, b entry) int {
			return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.feature, b.feature))
		})
		kept[n] = slices.Clone(list[:min(len(list), similarFeatures)])
	})
	if err != nil {
		return nil, err
	}
	s := &similarity{start: make([]int32, rows.columns+1)}
	for _, list := range kept {
		for _, e := range list {
			s.start[e.feature+1]++
		}
	}
	for f := range rows.columns {
		s.start[f+1] += s.start[f]
	}
	total := s.start[rows.columns]
	s.place, s.value = make([]int32, total), make([]uint16, total)
	next := slices.Clone(s.start)
	for n, list := range kept {
		squares := 0.0
		for _, e := range list {
			squares += float64(e.value) * float64(e.value)
		}
		for _, e := range list {
			at := next[e.feature]
			next[e.feature]++
			s.place[at], s.value[at] = int32(n), half.Round(e.value/float32(math.Sqrt(squares)))
		}
		kept[n] = nil
	}
	return s, nil
}

// sums calls visit, from any goroutine, with the features of the rows of each class and the sums
// of their values, weighted; both are valid during the call.
func (e *examples) sums(threads int, visit func(n int, features []int32, sum []float32)) error {
	k := len(e.start) - 1
	errs := make([]error, (k+similarGrain-1)/similarGrain)
	kernel.Parallel(threads, k, similarGrain, func(block, lo, hi int) {
		x, err := e.between(e.start[lo], e.start[hi])
		if err != nil {
			errs[block] = err
			return
		}
		place := make(map[int32]int)
		var features []int32
		var sum []float32
		for n := lo; n < hi; n++ {
			clear(place)
			features, sum = features[:0], sum[:0]
			for i := e.start[n]; i < e.start[n+1]; i++ {
				weight := float32(1)
				if e.weight != nil {
					weight = e.weight[i]
				}
				index, value := x.Row(i - e.start[lo])
				for j, f := range index {
					at, ok := place[f]
					if !ok {
						at = len(features)
						place[f] = at
						features, sum = append(features, f), append(sum, 0)
					}
					sum[at] += weight * value[j]
				}
			}
			visit(n, features, sum)
		}
	})
	return cmp.Or(errs...)
}

// similar is the similarity of one row to all classes.
type similar struct {
	*similarity
	score []float32 // of each place, 0 where they have no feature in common
}

func newSimilar(s *similarity, p *Partition) *similar {
	return &similar{s, make([]float32, len(p.Order))}
}

// leaves appends the leaves of the classes that a row is similar to at all, with the similarity
// of the most similar one of each. A row that is like none comes to the first leaf. O(k).
func (s *similar) leaves(to []step, p *Partition) []step {
	from, first := len(to), step{}
	for v, n := range p.Nodes {
		if !n.Leaf() {
			continue
		}
		if n.First == 0 {
			first.node = int32(v)
		}
		best := float32(0)
		for _, x := range s.score[n.First:n.End] {
			if x > best {
				best = x
			}
		}
		if best > 0 {
			to = append(to, step{int32(v), best})
		}
	}
	if len(to) == from {
		to = append(to, first)
	}
	return to
}

// set computes it for a row of features. O(k + the classes that have these features): to clear
// all scores takes less than to know which are not 0.
func (s *similar) set(index []int32, value []float32) {
	clear(s.score)
	for n, f := range index {
		list := s.value[s.start[f]:s.start[f+1]]
		for i, at := range s.place[s.start[f]:s.start[f+1]] {
			s.score[at] += value[n] * half.Finite(list[i])
		}
	}
}

// check returns an error unless the parts fit together, for so many features and classes.
func (s *similarity) check(features, classes int) error {
	if len(s.start) != features+1 || s.start[0] != 0 || int(s.start[features]) != len(s.place) || len(s.place) != len(s.value) {
		return fmt.Errorf("similar classes of %d features, %d places and %d values, want %d features", len(s.start)-1, len(s.place), len(s.value), features)
	}
	if !slices.IsSorted(s.start) {
		return errors.New("the similar classes of a feature end before they begin")
	}
	for _, n := range s.place {
		if n < 0 || int(n) >= classes {
			return fmt.Errorf("similar class %d of %d", n, classes)
		}
	}
	return nil
}

// parts are the tensors of a file.
func (s *similarity) parts() []safetensors.Tensor {
	return []safetensors.Tensor{safetensors.New("similar_start", s.start, len(s.start)),
		safetensors.New("similar_place", s.place, len(s.place)), safetensors.New("similar_value", s.value, len(s.value))}
}

// similarFrom reads the similarity of a file to so many classes by so many features.
func similarFrom(f *safetensors.File, features, classes int) (*similarity, error) {
	s := &similarity{}
	var sums []int64
	var err error
	get := getter(f, &err)
	get("similar_start", func(t *safetensors.Tensor) (err error) { s.start, err = t.Int32s(); return err })
	get("similar_place", func(t *safetensors.Tensor) (err error) { s.place, err = t.Int32s(); return err })
	get("similar_value", func(t *safetensors.Tensor) (err error) { s.value, err = t.Uint16s(); return err })
	get("similar_crc32c", func(t *safetensors.Tensor) (err error) { sums, err = t.Int64s(); return err })
	if err != nil {
		return nil, err
	}
	if len(sums) != 1 || checksum(s.parts()) != sums[0] {
		return nil, errors.New("the similar classes have another checksum than when they were written; the file is damaged, copy or train it again")
	}
	return s, s.check(features, classes)
}
