package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Function is a loss of your own, for linear models: give it to softmax.Options.Loss as
// New(f). Its methods are called by several goroutines at once, and keep no slice.
//
// It is a function of the differences of the scores alone, as all losses here are: adding
// a number to all scores changes nothing, and the gradient sums to 0. Trees rely on
// that, for the root of a tree moves all scores alike.
type Function interface {
	// Evaluate returns the loss, in nats, of one example of class y at its k scores,
	// and sets gradient (k) to the derivatives in the scores. Both are finite wherever
	// the scores are.
	Evaluate(gradient, scores []float64, y int) float64

	// Curvature sets out (k) to H x, H the second derivative of the loss in the scores of
	// an example of class y whose class probabilities, the softmax of the scores, are p.
	// Newton's method needs xᵀ H x >= 0; where the loss is not convex, let H be that of a
	// convex bound. out is not x. The package's Curvature(out, p, x) is that of cross
	// entropy, and serves for losses that curve no more than it. SGD and AdamW do not call it.
	Curvature(out, p, x []float64, y int)
}

// Own is a Function as a Loss. An evaluation copies scores and gradient to float64 and
// back and takes about twice the time of cross entropy, beside the function's own. The
// dual coordinate ascent knows cross entropy and soft labels only: softmax.Converge
// trains an Own by Newton's method, as it does SimLoss. Networks do not take it.
type Own struct {
	f    Function
	pool sync.Pool // of *[]float64
}

// New makes a loss of f.
func New(f Function) *Own { return &Own{f: f} }

func (*Own) isLoss() {}

// Check calls the function at random scores of k classes and returns an error where it
// is not finite, where its gradient is not that of its values, by central differences,
// or does not sum to 0, and where the curvature along a direction is negative.
func (l *Own) Check(k int) error {
	if l == nil || l.f == nil {
		return fmt.Errorf("loss: an own loss without a function; make it with loss.New")
	}
	random := rand.New(rand.NewPCG(1, uint64(k)))
	at := func() []float64 {
		x := make([]float64, k)
		for c := range x {
			x[c] = random.NormFloat64()
		}
		return x
	}
	gradient, spare, p := make([]float64, k), make([]float64, k), make([]float64, k)
	for range 3 {
		y, scores, direction := random.IntN(k), at(), at()
		value := l.f.Evaluate(gradient, scores, y)
		var sum, size float64
		for _, g := range gradient {
			sum, size = sum+g, size+math.Abs(g)
		}
		slope := kernel.Dot(gradient, direction)
		const step = 1e-5
		moved := func(by float64) float64 {
			x := make([]float64, k)
			for c := range x {
				x[c] = scores[c] + by*direction[c]
			}
			return l.f.Evaluate(spare, x, y)
		}
		numeric := (moved(step) - moved(-step)) / (2 * step)
		kernel.Softmax(p, scores)
		l.f.Curvature(spare, p, direction, y)
		bend := kernel.Dot(spare, direction)
		switch {
		case math.IsNaN(value+size) || math.IsInf(value+size, 0):
			return fmt.Errorf("loss: an own loss is %v with a gradient of length %v for class %d, want finite numbers", value, size, y)
		case math.Abs(sum) > 1e-6*(1+size):
			return fmt.Errorf("loss: the gradient of an own loss sums to %v for class %d, want 0: let it depend on differences of scores alone", sum, y)
		case math.Abs(slope-numeric) > 1e-3*(1+math.Abs(numeric)):
			return fmt.Errorf("loss: the gradient of an own loss has the slope %v for class %d, where its values have %v", slope, y, numeric)
		case !(bend >= -1e-9*(1+size)):
			return fmt.Errorf("loss: the curvature of an own loss is %v along a direction for class %d, want at least 0", bend, y)
		}
	}
	return nil
}

// buffers returns memory for two slices of k numbers; give it back to l.pool.
func (l *Own) buffers(k int) *[]float64 {
	b, ok := l.pool.Get().(*[]float64)
	if !ok || len(*b) < 3*k {
		b = new([]float64)
		*b = make([]float64, 3*k)
	}
	return b
}

func own[T matrix.Float](l *Own, p, grad, scores []T, y int) float64 {
	k := len(scores)
	b := l.buffers(k)
	defer l.pool.Put(b)
	gradient, in := (*b)[:k], (*b)[k:2*k]
	widen(in, scores)
	value := l.f.Evaluate(gradient, in, y)
	kernel.Softmax(p, scores)
	for c, g := range gradient {
		grad[c] = T(g)
	}
	return value
}

// CurvatureOwn adds share times H x to out, which x must not overlap, for an example of
// class y of whose class probabilities p is the softmax.
func CurvatureOwn[T matrix.Float](l *Own, out, p, x []T, y int, share T) {
	k := len(p)
	b := l.buffers(k)
	defer l.pool.Put(b)
	product, in, at := (*b)[:k], (*b)[k:2*k], (*b)[2*k:3*k]
	widen(in, x)
	widen(at, p)
	l.f.Curvature(product, at, in, y)
	for c, v := range product {
		out[c] += share * T(v)
	}
}

func widen[T matrix.Float](dst []float64, src []T) {
	for c, v := range src[:len(dst)] {
		dst[c] = float64(v)
	}
}
