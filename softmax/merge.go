package softmax

import (
	"math"

	"github.com/treeloss/treeloss/matrix"
)

// merged writes sparse examples in fewer features. Features with the same column are
// one of that column times the root of their number, and features that only
// one example has are one of their length: n-grams of a rare word, most often. Both
// are a change of basis, X = X' Qᵀ with orthonormal columns in Q, so the best weights
// with an L2 penalty are W = Q W', at the same objective. Half of the features of
// short texts go that way, and with them the memory for their weights.
type merged struct {
	of     []int32   // of each feature the one it is merged into; -1: no example has it
	factor []float32 // the number of Q there
}

// mergeFeatures returns x in fewer features, or x and nil if few can be merged.
// Columns are told apart by a hash of 128 bits.
func mergeFeatures(x *matrix.Sparse) (*matrix.Sparse, *merged) {
	type column struct {
		a, b  uint64 // hash
		count int32
		row   int32 // the last that has it
	}
	columns := make([]column, x.Columns)
	for i := range x.Rows() {
		index, value := x.Row(i)
		for n, f := range index {
			c := &columns[f]
			word := uint64(i)<<32 | uint64(math.Float32bits(value[n]))
			c.a = mixBits(c.a ^ word)
			c.b = mixBits(c.b + word*0x9e3779b97f4a7c15)
			c.count++
			c.row = int32(i)
		}
	}
	m := &merged{of: make([]int32, x.Columns), factor: make([]float32, x.Columns)}
	var leaders []int32 // the first feature of each merged one
	alone := make([]int32, x.Rows())
	for i := range alone {
		alone[i] = -1
	}
	same := make(map[column]int32)
	size := make([]float64, 0, x.Columns) // of each merged one: features
	for f, c := range columns {
		at := int32(-1)
		switch known, ok := same[c]; {
		case c.count == 0:
			m.of[f] = -1
			continue
		case c.count == 1:
			at = alone[c.row]
		case ok:
			at = known
		}
		if at < 0 {
			at = int32(len(leaders))
			leaders = append(leaders, int32(f))
			size = append(size, 0)
			if c.count == 1 {
				alone[c.row] = at
			} else {
				same[c] = at
			}
		}
		m.of[f] = at
		size[at]++
	}
	if float64(len(leaders)) > mergedPays*float64(x.Columns) {
		return x, nil
	}
	length := make([]float64, x.Rows()) // of what only this example has
	for i := range x.Rows() {
		index, value := x.Row(i)
		for n, f := range index {
			if columns[f].count == 1 {
				length[i] += float64(value[n]) * float64(value[n])
			}
		}
		length[i] = math.Sqrt(length[i])
	}
	small := &matrix.Sparse{Columns: len(leaders), Start: make([]int, 1, x.Rows()+1)}
	var at []int32
	var values []float32
	for i := range x.Rows() {
		at, values = at[:0], values[:0]
		index, value := x.Row(i)
		for n, f := range index {
			g := m.of[f]
			v := float64(value[n]) * math.Sqrt(size[g])
			m.factor[f] = float32(1 / math.Sqrt(size[g]))
			if columns[f].count == 1 {
				v = length[i]
				m.factor[f] = 0
				if v > 0 {
					m.factor[f] = float32(float64(value[n]) / v)
				}
			}
			if leaders[g] == f {
				at, values = append(at, g), append(values, float32(v))
			}
		}
		small.AppendRow(at, values)
	}
	return small, m
}

// mergedPays is the share of the features up to which merging them is worth while.
const mergedPays = 0.9

// mixBits is a bijection of 64 bits in which each bit changes half of the others
// (the finaliser of MurmurHash3).
func mixBits(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// place returns which feature f is merged into, -1 for none, and its number in Q. A
// nil m is Q = I.
func (m *merged) place(f int) (of int, factor float64) {
	if m == nil {
		return f, 1
	}
	return int(m.of[f]), float64(m.factor[f])
}
