package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// nearestByWeights returns the classes nearest to one by the cosine of W[c] - w,
// w the mean over the classes: only this difference tells classes apart. A class
// without weights of its own has cosine 0 with every other.
func (e *Explainer) nearestByWeights(ctx context.Context, class int) ([]Neighbour, error) {
	if e.model.Layer.Hierarchy != nil {
		return []Neighbour{}, nil
	}
	if known, ok := e.byWeight[class]; ok {
		return known, nil
	}
	if err := e.centre(ctx); err != nil {
		return nil, err
	}
	l := e.model.Layer
	k := l.Classes
	cosine, scratch := make([]float64, k), make([]float32, k)
	for f, mean := range e.mean {
		if err := cancelled(ctx, f); err != nil {
			return nil, err
		}
		row := l.Row(f, scratch)
		own := float64(row[class]) - mean
		for c, w := range row {
			cosine[c] += own * (float64(w) - mean)
		}
	}
	for c := range cosine {
		if both := e.norm[class] * e.norm[c]; both > 0 {
			cosine[c] = min(max(cosine[c]/both, -1), 1)
		} else {
			cosine[c] = 0
		}
	}
	found := e.nearest(class, cosine, math.Inf(-1))
	e.byWeight[class] = found
	return found, nil
}

// centre finds the mean weight of each feature and the norm of what each class
// has beside it, once.
func (e *Explainer) centre(ctx context.Context) error {
	if e.mean != nil {
		return nil
	}
	l := e.model.Layer
	k := l.Classes
	mean, norm, scratch := make([]float64, l.Features), make([]float64, k), make([]float32, k)
	for f := range mean {
		if err := cancelled(ctx, f); err != nil {
			return err
		}
		row := l.Row(f, scratch)
		for _, w := range row {
			mean[f] += float64(w)
		}
		mean[f] /= float64(k)
		for c, w := range row {
			norm[c] += (float64(w) - mean[f]) * (float64(w) - mean[f])
		}
	}
	for c := range norm {
		norm[c] = math.Sqrt(norm[c])
	}
	e.mean, e.norm = mean, norm
	return nil
}

// cancelled looks at the context at every 256th feature.
func cancelled(ctx context.Context, f int) error {
	if f%256 != 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("explain: looking for the nearest classes: %w", err)
	}
	return nil
}

// nearestByName returns the classes whose names look most like that of one.
func (e *Explainer) nearestByName(class int) []Neighbour {
	if e.names == nil {
		return []Neighbour{}
	}
	if known, ok := e.byName[class]; ok {
		return known
	}
	cosine := make([]float64, e.names.Rows())
	for c := range cosine {
		cosine[c] = matrix.Cosine(e.names, class, c)
	}
	found := e.nearest(class, cosine, 0)
	e.byName[class] = found
	return found
}

// nearest returns the classes with the largest cosine, one class left out and
// those that are not above least; equals in the order of the classes.
func (e *Explainer) nearest(class int, cosine []float64, least float64) []Neighbour {
	var order []int
	for c, x := range cosine {
		if c != class && x > least {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(cosine[b], cosine[a]), cmp.Compare(a, b))
	})
	out := []Neighbour{}
	for _, c := range order[:min(len(order), e.opts.Nearest)] {
		out = append(out, Neighbour{Label: e.model.Labels[c], Cosine: cosine[c]})
	}
	return out
}
