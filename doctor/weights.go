package doctor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Weights are what plain cross entropy learns, without its bias, and what the
// paper's theory makes of them. Lengths are in the unit of the inputs, bounds
// in nats.
type Weights struct {
	Prior      float64     `json:"prior"`     // τ² that they were trained with
	Converged  bool        `json:"converged"` // false: too large for that, so some way off
	Largest    float64     `json:"b"`         // B, the length of the longest w_i
	Longest    float64     `json:"rho"`       // ρ, the length of the longest input
	Distortion *Distortion `json:"distortion"`
	Norms      []Norm      `json:"norms"`
	Base       float64     `json:"base"` // of the cover tree
}

// Norm is a way to hold the same weights, and how long the numbers are.
type Norm struct {
	Parameters string  `json:"parameters"` // W, U*, V*, or V* of the taxonomy
	Norm       float64 `json:"norm"`       // Frobenius
	// Bound is norm ρ/√n, Lemma 1 of the paper.
	Bound float64 `json:"bound"`
	// Stretch is how much larger than for W the Lipschitz constant can be;
	// Stretched is Bound times that. See the package comment.
	Stretch   float64 `json:"stretch"`
	Stretched float64 `json:"bound_stretched"`
	// Theory is the paper's bound from k, B, λ and c alone, and Result where it
	// stands: Corollary 1 for W, Lemma 2 for U*, Corollary 2 for V*. Theory is
	// nil for a tree that is none of the paper's, and without λ.
	Theory *float64 `json:"paper_bound"`
	Result string   `json:"paper_result"`
}

// weightsTolerance is that of the fit for norms, which show three digits.
const weightsTolerance = 1e-3

// weigh trains plain cross entropy and fills r.Weights; space may be nil.
func (r *Report) weigh(ctx context.Context, d *tune.Data, e *examples, space metric.Space, prior float64, opts Options) error {
	k := len(d.Classes.Labels)
	switch work := e.values() * float64(k); {
	case opts.Train == Off:
		r.skip("weights: not trained, as asked")
		return nil
	case opts.Train == Auto && work > maxFitWork:
		r.skip("weights, lambda and norms: training takes more than seconds; ask for it with --train")
		return nil
	}
	o := softmax.Options{Prior: prior, Seed: opts.Seed, Threads: opts.Threads}
	o.Trainer = softmax.Converge{Tolerance: weightsTolerance}
	if !fitsConverge(e, k) {
		o.Trainer = softmax.SGD{Epochs: 10, Average: true}
	}
	if opts.Progress != nil {
		o.Progress = func(p softmax.Progress) { opts.Progress("weights of plain cross entropy", p) }
	}
	layer, record, err := softmax.Fit(ctx, softmax.Examples{X: e.x, Class: e.class, Weight: e.rows}, k, o)
	if err != nil {
		return fmt.Errorf("doctor: plain cross entropy: %w", err)
	}
	w := &Weights{Prior: cmp.Or(prior, softmax.DefaultPrior), Converged: record.Converged, Longest: e.longest(), Base: cmp.Or(opts.Base, 2)}
	norm := 0.0
	w.Largest, norm = lengths(layer)
	root := w.Longest / math.Sqrt(float64(len(e.class)))
	add := func(parameters string, norm, stretch float64, result string, theory *float64) {
		if theory != nil {
			*theory *= root
		}
		w.Norms = append(w.Norms, Norm{parameters, norm, norm * root, stretch, norm * root * stretch, theory, result})
	}
	limit := math.Sqrt(float64(k)) * w.Largest
	add("W", norm, 1, "Corollary 1", &limit)
	if space != nil {
		distortion := distortionOf(space, layer, opts.Seed)
		w.Distortion = &distortion
		twice := 2 * math.Sqrt(float64(k)) * w.Largest
		var corollary2 *float64
		if distortion.Lambda != nil {
			x := normLimit(k, *distortion.Lambda, w.Largest, r.Metric.Dimension.Max)
			corollary2 = &x
		}
		u, v, err := trees(space, d.Classes.Labels, w.Base, opts.Seed)
		if err != nil {
			return err
		}
		for _, t := range []struct {
			name, result string
			tree         *labeltree.Tree
			theory       *float64
		}{{"U*", "Lemma 2", u, &twice}, {"V*", "Corollary 2", v, corollary2}, {"V* of the taxonomy", "", d.Classes.Taxonomy, nil}} {
			if t.tree == nil {
				continue
			}
			norm, err := minNorm(layer, t.tree)
			if err != nil {
				r.skip("%s: %v", t.name, err)
				continue
			}
			add(t.name, norm, stretch(t.tree), t.result, t.theory)
		}
	}
	r.Weights = w
	return nil
}

