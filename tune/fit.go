package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/dataset"
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

// choosingTolerance is that of fits which only serve to choose: far below what
// a held-out row can show.
const choosingTolerance = 1e-3

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

// measured is what one method and prior did on held-out rows.
type measured struct {
	right   int
	loss    float64 // sum, in nats
	correct []bool  // of each held-out row
}

func (m *measured) add(outcomes []softmax.Outcome) {
	for _, o := range outcomes {
		if o.Right {
			m.right++
		}
		m.loss += o.Loss
		m.correct = append(m.correct, o.Right)
	}
}

// better orders by accuracy, then by loss.
func (m measured) better(than measured) bool {
	if m.right != than.right {
		return m.right > than.right
	}
	return m.loss < than.loss
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

func best(scores []measured) int {
	at := 0
	for i, s := range scores {
		if s.better(scores[at]) {
			at = i
		}
	}
	return at
}

func candidates(m Method, priors []float64, scores []measured) []softmax.Candidate {
	var out []softmax.Candidate
	for i, s := range scores {
		out = append(out, softmax.Candidate{
			Method: m.String(), Prior: priors[i],
			Accuracy: float64(s.right) / float64(len(s.correct)), LogLoss: s.loss / float64(len(s.correct)),
		})
	}
	return out
}

// splits returns pairs of rows to train on and rows held out: the given
// validation rows if there are any, else rows of the classes that have three or
// more; those of rarer classes are always trained on. Few rows are held out in
// turn, each once. A row of several classes counts as of that with the largest
// share, and is held out whole.
//
// There are none if the classes with three rows are fewer than two, or have less
// than half of the rows: what did best on them need not do so on the others.
func (d *Data) splits(rows []int, opts Options) (train, held [][]int) {
	if valid := d.known(opts.Valid); len(valid) > 0 {
		return [][]int{rows}, [][]int{valid}
	}
	counts := make([]int, len(d.Classes.Labels))
	for _, row := range rows {
		counts[d.Class[row]]++
	}
	classes := 0
	for _, c := range counts {
		if c >= heldOutRows {
			classes++
		}
	}
	var common, y []int // places in rows, and their classes
	for n, row := range rows {
		if c := d.Class[row]; counts[c] >= heldOutRows {
			common, y = append(common, n), append(y, int(c))
		}
	}
	if classes < min(2, present(counts)) || 2*len(common) < len(rows) {
		return nil, nil
	}
	var parts [][]int // places in common
	if len(rows) > maxFoldRows {
		_, h := dataset.HoldOut(y, len(counts), heldOutShare, opts.Seed)
		parts = [][]int{h}
	} else {
		parts = dataset.Folds(y, len(counts), folds, opts.Seed)
	}
	for _, part := range parts {
		out := make([]bool, len(rows))
		for i, n := range part {
			part[i] = common[n]
			out[part[i]] = true
		}
		var t []int
		for n := range rows {
			if !out[n] {
				t = append(t, n)
			}
		}
		train, held = append(train, at(rows, t)), append(held, at(rows, part))
	}
	return train, held
}

// present returns the number of classes that have rows.
func present(counts []int) (classes int) {
	for _, c := range counts {
		if c > 0 {
			classes++
		}
	}
	return classes
}

const (
	maxFoldRows  = 1500 // up to here every row is held out once
	folds        = 3
	heldOutRows  = 3 // of a class that can spare one
	heldOutShare = 0.2
)

func at(rows, places []int) []int {
	out := make([]int, len(places))
	for n, p := range places {
		out[n] = rows[p]
	}
	return out
}

// measure trains m with every prior on rows less the held-out ones and returns
// how they do on these; held is 0 if there are none to hold out.
func (d *Data) measure(ctx context.Context, rows []int, m Method, opts Options) (scores []measured, held int, err error) {
	train, test := d.splits(rows, opts)
	scores = make([]measured, len(opts.Priors))
	for n := range train {
		if len(test[n]) == 0 {
			continue
		}
		held += len(test[n])
		if err := d.measureSplit(ctx, train[n], test[n], m, opts, scores, fmt.Sprintf("%s: choosing, part %d of %d", m, n+1, len(train))); err != nil {
			return nil, 0, err
		}
	}
	if held == 0 {
		return nil, 0, nil
	}
	return scores, held, nil
}

func (d *Data) measureSplit(ctx context.Context, train, test []int, m Method, opts Options, scores []measured, stage string) error {
	f, fitOptions, _, err := d.prepare(train, m, opts, stage)
	if err != nil {
		return err
	}
	examples, err := d.toTest(f.features, test)
	if err != nil {
		return err
	}
	if c, ok := fitOptions.Trainer.(softmax.Converge); ok && c.Tolerance == 0 {
		c.Tolerance = choosingTolerance
		fitOptions.Trainer = c
	}
	next := 0
	return softmax.FitPath(ctx, f.examples(), len(d.Classes.Labels), fitOptions, opts.Priors,
		func(_ float64, l *softmax.Layer, _ softmax.Record) error {
			outcomes, err := l.Outcomes(examples, opts.Threads)
			scores[next].add(outcomes)
			next++
			return err
		})
}

// toTest returns table rows as examples to measure a layer on, all of weight 1.
func (d *Data) toTest(f *feature.Set, rows []int) (softmax.Examples, error) {
	x, err := f.Matrix(d.Table, rows)
	return softmax.Examples{X: x, Class: d.classes(rows), Mix: d.mixes(rows, false)}, err
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
	o, tree, err := m.output(classes)
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
