package softmax

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// packed is the weights of many classes in little memory, that of a model file as it
// lies on disk: only the rows of the features that an input has are ever looked at.
// They are safe for concurrent use and never change.
type packed interface {
	shape() (features, outputs int)
	// scores adds the scores of an input to out; index is nil for a dense one.
	scores(out []float32, index []int32, value []float32)
	// row sets out to the weights of a feature.
	row(out []float32, feature int)
	tensors() []safetensors.Tensor
}

const (
	// leastPacked is the number of weights from which a model is saved packed, 16 MB
	// of them.
	leastPacked = 4 << 20
	// smallWeight is what a weight may differ from the base and be left out: a
	// text of two blocks of length 1 has some 0.01 nats in a score from it. Where
	// classes differ much it is smallShare of the root mean square difference.
	smallWeight = 1.0 / 256
	smallShare  = 1.0 / 16
	// baseSample is the number of classes whose median is the base.
	baseSample = 101
	// mostRest is the share of the weights that may differ from their base: each of
	// them has 4 bytes in a file, where half precision has 2 for every weight.
	mostRest = 0.4
)

// pack returns l with packed weights, or l if it has few weights, the nodes of a
// hierarchical softmax, or a weight beyond half precision. Where at most mostRest of
// the weights differ from what most classes have, the others are left out; all
// change by what half precision rounds, one in 2048 at most. O(d k).
func pack(l *Layer, threads int) *Layer {
	if l.packed != nil || l.Hierarchy != nil || len(l.Weight) < leastPacked {
		return l
	}
	p := &Layer{Classes: l.Classes, Features: l.Features, Bias: l.Bias, Sigmoid: l.Sigmoid}
	switch r, ok := newRests(l, threads); {
	case !ok:
		return l
	case r.start[l.Features] > int64(mostRest*float64(len(l.Weight))):
		w, err := newHalfWeights(l, threads)
		if err != nil {
			return l
		}
		p.packed = w
	case l.Outputs() <= math.MaxUint16:
		p.packed = packRests[uint16](l, r, threads)
	default:
		p.packed = packRests[int32](l, r, threads)
	}
	return p
}

// rests says which weights of a layer differ from what most classes have.
type rests struct {
	base  []float32
	small float32 // what a weight may differ from the base
	start []int64 // features + 1: sums of the number of weights that differ more
}

// newRests finds the rests of a layer; not ok if one is beyond half precision.
func newRests(l *Layer, threads int) (r rests, ok bool) {
	k := l.Outputs()
	r = rests{base: make([]float32, l.Features), start: make([]int64, l.Features+1)}
	blocks := (l.Features + foldGrain - 1) / foldGrain
	squares, largest := make([]float64, blocks), make([]float32, blocks)
	kernel.Parallel(threads, l.Features, foldGrain, func(block, lo, hi int) {
		sample := make([]float32, 0, baseSample)
		for f := lo; f < hi; f++ {
			sample = sample[:0]
			row := l.Weight[f*k : (f+1)*k]
			for n := range min(k, baseSample) {
				sample = append(sample, row[n*k/min(k, baseSample)])
			}
			slices.Sort(sample)
			r.base[f] = sample[len(sample)/2]
			for _, w := range row {
				rest := w - r.base[f]
				squares[block] += float64(rest) * float64(rest)
				largest[block] = max(largest[block], rest, -rest, w, -w)
			}
		}
	})
	var sum float64
	for _, s := range squares {
		sum += s
	}
	r.small = float32(max(smallWeight, smallShare*math.Sqrt(sum/float64(len(l.Weight)))))
	r.count(l, threads)
	return r, slices.Max(largest) <= half.Max
}

// count finds where the rests of each feature start.
func (r rests) count(l *Layer, threads int) {
	clear(r.start)
	kernel.Parallel(threads, l.Features, foldGrain, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			for range r.of(l, f) {
				r.start[f+1]++
			}
		}
	})
	for f := range l.Features {
		r.start[f+1] += r.start[f]
	}
}

// of yields the classes whose weights of a feature differ, and by how much.
func (r rests) of(l *Layer, f int) func(yield func(class int, rest float32) bool) {
	k, base, small := l.Outputs(), r.base[f], r.small
	return func(yield func(int, float32) bool) {
		for class, w := range l.Weight[f*k : (f+1)*k] {
			if rest := w - base; (rest > small || rest < -small) && !yield(class, rest) {
				return
			}
		}
	}
}

