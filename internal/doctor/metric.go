package doctor

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// classMetric chooses the metric of the classes, estimates its dimension and
// returns it, or nil if what is known says nothing of the classes.
func (r *Report) classMetric(d *corpus.Data, e *examples, opts Options) metric.Space {
	c := d.Classes
	source := opts.From
	switch {
	case source != "":
	case c.Distances != nil:
		source = classinfo.Distances
	case c.Taxonomy != nil:
		source = classinfo.Taxonomy
	case c.Weights != nil:
		source = classinfo.Weights
	case c.Vectors != nil:
		source = classinfo.Vectors
	default:
		source = classinfo.Names
	}
	c.X, c.Class = e.X, e.Class
	space, err := classinfo.Metric(source, c)
	if err != nil {
		r.skip("distances of the classes: %v", err)
		return nil
	}
	r.Metric = &Metric{Source: string(source), Dimension: theory.Doubling(space, sample(space.Len(), maxPoints, opts.Seed, classStream), opts.Seed)}
	return space
}

// maxPoints is the number of classes that a doubling dimension is taken of.
const maxPoints = 512

// weighSources asks the rows about each source that was brought with the data.
func (r *Report) weighSources(ctx context.Context, d *corpus.Data, rows []int) error {
	for _, source := range d.Classes.Sources() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("doctor: stopped before the evidence of the rows: %w", err)
		}
		z, err := tune.Agreement(d, rows, source)
		if err != nil {
			r.skip("whether the data support %s: %v", inWords(string(source)), err)
			continue
		}
		r.Sources = append(r.Sources, Evidence{string(source), z})
	}
	return nil
}

// skip notes what was left out, and why.
func (r *Report) skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Sprintf(format, args...))
}

// maxProducts bounds the multiplications for the distances between weights.
const maxProducts = 4e9

// maxCompared is the most classes of which all pairs are compared: some seconds.
const maxCompared = 3000

// distortionOf compares all pairs of classes, or of a sample if these are too
// many: O(features x classes²).
func distortionOf(space metric.Space, l *softmax.Layer, seed uint64) theory.Distortion {
	most := min(int(math.Sqrt(maxProducts/float64(l.Features))), maxCompared)
	classes := sample(l.Classes, max(most, 2), seed, classStream)
	gram := classinfo.WeightGram(l.Weight, l.Classes, classes)
	return theory.Distort(len(classes),
		func(i, j int) float64 { return space.Distance(classes[i], classes[j]) },
		func(i, j int) float64 { return math.Sqrt(max(0, gram.At(i, i)+gram.At(j, j)-2*gram.At(i, j))) })
}
