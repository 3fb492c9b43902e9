package softmax

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// Options sets up Fit. The zero value trains plain cross entropy to
// convergence.
type Options struct {
	Sharing   sharing.Sharing           // A; nil: none
	Loss      loss.Loss                 // nil: cross entropy
	Hierarchy *loss.HierarchicalSoftmax // if set, the output is this and Sharing and Loss must be nil
	Trainer   Trainer                   // nil: Converge{}

	// Prior is τ², the variance of the weights before any data, for inputs of
	// mean squared length 1: the objective is the mean loss + ‖V‖²/(2nτ²), n the
	// number of examples or the sum of their weights. Large values fit the
	// examples more closely. 0 means 10.
	Prior float64

	Init     *Layer         // where to start; nil: at 0
	Duals    *Duals         // where a dual ascent starts, if they are of as many examples, and leaves where each prior ends; nil: not
	NoBias   bool           // keep the bias where it starts and train the weights alone
	Seed     uint64         // the only source of randomness; 0 is a seed like any other
	Threads  int            // goroutines; 0: one a CPU. Never changes a result
	Progress func(Progress) // called after each step or epoch; nil: not
}

// Trainer is one of Converge, SquaredHinge, SGD and AdamW.
type Trainer interface{ isTrainer() }

// Converge minimises the objective to its minimum. There is no learning rate:
// dual coordinate ascent for cross entropy and soft labels over many sparse examples,
// behind any sharing (d k + n k numbers), else Newton's method, each step by conjugate
// gradients (7 d r + 4 n k numbers, r = rows of V). For SimLoss and HXE, which are not
// convex, it ends at a stationary point.
type Converge struct {
	// Tolerance is the share of the objective by which it may end above its
	// minimum; 0 means 1e-4. The ascent ends when the duality gap is within it.
	// Newton's method ends with a step that is solved to a tenth and promises
	// to lower the objective by less than 3 Tolerance.
	Tolerance float64
	// MaxSteps bounds the passes of the ascent and the Newton steps, together;
	// 0 means 100.
	MaxSteps int
	// Dual keeps to the ascent where it is possible, also for few examples: it gets
	// near the minimum sooner, Newton's method ends nearer to it.
	Dual bool
}

func (Converge) isTrainer() {}

// Progress tells how far a fit has come.
type Progress struct {
	Step     int     // pass, Newton step or epoch of this fit, from 1
	Loss     float64 // mean objective per example, in nats
	Rows     int     // examples of a stream trained on so far, each as often as in epochs; 0: no stream
	Fraction float64 // share of all fits done, 0..1, never falling; an estimate for Converge
}

// Record is what a fit can tell about itself. It holds no times.
type Record struct {
	Steps     int     `json:"steps"`               // passes of dual ascent and Newton steps, or epochs
	Products  int     `json:"products,omitempty"`  // conjugate gradient rounds, two passes over the examples each
	Objective float64 `json:"objective"`           // at the end: sum of the losses + penalty, in nats; SGD and AdamW: the losses as the last epoch met them
	Converged bool    `json:"converged,omitempty"` // whether Converge met its tolerance
}

// DefaultPrior is the τ² that Options.Prior = 0 stands for.
const DefaultPrior = 10

// ErrOptions says that a field of Options is out of range.
var ErrOptions = errors.New("option out of range")

// Fit trains a classifier of k classes and returns it as a flat Layer.
//
// The inputs count as if scaled to mean squared length 1 and A as it is; the
// scale is folded into the weights. Examples that do not fit together, a loss
// made for another k and options out of range are errors. If ctx is cancelled
// Fit returns the layer so far and an error that wraps ctx.Err() and says how
// far it came. Any other error of a trainer that has begun (numbers too large,
// a checkpoint that could not be written) comes with a layer only if that is
// sound.
func Fit(ctx context.Context, ex Examples, k int, opts Options) (*Layer, Record, error) {
	var layer *Layer
	var record Record
	err := FitPath(ctx, ex, k, opts, []float64{opts.Prior}, func(_ float64, l *Layer, r Record) error {
		layer, record = l, r
		return nil
	})
	return layer, record, err
}