// baseWeights are weights of which a feature has one value for most classes, and for
// few how they differ from it. A feature that occurs in few examples has much to say
// for their classes only.
type baseWeights[C uint8 | uint16 | int32] struct {
	outputs int
	base    []float32         // of each feature
	start   []int64           // features + 1: where each feature's part of the next two begins
	class   []C               // one beyond the outputs, in a file of another program, counts as none
	value   []uint16          // half precision: weight minus base; none of them infinite
	file    *safetensors.File // whose memory they are; nil: their own

	dense rowCache // value of all classes, of features that differ for manyRests of them
}

// manyRests is the share of the classes from which adding the weights of all of them,
// with vector instructions, takes less time than going through those that differ.
const manyRests = 0.25

// packRests makes the weights that a file has of the rests of a layer.
func packRests[C uint8 | uint16 | int32](l *Layer, r rests, threads int) *baseWeights[C] {
	total := r.start[l.Features]
	w := &baseWeights[C]{outputs: l.Outputs(), base: r.base, start: r.start, class: make([]C, total), value: make([]uint16, total), dense: make(rowCache, l.Features)}
	kernel.Parallel(threads, l.Features, foldGrain, func(_, lo, hi int) {
		at := r.start[lo]
		for f := lo; f < hi; f++ {
			for class, rest := range r.of(l, f) {
				w.class[at], w.value[at] = C(class), half.Round(rest)
				at++
			}
		}
	})
	return w
}

func (w *baseWeights[C]) shape() (features, outputs int) { return len(w.base), w.outputs }

// The bases of all features are one number for all classes, added at the end.
func (w *baseWeights[C]) scores(out []float32, index []int32, value []float32) {
	var common float32
	for n, x := range value {
		f := n
		if index != nil {
			f = int(index[n])
		}
		common += x * w.base[f]
		w.addRest(out, f, x)
	}
	for j := range out {
		out[j] += common
	}
	runtime.KeepAlive(w)
}

func (w *baseWeights[C]) row(out []float32, f int) {
	for j := range out {
		out[j] = w.base[f]
	}
	w.addSome(out, f, 1)
	runtime.KeepAlive(w)
}

// addRest adds x times what differs from the base of feature f to out.
func (w *baseWeights[C]) addRest(out []float32, f int, x float32) {
	if float64(w.start[f+1]-w.start[f]) < manyRests*float64(w.outputs) {
		w.addSome(out, f, x)
		return
	}
	row := w.dense.of(f, func() []float32 {
		row := make([]float32, w.outputs)
		w.addSome(row, f, 1)
		return row
	})
	kernel.Axpy(x, row, out)
}

// addSome is addRest class by class.
func (w *baseWeights[C]) addSome(out []float32, f int, x float32) {
	lo, hi := w.start[f], w.start[f+1]
	value := w.value[lo:hi]
	for n, class := range w.class[lo:hi] {
		if uint(class) < uint(len(out)) {
			out[class] += x * half.Finite(value[n])
		}
	}
}

// rowCache keeps the rows of features in single precision from when they are first
// asked for. It is safe for concurrent use.
type rowCache []atomic.Pointer[[]float32]

// of returns the row of a feature, which make makes: two callers at a time may both.
func (c rowCache) of(f int, make func() []float32) []float32 {
	if row := c[f].Load(); row != nil {
		return *row
	}
	row := make()
	c[f].Store(&row)
	return row
}

// scores adds the rows of the features to out, each times its value; fill writes a row
// that was not met before. A nil index means all features.
func (c rowCache) scores(out []float32, index []int32, value []float32, fill func(row []float32, f int)) {
	for n, x := range value {
		f := n
		if index != nil {
			f = int(index[n])
		}
		kernel.Axpy(x, c.of(f, func() []float32 {
			row := make([]float32, len(out))
			fill(row, f)
			return row
		}), out)
	}
}

// halfWeights are weights in half precision, feature-major.
type halfWeights struct {
	features, outputs int
	value             []uint16          // features x outputs, none infinite
	file              *safetensors.File // whose memory value is; nil: its own
	rows              rowCache          // of features that were met
}

func (w *halfWeights) shape() (features, outputs int) { return w.features, w.outputs }

func (w *halfWeights) scores(out []float32, index []int32, value []float32) {
	w.rows.scores(out, index, value, w.row)
}

