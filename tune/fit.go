package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Options sets up Fit and Auto. The zero value is the default.
type Options struct {
	Priors  []float64       // τ² to choose from, ascending; nil means DefaultPriors, or softmax.DefaultPrior alone for a trainer with a weight decay of its own
	Trainer softmax.Trainer // nil: to convergence
	Init    *softmax.Model  // where the last fit starts; nil: at 0
	Valid   []int           // table rows to choose by, instead of held-out ones; nil: none
	Seed    uint64          // of held-out rows and trainers
	Threads int             // 0: one a CPU

	// Progress is called as the work goes on, with what is being done.
	Progress func(stage string, p softmax.Progress)
	// Checkpoint and Resume are those of softmax.Monitor, for the last fit.
	Checkpoint func(*softmax.Checkpoint) error
	Resume     *softmax.Checkpoint
}

// DefaultPriors is the budget of every method: the same grid for all.
func DefaultPriors() []float64 { return []float64{3, 10, 30, 100} }

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
	Reason     string              // why Auto chose the method
	Gain       *softmax.Gain       // over plain cross entropy on held-out rows; nil: not measured
}

// Fit trains one method on the given rows: it chooses the prior on rows held
// out of them, then trains on all.
func Fit(ctx context.Context, d *Data, rows []int, m Method, opts Options) (*Result, error) {
	opts = opts.withDefaults()
	scores, held, err := d.measure(ctx, rows, m, opts)
	if err != nil {
		return nil, err
	}
	prior := float64(softmax.DefaultPrior)
	switch {
	case held > 0:
		prior = opts.Priors[best(scores)]
	case len(opts.Priors) == 1:
		prior = opts.Priors[0] // there is nothing to choose
	}
	r, err := d.final(ctx, rows, m, prior, opts)
	if r != nil {
		r.HeldOut = held
		r.Candidates = candidates(m, opts.Priors, scores)
	}
	return r, err
}

func (o Options) withDefaults() Options {
	if o.Priors == nil {
		o.Priors = DefaultPriors()
		if ignoresPrior(o.Trainer) {
			o.Priors = []float64{softmax.DefaultPrior}
		}
	}
	return o
}

// ignoresPrior tells whether a trainer is held back by a weight decay of its
// own, so that all priors give the same weights.
func ignoresPrior(t softmax.Trainer) bool {
	switch t := t.(type) {
	case softmax.SGD:
		return t.WeightDecay != 0
	case softmax.AdamW:
		return true
	}
	return false
}

// known returns the rows whose label is one of the classes.
func (d *Data) known(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return d.Class[row] < 0 })
}

// watch returns the trainer of the last fit: one that runs in epochs measures
// itself on the validation rows and keeps checkpoints.
func (d *Data) watch(f *fitted, trainer softmax.Trainer, opts Options) (softmax.Trainer, error) {
	monitor := softmax.Monitor{Checkpoint: opts.Checkpoint, Resume: opts.Resume}
	if valid := d.known(opts.Valid); len(valid) > 0 {
		examples, err := d.toTest(f.features, valid)
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

// Limits of the convergent trainer, whose memory is about seven numbers a
// weight and two an example and class.
const (
	maxConvergeBytes = 4 << 30
	maxPassProducts  = 2e10 // multiplications in a pass over the examples
)

// trainerFor returns the convergent trainer, or SGD if the work is too large
// for it.
func trainerFor(x matrix.Matrix, k int) softmax.Trainer {
	n, d := float64(x.Rows()), float64(x.Cols())
	values := n * d
	if s, ok := x.(*matrix.Sparse); ok {
		values = float64(len(s.Value))
	}
	if 4*float64(k)*(7*d+2*n) > maxConvergeBytes || values*float64(k) > maxPassProducts {
		return softmax.SGD{Epochs: 10, Average: true}
	}
	return softmax.Converge{}
}

func (f *fitted) examples() softmax.Examples {
	return softmax.Examples{X: f.x, Class: f.class, Weight: f.weight, Mix: f.mix}
}

// prepare fits features on rows and makes the options of a fit.
func (d *Data) prepare(rows []int, m Method, opts Options, stage string) (*fitted, softmax.Options, *labeltree.Tree, error) {
	if m.Names && !d.Named() {
		return nil, softmax.Options{}, nil, fmt.Errorf("names as examples need texts to learn from, this data has numbers")
	}
	f, err := d.fit(rows, m.Names)
	if err != nil {
		return nil, softmax.Options{}, nil, err
	}
	classes := d.Classes
	classes.X, classes.Class = f.x, f.class
	o, tree, err := m.Output(classes)
	if err != nil {
		return nil, softmax.Options{}, nil, err
	}
	o.Seed, o.Threads = opts.Seed, opts.Threads
	if o.Trainer = opts.Trainer; o.Trainer == nil {
		o.Trainer = trainerFor(f.x, len(d.Classes.Labels))
	}
	if opts.Progress != nil {
		o.Progress = func(p softmax.Progress) { opts.Progress(stage, p) }
	}
	return f, o, tree, nil
}

// final trains m with a prior on all rows. If ctx is cancelled it returns what
// it has and the error.
func (d *Data) final(ctx context.Context, rows []int, m Method, prior float64, opts Options) (*Result, error) {
	f, o, tree, err := d.prepare(rows, m, opts, m.String())
	if err != nil {
		return nil, err
	}
	if opts.Init != nil {
		if o.Init, err = opts.Init.CarryOver(f.features, d.Classes.Labels); err != nil {
			return nil, err
		}
	}
	o.Prior = prior
	if o.Trainer, err = d.watch(f, o.Trainer, opts); err != nil {
		return nil, err
	}
	layer, record, err := softmax.Fit(ctx, f.examples(), len(d.Classes.Labels), o)
	if layer == nil {
		return nil, err
	}
	return &Result{Method: m, Layer: layer, Features: f.features, Tree: tree, Prior: prior, Trainer: o.Trainer, Record: record}, err
}
