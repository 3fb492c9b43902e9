package speed

import (
	"context"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
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

// Rect returns a matrix without gaps, row by row.
func Rect(x []float32, rows, cols int) kernel.Rect {
	return kernel.Rect{X: x, Rows: rows, Cols: cols, Stride: cols}
}

// PlainSoftmax is the softmax as one writes it, in float64 by math.Exp. The slices have
// one length, at least 1.
func PlainSoftmax(p, x []float32) {
	top, sum := x[0], 0.0
	for _, v := range x {
		top = max(top, v)
	}
	for i, v := range x {
		e := math.Exp(float64(v - top))
		p[i] = float32(e)
		sum += e
	}
	for i := range p {
		p[i] = float32(float64(p[i]) / sum)
	}
}

// StepsAnEpoch is the number of batches of an epoch of Dense.
const StepsAnEpoch = 32

// Dense returns an epoch of SGD with momentum 0.9 and weight decay 3e-4 over dense
// rows, batches of the shape, as Epochs does; with a tree, behind the sharing of one
// of k leaves and k/2 inner nodes.
func Dense(threads int, s Shape, tree bool) (epoch, stop func()) {
	n := s.B * StepsAnEpoch
	ex := softmax.Examples{X: &matrix.Dense{Columns: s.D, Data: Random(1, n*s.D)}, Class: make([]int32, n)}
	random := rand.New(rand.NewPCG(2, 0))
	for i := range ex.Class {
		ex.Class[i] = int32(random.IntN(s.K))
	}
	opts := softmax.Options{Threads: threads, Trainer: softmax.SGD{Batch: s.B, Rate: 0.01, Momentum: 0.9, WeightDecay: 3e-4}}
	if tree {
		opts.Sharing = balanced(s.K)
	}
	return Epochs(context.Background(), ex, s.K, opts)
}

// Epochs returns a call that makes one more epoch of a fit by SGD, and one that
// ends the fit. Nothing goes on between the calls; after stop, or once ctx is
// cancelled, an epoch does nothing.
func Epochs(ctx context.Context, ex softmax.Examples, classes int, opts softmax.Options) (epoch, stop func()) {
	next, stop := iter.Pull(func(yield func(softmax.Progress) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		sgd := opts.Trainer.(softmax.SGD)
		sgd.Epochs = math.MaxInt
		opts.Trainer = sgd
		opts.Progress = func(p softmax.Progress) {
			if !yield(p) {
				cancel()
			}
		}
		// The only error is that of ctx.
		_, _, _ = softmax.Fit(ctx, ex, classes, opts)
	})
	return func() { next() }, stop
}

// balanced returns the sharing of a tree of k leaves under k/2 inner nodes, made
// ready as the program does.
func balanced(k int) sharing.Sharing {
	inner := max(1, k/2)
	nodes := make([]labeltree.Node, inner+k)
	for v := range nodes {
		nodes[v] = labeltree.Node{Name: strconv.Itoa(v), Parent: (v+1)/2 - 1, Class: -1, Length: 1}
		if v >= inner {
			nodes[v].Parent, nodes[v].Class = (v-inner)%inner, v-inner
		}
	}
	t, err := labeltree.New(nodes)
	if err != nil {
		panic(err) // a slip in this function
	}
	s, err := sharing.Normalized(sharing.NewTree(t))
	if err != nil {
		panic(err)
	}
	return s
}

// Text returns rows like those of short texts: about 29 words each, frequent
// ones more often, unit length, some words of its class's own.
func Text(rows, features, classes int) softmax.Examples {
	// Zipf's law for the words of the language, and 40 words for each class of which
	// others have some, too.
	random := rand.New(rand.NewPCG(3, 0))
	common := rand.NewZipf(random, 1.1, 20, uint64(features-1))
	x, class := &matrix.Sparse{Columns: features, Start: []int{0}}, make([]int32, rows)
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
		index := slices.Sorted(maps.Keys(seen))
		x.AppendRow(index, slices.Repeat([]float32{float32(1 / math.Sqrt(float64(len(index))))}, len(index)))
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

// NewLayer returns a layer of random weights, between -1/2 and 1/2, for d features and k
// classes, without biases.
func NewLayer(d, k int) *softmax.Layer {
	return &softmax.Layer{Classes: k, Features: d, Weight: Random(5, d*k), Bias: make([]float32, k)}
}