func (w *halfWeights) row(out []float32, f int) {
	value := w.value[f*w.outputs : (f+1)*w.outputs]
	for j, h := range value {
		out[j] = half.Finite(h)
	}
	runtime.KeepAlive(w)
}

// Names of packed weights in a model file.
const (
	baseTensor  = "weight_base"  // F32, one a feature
	startTensor = "weight_start" // I64, features + 1: where each feature's part of the next two begins
	classTensor = "weight_class" // U16, or I32 from 65,536 outputs; pruned, U8 up to 256
	valueTensor = "weight_value" // F16
	halfTensor  = "weight_half"  // F16, features x outputs
	byteTensor  = "weight_byte"  // U8, features x outputs: 128 and more steps
	scaleTensor = "weight_scale" // F32, one a feature: its step
)

// tensors returns the weights as a file has them, in the memory of w.
func (w *baseWeights[C]) tensors() []safetensors.Tensor {
	n := len(w.class)
	var classes safetensors.Tensor
	switch c := any(w.class).(type) {
	case []uint8:
		classes = safetensors.New(classTensor, c, n)
	case []uint16:
		classes = safetensors.New(classTensor, c, n)
	case []int32:
		classes = safetensors.New(classTensor, c, n)
	}
	return []safetensors.Tensor{
		safetensors.New(baseTensor, w.base, len(w.base)), safetensors.New(startTensor, w.start, len(w.start)),
		classes, safetensors.Float16(valueTensor, w.value, n),
	}
}

// tensors returns the weights as a file has them, in the memory of w.
func (w *halfWeights) tensors() []safetensors.Tensor {
	return []safetensors.Tensor{safetensors.Float16(halfTensor, w.value, w.features, w.outputs)}
}

// loadPacked returns the packed weights of a file, in its memory; nil if it has none.
func loadPacked(f *safetensors.File, features, outputs int) (packed, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
	}
	switch {
	case has(halfTensor):
		value, err := tensor(f, halfTensor, (*safetensors.Tensor).Halfs, features, outputs)
		return &halfWeights{features: features, outputs: outputs, value: value, file: f, rows: make(rowCache, features)}, err
	case has(byteTensor):
		return loadBytes(f, features, outputs)
	case !has(baseTensor):
		return nil, nil
	}
	t, err := f.Tensor(classTensor)
	switch {
	case err != nil:
		return nil, err
	case t.DType == safetensors.U8:
		return loadBase(f, features, outputs, (*safetensors.Tensor).Bytes)
	case t.DType == safetensors.U16:
		return loadBase(f, features, outputs, (*safetensors.Tensor).Uint16s)
	}
	return loadBase(f, features, outputs, (*safetensors.Tensor).Int32s)
}

// loadBase reads baseWeights. It checks what would let an index run out of its array:
// that the starts ascend from 0 to the number of classes and values. Classes are checked
// where they are used, so that most of a file need not be read.
func loadBase[C uint8 | uint16 | int32](f *safetensors.File, features, outputs int, classes func(*safetensors.Tensor) ([]C, error)) (packed, error) {
	w := &baseWeights[C]{outputs: outputs, file: f, dense: make(rowCache, features)}
	var err error
	if w.base, err = tensor(f, baseTensor, (*safetensors.Tensor).Float32s, features); err != nil {
		return nil, err
	}
	if w.start, err = tensor(f, startTensor, (*safetensors.Tensor).Int64s, features+1); err != nil {
		return nil, err
	}
	n := w.start[features]
	if w.start[0] != 0 || !slices.IsSorted(w.start) || n > math.MaxInt32*int64(outputs) {
		return nil, fmt.Errorf("tensor %q does not ascend from 0", startTensor)
	}
	if w.class, err = tensor(f, classTensor, classes, int(n)); err != nil {
		return nil, err
	}
	w.value, err = tensor(f, valueTensor, (*safetensors.Tensor).Halfs, int(n))
	return w, err
}

// tensor returns the numbers of a tensor, which must have this shape.
func tensor[N any](f *safetensors.File, name string, numbers func(*safetensors.Tensor) ([]N, error), shape ...int) ([]N, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(t.Shape, shape) {
		return nil, fmt.Errorf("tensor %q has shape %v, want %v", name, t.Shape, shape)
	}
	return numbers(t)
}
