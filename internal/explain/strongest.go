package explain

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Weight is a feature and what one unit of it adds to the difference of two scores.
type Weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"` // nats
}

// Weights are the features with the largest differences of weights.
type Weights struct {
	For     []Weight `json:"for"`     // the largest first
	Against []Weight `json:"against"` // the most negative first
}

// Strongest returns for each pair of classes (a, b) the features whose weights for a lie
// farthest above and below those for b, or, where b is below 0, the mean over the classes: n on each side. They say why
// a and not b whatever the record. The numbers of a sentence encoder, which mean nothing one
// by one, are none of them. It reads all weights once, O(d (k + pairs)), and is nil for a
// hierarchical softmax, which has no weights of classes.
func (e *Explainer) Strongest(ctx context.Context, pairs [][2]int, n int) ([]Weights, error) {
	l := e.model.Layer
	if l.Hierarchy != nil || n < 1 {
		return nil, nil
	}
	for _, p := range pairs {
		if p[0] < 0 || p[0] >= l.Classes || p[1] >= l.Classes {
			return nil, fmt.Errorf("explain: classes %d and %d, want 0 to %d", p[0], p[1], l.Classes-1)
		}
	}
	if err := e.centre(ctx); err != nil {
		return nil, err
	}
	// W is feature-major: a row has the weights of one feature for all classes, so that all
	// pairs share its reading.
	high, low := make([]ranking, len(pairs)), make([]ranking, len(pairs))
	scratch := make([]float32, l.Classes)
	for f, mean := range e.mean[:min(len(e.mean), e.model.Features.EncoderStart())] {
		if err := cancelled(ctx, f); err != nil {
			return nil, err
		}
		row := l.Row(f, scratch)
		for i, p := range pairs {
			above := float64(row[p[0]])
			if p[1] >= 0 {
				above -= float64(row[p[1]])
			} else {
				above -= mean
			}
			if above > 0 {
				high[i].add(f, above, n)
			} else if above < 0 {
				low[i].add(f, -above, n)
			}
		}
	}
	out := make([]Weights, len(pairs))
	for i := range out {
		out[i] = Weights{For: high[i].weights(e, 1), Against: low[i].weights(e, -1)}
	}
	return out, nil
}

// ranking keeps the largest of many numbers, the largest first, of equals the first.
type ranking struct {
	column []int
	value  []float64
}

func (r *ranking) add(column int, value float64, most int) {
	if len(r.value) == most && value <= r.value[most-1] {
		return
	}
	at := len(r.value)
	for at > 0 && r.value[at-1] < value {
		at--
	}
	r.column, r.value = slices.Insert(r.column, at, column), slices.Insert(r.value, at, value)
	r.column, r.value = r.column[:min(len(r.column), most)], r.value[:min(len(r.value), most)]
}

func (r *ranking) weights(e *Explainer, sign float64) []Weight {
	out := []Weight{}
	for i, f := range r.column {
		out = append(out, Weight{e.model.Features.Name(f), sign * r.value[i]})
	}
	return out
}

// Nearest returns the classes nearest to each of some classes by the cosine of their weights, as
// Explanation.NearestByWeights has them, up to rounding to float32. Many classes take
// one pass over the weights together: 2 d k len(classes) operations and 4 k len(classes)
// bytes. It is nil for a hierarchical softmax.
func (e *Explainer) Nearest(ctx context.Context, classes []int) ([][]Neighbour, error) {
	l := e.model.Layer
	if l.Hierarchy != nil {
		return nil, nil
	}
	if err := e.centre(ctx); err != nil {
		return nil, err
	}
	const block = 256 // features at a time
	k := l.Classes
	// The cosine of classes a and b is Σ_f (W[a,f] - w_f)(W[b,f] - w_f) over both norms, w the
	// mean of the classes: the product of some columns of the centred weights with all, block by block.
	all := blas32.General{Cols: k, Stride: k, Data: make([]float32, block*k)}
	own := blas32.General{Cols: len(classes), Stride: len(classes), Data: make([]float32, block*len(classes))}
	product := blas32.General{Rows: len(classes), Cols: k, Stride: k, Data: make([]float32, len(classes)*k)}
	scratch := make([]float32, k)
	for from := 0; from < l.Features; from += block {
		if err := cancelled(ctx, from); err != nil {
			return nil, err
		}
		all.Rows = min(block, l.Features-from)
		own.Rows = all.Rows
		for f := range all.Rows {
			mean := float32(e.mean[from+f])
			for c, w := range l.Row(from+f, scratch) {
				all.Data[f*k+c] = w - mean
			}
			for i, c := range classes {
				own.Data[f*len(classes)+i] = all.Data[f*k+c]
			}
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, own, all, 1, product)
	}
	out := make([][]Neighbour, len(classes))
	cosine := make([]float64, k)
	for i, class := range classes {
		for c := range cosine {
			cosine[c] = 0
			if both := e.norm[class] * e.norm[c]; both > 0 {
				cosine[c] = min(max(float64(product.Data[i*k+c])/both, -1), 1)
			}
		}
		out[i] = e.nearest(class, cosine, math.Inf(-1))
	}
	return out, nil
}

// NearestByName returns the classes whose names are most similar to that of a class.
func (e *Explainer) NearestByName(class int) []Neighbour { return e.nearestByName(class) }
