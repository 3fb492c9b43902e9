package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Options sets up FitBest. The zero value is the default.
type Options struct {
	Priors  []float64       // τ² to choose from, ascending; nil means 3 to 100 and on while that helps, or softmax.DefaultPrior alone for a trainer with a weight decay of its own
	Trainer softmax.Trainer // nil: to convergence
	Init    *softmax.Model  // where the last fit starts; nil: at 0
	Valid   []int           // table rows to choose by, instead of held-out ones; nil: none
	Seed    uint64          // of held-out rows and trainers
	Threads int             // 0: one a CPU

	Supervised bool // leave the unlabelled rows of the data aside

	// Progress is called as the work goes on, with what is being done.
	Progress func(stage string, p softmax.Progress)
	// Checkpoint and Resume are those of softmax.Monitor, for the last fit.
	Checkpoint func(*softmax.Checkpoint) error
	Resume     *softmax.Checkpoint
}

// Check returns an *option.Error or *option.Misuse for options out of range, or that have
// no effect.
func (o Options) Check() error {
	// Of NaN every comparison is false.
	for _, prior := range o.Priors {
		if !(prior > 0) || math.IsInf(prior, 1) {
			return option.Check("Prior", prior, false, "a number above 0, such as 10")
		}
	}
	if _, adamw := o.Trainer.(softmax.AdamW); adamw && len(o.Priors) > 0 {
		return option.Refuse("%s does nothing with %s, which has a %s in its place; leave one out", "Prior", "Trainer adamw", "WeightDecay")
	}
	if len(o.Priors) > 0 && IgnoresPrior(o.Trainer) {
		return option.Refuse("%s does nothing with %s, which takes its place; leave one out", "Prior", "WeightDecay")
	}
	return option.Threads(o.Threads)
}

// Result is a fitted method.
type Result struct {
	Method     Method
	Layer      *softmax.Layer
	Features   *feature.Set
	Tree       *labeltree.Tree // of the method, or nil
	Prior      float64
	Trainer    softmax.Trainer
	Record     softmax.Record
	Candidates []softmax.Candidate // what was tried on held-out rows
	HeldOut    int                 // how many rows these were measured on
	Reason     string              // why the method was chosen
	WhyPlain   string              // why an open plan tried no class information; "": it did, or was not open
	Gain       *softmax.Gain       // over plain cross entropy on held-out rows; nil: not measured

	Unlabelled *softmax.Unlabelled // what came of unlabelled rows; nil: there were none

	optimism    float64             // of the accuracy on the rows that chose, see optimismOf
	calibration *decide.Calibration // on the held-out rows that the method was chosen by; nil: none
	learner     *learner            // what trained it with unlabelled rows; nil: none were used
}

// onlyPrior is the prior where there are no rows to choose it by.
func (o Options) onlyPrior(m Method) float64 {
	switch {
	case len(o.Priors) == 1:
		return o.Priors[0]
		// It has priors of its own: see hingePriors.
	case m.Loss == SquaredHinge:
		return defaultHingePrior
	}
	return softmax.DefaultPrior
}

// IgnoresPrior tells whether a trainer is held back by a weight decay of its
// own, so that all priors give the same weights.
func IgnoresPrior(t softmax.Trainer) bool {
	switch t := t.(type) {
	case softmax.SGD:
		return t.WeightDecay != 0
	case softmax.AdamW:
		return true
	}
	return false
}

// watch returns the trainer of the last fit: one that runs in epochs measures
// itself on the validation rows and keeps checkpoints.
func watch(d *corpus.Data, f *corpus.Fitted, trainer softmax.Trainer, opts Options) (softmax.Trainer, error) {
	monitor := softmax.Monitor{Checkpoint: opts.Checkpoint, Resume: opts.Resume}
	if valid := d.Labelled(opts.Valid); len(valid) > 0 {
		examples, err := d.Examples(f.Features, valid)
		if err != nil {
			return nil, err
		}
		monitor.Valid = &examples
	}
	switch t := trainer.(type) {
	case softmax.SGD:
		monitor.Patience = t.Patience
		t.Monitor = monitor
		return t, nil
	case softmax.AdamW:
		monitor.Patience = t.Patience
		t.Monitor = monitor
		return t, nil
	}
	return trainer, nil
}

// Limits of the convergent trainer.
// Where it would take more memory, or seconds a pass, SGD comes close in a few passes.
const (
	maxConvergeBytes = 4 << 30
	convergeShare    = 0.8  // of the memory budget
	maxPassProducts  = 2e10 // multiplications in a pass over the examples
)

// trainerFor returns the convergent trainer, or SGD if the work is too large
// for it.
func trainerFor(d *corpus.Data, x matrix.Matrix, o softmax.Options) softmax.Trainer {
	k := len(d.Classes.Labels)
	// A pass multiplies each value of the examples by the weights of all classes.
	values := float64(x.Rows()) * float64(x.Cols())
	if s, ok := x.(*matrix.Sparse); ok {
		values = float64(len(s.Value))
	}
	if softmax.ConvergeBytes(x, k, o) > min(maxConvergeBytes, convergeShare*float64(memory.Budget(d.Memory))) || values*float64(k) > maxPassProducts {
		return softmax.SGD{Epochs: 10, Average: true}
	}
	return softmax.Converge{}
}

