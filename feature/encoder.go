package feature

import (
	"fmt"
	"math"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// block is the features behind the n-grams that a sentence encoder makes of a text: with
// v its vector and c the mean of those of the fitted rows,
//
//	s (v - c) / ‖v - c‖
//
// Vectors of an encoder have much in common, which says nothing; without it the block has
// the length s, as each block of n-grams has the length 1. A text without tokens of the
// encoder has a block of zeros.
type block struct {
	encoder *encoder.Static // compact
	center  []float32       // c
	scale   float32         // s
}

// DefaultEncoderScale is what Options.EncoderScale = 0 stands for.
const DefaultEncoderScale = 0.7

// dim returns the number of features, 0 without a block.
func (b *block) dim() int {
	if b == nil {
		return 0
	}
	return len(b.center)
}

// Encode makes the table keep the vector of each text by an encoder, beside its n-grams:
// Fit then has features of both. It returns an error for a table that is not of texts, or
// that has rows already. Vectors are those of e.Compact, as a model file has them.
func (t *Table) Encode(e *encoder.Static) error {
	if t.vocabulary == nil || t.Rows() > 0 {
		return fmt.Errorf("feature: a sentence encoder is for an empty table of texts; this one has %d rows of %v", t.Rows(), t.kind)
	}
	t.encoder = e.Compact()
	t.vectors.Columns = e.Dim()
	return nil
}

// Encoder returns the encoder of the texts, nil for none.
func (t *Table) Encoder() *encoder.Static { return t.encoder }

// addVector keeps the vector of a text.
func (t *Table) addVector(text string) {
	n := len(t.vectors.Data)
	t.vectors.Data = append(t.vectors.Data, make([]float32, t.encoder.Dim())...)
	t.encoder.Encode(text, t.vectors.Data[n:])
}

// fitBlock makes a block of the vectors of rows; the center is their mean, of those that
// have one.
func (t *Table) fitBlock(rows []int, scale float64) *block {
	sum, n := make([]float64, t.vectors.Columns), 0
	for _, i := range rows {
		x := t.vectors.Row(i)
		if zero(x) {
			continue
		}
		n++
		for j, v := range x {
			sum[j] += float64(v)
		}
	}
	if scale == 0 {
		scale = DefaultEncoderScale
	}
	b := &block{encoder: t.encoder, center: make([]float32, len(sum)), scale: float32(scale)}
	for j, v := range sum {
		b.center[j] = float32(v / float64(max(n, 1)))
	}
	return b
}

func zero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// append appends the features of a text with the vector v to a row whose features are
// below first.
func (b *block) append(index []int32, value []float32, first int, v []float32) ([]int32, []float32) {
	if zero(v) {
		return index, value
	}
	var squares float64
	for j, c := range b.center {
		d := float64(v[j] - c)
		squares += d * d
	}
	if squares == 0 { // every text is the same
		return index, value
	}
	factor := float32(float64(b.scale) / math.Sqrt(squares))
	for j, c := range b.center {
		index, value = append(index, int32(first+j)), append(value, (v[j]-c)*factor)
	}
	return index, value
}

// sameAs tells whether the features of two blocks mean the same.
func (b *block) sameAs(other *block) bool {
	return b.dim() > 0 && other.dim() > 0 && b.encoder.Equal(other.encoder)
}

// EncoderScale returns the length of the block of a sentence encoder in a row, 0 without
// one.
func (s *Set) EncoderScale() float64 {
	if s.block == nil {
		return 0
	}
	return float64(s.block.scale)
}

// EncoderStart returns the first feature of a sentence encoder, Dim without one.
func (s *Set) EncoderStart() int { return s.dim - s.block.dim() }

// centerTensor is the mean of a block in a model file: F32, Dim of the encoder.
const centerTensor = "encoder_center"

func (b *block) store(f *safetensors.File) error {
	f.Tensors = append(f.Tensors, safetensors.New(centerTensor, b.center, len(b.center)))
	return b.encoder.Store(f)
}

// loadBlock reads a block of so many features.
func loadBlock(f *safetensors.File, n int, scale float64) (*block, error) {
	e, err := encoder.Load(f)
	if err != nil {
		return nil, fmt.Errorf("sentence encoder: %w", err)
	}
	if e.Dim() != n || !(scale > 0) || scale > math.MaxFloat32 {
		return nil, fmt.Errorf("sentence encoder: vectors of %d numbers and the scale %v, want %d and a number above 0", e.Dim(), scale, n)
	}
	t, err := f.Tensor(centerTensor)
	if err != nil {
		return nil, err
	}
	b := &block{encoder: e, scale: float32(scale)}
	if b.center, err = t.Float32s(); err != nil {
		return nil, err
	}
	return b, checkNumbers(centerTensor, b.center, n)
}

// EncodeNames returns the vectors of class names, k x Dim, less their mean and of length 1;
// NameText splits the names into words. A name without tokens has zeros. It is nil if that
// leaves nothing: no name has tokens, or all have the same.
func EncodeNames(e *encoder.Static, names []string) *matrix.Dense {
	t := Table{encoder: e.Compact()}
	t.vectors.Columns = e.Dim()
	rows := make([]int, len(names))
	for i, name := range names {
		t.addVector(NameText(name))
		rows[i] = i
	}
	b := t.fitBlock(rows, 1)
	out, found := matrix.NewDense(len(names), e.Dim()), false
	for i := range names {
		_, value := b.append(nil, nil, 0, t.vectors.Row(i))
		found = copy(out.Row(i), value) > 0 || found
	}
	if !found {
		return nil
	}
	return out
}
