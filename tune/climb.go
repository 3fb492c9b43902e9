package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/softmax"
)

// Where a fit takes seconds (costlyWork) each method is tried with costlyPrior alone. Unless
// squared hinge is by far better than the best of them, that is then tried with weaker priors
// as long as they gain, or else with stronger ones. Each fit starts from the duals of the one before, and the last one, on all rows, from those
// of the best.
const costlyPrior = 30

var (
	costlyWeaker   = []float64{100, 300}
	costlyWeakest  = []float64{1000, 3000} // where nothing is shared: a pass takes half as long
	costlyStronger = []float64{10, 3}
)

// Tolerances of fits that take long: of those with costlyPrior, which only say which method
// is the best, and of the last one, whose answers have long been the same by then.
const (
	firstTolerance = 1e-2
	lastTolerance  = 5e-4
)

// costlyWork is the number of values in the rows x classes above which a fit takes
// seconds. A product with the class kernel of a sharing, one or more for each row, counts by
// kernelWork: it goes through k² numbers, but these lie one after the other.
const (
	costlyWork = 5e8
	kernelWork = 1. / 20
)

// costly tells whether a fit of the rows takes long.
func costly(d *corpus.Data, rows []int) bool {
	k := float64(len(d.Classes.Labels))
	return float64(d.Table.Values(rows))*k+kernelWork*float64(len(rows))*k*k > costlyWork
}

// leftOut says what a choice among several methods leaves out because fits take long,
// "" if it is nothing.
func leftOut(d *corpus.Data, rows []int, methods []Method) string {
	k := len(d.Classes.Labels)
	shares := func(m Method) bool { return slices.Contains(m.Sharing, classinfo.Names) }
	if len(methods) == 1 || len(rows) >= fewRows*k || !costly(d, rows) || !namesUsable(d) || slices.ContainsFunc(methods, shares) {
		return ""
	}
	return fmt.Sprintf("sharing by names is not tried: on %d rows of %d classes it takes too long", len(rows), k)
}

// chooseCostly is the choice among methods where fits take long. It returns what it tried
// of each method, and the best attempt with its gain over plain cross entropy where that
// is one of several methods.
func (h *heldOut) chooseCostly(ctx context.Context, methods []Method) (all [][]*attempt, best *attempt, gain *softmax.Gain, err error) {
	for _, m := range methods {
		attempts, err := h.climb(ctx, m, []float64{costlyPrior}, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		all = append(all, attempts)
	}
	if best, gain, err = mostAccurate(all, methods); err != nil {
		return nil, nil, nil, err
	}
	for _, attempts := range all {
		for _, a := range attempts {
			if a != best {
				a.duals = nil
			}
		}
	}
	return all, best, gain, nil
}

// climbFrom tries the method of an attempt with other priors: weaker ones as long as they
// gain, or else stronger ones.
func (h *heldOut) climbFrom(ctx context.Context, first *attempt) (tried []*attempt, err error) {
	weaker := costlyWeaker
	if len(first.method.Sharing) == 0 {
		weaker = slices.Concat(costlyWeaker, costlyWeakest)
	}
	for _, priors := range [][]float64{weaker, costlyStronger} {
		attempts, err := h.climb(ctx, first.method, priors, first)
		if err != nil {
			return nil, err
		}
		tried = append(tried, attempts...)
		if bestOf(attempts).better(first) {
			break
		}
	}
	return tried, nil
}

// errEnough ends a path of priors.
var errEnough = errors.New("no gain")

// climb tries a method with priors in turn, from the duals of an attempt on the same
// examples if there is one, until one gains nothing over that and those before. Only the best
// keeps its duals. Of several parts it tries all priors.
func (h *heldOut) climb(ctx context.Context, m Method, priors []float64, from *attempt) ([]*attempt, error) {
	if len(h.parts) > 1 {
		return h.try(ctx, m, priors)
	}
	p := &h.parts[0]
	f, o, x, err := h.prepare(p, m, fmt.Sprintf("%s: choosing", m))
	if err != nil {
		return nil, err
	}
	switch t := o.Trainer.(type) {
	case softmax.SquaredHinge:
		t.Tolerance = roughTolerance
		o.Trainer = t
	case softmax.Converge:
		if from == nil && h.opts.Trainer == nil {
			t.Tolerance = firstTolerance
			o.Trainer = t
		}
	}
	if h.keepsDuals(len(f.Class)) {
		o.Duals = &softmax.Duals{}
		if from != nil && from.duals != nil {
			*o.Duals = *from.duals.Clone()
		}
	}
	var attempts []*attempt
	best := from
	err = softmax.FitPath(ctx, f.Examples, len(h.d.Classes.Labels), o, priors, func(prior float64, l *softmax.Layer, _ softmax.Record) error {
		m.scale(l, h.opts.Threads)
		a := &attempt{method: m, prior: prior, scores: classScores(l, x, h.opts.Threads)}
		if err := h.judge(a); err != nil {
			return err
		}
		attempts = append(attempts, a)
		if best != nil && !gains(a, []*attempt{best}) {
			return errEnough
		}
		if best != nil && best != from {
			best.duals = nil
		}
		best, a.duals = a, o.Duals.Clone()
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return attempts, err
}

// dualsShare is the share of the memory budget that the duals of an attempt may take.
const dualsShare = 1. / 32

// keepsDuals tells whether there is room for the duals of attempts on so many examples.
func (h *heldOut) keepsDuals(examples int) bool {
	return 4*float64(examples)*float64(len(h.d.Classes.Labels)) <= dualsShare*float64(memory.Budget(h.d.Memory))
}

// dualsFor returns the duals of an attempt, found on the rows outside of the held-out
// part, for a fit of all rows.
func (h *heldOut) dualsFor(a *attempt, rows []int) *softmax.Duals {
	if a.duals == nil {
		return nil
	}
	place := make(map[int]int, len(rows))
	for n, row := range h.parts[0].train {
		place[row] = n
	}
	var at []int
	for _, row := range rows {
		if n, ok := place[row]; ok {
			at = append(at, n)
		} else {
			at = append(at, -1)
		}
	}
	if a.method.Names { // the names of all classes follow the rows
		n := len(h.parts[0].train)
		at = append(at, dataset.Range(n, n+len(h.d.Classes.Labels))...)
	}
	return a.duals.For(at)
}
