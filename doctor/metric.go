package doctor

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// classMetric chooses the metric of the classes, estimates its dimension and
// returns it, or nil if what is known says nothing of the classes.
func (r *Report) classMetric(d *tune.Data, e *examples, opts Options) metric.Space {
	c := d.Classes
	source := opts.From
	switch {
	case source != "":
	case c.Distances != nil:
		source = knowledge.Distances
	case c.Taxonomy != nil:
		source = knowledge.Taxonomy
	case c.Weights != nil:
		source = knowledge.Weights
	case c.Vectors != nil:
		source = knowledge.Vectors
	default:
		source = knowledge.Names
	}
	c.X, c.Class = e.x, e.class
	space, err := knowledge.Metric(source, c)
	if err != nil {
		r.skip("distances of the classes: %v", err)
		return nil
	}
	r.Metric = &Metric{Source: string(source), Dimension: Doubling(space, opts.Seed)}
	return space
}

// weighGiven asks the rows about each source that was brought with the data.
func (r *Report) weighGiven(ctx context.Context, d *tune.Data, rows []int) error {
	for _, source := range d.Given() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("doctor: stopped before the evidence of the rows: %w", err)
		}
		z, err := d.Agreement(rows, source)
		if err != nil {
			r.skip("whether the rows bear out %s: %v", inWords(string(source)), err)
			continue
		}
		r.Given = append(r.Given, Evidence{string(source), z})
	}
	return nil
}

func (r *Report) skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Sprintf(format, args...))
}

// Distortion compares the distances of the classes with those of their weights
// (Assumption 3 of the paper).
type Distortion struct {
	// Lambda is the least lambda >= 1 with s d/lambda <= |w_i - w_j| <=
	// lambda s d for all pairs of classes, s being the scale of d that makes it
	// least: sqrt(largest |w_i - w_j|/d over the smallest one). It is nil if
	// there is none, as classes at distance 0 have different weights or others
	// the same.
	Lambda *float64 `json:"lambda"`
	// Scale is s, 0 without Lambda.
	Scale float64 `json:"scale"`
	// Correlation is that of d and |w_i - w_j| over the pairs: lambda stands for the
	// worst two pairs only. It is nil where one of them is the same for all.
	Correlation *float64 `json:"correlation"`
	Classes     int      `json:"classes"` // whose pairs were looked at; fewer than all are a sample
}

// maxProducts bounds the multiplications for the distances between weights.
const maxProducts = 4e9

// distortionOf compares all pairs of classes, or of a sample if these are too
// many: O(features x classes²).
func distortionOf(space metric.Space, l *softmax.Layer, seed uint64) Distortion {
	most := int(math.Sqrt(maxProducts / float64(l.Features)))
	classes := sample(l.Classes, max(most, 2), seed, classStream)
	n := len(classes)
	gram := knowledge.WeightGram(l.Weight, l.Classes, classes)
	out := Distortion{Classes: n}
	least, largest, undefined := math.Inf(1), 0.0, false
	var c correlation
	for a := range n {
		for b := a + 1; b < n; b++ {
			d := space.Distance(classes[a], classes[b])
			w := math.Sqrt(max(0, gram.At(a, a)+gram.At(b, b)-2*gram.At(a, b)))
			c.add(d, w)
			switch {
			case d == 0 && w == 0:
			case d == 0 || w == 0:
				undefined = true
			default:
				least, largest = min(least, w/d), max(largest, w/d)
			}
		}
	}
	if !undefined && largest > 0 {
		lambda := math.Sqrt(largest / least)
		out.Lambda, out.Scale = &lambda, math.Sqrt(largest*least)
	}
	out.Correlation = c.value()
	return out
}

// correlation is Pearson's, of pairs added one by one (Welford 1962).
type correlation struct {
	n, x, y, xx, yy, xy float64
}

func (c *correlation) add(x, y float64) {
	c.n++
	dx, dy := x-c.x, y-c.y
	c.x += dx / c.n
	c.y += dy / c.n
	c.xx += dx * (x - c.x)
	c.yy += dy * (y - c.y)
	c.xy += dx * (y - c.y)
}

// value is nil if one side does not vary beyond rounding.
func (c *correlation) value() *float64 {
	if c.n < 3 || c.xx <= 1e-12*c.n*c.x*c.x || c.yy <= 1e-12*c.n*c.y*c.y {
		return nil
	}
	v := c.xy / math.Sqrt(c.xx*c.yy)
	return &v
}
