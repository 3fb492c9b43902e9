package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// gradients computes what a batch says of the weights: first the losses of its
// examples and the gradients in their outputs (batch x outputs), for a trainer on
// W = A V multiplied by K = A Aᵀ; then, feature by feature, the sums of these over
// the examples. No gradient of all weights is ever stored.
type gradients[T matrix.Float] struct {
	ex      Examples
	design  *design[T]
	mean    float64 // weight of the examples
	threads int
	outputs int

	blocks []block[T] // of batchGrain examples
	scores []T        // batch x outputs: the scores, then the gradients in them
	losses []float64

	tree   *kernel.Tree // K of a tree; nil: none, or that of the blocks
	panels [][]float32  // memory of its passes

	columns columns // of the batch
	next    []int32 // memory for collectColumns
	rows    []T     // memory for row
}

// block is what a goroutine needs for the examples of a block.
type block[T matrix.Float] struct {
	head     *head[T]
	gradBias []T
	p        []T
	kernel   *sharing.Operator[T] // K; nil: none, or a tree
}

const (
	// batchGrain is the number of examples of a batch that one goroutine takes at
	// a time, kernelGrain that in a K pass of a tree.
	batchGrain, kernelGrain = 8, 32
	// applyGrain is the number of features that a goroutine takes at a time.
	applyGrain = 64

	// From so many multiply-adds of the scores on, a step that adds examples to
	// the weights one by one is worth more than one goroutine, and one that goes
	// feature by feature, which has more to do for each. Below, their start and
	// weights that wander between the caches of two cores cost more than they save.
	sharedWork, sharedWorkByRow = 1 << 20, 1 << 18
)

// newGradients makes what batches of up to the given length need: losses of A z,
// A being that of behind, and gradients multiplied by the K of times.
func newGradients[T matrix.Float](src *source, opts Options, batch int, behind, times sharing.Sharing) *gradients[T] {
	g := &gradients[T]{threads: opts.Threads, mean: src.meanWeight(), losses: make([]float64, batch), next: make([]int32, src.features)}
	g.take(src.form)
	tree, newOp := timesK[T](times)
	g.tree, g.panels = tree, make([][]float32, (batch+kernelGrain-1)/kernelGrain)
	g.blocks = make([]block[T], (batch+batchGrain-1)/batchGrain)
	for n := range g.blocks {
		h := newHead[T](behind, opts.Loss, opts.Hierarchy)
		g.outputs = h.outputs
		g.blocks[n] = block[T]{head: h, gradBias: make([]T, h.targets), p: make([]T, h.targets)}
		if newOp != nil {
			g.blocks[n].kernel = newOp()
		}
	}
	g.scores = make([]T, batch*g.outputs)
	return g
}

// take makes a batch one of these examples.
func (g *gradients[T]) take(ex Examples) { g.ex, g.design = ex, newDesign[T](ex.X, false) }

// timesK returns how gradients are multiplied by the K of a sharing: by a kernel.Tree,
// by operators, or not at all if both are nil.
func timesK[T matrix.Float](s sharing.Sharing) (tree *kernel.Tree, newOp func() *sharing.Operator[T]) {
	_, single := any(T(0)).(float32)
	switch s := s.(type) {
	case sharing.None:
		return nil, nil
	case *sharing.Tree:
		if single {
			return kernelTree(s), nil
		}
	}
	return nil, func() *sharing.Operator[T] { return sharing.NewOperator[T](s) }
}

// kernelTree lays out the tree of a sharing for K passes.
func kernelTree(s *sharing.Tree) *kernel.Tree {
	t := s.LabelTree()
	parent, length, class := make([]int32, t.Len()), make([]float64, t.Len()), make([]int32, t.Classes())
	for v := range parent {
		parent[v], length[v] = int32(t.Parent(v)), t.Length(v)
	}
	for c := range class {
		class[c] = int32(t.Node(c))
	}
	f, err := kernel.NewTree(parent, length, class)
	if err != nil {
		panic(err) // a labeltree.Tree is a tree
	}
	return f
}

// of sets scores to the gradients of a batch in its outputs, and returns the sum
// of its losses and the gradient in the bias. The outputs are scale times the
// product of weight (d x outputs) and the example. The gradient is the mean over
// the batch, each example counted by its weight over the mean weight of all.
func (g *gradients[T]) of(threads int, batch []int32, weight []T, scale T, bias []T) (lossSum float64, gradBias []T) {
	r, size := g.outputs, g.mean*float64(len(batch))
	kernel.Parallel(threads, len(batch), batchGrain, func(n, lo, hi int) {
		b := &g.blocks[n]
		clear(b.gradBias)
		for n := lo; n < hi; n++ {
			i, z := int(batch[n]), g.scores[n*r:(n+1)*r]
			g.design.scores(z, weight, i)
			if scale != 1 {
				kernel.Scale(scale, z)
			}
			share := T(g.ex.weightOf(i) / size)
			g.losses[n] = b.head.evaluate(z, b.p, bias, b.gradBias, g.ex.target(i), share) * size
			if b.kernel != nil {
				copy(b.head.grad, z)
				b.kernel.Kernel(z, b.head.grad, 1)
			}
		}
	})
	if g.tree != nil {
		z := any(g.scores).([]float32)
		kernel.Parallel(threads, len(batch), kernelGrain, func(n, lo, hi int) {
			g.panels[n] = g.tree.MultiplyRows(z[lo*r:hi*r], hi-lo, g.panels[n])
		})
	}
	gradBias = g.blocks[0].gradBias
	for _, b := range g.blocks[1 : (len(batch)+batchGrain-1)/batchGrain] {
		kernel.Add(b.gradBias, gradBias)
	}
	for _, l := range g.losses[:len(batch)] {
		lossSum += l
	}
	return lossSum, gradBias
}

// threadsFor returns how many goroutines share the step of a batch: one if it has
// less than least multiply-adds.
func (g *gradients[T]) threadsFor(batch []int32, least int) int {
	if s := g.design.sparse; s != nil {
		nonzeros := 0
		for _, i := range batch {
			nonzeros += s.Start[i+1] - s.Start[i]
		}
		if nonzeros*g.outputs < least {
			return 1
		}
	}
	return kernel.Threads(g.threads)
}

// collect groups the nonzeros of a batch by feature and returns the features.
func (g *gradients[T]) collect(batch []int32) []int32 {
	if g.design.dense != nil {
		g.columns.collectDense(g.design.dense, batch)
	} else {
		collectColumns(&g.columns, g.design.sparse, batch, g.next)
	}
	return g.columns.features
}

// reserve makes room for a row in each of so many blocks.
func (g *gradients[T]) reserve(blocks int) {
	if n := blocks * g.outputs; cap(g.rows) < n {
		g.rows = make([]T, n)
	}
}

// row returns the gradient in the weights of feature n of those that collect
// returned, summed in the order of the batch, in memory of the block.
func (g *gradients[T]) row(block, n int) []T {
	row := g.rows[:cap(g.rows)][block*g.outputs : (block+1)*g.outputs]
	clear(row)
	example, value := g.columns.of(n)
	kernel.CombineRows(example, value, g.scores, g.outputs, row)
	return row
}