// prepare fits features on rows and makes the options of a fit.
func prepare(d *corpus.Data, rows []int, m Method, opts Options, stage string) (*corpus.Fitted, softmax.Options, *labeltree.Tree, error) {
	f, err := d.Fit(rows, m.inputs())
	if err != nil {
		return nil, softmax.Options{}, nil, err
	}
	o, tree, err := options(d, f, m, opts, stage)
	return f, o, tree, err
}

// options makes the options of a fit on features, and returns the tree of the
// method.
func options(d *corpus.Data, f *corpus.Fitted, m Method, opts Options, stage string) (softmax.Options, *labeltree.Tree, error) {
	if err := d.CheckFeatures(f.X.Cols()); err != nil {
		return softmax.Options{}, nil, err
	}
	// Class means, if the method shares by them, are those of the rows of this fit alone.
	classes := d.Classes
	classes.X, classes.Class = f.X, f.Class
	o, tree, err := m.Output(classes)
	if err != nil {
		return softmax.Options{}, nil, err
	}
	o.Seed, o.Threads = opts.Seed, opts.Threads
	switch {
	case m.Loss == SquaredHinge:
		if opts.Trainer != nil {
			return softmax.Options{}, nil, fmt.Errorf("loss %s has a trainer of its own, it goes with none else", SquaredHinge)
		}
		o.Trainer = softmax.SquaredHinge{}
	case opts.Trainer != nil:
		o.Trainer = opts.Trainer
	default:
		o.Trainer = trainerFor(d, f.X, o)
	}
	if opts.Progress != nil {
		o.Progress = func(p softmax.Progress) { opts.Progress(stage, p) }
	}
	return o, tree, nil
}

// final trains m with a prior on all rows. If ctx is cancelled it returns what
// it has and the error.
func final(ctx context.Context, d *corpus.Data, rows []int, m Method, prior float64, opts Options) (*Result, error) {
	return finalAttempt(ctx, d, rows, nil, &attempt{method: m, prior: prior}, opts)
}

// prepareFinal prepares the fit of a result. Features are fitted anew, on all rows: the
// vocabulary of held-out rows counts now.
func prepareFinal(d *corpus.Data, rows []int, m Method, prior float64, opts Options) (*Result, *corpus.Fitted, softmax.Options, error) {
	f, o, tree, err := prepare(d, rows, m, opts, m.String())
	if err != nil {
		return nil, nil, o, err
	}
	if opts.Init != nil {
		if o.Init, err = opts.Init.CarryOver(f.Features, d.Classes.Labels); err != nil {
			return nil, nil, o, err
		}
	}
	o.Prior = prior
	if o.Trainer, err = watch(d, f, o.Trainer, opts); err != nil {
		return nil, nil, o, err
	}
	return &Result{Method: m, Features: f.Features, Tree: tree, Prior: prior, Trainer: o.Trainer}, f, o, nil
}

// finalAttempt is final for what was tried on held-out rows, from the duals found there.
func finalAttempt(ctx context.Context, d *corpus.Data, rows []int, h *heldOut, a *attempt, opts Options) (*Result, error) {
	m := a.method
	r, f, o, err := prepareFinal(d, rows, m, a.prior, opts)
	if err != nil {
		return nil, err
	}
	if c, ok := o.Trainer.(softmax.Converge); ok && opts.Trainer == nil && costly(d, rows) {
		c.Tolerance = lastTolerance
		o.Trainer = c
	}
	if a.blend == nil {
		o.Duals = h.dualsFor(a, rows)
	} else {
		o.Duals, a.blend.hingeDuals = h.dualsFor(a.blend.from[0], rows), h.dualsFor(a.blend.from[1], rows)
	}
	if r.Layer, r.Record, err = fitMethod(ctx, d, f, o, m, a.blend); r.Layer == nil {
		return nil, err
	}
	if err == nil && len(d.Unlabelled.Rows) > 0 && !opts.Supervised {
		if err = r.learn(ctx, d, rows, h, a, opts); err != nil {
			return nil, err
		}
	}
	return r, err
}

// fitMethod trains a method on features, a blend that no held-out rows chose in equal
// parts. Scores have the size of logits, which all readers of a model expect: those of
// a blend are scaled already, those of squared hinge alone are margins.
func fitMethod(ctx context.Context, d *corpus.Data, f *corpus.Fitted, o softmax.Options, m Method, b *blend) (*softmax.Layer, softmax.Record, error) {
	if m.Loss == CrossEntropyHinge {
		return fitBlend(ctx, d, f, o, *cmp.Or(b, &blend{crossEntropy: o.Prior, hinge: defaultHingePrior, crossEntropyScale: 0.5, hingeScale: 0.5}))
	}
	layer, record, err := softmax.Fit(ctx, f.Examples, len(d.Classes.Labels), o)
	if layer != nil {
		m.scale(layer, o.Threads)
	}
	return layer, record, err
}
