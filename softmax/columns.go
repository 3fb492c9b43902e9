package softmax

import (
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// columns has the nonzeros of some sparse examples, a batch, by feature: where each
// feature has a row of weights, the batch goes through these one by one, and a row
// comes from main memory once.
type columns struct {
	features []int32 // that some example has, in the order in which they are met
	start    []int32 // of each feature's entries; one more at the end
	example  []int32 // place in the batch, ascending for each feature
	value    []float32
}

// of returns the examples that have features[n], and their values.
func (c *columns) of(n int) (example []int32, value []float32) {
	a, b := c.start[n], c.start[n+1]
	return c.example[a:b], c.value[a:b]
}

// collectColumns sets c to the nonzeros of a batch, rows of x. next is scratch of
// zeros, one a feature of x, and is left so. O(nonzeros).
func collectColumns[I int | int32](c *columns, x *matrix.Sparse, batch []I, next []int32) {
	c.features, c.start = c.features[:0], c.start[:0]
	total := 0
	for _, i := range batch {
		index, _ := x.Row(int(i))
		total += len(index)
		for _, f := range index {
			if next[f] == 0 {
				c.features = append(c.features, f)
			}
			next[f]++ // so far the number of entries
		}
	}
	at := int32(0)
	for _, f := range c.features {
		c.start = append(c.start, at)
		next[f], at = at, at+next[f]
	}
	c.start = append(c.start, at)
	c.example = slices.Grow(c.example[:0], total)[:total]
	c.value = slices.Grow(c.value[:0], total)[:total]
	for m, i := range batch {
		index, value := x.Row(int(i))
		for n, f := range index {
			at := next[f]
			c.example[at], c.value[at] = int32(m), value[n]
			next[f]++
		}
	}
	for _, f := range c.features {
		next[f] = 0
	}
}

// collectDense is collectColumns for dense rows, of which no number is left out.
func (c *columns) collectDense(x *matrix.Dense, batch []int32) {
	n := len(batch)
	c.features, c.start = c.features[:0], append(c.start[:0], 0)
	c.example = slices.Grow(c.example[:0], n*x.Columns)[:n*x.Columns]
	c.value = slices.Grow(c.value[:0], n*x.Columns)[:n*x.Columns]
	for f := range x.Columns {
		c.features, c.start = append(c.features, int32(f)), append(c.start, int32((f+1)*n))
		for m, i := range batch {
			c.example[f*n+m], c.value[f*n+m] = int32(m), x.Row(int(i))[f]
		}
	}
}
