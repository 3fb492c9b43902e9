package experiment

import (
	"math"
	"math/rand/v2"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Purposes of random numbers. Each has a stream of its own for each run, k and
// d, so that a new use moves no other draw, and settings that differ in n, sigma
// or the tree alone share all draws.
const (
	streamTruth = iota + 1
	streamBad
	streamTrainLabels
	streamTrainNoise
	streamValidLabels
	streamValidNoise
	streamTestLabels
	streamTestNoise
	streamInit
	streamInitInner
	streamTree
	streamRandomTree
)

// stream returns the random numbers of a purpose. Its key is (purpose 2^58 + run 2^32) xor
// k 2^18 xor d: purposes below 64, runs below 2^26, k below 2^14 and d below 2^18 never meet.
func stream(seed uint64, purpose, run, k, d int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(purpose)<<58|uint64(run)<<32^uint64(k)<<18^uint64(d)))
}

// draw is everything random in one run of one k and d: true parameters, and
// labels and noise of the examples. n and sigma come later, so that the examples
// of a smaller n are the first of those of a larger one.
type draw struct {
	seed              uint64
	run, k, d         int
	truth, bad        *matrix.Dense // k x d
	train, valid, all noise         // all: the test set
}

// noise is examples without their class's place and the size of their noise:
// x_i = w_y + sigma z_i (the paper's Section 5.1.1).
type noise struct {
	y []int32
	z []float32 // n x d
}

// newDraw draws run number run; n is the most training examples needed, test
// the number of test examples.
func newDraw(opts Options, run, k, d, n, test int) *draw {
	g := &draw{seed: opts.Seed, run: run, k: k, d: d}
	g.truth = drawTruth(opts.Truth, stream(opts.Seed, streamTruth, run, k, d), k, d)
	g.bad = drawTruth(opts.Truth, stream(opts.Seed, streamBad, run, k, d), k, d)
	g.train = g.noise(n, streamTrainLabels, streamTrainNoise)
	g.valid = g.noise(ValidationRows, streamValidLabels, streamValidNoise)
	g.all = g.noise(test, streamTestLabels, streamTestNoise)
	return g
}

// drawTruth draws W*, k x d, also its noisy counterpart W^bad: numbers of variance 1, a product
// of rank 5 as in the scripts of the authors, or about sqrt(k) clusters of deviation 0.3.
func drawTruth(truth Truth, rng *rand.Rand, k, d int) *matrix.Dense {
	w := matrix.NewDense(k, d)
	normals := func(x []float32) []float32 {
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	switch truth {
	case LowRank:
		const rank = 5
		left, right := normals(make([]float32, k*rank)), normals(make([]float32, rank*d))
		for c := range k {
			kernel.CombineAllRows(left[c*rank:(c+1)*rank], right, d, w.Row(c))
		}
	case Clustered:
		centres := int(math.Round(math.Sqrt(float64(k))))
		centre := normals(make([]float32, centres*d))
		normals(w.Data)
		for c := range k {
			row := w.Row(c)
			kernel.Scale(0.3, row)
			kernel.Add(centre[c%centres*d:], row)
		}
	default:
		normals(w.Data)
	}
	return w
}

// noise draws n labels, uniform over the k classes, and n x d numbers of variance 1, each
// from the stream of its purpose.
func (g *draw) noise(n, labels, numbers int) noise {
	e := noise{y: make([]int32, n), z: make([]float32, n*g.d)}
	rng := stream(g.seed, labels, g.run, g.k, g.d)
	for i := range e.y {
		e.y[i] = int32(rng.IntN(g.k))
	}
	rng = stream(g.seed, numbers, g.run, g.k, g.d)
	for i := range e.z {
		e.z[i] = float32(rng.NormFloat64())
	}
	return e
}

// examples returns the first n examples of e, w_y + sigma z (n x d).
func (g *draw) examples(e noise, n int, sigma float64) softmax.Examples {
	x := matrix.NewDense(n, g.d)
	for i := range n {
		copy(x.Row(i), g.truth.Row(int(e.y[i])))
		kernel.Axpy(float32(sigma), e.z[i*g.d:(i+1)*g.d], x.Row(i))
	}
	return softmax.Examples{X: x, Class: e.y[:n]}
}

// vectors returns w^epsilon = (1-epsilon) w* + epsilon w^bad (the paper's
// Section 5.1.5), what is known about the classes.
func (g *draw) vectors(epsilon float64) *matrix.Dense {
	if epsilon == 0 {
		return g.truth
	}
	out := matrix.NewDense(g.k, g.d)
	kernel.Axpy(float32(1-epsilon), g.truth.Data, out.Data)
	kernel.Axpy(float32(epsilon), g.bad.Data, out.Data)
	return out
}

// start sets the parameters of one method, classes first, then inner nodes, to
// where training starts: the same for a class in each method.
func (g *draw) start(init Init, inner int) (classes, nodes []float32) {
	classes, nodes = make([]float32, g.k*g.d), make([]float32, inner*g.d)
	if init == ZeroInit {
		return classes, nodes
	}
	bound := 1 / math.Sqrt(float64(g.d))
	uniform := func(x []float32, purpose int) {
		rng := stream(g.seed, purpose, g.run, g.k, g.d)
		for i := range x {
			x[i] = float32(bound * (2*rng.Float64() - 1))
		}
	}
	uniform(classes, streamInit)
	uniform(nodes, streamInitInner)
	return classes, nodes
}
