package speed

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Shape is a batch of B dense rows with d features and k classes.
type Shape struct{ B, D, K int }

// flops is what a product of the shape takes.
func (s Shape) flops() float64 { return 2 * float64(s.B) * float64(s.D) * float64(s.K) }

// Random returns n numbers between -1/2 and 1/2.
func Random(seed uint64, n int) []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, n)
	for i := range x {
		x[i] = random.Float32() - 0.5
	}
	return x
}

// NewStep returns a step of SGD with momentum 0.9 and weight decay 3e-4 on a
// batch of the shape: scores, softmax, cross entropy, gradient, update. With a
// tree it also has the product with K of a tree of k leaves and k/2 inner nodes.
func NewStep(team *kernel.Team, s Shape, tree bool) func() {
	x := Random(1, s.B*s.D)
	random := rand.New(rand.NewPCG(2, 0))
	rows, class, share := make([][]float32, s.B), make([]int32, s.B), make([]float32, s.B)
	for i := range rows {
		rows[i], class[i], share[i] = x[i*s.D:(i+1)*s.D], int32(random.IntN(s.K)), 1/float32(s.B)
	}
	var family *kernel.Family
	if tree {
		family = balanced(s.K)
	}
	dense := kernel.NewDense(team, s.K, s.D, s.B, false, family, nil)
	const rate, momentum, decay = 0.01, 0.9, 3e-4
	step := kernel.Step[float32]{WW: 1 - rate*decay, WV: -rate * momentum, WG: -rate, VW: decay, VV: momentum, VG: 1}
	dense.SetStep(step, step)
	return func() { dense.Step(rows, class, share) }
}

// balanced returns a tree of k leaves under k/2 inner nodes.
func balanced(k int) *kernel.Family {
	inner := max(1, k/2)
	parent, length, class := make([]int32, inner+k), make([]float64, inner+k), make([]int32, k)
	for v := range parent {
		length[v] = 1
		if v < inner {
			parent[v] = int32((v+1)/2 - 1)
		} else {
			parent[v], class[v-inner] = int32((v-inner)%inner), int32(v)
		}
	}
	f, err := kernel.NewFamily(parent, length, class)
	if err != nil {
		panic(err) // a slip in this function
	}
	return f
}

// Text returns rows like those of short texts: about 29 words each, frequent
// ones more often, unit length, some words of its class's own.
func Text(rows, features, classes int) softmax.Examples {
	random := rand.New(rand.NewPCG(3, 0))
	common := rand.NewZipf(random, 1.1, 20, uint64(features-1))
	x, class := &matrix.Sparse{Columns: features, Start: []int{0}}, make([]int32, rows)
	var index []int32
	var value []float32
	for i := range class {
		c := random.IntN(classes)
		class[i] = int32(c)
		seen := map[int32]bool{}
		for range 23 {
			seen[int32(common.Uint64())] = true
		}
		for range 8 {
			seen[int32((c*37+random.IntN(40)*1201)%features)] = true
		}
		index, value = index[:0], value[:0]
		for f := range seen {
			index = append(index, f)
		}
		sort.Slice(index, func(a, b int) bool { return index[a] < index[b] })
		for range index {
			value = append(value, float32(1/math.Sqrt(float64(len(index)))))
		}
		x.AppendRow(index, value)
	}
	return softmax.Examples{X: x, Class: class}
}

// Points returns k points in d dimensions in clusters of clusters: four at each
// level, each a third as wide as the one above.
func Points(k, d int) *matrix.Dense {
	random := rand.New(rand.NewPCG(4, 0))
	points := matrix.NewDense(k, d)
	levels := int(math.Ceil(math.Log(float64(max(k, 2))) / math.Log(4)))
	// A point's clusters are the digits of its number; the offset of a cluster
	// comes from a generator of its own.
	for i := range k {
		row := points.Row(i)
		at, width := 0, 1.0
		for level := range levels {
			at = 4*at + 1 + random.IntN(4)
			offset := rand.New(rand.NewPCG(uint64(level), uint64(at)))
			for j := range row {
				row[j] += float32(width * offset.NormFloat64())
			}
			width /= 3
		}
		for j := range row {
			row[j] += float32(width * random.NormFloat64())
		}
	}
	return points
}

// NewLayer returns a layer of random weights for d features and k classes.
func NewLayer(d, k int) *softmax.Layer {
	return &softmax.Layer{Classes: k, Features: d, Weight: Random(5, d*k), Bias: make([]float32, k)}
}
