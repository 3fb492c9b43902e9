package extreme

import (
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// weights are those of one node: of the features that its rows have, for its choices and,
// last, for "none of these" (but for the root), without those near 0. Immutable.
type weights struct {
	features []int32   // ascending
	start    []int32   // the entries of features[n] are start[n] to start[n+1]-1
	choice   []uint8   // of each entry
	value    []uint16  // in half precision
	bias     []float32 // of each choice

	// Where to look for a feature f: at bucket[f>>shift] and behind. About four features
	// are in a bucket.
	bucket []int32
	shift  uint
}

// mostWeights bounds the weights that are kept for each choice of a node, on average: nine
// kilobytes in a file. Class information makes a weight of every feature and class; beyond
// these they add up to nothing.
const mostWeights = 3000

// limit returns the threshold, at least least, above which a layer has no more weights than
// mostWeights a choice; a sample of them tells.
func limit(l *softmax.Layer, least float32) float32 {
	most := mostWeights * l.Outputs()
	if len(l.Weight) <= most {
		return least
	}
	const sample = 1 << 16
	sizes := make([]float32, 0, sample)
	step := (len(l.Weight) + sample - 1) / sample
	step += 1 - step%2 // so that a step of many rows does not stay on some columns
	for i := 0; i < len(l.Weight); i += step {
		sizes = append(sizes, float32(math.Abs(float64(l.Weight[i]))))
	}
	slices.Sort(sizes)
	return max(least, sizes[len(sizes)-1-int(float64(len(sizes)-1)*float64(most)/float64(len(l.Weight)))])
}

// index makes the buckets, for features below dim.
func (w *weights) index(dim int) *weights {
	for len(w.features)>>2 < dim>>w.shift {
		w.shift++
	}
	w.bucket = make([]int32, dim>>w.shift+1)
	at := 0
	for b := range w.bucket {
		for at < len(w.features) && int(w.features[at])>>w.shift < b {
			at++
		}
		w.bucket[b] = int32(at)
	}
	return w
}

// pack keeps what matters of a trained layer over some columns: the weights of at least
// threshold, in size. The features without any go.
func pack(l *softmax.Layer, columns []int32, threshold float32) *weights {
	w := &weights{bias: slices.Clone(l.Bias), start: []int32{0}}
	k := l.Outputs()
	for n, f := range columns {
		before := len(w.value)
		for c, x := range l.Weight[n*k : (n+1)*k] {
			if float32(math.Abs(float64(x))) >= threshold {
				w.choice, w.value = append(w.choice, uint8(c)), append(w.value, half.Round(min(max(x, -half.Max), half.Max)))
			}
		}
		if len(w.value) > before {
			w.features, w.start = append(w.features, f), append(w.start, int32(len(w.value)))
		}
	}
	return w
}

// pruned returns w without the weights below a threshold, in size.
func (w *weights) pruned(threshold float32) *weights {
	out := &weights{bias: w.bias, start: []int32{0}}
	for n, f := range w.features {
		before := len(out.value)
		for i := w.start[n]; i < w.start[n+1]; i++ {
			if x := half.Finite(w.value[i]); float32(math.Abs(float64(x))) >= threshold {
				out.choice, out.value = append(out.choice, w.choice[i]), append(out.value, w.value[i])
			}
		}
		if len(out.value) > before {
			out.features, out.start = append(out.features, f), append(out.start, int32(len(out.value)))
		}
	}
	return out
}

// scores, for which index must have been called, sets out to the scores of a row of
// features for all choices.
func (w *weights) scores(out *[MaxOutputs + 1]float32, index []int32, value []float32) {
	copy(out[:], w.bias)
	for n, f := range index {
		at := int(w.bucket[f>>w.shift])
		for at < len(w.features) && w.features[at] < f {
			at++
		}
		if at == len(w.features) || w.features[at] != f {
			continue
		}
		from, to := w.start[at], w.start[at+1]
		add(out, value[n], w.choice[from:to], w.value[from:to])
	}
}

// halfScale takes the bits of a binary16 number, moved to their places in a float32, to the
// number: exponents are 112 apart.
const halfScale = 0x1p112

// add adds x times some weights to the scores of their choices. It is what a prediction
// spends its time in. Thresholds keep weights out of the subnormal range, so that the scale
// can go with x, where that has room for it.
func add(out *[MaxOutputs + 1]float32, x float32, choice []uint8, value []uint16) {
	value = value[:len(choice)]
	if x > 0x1p14 || x < -0x1p14 {
		for i, c := range choice {
			out[c] += x * half.Finite(value[i])
		}
		return
	}
	x *= halfScale
	for i, c := range choice {
		bits := uint32(value[i])
		out[c] += x * math.Float32frombits(bits&0x8000<<16|bits&0x7fff<<13)
	}
}

// compact returns the columns that some row of x has, ascending, and x with these alone.
// scratch has as many zeros as x columns, and is left so.
func compact(x *matrix.Sparse, scratch []int32) (columns []int32, out *matrix.Sparse) {
	for _, f := range x.Index {
		if scratch[f] == 0 {
			scratch[f] = 1
			columns = append(columns, f)
		}
	}
	slices.Sort(columns)
	for n, f := range columns {
		scratch[f] = int32(n)
	}
	out = &matrix.Sparse{Columns: len(columns), Start: x.Start, Index: make([]int32, len(x.Index)), Value: x.Value}
	for n, f := range x.Index {
		out.Index[n] = scratch[f]
	}
	for _, f := range columns {
		scratch[f] = 0
	}
	return columns, out
}
