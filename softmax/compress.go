package softmax

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"strconv"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// Compression says how a model becomes smaller. The zero value leaves it as it is.
type Compression struct {
	Quantize Quantize

	// Prune is the share of the weights to keep, above 0 and below 1; 0 keeps all. They
	// are those that differ most from what most classes have for the same feature; the
	// others take on that value. Weights that are kept are in half precision.
	Prune float64
}

// Quantize names a precision of weights.
type Quantize string

// The precisions.
const (
	Float32 Quantize = ""     // as they are
	Float16 Quantize = "fp16" // half precision: each weight changes by one part in 2048 at most
	Int8    Quantize = "int8" // 255 steps for each feature, from its lowest to its highest weight
)

// Check returns an *option.Error for a choice that there is not, an *option.Misuse for
// two that exclude each other.
func (c Compression) Check() error {
	if err := option.Check("Quantize", string(c.Quantize), c.Quantize == Float32 || c.Quantize == Float16 || c.Quantize == Int8, "fp16 or int8"); err != nil {
		return err
	}
	if err := option.Check("Prune", c.Prune, c.Prune >= 0 && c.Prune < 1, "the share of the weights to keep, above 0 and below 1, such as 0.25"); err != nil {
		return err
	}
	return option.Exclude("Prune", c.Prune > 0, "Quantize int8", c.Quantize == Int8, "weights that are kept are in half precision")
}

// Compress returns a model with fewer bytes of weights, which shares everything else
// with m. It takes O(d k), and 4 bytes for each weight of a model that is packed. A
// weight beyond half precision is an error, and so are those of Check.
func (m *Model) Compress(c Compression) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	out, l := *m, *m.Layer
	if c == (Compression{}) {
		return &out, nil
	}
	l.Weight, l.packed = m.Layer.Dense(), nil
	threads := runtime.GOMAXPROCS(0)
	var err error
	switch {
	case c.Prune > 0:
		l.packed, err = prune(&l, c.Prune, threads)
	case c.Quantize == Int8:
		l.packed = newByteWeights(&l, threads)
	default:
		l.packed, err = newHalfWeights(&l, threads)
	}
	if err != nil {
		return nil, err
	}
	l.Weight, out.Layer = nil, &l
	out.Training.Options = maps.Clone(m.Training.Options)
	if out.Training.Options == nil {
		out.Training.Options = make(map[string]string)
	}
	if c.Quantize != Float32 {
		out.Training.Options["quantize"] = string(c.Quantize)
	}
	if c.Prune > 0 {
		out.Training.Options["prune"] = strconv.FormatFloat(c.Prune, 'g', -1, 64)
	}
	return &out, nil
}

// errRange says that a weight does not fit half precision.
var errRange = fmt.Errorf("softmax: a weight is above %v, more than half precision has; quantize to int8", float64(half.Max))

// newHalfWeights rounds all weights.
func newHalfWeights(l *Layer, threads int) (*halfWeights, error) {
	for _, w := range l.Weight {
		if w > half.Max || w < -half.Max {
			return nil, errRange
		}
	}
	w := &halfWeights{features: l.Features, outputs: l.Outputs(), value: make([]uint16, len(l.Weight)), rows: make(rowCache, l.Features)}
	kernel.Parallel(threads, len(l.Weight), 1<<16, func(_, lo, hi int) {
		for j, x := range l.Weight[lo:hi] {
			w.value[lo+j] = half.Round(x)
		}
	})
	return w, nil
}

// prune keeps a share of the weights.
func prune(l *Layer, share float64, threads int) (packed, error) {
	r, ok := newRests(l, threads)
	if !ok {
		return nil, errRange
	}
	r.small = smallest(l, r, int(share*float64(len(l.Weight))))
	r.count(l, threads)
	switch {
	case l.Outputs() <= math.MaxUint8+1:
		return packRests[uint8](l, r, threads), nil
	case l.Outputs() <= math.MaxUint16:
		return packRests[uint16](l, r, threads), nil
	}
	return packRests[int32](l, r, threads), nil
}

// smallest returns a difference from the base above which there are about n weights, and
// no more. The bits of a positive float ascend with its value, so that a histogram of
// their upper half finds it to one part in 2^12, in two passes and little memory.
func smallest(l *Layer, r rests, n int) float32 {
	const shift = 11
	counts, k := make([]int, 1<<(31-shift)), l.Outputs()
	for f, base := range r.base {
		for _, w := range l.Weight[f*k : (f+1)*k] {
			counts[math.Float32bits(float32(math.Abs(float64(w-base))))>>shift]++
		}
	}
	at := len(counts)
	for above := 0; at > 0 && above+counts[at-1] <= n; at-- {
		above += counts[at-1]
	}
	return math.Float32frombits(uint32(at)<<shift - 1)
}

// byteWeights are weights of 8 bits, feature-major: that of class c for feature f is
// scale[f] * (value[f*outputs+c] - 128). What all classes have of a feature in common
// changes no probability, and is left out.
type byteWeights struct {
	outputs int
	scale   []float32         // of each feature
	value   []uint8           // features x outputs
	file    *safetensors.File // whose memory value is; nil: its own
	rows    rowCache          // of features that were met
}

// newByteWeights rounds all weights to steps between the lowest and the highest of the
// same feature.
func newByteWeights(l *Layer, threads int) *byteWeights {
	k := l.Outputs()
	w := &byteWeights{outputs: k, scale: make([]float32, l.Features), value: make([]uint8, len(l.Weight)), rows: make(rowCache, l.Features)}
	kernel.Parallel(threads, l.Features, foldGrain, func(_, lo, hi int) {
		for f := lo; f < hi; f++ {
			row := l.Weight[f*k : (f+1)*k]
			least, most := float64(row[0]), float64(row[0])
			for _, x := range row {
				least, most = min(least, float64(x)), max(most, float64(x))
			}
			w.scale[f] = float32((most - least) / 254)
			for c, x := range row {
				w.value[f*k+c] = 128
				if w.scale[f] > 0 {
					w.value[f*k+c] = uint8(128 + math.Round((float64(x)-(least+most)/2)/float64(w.scale[f])))
				}
			}
		}
	})
	return w
}

func (w *byteWeights) shape() (features, outputs int) { return len(w.scale), w.outputs }

func (w *byteWeights) scores(out []float32, index []int32, value []float32) {
	w.rows.scores(out, index, value, w.row)
}

func (w *byteWeights) row(out []float32, f int) {
	for j, v := range w.value[f*w.outputs : (f+1)*w.outputs] {
		out[j] = w.scale[f] * float32(int(v)-128)
	}
	runtime.KeepAlive(w)
}

// tensors returns the weights as a file has them, in the memory of w.
func (w *byteWeights) tensors() []safetensors.Tensor {
	d := len(w.scale)
	return []safetensors.Tensor{safetensors.New(byteTensor, w.value, d, w.outputs), safetensors.New(scaleTensor, w.scale, d)}
}

// loadBytes reads byteWeights.
func loadBytes(f *safetensors.File, features, outputs int) (packed, error) {
	w := &byteWeights{outputs: outputs, file: f, rows: make(rowCache, features)}
	var err error
	if w.scale, err = tensor(f, scaleTensor, (*safetensors.Tensor).Float32s, features); err != nil {
		return nil, err
	}
	for j, s := range w.scale {
		if !finite(float64(s) * 128) {
			return nil, fmt.Errorf("tensor %q: number %d is %v, want a finite one", scaleTensor, j, s)
		}
	}
	w.value, err = tensor(f, byteTensor, (*safetensors.Tensor).Bytes, features, outputs)
	return w, err
}
