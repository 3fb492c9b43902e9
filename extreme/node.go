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

// bytes returns what the weights take in a file.
func (w *weights) bytes() int {
	return 4*(len(w.features)+len(w.start)+len(w.bias)) + 3*len(w.value)
}

// scores sets out to the scores of a row of features for all choices.
func (w *weights) scores(out []float32, index []int32, value []float32) {
	copy(out, w.bias)
	w.each(index, func(n, at int) {
		x := value[n]
		from, to := w.start[at], w.start[at+1]
		for i, c := range w.choice[from:to] {
			out[c] += x * half.Finite(w.value[int(from)+i])
		}
	})
}

// each calls visit with the places, in index and among the features, of those in both.
// Both ascend: the search for each begins where the one before ended, with steps that
// double.
func (w *weights) each(index []int32, visit func(n, at int)) {
	at := 0
	for n, f := range index {
		step, hi := 1, at
		for hi < len(w.features) && w.features[hi] < f {
			at = hi + 1
			hi += step
			step *= 2
		}
		hi = min(hi, len(w.features))
		for at < hi {
			if mid := (at + hi) / 2; w.features[mid] < f {
				at = mid + 1
			} else {
				hi = mid
			}
		}
		if at == len(w.features) {
			return
		}
		if w.features[at] == f {
			visit(n, at)
			at++
		}
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
