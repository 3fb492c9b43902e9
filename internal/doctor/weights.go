package doctor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Weights are what plain cross entropy learns, without its bias, and what the
// paper's theory makes of them. Lengths are in the unit of the inputs, bounds
// in nats.
type Weights struct {
	Prior      float64            `json:"prior"`     // τ² that they were trained with
	Converged  bool               `json:"converged"` // false: too large for that, so some way off
	Largest    float64            `json:"b"`         // B, the length of the longest w_i
	Longest    float64            `json:"rho"`       // ρ, the length of the longest input
	Distortion *theory.Distortion `json:"distortion"`
	Norms      []Norm             `json:"norms"`
	Base       float64            `json:"base"` // of the cover tree; 0: none was built
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

// maxTreeClasses is the most classes that a cover tree is built of: some seconds. Where
// the distances have hardly any structure, as those of names, it compares each two classes.
const maxTreeClasses = 5000

// weightsTolerance is that of the fit for norms, which show three digits.
const weightsTolerance = 1e-3

// weigh trains plain cross entropy and fills r.Weights: B, the largest ‖w_c‖; lambda of the
// metric; and for W, U* and V* the norm, the factor by which the gradient in them is longer
// (theory.Stretch), and the bound of the paper's result beside it, both times ρ/√n, ρ being
// the longest input: the form of the paper's bounds on the error of SGD. space may be nil;
// then there is no lambda and no tree.
func (r *Report) weigh(ctx context.Context, d *corpus.Data, e *examples, space metric.Space, prior float64, opts Options) error {
	k := len(d.Classes.Labels)
	switch work := e.values() * float64(k); {
	case opts.Train == tune.Off:
		r.skip("weights: not trained, as asked")
		return nil
	case opts.Train == tune.Auto && work > maxFitWork:
		r.skip("weights, lambda and norms: training takes more than seconds; it is done if training is asked for")
		return nil
	}
	layer, record, err := e.plainCrossEntropy(ctx, k, prior, opts)
	if err != nil {
		return err
	}
	w := &Weights{Prior: cmp.Or(prior, softmax.DefaultPrior), Converged: record.Converged, Longest: theory.LongestInput(e.X)}
	norm := 0.0
	w.Largest, norm = theory.Norms(layer.Weight, k)
	root := w.Longest / math.Sqrt(float64(len(e.Class))) // ρ/√n, of all bounds
	w.add("W", norm, 1, root, "Corollary 1", new(math.Sqrt(float64(k))*w.Largest))
	r.Weights = w
	if space == nil {
		return nil
	}
	distortion := distortionOf(space, layer, opts.Seed)
	w.Distortion = &distortion
	return r.weighTrees(layer, d, space, root, cmp.Or(opts.Base, 2), opts.Seed)
}

// plainCrossEntropy trains on all examples, to three digits: to convergence, or by SGD
// where that would take minutes.
func (e *examples) plainCrossEntropy(ctx context.Context, k int, prior float64, opts Options) (*softmax.Layer, softmax.Record, error) {
	o := softmax.Options{Prior: prior, Seed: opts.Seed, Threads: opts.Threads}
	o.Trainer = softmax.Converge{Tolerance: weightsTolerance}
	if !fitsConverge(e, k) {
		o.Trainer = softmax.SGD{Epochs: 10, Average: true}
	}
	if opts.Progress != nil {
		o.Progress = func(p softmax.Progress) { opts.Progress("weights of plain cross entropy", p) }
	}
	layer, record, err := softmax.Fit(ctx, e.Examples, k, o)
	if err != nil {
		err = fmt.Errorf("doctor: plain cross entropy: %w", err)
	}
	return layer, record, err
}

// weighTrees adds the norms of the same weights held by trees: those of a cover tree over
// the space, and the taxonomy if there is one. The cover tree of more than maxTreeClasses
// classes is skipped, and so is a tree by which the weights cannot be held, as two classes
// are at distance 0.
func (r *Report) weighTrees(layer *softmax.Layer, d *corpus.Data, space metric.Space, root, base float64, seed uint64) error {
	w, k := r.Weights, len(d.Classes.Labels)
	var u, v *labeltree.Tree
	if k > maxTreeClasses {
		r.skip("norms of U* and V*: the cover tree of more than %d classes takes minutes", maxTreeClasses)
	} else {
		var err error
		if u, v, err = trees(space, d.Classes.Labels, base, seed); err != nil {
			return err
		}
		w.Base = base
	}
	var corollary2 *float64
	if lambda := w.Distortion.Lambda; lambda != nil {
		corollary2 = new(theory.NormLimit(k, *lambda, w.Largest, r.Metric.Dimension.Max))
	}
	for _, t := range []struct {
		name, result string
		tree         *labeltree.Tree
		limit        *float64
	}{
		{"U*", "Lemma 2", u, new(2 * math.Sqrt(float64(k)) * w.Largest)},
		{"V*", "Corollary 2", v, corollary2},
		{"V* of the taxonomy", "", d.Classes.Taxonomy, nil},
	} {
		if t.tree == nil {
			continue
		}
		norm, err := theory.LeastNorm(t.tree, layer.Weight)
		if err != nil {
			r.skip("%s: %v", t.name, err)
			continue
		}
		w.add(t.name, norm, theory.Stretch(t.tree), root, t.result, t.limit)
	}
	return nil
}

// add adds the norm of some parameters and its bounds, each times root. limit is the paper's
// bound of the norm, nil where there is none.
func (w *Weights) add(parameters string, norm, stretch, root float64, result string, limit *float64) {
	if limit != nil {
		*limit *= root
	}
	w.Norms = append(w.Norms, Norm{parameters, norm, norm * root, stretch, norm * root * stretch, limit, result})
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
