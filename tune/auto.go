package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/softmax"
)

// Rows a class, on average, that decide what is tried.
const (
	fewRows   = 60 // above, names were never seen to matter: only what was given is tried
	meansRows = 10 // below, class means are too noisy to share by
)

// maxCandidates is the most methods that Auto compares.
const maxCandidates = 8

// Candidates returns the methods that Auto compares on these rows: of this list
// what the data has and allows, the first eight.
//
//  1. plain cross entropy
//  2. what was given, alone: vectors, the taxonomy, precomputed distances, weights
//  3. names with the names as examples too
//  4. what was given in a sum with names, and examples
//  5. what was given, with examples
//  6. names alone
//  7. examples alone
//  8. class means in a sum with names, and examples, from ten rows a class
//
// Where a fit takes seconds (costlyWork), these are plain cross entropy, what
// was given with names as examples, and examples alone.
//
// Names as examples need texts; data of numbers leaves them out. With many rows a
// class names are not tried, neither shared nor as examples.
func Candidates(d *corpus.Data, rows []int) []Method {
	methods := []Method{{}}
	seen := map[string]bool{Baseline: true}
	add := func(examples bool, spec ...classinfo.Source) {
		m := Method{Sharing: spec, Names: examples && d.Named()}
		if name := m.String(); !seen[name] && len(methods) < maxCandidates {
			seen[name] = true
			methods = append(methods, m)
		}
	}
	given := d.Classes.Sources()
	for _, source := range given {
		add(false, source)
	}
	k := len(d.Classes.Labels)
	if !namesUsable(d) || len(rows) >= fewRows*k {
		return methods
	}
	if costly(d, rows) {
		methods = methods[:1]
		for _, source := range given {
			add(true, source)
		}
		add(true)
		return methods
	}
	// From here on what names add, in the order in which it was found to help.
	add(true, classinfo.Names)
	for _, source := range given {
		add(true, classinfo.Names, source)
	}
	for _, source := range given {
		add(true, source)
	}
	add(false, classinfo.Names)
	add(true)
	if d.Named() && len(rows) >= meansRows*k {
		add(true, classinfo.Names, classinfo.Means)
	}
	return methods
}

// whyPlain says why Candidates has plain cross entropy alone, "" if it has more.
func whyPlain(d *corpus.Data, rows []int) string {
	k := len(d.Classes.Labels)
	switch {
	case len(Candidates(d, rows)) > 1 || k < 2:
		return ""
	case !namesUsable(d):
		return "the names of the classes have nothing in common, and nothing else is known about them"
	}
	return fmt.Sprintf("with %d examples a class and more (here %d) class names were never seen to help; Options.Sharing names shares by them anyway",
		fewRows, len(rows)/k)
}

// namesUsable tells whether the names of the classes can be shared at all.
func namesUsable(d *corpus.Data) bool {
	_, _, err := classinfo.Build(classinfo.Spec{classinfo.Names}, classinfo.Info{Labels: d.Classes.Labels}, classinfo.Options{})
	return err == nil && len(d.Classes.Labels) > 1
}

// FitBest is Plan.Fit over given methods, at least one, and under their losses. The first
// is what the others must beat. The prior is chosen on rows held out, then it trains on all.
func FitBest(ctx context.Context, d *corpus.Data, rows []int, methods []Method, opts Options) (*Result, error) {
	return choose(ctx, d, rows, methods, variants{}, opts)
}

// variants are what is tried of the best method.
type variants struct {
	loss    bool // squared hinge, and the mean of it and cross entropy
	fourier bool // random Fourier features behind numeric columns
	encoder bool // the scale of encoder features, or n-grams or the encoder alone
}

