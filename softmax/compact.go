package softmax

import (
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// Compact holds the weights of many classes in little memory: of each feature the
// value that most classes have about in common, and how others differ from it. A
// feature that occurs in few examples has much to say for their classes only.
type Compact struct {
	Base []float32      // features: what most classes have
	Rest *matrix.Sparse // features x outputs: weight minus base, where that is not small
}

const (
	// leastCompact is the number of weights from which a model is saved compactly,
	// 16 MB of them.
	leastCompact = 4 << 20
	// smallWeight is what a weight may differ from the base and be left out: a
	// text of two blocks of length 1 has some 0.01 nats in a score from it. Where
	// classes differ much it is smallShare of the root mean square difference.
	smallWeight = 1.0 / 256
	smallShare  = 1.0 / 16
	// baseSample is the number of classes whose median is the base.
	baseSample = 101
)

// compacted returns l with compact weights where these take at most 4/5 of the
// memory and half of the file, else l. Weights change by no more than is small, and
// by what half precision rounds. O(d k).
func compacted(l *Layer, threads int) *Layer {
	k := l.Outputs()
	if l.Compact != nil || l.Hierarchy != nil || len(l.Weight) < leastCompact {
		return l
	}
	c := &Compact{Base: make([]float32, l.Features), Rest: &matrix.Sparse{Columns: k, Start: make([]int, l.Features+1)}}
	squares := make([]float64, (l.Features+foldGrain-1)/foldGrain) // of weight minus base, by block
	kernel.Parallel(threads, l.Features, foldGrain, func(block, lo, hi int) {
		sample := make([]float32, 0, baseSample)
		for f := lo; f < hi; f++ {
			sample = sample[:0]
			row := l.Weight[f*k : (f+1)*k]
			for n := range min(k, baseSample) {
				sample = append(sample, row[n*k/min(k, baseSample)])
			}
			slices.Sort(sample)
			base := sample[len(sample)/2]
			c.Base[f] = base
			for _, w := range row {
				squares[block] += float64(w-base) * float64(w-base)
			}
		}
	})
	var sum float64
	for _, s := range squares {
		sum += s
	}
	small := float32(max(smallWeight, smallShare*math.Sqrt(sum/float64(len(l.Weight)))))
	differs := func(f int, visit func(class int, rest float32)) {
		base := c.Base[f]
		for class, w := range l.Weight[f*k : (f+1)*k] {
			if rest := w - base; rest > small || rest < -small {
				visit(class, rest)
			}
		}
	}
	largest := make([]float32, len(squares))
	kernel.Parallel(threads, l.Features, foldGrain, func(block, lo, hi int) {
		for f := lo; f < hi; f++ {
			differs(f, func(_ int, rest float32) {
				c.Rest.Start[f+1]++
				largest[block] = max(largest[block], rest, -rest)
			})
		}
	})
	for f := range l.Features {
		c.Rest.Start[f+1] += c.Rest.Start[f]
	}
	total := c.Rest.Start[l.Features]
	if total > len(l.Weight)*2/5 || slices.Max(largest) > half.Max { // 8 bytes of memory each
		return l
	}
	c.Rest.Index, c.Rest.Value = make([]int32, total), make([]float32, total)
	kernel.Parallel(threads, l.Features, foldGrain, func(_, lo, hi int) {
		at := c.Rest.Start[lo]
		for f := lo; f < hi; f++ {
			differs(f, func(class int, rest float32) {
				c.Rest.Index[at], c.Rest.Value[at] = int32(class), half.Float32(half.Round(rest))
				at++
			})
		}
	})
	return &Layer{Classes: l.Classes, Features: l.Features, Bias: l.Bias, Compact: c}
}

// addTo adds to out the weights of feature f times x, but for the base.
func (c *Compact) addTo(out []float32, f int, x float32) {
	index, value := c.Rest.Row(f)
	for n, class := range index {
		out[class] += x * value[n]
	}
}

// scores adds the scores of one input to out.
func (c *Compact) scores(out []float32, index []int32, value []float32) {
	var common float32
	for n, x := range value {
		f := n
		if index != nil {
			f = int(index[n])
		}
		common += x * c.Base[f]
		c.addTo(out, f, x)
	}
	for j := range out {
		out[j] += common
	}
}

// check returns an error if the parts do not fit a layer.
func (c *Compact) check(features, outputs int) error {
	if len(c.Base) != features || c.Rest.Rows() != features || c.Rest.Cols() != outputs {
		return fmt.Errorf("softmax: compact weights of %d features and %d outputs, %d bases; want %d and %d", c.Rest.Rows(), c.Rest.Cols(), len(c.Base), features, outputs)
	}
	for f, b := range c.Base {
		if !finite(float64(b)) {
			return fmt.Errorf("softmax: the base of the weights of feature %d is %v, want a finite number", f, b)
		}
	}
	if err := c.Rest.Check(); err != nil {
		return fmt.Errorf("softmax: compact weights: %w", err)
	}
	return nil
}

// Row returns the weights of feature f, one an output: those of l itself, or, of
// compact ones, to, which must have room for them. Do not change what it returns.
func (l *Layer) Row(f int, to []float32) []float32 {
	k := l.Outputs()
	if l.Compact == nil {
		return l.Weight[f*k : (f+1)*k]
	}
	to = to[:k]
	for j := range to {
		to[j] = l.Compact.Base[f]
	}
	l.Compact.addTo(to, f, 1)
	return to
}

// Dense returns all weights as Weight has them: features x outputs.
func (l *Layer) Dense() []float32 {
	if l.Compact == nil {
		return l.Weight
	}
	k := l.Outputs()
	out := make([]float32, l.Features*k)
	for f := range l.Features {
		l.Row(f, out[f*k:(f+1)*k])
	}
	return out
}

// Names of compact weights in a model file.
const (
	baseTensor  = "weight_base"  // F32, one a feature
	startTensor = "weight_start" // I64, features + 1: where each feature's part of the next two begins
	classTensor = "weight_class" // U16, or I32 from 65,536 outputs
	valueTensor = "weight_value" // F16
)

// tensors returns compact weights as a file has them.
func (c *Compact) tensors() []safetensors.Tensor {
	start := make([]int64, len(c.Rest.Start))
	for i, s := range c.Rest.Start {
		start[i] = int64(s)
	}
	n := len(c.Rest.Index)
	classes := safetensors.Int32(classTensor, c.Rest.Index, n)
	if c.Rest.Columns <= math.MaxUint16 {
		narrow := make([]uint16, n)
		for i, class := range c.Rest.Index {
			narrow[i] = uint16(class)
		}
		classes = safetensors.Uint16(classTensor, narrow, n)
	}
	values := make([]uint16, n)
	for i, v := range c.Rest.Value {
		values[i] = half.Round(v)
	}
	return []safetensors.Tensor{
		safetensors.Float32(baseTensor, c.Base, len(c.Base)), safetensors.Int64(startTensor, start, len(start)),
		classes, safetensors.Float16(valueTensor, values, n),
	}
}

// loadCompact reads compact weights, nil if the file has none.
func loadCompact(f *safetensors.File, features, outputs int) (*Compact, error) {
	if !slices.ContainsFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == baseTensor }) {
		return nil, nil
	}
	c := &Compact{Rest: &matrix.Sparse{Columns: outputs, Start: make([]int, features+1)}}
	var err error
	if c.Base, err = floats(f, baseTensor, features); err != nil {
		return nil, err
	}
	t, err := f.Tensor(startTensor)
	if err != nil {
		return nil, err
	}
	start, err := t.Int64s()
	if err != nil {
		return nil, err
	}
	if t, err = f.Tensor(classTensor); err != nil {
		return nil, err
	}
	if t.DType == safetensors.U16 {
		narrow, err := t.Uint16s()
		if err != nil {
			return nil, err
		}
		c.Rest.Index = make([]int32, len(narrow))
		for i, class := range narrow {
			c.Rest.Index[i] = int32(class)
		}
	} else if c.Rest.Index, err = t.Int32s(); err != nil {
		return nil, err
	}
	if t, err = f.Tensor(valueTensor); err != nil {
		return nil, err
	}
	if c.Rest.Value, err = t.Float32s(); err != nil {
		return nil, err
	}
	n := int64(len(c.Rest.Index))
	if len(start) != features+1 || start[0] != 0 || start[features] != n || int64(len(c.Rest.Value)) != n || !slices.IsSorted(start) {
		return nil, fmt.Errorf("tensors %q, %q and %q do not fit together for %d features", startTensor, classTensor, valueTensor, features)
	}
	for i, s := range start {
		c.Rest.Start[i] = int(s)
	}
	return c, nil
}
