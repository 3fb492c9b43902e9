package feature

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// fourier is a random map of numeric columns to features whose products are a
// Gaussian kernel of them: with z (p) the standardised columns,
//
//	f_i = sqrt(2p/D) cos(w_i · z + b_i),   f(z) · f(z') ≈ p exp(-|z - z'|² / p),
//
// w_i normal with variance 2/p in each direction, b_i uniform in [0, 2π) (Rahimi
// and Recht 2007). A linear model of them draws curved boundaries between classes. Two
// random rows are 2p apart in square, so the kernel falls to a seventh between them; on
// letter, a kernel half or twice as wide was no better by a point. The factor p gives
// the features together the weight of the columns.
type fourier struct {
	direction []float32 // D x p
	phase     []float32 // D
}

// MaxFourier bounds Options.Fourier.
const MaxFourier = 1 << 16

// streamFourier is the stream of random numbers of the directions.
const streamFourier = 17

// newFourier draws a map of p columns to n features, always the same one.
func newFourier(p, n int) *fourier {
	rng := rand.New(rand.NewPCG(uint64(n), streamFourier))
	f := &fourier{make([]float32, n*p), make([]float32, n)}
	deviation := math.Sqrt(2 / float64(p))
	for i := range f.direction {
		f.direction[i] = float32(deviation * rng.NormFloat64())
	}
	for i := range f.phase {
		f.phase[i] = float32(2 * math.Pi * rng.Float64())
	}
	return f
}

// dim returns D, 0 without a map.
func (f *fourier) dim() int {
	if f == nil {
		return 0
	}
	return len(f.phase)
}

// apply sets out (D) to the features of z (p), in O(D p).
func (f *fourier) apply(out, z []float32) {
	p, scale := len(z), math.Sqrt(2*float64(len(z))/float64(len(f.phase)))
	for i, b := range f.phase {
		out[i] = float32(scale * math.Cos(float64(kernel.Dot(f.direction[i*p:(i+1)*p], z)+b)))
	}
}

// Names of what a map keeps in a model file.
const (
	directionTensor = "fourier_direction" // F32, D x p
	phaseTensor     = "fourier_phase"     // F32, D
)

func (f *fourier) store(to *safetensors.File) {
	n := len(f.phase)
	to.Tensors = append(to.Tensors,
		safetensors.New(directionTensor, f.direction, n, len(f.direction)/n),
		safetensors.New(phaseTensor, f.phase, n))
}

// loadFourier reads a map of p columns to n features.
func loadFourier(from *safetensors.File, p, n int) (*fourier, error) {
	f := &fourier{}
	for _, part := range []struct {
		name string
		to   *[]float32
		size int
	}{{directionTensor, &f.direction, n * p}, {phaseTensor, &f.phase, n}} {
		t, err := from.Tensor(part.name)
		if err != nil {
			return nil, err
		}
		if *part.to, err = t.Float32s(); err != nil {
			return nil, err
		}
		if err := checkNumbers(part.name, *part.to, part.size); err != nil {
			return nil, fmt.Errorf("%w: %d features of %d columns", err, n, p)
		}
	}
	return f, nil
}