// choose trains the best of the methods and its variants.
func choose(ctx context.Context, d *corpus.Data, rows []int, methods []Method, also variants, opts Options) (*Result, error) {
	if len(methods) == 0 {
		return nil, errors.New("tune: no methods to choose from")
	}
	if d.Stream != nil {
		return fitStream(ctx, d, rows, methods, opts)
	}
	rows = d.Labelled(rows)
	h := hold(d, rows, opts)
	if h == nil {
		m, why, err := withoutHeldOut(d, rows, methods)
		if err != nil {
			return nil, err
		}
		r, err := final(ctx, d, rows, m, opts.onlyPrior(m), opts)
		if r != nil && len(methods) > 1 {
			r.Reason = why
			if out := leftOut(d, rows, methods); out != "" {
				r.Reason += "; " + out
			}
		}
		return r, err
	}
	// Whether squared hinge will be tried is known first: then weak priors need no trial.
	h.hinge = also.loss && h.takesHinge(methods[0])
	var all [][]*attempt
	var chosen *attempt
	var gain *softmax.Gain
	var err error
	one := opts.Priors == nil && !IgnoresPrior(opts.Trainer) && costly(d, rows)
	if one {
		all, chosen, gain, err = h.chooseCostly(ctx, methods)
	} else {
		all, chosen, gain, err = h.choose(ctx, methods)
	}
	if err != nil {
		return nil, err
	}
	var reasons []string
	if len(methods) > 1 {
		reasons = append(reasons, fmt.Sprintf("best of %d on %d held-out rows", len(methods), len(h.class)))
		if out := leftOut(d, rows, methods); out != "" {
			reasons = append(reasons, out)
		}
	}
	if also.fourier && h.takesFourier() {
		best, tried, why, err := h.withFourier(ctx, chosen)
		if err != nil {
			return nil, err
		}
		all = append(all, tried)
		reasons = append(reasons, why)
		chosen = best
	}
	if also.encoder && h.takesEncoder() {
		best, tried, why, err := h.withEncoder(ctx, chosen, one)
		if err != nil {
			return nil, err
		}
		all = append(all, tried)
		reasons = append(reasons, why)
		chosen = best
	}
	var hinges []*attempt
	if h.hinge {
		if hinges, err = h.hinges(ctx, chosen); err != nil {
			return nil, err
		}
	}
	if one && !farBetter(hinges, chosen) {
		tried, err := h.climbFrom(ctx, chosen)
		if err != nil {
			return nil, err
		}
		all = append(all, tried)
		if best := bestOf(tried); best.better(chosen) {
			chosen.duals, chosen = nil, best
		}
	}
	if h.hinge {
		best, mean, why, err := h.withHinge(chosen, bestOf(hinges))
		if err != nil {
			return nil, err
		}
		if all = append(all, append(hinges, mean)); why != "" {
			reasons = append(reasons, why)
		}
		chosen = best
	}
	if gain != nil {
		if gain, err = gainOver(chosen, plainest(all, methods)); err != nil {
			return nil, err
		}
	}
	r, err := finalAttempt(ctx, d, rows, h, chosen, opts)
	if r != nil {
		r.optimism = optimismOf(chosen, slices.Concat(all...))
		if r.learner == nil {
			calibration, failed := h.calibrate(chosen, r, r.optimism+growth)
			if failed != nil {
				return nil, failed
			}
			r.calibration = &calibration
		}
		r.HeldOut, r.Gain, r.Reason = len(h.class), gain, strings.Join(reasons, "; ")
		for _, attempts := range all {
			r.Candidates = append(r.Candidates, candidates(attempts)...)
		}
	}
	return r, err
}

// choose tries all methods, each with its priors. It returns what it tried of each, and the
// best attempt with its gain over plain cross entropy where that is one of several methods.
func (h *heldOut) choose(ctx context.Context, methods []Method) (all [][]*attempt, best *attempt, gain *softmax.Gain, err error) {
	for _, m := range methods {
		attempts, err := h.attempts(ctx, m)
		if err != nil {
			return nil, nil, nil, err
		}
		all = append(all, attempts)
	}
	best, gain, err = mostAccurate(all, methods)
	return all, best, gain, err
}

// attempts tries one method with its priors.
func (h *heldOut) attempts(ctx context.Context, m Method) ([]*attempt, error) {
	switch m.Loss {
	case SquaredHinge:
		if h.opts.Priors != nil {
			return h.try(ctx, m, h.opts.Priors)
		}
		return h.try(ctx, m, hingePriors)
	case CrossEntropyHinge:
		m.Loss = ""
		plain, err := h.path(ctx, m)
		if err != nil {
			return nil, err
		}
		hinge, err := h.try(ctx, m.hinge(), hingePriors)
		if err != nil {
			return nil, err
		}
		mean, err := h.mean(bestOf(plain), bestOf(hinge))
		return []*attempt{mean}, err
	}
	return h.path(ctx, m)
}

// mostAccurate returns the best attempt of the methods, with its gain over plain
// cross entropy where that is one of them. Then another method must be better by
// a standard error: with few rows the best of many is often so by chance.
func mostAccurate(all [][]*attempt, methods []Method) (best *attempt, gain *softmax.Gain, err error) {
	for _, attempts := range all {
		if a := bestOf(attempts); best == nil || a.better(best) {
			best = a
		}
	}
	plain := plainest(all, methods)
	if plain == nil || len(methods) == 1 {
		return best, nil, nil
	}
	if gain, err = gainOver(best, plain); err != nil {
		return nil, nil, err
	}
	// The best of many is better by chance; a gain below its error is none, with 0 ± 0 beside
	// it.
	if gain.Difference < gain.DifferenceSE {
		return plain, &softmax.Gain{Rows: gain.Rows}, nil
	}
	return best, gain, nil
}

// plainest returns the best attempt of plain cross entropy, nil if it is none of
// the methods.
func plainest(all [][]*attempt, methods []Method) *attempt {
	i := slices.IndexFunc(methods, Method.isPlain)
	if i < 0 {
		return nil
	}
	return bestOf(all[i])
}
