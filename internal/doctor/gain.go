package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Gain is what sources of class knowledge do on held-out rows, each with its
// best prior: the choice that `treeloss train` would make.
type Gain struct {
	Rows    int         `json:"rows"` // held out
	Methods []MethodFit `json:"methods"`
	Best    string      `json:"best"` // of the methods
	// Difference is the accuracy of the best method minus that of plain cross entropy,
	// with the standard error of the paired difference. It is the best of
	// several, so it flatters a little.
	Difference   float64 `json:"difference"`
	DifferenceSE float64 `json:"difference_se"`
}

// MethodFit is what one method did.
type MethodFit struct {
	Method   string  `json:"method"` // as treeloss compare names it
	Accuracy float64 `json:"accuracy"`
	LogLoss  float64 `json:"log_loss"`
	Prior    float64 `json:"prior"`
}

// Limits of what Auto trains: multiplications in a pass over the rows, for one
// fit and for all methods together. Either takes some ten seconds on two slow
// cores.
const (
	maxFitWork      = 1.5e8
	maxMeasureWork  = 1e8
	maxConvergeWork = 2e10 // beyond, and beyond its memory, training takes SGD
	maxConvergeSize = 1e9  // numbers that the convergent trainer keeps
)

// fitsConverge tells whether training to convergence stays within the limits for k classes.
func fitsConverge(e *examples, k int) bool {
	numbers := float64(k) * (7*float64(e.X.Cols()) + 2*float64(e.X.Rows()))
	return e.values()*float64(k) <= maxConvergeWork && numbers <= maxConvergeSize
}

// minHeldOut is the least number of held-out rows worth measuring on.
const minHeldOut = 20

// measure fills r.Gain and returns the prior that is best for plain cross
// entropy, 0 if none was measured.
func (r *Report) measure(ctx context.Context, d *corpus.Data, rows []int, e *examples, opts Options) (prior float64, err error) {
	methods := candidates(d, rows, opts)
	work := e.values() * float64(len(d.Classes.Labels)) * float64(len(methods))
	switch {
	case opts.Train == tune.Off:
		return 0, nil
	case len(methods) < 2:
		r.skip("gain: with so many rows a class the names are not worth trying; with training asked for they are measured all the same")
		return 0, nil
	case opts.Train == tune.Auto && work > maxMeasureWork:
		r.skip("gain of each source on held-out rows: measuring takes more than seconds; it is done if training is asked for")
		return 0, nil
	}
	o := tune.Options{Seed: opts.Seed, Threads: opts.Threads, Progress: opts.Progress}
	train := rows
	if r.PerClass.Least < fewest {
		// tune holds out nothing then; rows of the larger classes can still be.
		var t, h []int
		if t, h = dataset.HoldOut(classesOf(d, rows), len(d.Classes.Labels), heldOutShare, opts.Seed); len(h) < minHeldOut {
			r.skip("gain on held-out rows: too few rows to hold any out")
			return 0, nil
		}
		train, o.Valid = dataset.At(rows, t), dataset.At(rows, h)
	}
	result, err := tune.FitBest(ctx, d, train, methods, o)
	if err != nil {
		return 0, fmt.Errorf("doctor: gain on held-out rows: %w", err)
	}
	if result.Gain == nil {
		r.skip("gain on held-out rows: too few rows to hold any out")
		return 0, nil
	}
	g := &Gain{Rows: result.HeldOut, Best: result.Method.String(), Difference: result.Gain.Difference, DifferenceSE: result.Gain.DifferenceSE}
	for _, m := range methods {
		fit := bestOf(result.Candidates, m.String())
		g.Methods = append(g.Methods, fit)
		if fit.Method == tune.Baseline {
			prior = fit.Prior
		}
	}
	r.Gain = g
	return prior, nil
}

// candidates are the methods of tune.Plan; whoever asks for training gets the
// names measured however many rows there are.
func candidates(d *corpus.Data, rows []int, opts Options) []tune.Method {
	methods := tune.Candidates(d, rows)
	named := func(m tune.Method) bool { return slices.Contains(m.Sharing, classinfo.Names) }
	if opts.Train == tune.On && !slices.ContainsFunc(methods, named) {
		names := tune.Method{Sharing: classinfo.Spec{classinfo.Names}}
		if _, _, err := classinfo.Build(names.Sharing, classinfo.Info{Labels: d.Classes.Labels}, classinfo.Options{}); err == nil {
			methods = slices.Insert(methods, 1, names)
		}
	}
	return methods
}

// bestOf returns the best prior of a method as tune chooses it: by accuracy,
// then by loss.
func bestOf(all []softmax.Candidate, method string) MethodFit {
	best := MethodFit{Method: method, Accuracy: -1}
	for _, c := range all {
		if c.Method == method && (c.Accuracy > best.Accuracy || c.Accuracy == best.Accuracy && c.LogLoss < best.LogLoss) {
			best = MethodFit{c.Method, c.Accuracy, c.LogLoss, c.Prior}
		}
	}
	return best
}
