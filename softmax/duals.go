package softmax

import (
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
)

// Duals are where a dual ascent ended: of each example the logarithm of its distribution
// over the classes, or, with squared hinge, its multipliers. They do not depend on the
// features. So another fit of much the same examples, with another prior, sharing or
// vocabulary, may start there and ends at the same minimum in fewer passes.
//
// The zero value has none. It takes 4 n k bytes.
type Duals struct {
	classes int
	prior   float64
	hinge   bool
	value   []float32 // n x classes
	bias    []float32 // classes, of cross entropy
	known   []bool    // of each example; nil: all of them
}

// For returns the duals of other examples: number i is number at[i] of d, or new if
// at[i] is -1. d stays as it is.
func (d *Duals) For(at []int) *Duals {
	if d == nil || d.classes == 0 {
		return &Duals{}
	}
	k := d.classes
	out := &Duals{classes: k, prior: d.prior, hinge: d.hinge, bias: slices.Clone(d.bias), value: make([]float32, len(at)*k), known: make([]bool, len(at))}
	for i, j := range at {
		if j >= 0 && (d.known == nil || d.known[j]) {
			copy(out.value[i*k:(i+1)*k], d.value[j*k:(j+1)*k])
			out.known[i] = true
		}
	}
	return out
}

// Clone returns a copy, nil of nil.
func (d *Duals) Clone() *Duals {
	if d == nil {
		return nil
	}
	return &Duals{classes: d.classes, prior: d.prior, hinge: d.hinge, value: slices.Clone(d.value), bias: slices.Clone(d.bias), known: slices.Clone(d.known)}
}

// has tells whether d has duals of n examples and k classes.
func (d *Duals) has(n, k int, hinge bool) bool {
	return d != nil && d.classes == k && d.hinge == hinge && len(d.value) == n*k
}

// room makes d that of n examples of k classes.
func (d *Duals) room(n, k int, prior float64, hinge bool) {
	d.classes, d.prior, d.hinge, d.known = k, prior, hinge, nil
	d.value = slices.Grow(d.value[:0], n*k)[:n*k]
	d.bias = slices.Grow(d.bias[:0], k)[:k]
}

// start sets t to the minimum that duals are about at, of a problem with another lambda
// too, and brings it to lambda. An example that they do not have stays at its target.
func (t *dual[T]) start(d *Duals, lambda float64) {
	t.team = kernel.NewTeam(t.parts())
	defer t.team.Close()
	kernel.Parallel(t.threads, t.x.Rows(), rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if d.known == nil || d.known[i] {
				for c, v := range d.value[i*t.k : (i+1)*t.k] {
					t.logP[i*t.stride+c] = T(v)
				}
			}
		}
	})
	for c, b := range d.bias {
		if !t.noBias {
			t.bias[c] = T(b)
		}
	}
	was := t.length / orDefault(d.prior)
	t.restore(was)
	if was != lambda {
		t.rescale(was, lambda)
	}
}

// keep sets d to where t is.
func (t *dual[T]) keep(d *Duals, prior float64) {
	d.room(t.x.Rows(), t.k, prior, false)
	kernel.Parallel(t.threads, t.x.Rows(), rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			to := d.value[i*t.k : (i+1)*t.k]
			for c, v := range t.logP[i*t.stride : i*t.stride+t.k] {
				to[c] = float32(v)
			}
		}
	})
	for c, v := range t.bias {
		d.bias[c] = float32(v)
	}
}

// start sets the multipliers of squared hinge, and the weights that follow from them.
func (h *hinge) start(d *Duals, k, threads int) {
	kernel.Parallel(threads, len(h.blocks), 1, func(_, lo, hi int) {
		for _, b := range h.blocks[lo:hi] {
			moved := make([]float32, b.width)
			for i := range h.square {
				from := d.value[i*k+b.first:][:b.classes]
				if d.known != nil && !d.known[i] {
					continue
				}
				copy(b.dual[i*b.width:], from)
				for c, a := range from {
					moved[c] = -a
				}
				h.flip(b, i, moved)
				h.add(b, i, moved)
			}
		}
	})
}

// keep sets d to the multipliers.
func (h *hinge) keep(d *Duals, k int, prior float64, threads int) {
	d.room(len(h.square), k, prior, true)
	clear(d.bias)
	kernel.Parallel(threads, len(h.blocks), 1, func(_, lo, hi int) {
		for _, b := range h.blocks[lo:hi] {
			for i := range h.square {
				copy(d.value[i*k+b.first:][:b.classes], b.dual[i*b.width:])
			}
		}
	})
}
