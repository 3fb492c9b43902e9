package extreme

import (
	"math"
	"math/bits"
	"slices"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// weights are those of one node: of the features that its rows have, for its choices and,
// last, for "none of these" (but for the root), without those near 0. Immutable.
type weights struct {
	features []int32   // ascending
	start    []int32   // the packed row of features[n] is rows[start[n]:start[n+1]]
	rows     []uint16  // kernel.AppendPackedRow of the choices, and kernel.PackedSlack words
	bias     []float32 // of each choice

	places []place // of the features, see index
}

// place tells which of 64 features a node has, and how many it has before these: where one
// is among them takes one line of memory and no search.
type place struct {
	bits   uint64
	before int32
}

// find returns the place of a feature among those of the node, if it is there.
func (w *weights) find(feature int32) (int32, bool) {
	p := &w.places[feature>>6]
	bit := uint64(1) << (feature & 63)
	return p.before + int32(bits.OnesCount64(p.bits&(bit-1))), p.bits&bit != 0
}

// words returns the packed rows, without what is behind them.
func (w *weights) words() []uint16 { return w.rows[:len(w.rows)-kernel.PackedSlack] }

// count returns the number of weights.
func (w *weights) count() int {
	n := 0
	for i := range w.features {
		n += int(w.start[i+1]-w.start[i]) - 1 - bits.OnesCount16(w.rows[w.start[i]])
	}
	return n
}

// mostWeights bounds the weights that are kept for each choice of a node, on average: nine
// kilobytes in a file. Class information makes a weight of every feature and class; beyond
// these they add up to nothing.
//
// An inner node has mostInner, as nothing makes good what it leaves out: with mostWeights the
// right leaf of generated texts is among ten of 30 in 89 of 100 cases, with mostInner in 92.
const (
	mostWeights = 3000
	mostInner   = 30_000
	// mostSimilar is mostWeights where similar classes find the leaves: what a class has most
	// of, these know, too.
	mostSimilar = 2500
)

// limit returns the threshold, at least least, above which a layer has no more weights than
// so many a choice; a sample of them tells.
func limit(l *softmax.Layer, each int, least float32) float32 {
	most := each * l.Outputs()
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

// index makes the places, for features below dim.
func (w *weights) index(dim int) *weights {
	w.places = make([]place, (dim+63)/64)
	for n, f := range w.features {
		p := &w.places[f>>6]
		if p.bits == 0 {
			p.before = int32(n)
		}
		p.bits |= 1 << (f & 63)
	}
	return w
}

// packer makes the weights of a node, feature by feature.
type packer struct {
	w      weights
	choice []uint8 // of the next feature
	value  []uint16
}

func newPacker(bias []float32) *packer {
	return &packer{w: weights{bias: slices.Clone(bias), start: []int32{0}}}
}

// add keeps a weight of the next feature; choices ascend.
func (p *packer) add(choice uint8, value uint16) {
	p.choice, p.value = append(p.choice, choice), append(p.value, value)
}

// end ends a feature, which is left out without weights.
func (p *packer) end(feature int32) {
	if len(p.choice) == 0 {
		return
	}
	p.w.rows = kernel.AppendPackedRow(p.w.rows, p.choice, p.value)
	p.w.features, p.w.start = append(p.w.features, feature), append(p.w.start, int32(len(p.w.rows)))
	p.choice, p.value = p.choice[:0], p.value[:0]
}

// weights returns what was added, in arrays of their size.
func (p *packer) weights() *weights {
	p.w.rows = append(p.w.rows, make([]uint16, kernel.PackedSlack)...)
	p.w.features, p.w.start, p.w.rows = slices.Clip(p.w.features), slices.Clip(p.w.start), slices.Clip(p.w.rows)
	return &p.w
}

// pack keeps what matters of a trained layer over some columns: the weights of at least
// threshold, in size. The features without any go.
func pack(l *softmax.Layer, columns []int32, threshold float32) *weights {
	p := newPacker(l.Bias)
	k := l.Outputs()
	for n, f := range columns {
		for c, x := range l.Weight[n*k : (n+1)*k] {
			if float32(math.Abs(float64(x))) >= threshold {
				p.add(uint8(c), half.Round(min(max(x, -half.Max), half.Max)))
			}
		}
		p.end(f)
	}
	return p.weights()
}

// pruned returns w without the weights below a threshold, in size.
func (w *weights) pruned(threshold float32) *weights {
	p := newPacker(w.bias)
	var choice []uint8
	for n, f := range w.features {
		var value []uint16
		choice, value = kernel.UnpackRow(choice[:0], w.rows[w.start[n]:w.start[n+1]])
		for i, c := range choice {
			if float32(math.Abs(float64(half.Finite(value[i])))) >= threshold {
				p.add(c, value[i])
			}
		}
		p.end(f)
	}
	return p.weights()
}

// hits are the features of a row that a node has weights for.
type hits struct {
	at []int32 // where their packed rows begin
	x  []float32
}

// scores, for which index must have been called, sets out to the scores of a row of
// features for all choices. It is what a prediction spends its time in: of 100 classes and
// 200 features in a row some 25 kilobytes of weights are read. h is scratch.
func (w *weights) scores(out *[kernel.PackedWidth]float32, index []int32, value []float32, h *hits) {
	copy(out[:], w.bias)
	h.at, h.x = slices.Grow(h.at[:0], len(index))[:len(index)], slices.Grow(h.x[:0], len(index))[:len(index)]
	found := 0
	for n, f := range index {
		if at, ok := w.find(f); ok {
			h.at[found], h.x[found] = w.start[at], value[n]
			found++
		}
	}
	kernel.AddPackedRows(out, h.at[:found], h.x[:found], w.rows)
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
