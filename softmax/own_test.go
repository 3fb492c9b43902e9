package softmax

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// plainOwn is cross entropy, given from outside.
type plainOwn struct{}

func (plainOwn) Evaluate(gradient, scores []float64, y int) float64 {
	p := make([]float64, len(scores))
	return loss.Evaluate(loss.CrossEntropy{}, p, gradient, scores, y)
}

func (plainOwn) Curvature(out, p, x []float64, _ int) { loss.Curvature(out, p, x) }

// An own loss trains to the minimum of the loss that it is, by every trainer, on rows
// of one class and of several.
func TestOwnLoss(t *testing.T) {
	const n, d, k = 60, 5, 4
	random := rand.New(rand.NewPCG(5, 5))
	x := matrix.NewDense(n, d)
	class := make([]int32, n)
	for i := range n {
		class[i] = int32(random.IntN(k))
		for j, row := 0, x.Row(i); j < d; j++ {
			row[j] = float32(random.NormFloat64()) + float32(class[i])*float32(j%2)
		}
	}
	mix := &matrix.Sparse{Columns: k}
	for i := range n {
		if i%3 > 0 {
			mix.AppendRow(nil, nil)
			continue
		}
		a, b := class[i], (class[i]+1)%k
		mix.AppendRow([]int32{min(a, b), max(a, b)}, []float32{0.5, 0.5})
	}
	for _, trainer := range []Trainer{Converge{}, SGD{Epochs: 5, Batch: 8, Rate: 0.1}, AdamW{Epochs: 5, Batch: 8, Rate: 0.01}} {
		for _, m := range []*matrix.Sparse{nil, mix} {
			ex := Examples{X: x, Class: class, Mix: m}
			fit := func(l loss.Loss) *Layer {
				layer, _, err := Fit(t.Context(), ex, k, Options{Sharing: sharing.None{K: k}, Loss: l, Trainer: trainer, Prior: 1, Threads: 2})
				if err != nil {
					t.Fatal(err)
				}
				return layer
			}
			want, got := fit(loss.CrossEntropy{}), fit(loss.New(plainOwn{}))
			for i, w := range want.Weight {
				if math.Abs(float64(w-got.Weight[i])) > 2e-3 {
					t.Errorf("%T, mixes %v: weight %d is %v, want %v", trainer, m != nil, i, got.Weight[i], w)
					break
				}
			}
		}
	}
}