// FitPath fits one classifier for each prior, in the order given, each started
// from the one before, and hands it to visit. A layer is valid until visit returns:
// the next may take its memory. But the last stays. It is how priors are tried:
// ascending, each fit has only a little way to go. SGD trains each from the
// start, and so does AdamW, which does not use the prior at all. An error of
// visit ends the path.
//
// On a cancelled context visit gets the layer so far, then FitPath returns the
// error.
func FitPath(ctx context.Context, ex Examples, k int, opts Options, priors []float64, visit visitor) error {
	if err := ex.check(k); err != nil {
		return err
	}
	opts, err := opts.checked(k, ex.X.Cols(), priors)
	if err != nil {
		return err
	}
	if _, hinge := opts.Trainer.(SquaredHinge); ex.Labels != nil && !hinge {
		return fmt.Errorf("softmax: examples of several labels go with squared hinge alone, not with %T: %w", opts.Trainer, ErrOptions)
	}
	switch trainer := opts.Trainer.(type) {
	case Converge:
		return converge[float32](ctx, ex, opts, trainer, priors, visit)
	case SquaredHinge:
		return trainHinge(ctx, ex, k, opts, trainer, priors, visit)
	case SGD:
		return eachPrior(priors, opts, visit, func(prior float64, opts Options) (*Layer, Record, error) {
			return trainSGD[float32](ctx, ex.source(), opts, trainer, prior)
		})
	case AdamW:
		return eachPrior(priors, opts, visit, func(prior float64, opts Options) (*Layer, Record, error) {
			return trainAdamW[float32](ctx, ex.source(), opts, trainer, prior)
		})
	}
	return fmt.Errorf("softmax: unknown trainer %T: %w", opts.Trainer, ErrOptions)
}

// visitor is told of a fit with a prior that has ended.
type visitor = func(prior float64, l *Layer, r Record) error

// eachPrior visits the fits of priors of which each begins anew.
func eachPrior(priors []float64, opts Options, visit visitor, fit func(float64, Options) (*Layer, Record, error)) error {
	for n, prior := range priors {
		l, r, err := fit(prior, opts.atFit(n, len(priors)))
		if err := visitFit(visit, prior, l, r, err); err != nil {
			return err
		}
	}
	return nil
}

// visitFit hands the layer of a fit, nil if it left none, to visit. It returns the
// error of visit, or else that of the fit.
func visitFit(visit visitor, prior float64, l *Layer, r Record, fitErr error) error {
	if l != nil {
		if err := visit(prior, l, r); err != nil {
			return err
		}
	}
	return fitErr
}

// checked is withDefaults for fits of d features with these priors, which it checks
// too, as it does the layer to start from.
func (o Options) checked(k, d int, priors []float64) (Options, error) {
	o, err := o.withDefaults(k)
	for _, prior := range priors {
		if !(prior >= 0) || math.IsInf(prior, 1) {
			err = cmp.Or(err, fmt.Errorf("softmax: prior %v, want a number above 0 (or 0 for %d): %w", prior, DefaultPrior, ErrOptions))
		}
	}
	if err == nil && o.Init != nil {
		err = o.Init.fits(k, d, o.Hierarchy)
	}
	return o, err
}

