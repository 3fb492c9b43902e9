package softmax

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Columns hold what the transpose of the batch holds, twice in the same memory.
func TestCollectColumns(t *testing.T) {
	x := texts(5, 40, 30, 3).X.(*matrix.Sparse)
	next := make([]int32, x.Columns)
	var c columns
	for _, batch := range [][]int{{7, 3, 31, 30}, {0, 39}} {
		collectColumns(&c, x, batch, next)
		entries := 0
		for n, f := range c.features {
			example, value := c.of(n)
			entries += len(example)
			if !slices.IsSorted(example) || slices.Contains(c.features[:n], f) {
				t.Fatalf("batch %v: feature %d: examples %v, features %v", batch, f, example, c.features)
			}
			for e, m := range example {
				index, all := x.Row(batch[m])
				if at := slices.Index(index, f); at < 0 || all[at] != value[e] {
					t.Errorf("batch %v: feature %d of row %d is %v", batch, f, batch[m], value[e])
				}
			}
		}
		for _, i := range batch {
			entries -= len(x.Value[x.Start[i]:x.Start[i+1]])
		}
		if entries != 0 || slices.Max(next) != 0 {
			t.Errorf("batch %v: %d entries too many, scratch %v", batch, entries, next)
		}
	}
}

// Going feature by feature changes W by rounding at most: by no bit with vector
// instructions, while plain Go adds in another order.
func TestSpreadByFeature(t *testing.T) {
	ex := texts(6, 90, 60, longRows+3)
	var w [2][]float32
	for n := range w {
		opts, err := Options{Threads: 1}.withDefaults(longRows + 3)
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDual[float32](ex, opts, ex.inputScale())
		if err != nil {
			t.Fatal(err)
		}
		d.team = kernel.NewTeam(1)
		if _, _, err := d.pass(context.Background(), 0.1); err != nil {
			t.Fatal(err)
		}
		b := &d.batches[0]
		for m := range d.moved {
			d.moved[m] = float32(m%17) - 8
		}
		if n == 1 { // as with fewer classes
			for m, i := range b.rows {
				moved := d.moved[m*d.stride : m*d.stride+d.k]
				kernel.Scale(float32(float64(d.scale)/0.1), moved)
				index, value := d.x.Row(i)
				kernel.AddToRows(index, value, d.w, d.stride, moved)
			}
		} else {
			d.spread(b, 0, 0.1)
		}
		w[n] = d.w
	}
	largest := float64(max(slices.Max(w[0]), -slices.Min(w[0])))
	for j := range w[0] {
		if math.Abs(float64(w[0][j]-w[1][j])) > 1e-6*largest {
			t.Fatalf("number %d of W is %v by feature, %v by text; the largest is %v", j, w[0][j], w[1][j], largest)
		}
	}
}
