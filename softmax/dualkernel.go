package softmax

import (
	"fmt"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// classKernel multiplies one column by K = A Aᵀ: by the passes of a tree of many
// classes, else by K itself unless that is too large to keep.
type classKernel[T matrix.Float] struct {
	op    *sharing.Operator[T]
	dense []T // k x k; nil: op
	value []float32
}

const (
	// fewClasses is up to where k² numbers take no longer than a tree.
	fewClasses = 256
	// mostDense is the largest k whose K is kept, 64 MB.
	mostDense = 4096
	// sharedKernel is from where threads share a product with K.
	sharedKernel = 512
)

// newClassKernel chooses the way that is faster for the sharing. It takes O(k²) memory
// and, for K itself, k products with A and Aᵀ.
func newClassKernel[T matrix.Float](s sharing.Sharing) (*classKernel[T], error) {
	k := s.Classes()
	if _, tree := s.(*sharing.Tree); k > mostDense || tree && k > fewClasses {
		return &classKernel[T]{op: sharing.NewOperator[T](s)}, nil
	}
	gram, err := sharing.Gram(s)
	if err != nil {
		return nil, fmt.Errorf("softmax: %w", err)
	}
	t := &classKernel[T]{dense: make([]T, k*k), value: make([]float32, k)}
	for i := range k {
		for j := range k {
			t.dense[i*k+j] = T(gram.At(i, j))
		}
	}
	return t, nil
}

// apply sets out to K x, both of k numbers. It costs k² or the size of A.
func (t *classKernel[T]) apply(team *kernel.Team, out, x []T) {
	if t.dense == nil {
		t.op.Kernel(out, x, 1)
		return
	}
	for c, v := range x {
		t.value[c] = float32(v)
	}
	k := len(x)
	columns := func(lo, hi int) {
		clear(out[lo:hi])
		kernel.CombineAllRows(t.value, t.dense[lo:], k, out[lo:hi])
	}
	parts := team.Threads()
	if k < sharedKernel || parts == 1 {
		columns(0, k)
		return
	}
	team.RunParts(func(part int) {
		lines := k / kernel.CacheLine
		lo, hi := part*lines/parts*kernel.CacheLine, (part+1)*lines/parts*kernel.CacheLine
		if part == parts-1 {
			hi = k
		}
		columns(lo, hi)
	})
}