// normLimit is the paper's bound on ‖U*‖ (Lemma 3): λ B sqrt(log2(k)/2) for
// c <= 1, and λ B sqrt(5 k^(1-1/c)) for c > 1.
func normLimit(k int, lambda, b, c float64) float64 {
	if c <= 1 {
		return lambda * b * math.Sqrt(math.Log2(float64(k))/2)
	}
	return lambda * b * math.Sqrt(5*math.Pow(float64(k), 1-1/c))
}

// trees returns the U-tree and the V-tree of a cover tree.
func trees(space metric.Space, labels []string, base float64, seed uint64) (u, v *labeltree.Tree, err error) {
	ct, err := covertree.New(space, covertree.Options{Base: base, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	if u, err = labeltree.U(ct, labels); err != nil {
		return nil, nil, err
	}
	v, err = labeltree.V(ct, labels)
	return u, v, err
}

// lengths returns the largest length of a class's weights, and that of all.
func lengths(l *softmax.Layer) (largest, all float64) {
	squares := make([]float64, l.Classes)
	for at, w := range l.Weight {
		squares[at%l.Classes] += float64(w) * float64(w)
	}
	for _, s := range squares {
		largest, all = max(largest, s), all+s
	}
	return math.Sqrt(largest), math.Sqrt(all)
}

// minNorm returns the norm of the least-norm V with A V = W for a tree. A
// U-tree's A has an inverse, so there it is the norm of U*. O(nodes x features).
func minNorm(l *softmax.Layer, t *labeltree.Tree) (float64, error) {
	const block = 64 // features at a time
	k := l.Classes
	op := sharing.NewOperator[float64](sharing.NewTree(t))
	w, v := make([]float64, k*block), make([]float64, t.Len()*block)
	sum := 0.0
	for from := 0; from < l.Features; from += block {
		cols := min(block, l.Features-from)
		for f := range cols {
			for c, x := range l.Weight[(from+f)*k : (from+f+1)*k] {
				w[c*cols+f] = float64(x)
			}
		}
		if err := op.MinNorm(v, w, cols); err != nil {
			return 0, err
		}
		for _, x := range v[:t.Len()*cols] {
			sum += x * x
		}
	}
	return math.Sqrt(sum), nil
}

// stretch returns how much longer than that of W the gradient of V can be for
// the same error g: |Aᵀ(e_i - e_j)|/√2, the largest over pairs of classes. The
// squared length of Aᵀ(e_i - e_j) is the number of edges between i and j, each
// with its length.
func stretch(t *labeltree.Tree) float64 {
	deepest := make([]float64, t.Len()) // longest way from a node down to a class
	farthest := 0.0
	for v := range deepest {
		deepest[v] = math.Inf(-1)
		if t.Class(v) >= 0 {
			deepest[v] = 0
		}
	}
	for v := t.Len() - 1; v > 0; v-- {
		p, way := t.Parent(v), deepest[v]+t.Length(v)
		farthest = max(farthest, deepest[p]+way)
		deepest[p] = max(deepest[p], way)
	}
	return math.Sqrt(farthest / 2)
}
