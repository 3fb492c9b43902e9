package softmax

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
)

func randomLayer(rng *rand.Rand, d, k int) *Layer {
	l := &Layer{Classes: k, Features: d, Weight: make([]float32, d*k), Bias: make([]float32, k)}
	for i := range l.Weight {
		l.Weight[i] = rng.Float32()*2 - 1
	}
	for i := range l.Bias {
		l.Bias[i] = rng.Float32()
	}
	return l
}

func randomDense(rng *rand.Rand, n, d int) *matrix.Dense {
	x := matrix.NewDense(n, d)
	for i := range x.Data {
		x.Data[i] = rng.Float32()*2 - 1
	}
	return x
}

// TestPredictAllIsProbabilities compares rows that go together with the same
// rows one at a time.
func TestPredictAllIsProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	tree, err := loss.NewHierarchicalSoftmax(sixClasses(t, labeltree.VTree))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ n, d, k int }{{1, 3, 2}, {6, 40, 20}, {7, 40, 20}, {600, 17, 33}, {300, 500, 5}, {0, 4, 3}, {40, 9, 6}} {
		l, x := randomLayer(rng, s.d, s.k), randomDense(rng, s.n, s.d)
		if s.k == 6 {
			l = randomLayer(rng, s.d, tree.Scores())
			l.Classes, l.Hierarchy = 6, tree
		}
		for _, threads := range []int{1, 3} {
			seen := make([]int, s.n)
			err := l.PredictAll(x, threads, func(i int, p []float32) {
				seen[i]++
				want, scratch := make([]float32, l.Classes), make([]float32, 2*l.Outputs())
				l.Probabilities(want, scratch, nil, x.Row(i))
				for c := range want {
					apart := math.Abs(float64(p[c] - want[c]))
					if apart > 1e-4*float64(want[c]) || apart > 0 && kernel.Instructions() != "go" {
						t.Fatalf("%+v row %d class %d: %g, alone %g", s, i, c, p[c], want[c])
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range seen {
				if n != 1 {
					t.Fatalf("%+v: row %d came %d times", s, i, n)
				}
			}
		}
	}
}

func TestProbabilitiesDoNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	l, x := randomLayer(rng, 768, 1000), randomDense(rng, 1, 768)
	p, scratch := make([]float32, 1000), make([]float32, 2000)
	if n := testing.AllocsPerRun(5, func() { l.Probabilities(p, scratch, nil, x.Row(0)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPredict(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 3))
	for _, s := range []struct{ d, k int }{{768, 1000}, {300, 150}, {64, 10}} {
		l := randomLayer(rng, s.d, s.k)
		for _, n := range []int{1, 1024} {
			x := randomDense(rng, n, s.d)
			b.Run(fmt.Sprintf("rows=%d/d=%d/k=%d", n, s.d, s.k), func(b *testing.B) {
				p, scratch := make([]float32, s.k), make([]float32, 2*s.k)
				for b.Loop() {
					if n == 1 {
						l.Probabilities(p, scratch, nil, x.Row(0))
						continue
					}
					if err := l.PredictAll(x, 1, func(int, []float32) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n)/1000, "us/row")
			})
		}
	}
}