// withDefaults checks the options and fills in what 0 and nil stand for.
func (o Options) withDefaults(k int) (Options, error) {
	if o.Hierarchy != nil {
		if o.Sharing != nil || o.Loss != nil {
			return o, fmt.Errorf("softmax: hierarchical softmax is an output of its own, it takes no sharing and no other loss: %w", ErrOptions)
		}
		if o.Hierarchy.Classes() != k {
			return o, fmt.Errorf("softmax: hierarchical softmax over %d classes, the data has %d: %w", o.Hierarchy.Classes(), k, ErrOptions)
		}
	}
	if o.Sharing == nil {
		o.Sharing = sharing.None{K: k}
	}
	if o.Hierarchy == nil && o.Sharing.Classes() != k {
		return o, fmt.Errorf("softmax: sharing over %d classes, the data has %d: %w", o.Sharing.Classes(), k, ErrOptions)
	}
	if o.Loss == nil {
		o.Loss = loss.CrossEntropy{}
	}
	if err := o.Loss.Check(k); err != nil {
		return o, fmt.Errorf("softmax: %w", err)
	}
	if o.Trainer == nil {
		o.Trainer = Converge{}
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o, nil
}

// atFit makes the progress of fit n of several from that of the fit alone.
func (o Options) atFit(n, of int) Options {
	if inner := o.Progress; inner != nil {
		o.Progress = func(p Progress) {
			p.Fraction = (float64(n) + p.Fraction) / float64(of)
			inner(p)
		}
	}
	return o
}

// converge is FitPath for the Converge trainer, in either precision.
func converge[T matrix.Float](ctx context.Context, ex Examples, opts Options, c Converge, priors []float64, visit visitor) error {
	if !(c.Tolerance >= 0) || c.MaxSteps < 0 {
		return fmt.Errorf("softmax: tolerance %v, steps %d, want numbers of at least 0: %w", c.Tolerance, c.MaxSteps, ErrOptions)
	}
	if c.Tolerance == 0 {
		c.Tolerance = 1e-4
	}
	if c.MaxSteps == 0 {
		c.MaxSteps = 100
	}
	if dualPays(ex, opts, priors) && (c.Dual || ex.X.Rows() > fewForDual || !spanPays(ex.X)) {
		return convergeDual[T](ctx, ex, opts, c, priors, visit)
	}
	return convergeNewton[T](ctx, ex, opts, c, priors, visit)
}

// fewForDual is the number of examples up to which Newton's method in their span takes
// seconds at most. Beyond, the matrix of their inner products and each round on it takes
// far longer than passes of dual ascent over texts, however many features these have.
const fewForDual = 1000

// ConvergeBytes is about how much memory Converge takes to fit k classes to these
// inputs, without the inputs and with the layer.
func ConvergeBytes(x matrix.Matrix, k int, opts Options) float64 {
	n, d, classes := float64(x.Rows()), float64(x.Cols()), float64(k)
	opts, err := opts.withDefaults(k)
	pays := err == nil && dualPays(Examples{X: x}, opts, []float64{DefaultPrior})
	switch {
	case spanPays(x) && !(pays && x.Rows() > fewForDual): // Newton's method on n x n numbers, then expanded
		return 4*classes*(2*d+9*n) + 20*n*n
	case pays:
		return 4 * classes * (2*d + n)
	}
	return 4 * classes * (7*d + 2*n)
}

// inputScale is the power of two that brings the inputs near length 1, so that
// features and bias have like curvature. Weights are found for inputs times this.
func (ex Examples) inputScale() float64 {
	return math.Exp2(-math.Round(math.Log2(ex.meanSquaredNorm()) / 2))
}

// convergeNewton is converge by Newton's method.
func convergeNewton[T matrix.Float](ctx context.Context, ex Examples, opts Options, c Converge, priors []float64, visit visitor) error {
	scale := ex.inputScale()
	basis, inputs := newSpan[T](ex.X, opts.Threads)
	compact, err := sharing.Compact(opts.Sharing)
	if err != nil {
		return fmt.Errorf("softmax: %w", err)
	}
	solver := newNewton(ex, newDesign[T](inputs, true), scale, func() *head[T] {
		return newHead[T](compact, opts.Loss, opts.Hierarchy)
	}, opts.Threads)
	solver.noBias = opts.NoBias
	v, bias := solver.split(solver.x)
	if opts.Init != nil {
		full := basis.newFull(v, solver.r)
		if err := unfold(opts.Init, full, bias, scale, compact, opts.Threads); err != nil {
			return err
		}
		basis.project(v, full, solver.r)
	}
	for n, prior := range priors {
		lambda := scale * scale * ex.meanSquaredNorm() / orDefault(prior)
		record, fitErr := solver.solve(ctx, lambda, c.Tolerance, c.MaxSteps, opts.atFit(n, len(priors)).Progress)
		if fitErr != nil && ctx.Err() == nil { // numbers too large: nothing to keep
			return fitErr
		}
		layer := fold(basis.expand(v, solver.r, opts.Threads), bias, scale, ex.X.Cols(), compact, opts.Hierarchy, opts.Threads)
		if err := visitFit(visit, prior, layer, record, fitErr); err != nil {
			return err
		}
	}
	return nil
}

// convergeDual is converge by dual ascent, for problems that dualPays tells. Where
// the ascent of a small one stalls, Newton's method goes on from there.
func convergeDual[T matrix.Float](ctx context.Context, ex Examples, opts Options, c Converge, priors []float64, visit visitor) error {
	scale := ex.inputScale()
	if ex.X.Cols()*opts.Sharing.Classes() > manyWeights {
		runtime.GC() // else what the fit before has left counts beside this
	}
	few := ex
	small, merged := mergeFeatures(ex.X.(*matrix.Sparse))
	few.X = small
	t, err := newDual[T](few, opts, scale)
	if err != nil {
		return err
	}
	flat := newLayer(t.k, ex.X.Cols())
	patient := c.Dual || largeForNewton(ex.X.(*matrix.Sparse), t.k)
	most := c.MaxSteps
	if !patient {
		most = min(mostPasses, most)
	}
	for n, prior := range priors {
		lambda := t.length / orDefault(prior)
		switch {
		case n > 0:
			t.rescale(t.length/orDefault(priors[n-1]), lambda)
		case opts.Duals.has(ex.X.Rows(), t.k, false):
			t.start(opts.Duals, lambda)
		}
		at := opts.atFit(n, len(priors))
		if inner := at.Progress; inner != nil { // Newton's method begins at 0 again
			last := Progress{}
			at.Progress = func(p Progress) {
				p.Step, p.Fraction = last.Step+1, max(last.Fraction, p.Fraction)
				last = p
				inner(p)
			}
		}
		record, fitErr := t.solve(ctx, lambda, c.Tolerance, most, patient, at.Progress)
		if opts.Duals != nil {
			t.keep(opts.Duals, prior)
		}
		foldPlain(flat, merged, t.w, t.stride, t.bias, scale, opts.Threads)
		layer := flat
		sound := finite(record.Objective)
		if fitErr == nil && !record.Converged && record.Steps < c.MaxSteps && (!patient || !sound) {
			if t.kernel == nil && sound {
				at.Init = layer
			}
			if !sound { // for the next prior
				if t, err = newDual[T](few, opts, scale); err != nil {
					return err
				}
			}
			passes := record.Steps
			fitErr = convergeNewton[T](ctx, ex, at, Converge{Tolerance: c.Tolerance, MaxSteps: c.MaxSteps - passes}, []float64{prior}, func(_ float64, l *Layer, r Record) error {
				layer, record = l, r
				record.Steps += passes
				return nil
			})
		}
		if fitErr != nil && ctx.Err() == nil { // numbers too large: nothing to keep
			return fitErr
		}
		if err := visitFit(visit, prior, layer, record, fitErr); err != nil {
			return err
		}
	}
	return nil
}

// manyWeights is from where a collection of garbage takes no time beside a fit.
const manyWeights = 1 << 25

// orDefault returns what a prior of 0 stands for.
func orDefault(prior float64) float64 {
	if prior == 0 {
		return DefaultPrior
	}
	return prior
}
