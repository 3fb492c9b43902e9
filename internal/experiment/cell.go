package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/theory"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// averaged is what the mean of the weights over a pass is called beside the
// last weights.
const averaged = " averaged"

// suffixes are behind the name of a method whose last or mean weights are tested.
var suffixes = [2]string{"", averaged}

// chosen is what the learning rate or prior of a method is called.
const chosen = " chosen"

// Rates are the learning rates that each method may choose from under OnePass, for inputs as
// they are.
func Rates() []float64 { return []float64{1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1} }

// Priors are the prior variances τ² that each method may choose from under Converged, for
// inputs scaled to a mean squared length of 1.
func Priors() []float64 { return []float64{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 10_000} }

// cellName names a cell: methods of one sweep at one x (NaN: at all) in one run
// under one protocol.
func cellName(s *Sweep, x float64, run int, protocol Protocol) string {
	at := "all"
	if !math.IsNaN(x) {
		at = number(x)
	}
	return fmt.Sprintf("%s x=%s run=%d %s", s.Name, at, run, protocol)
}

// cell is what a worker computes at once: the methods share the draws, so that their
// differences are paired.
type cell struct {
	opts     Options
	draw     *draw
	point    Point
	protocol Protocol
	methods  []Method
}

// compute trains and tests all methods of the cell. Its values are the accuracy of each
// method by name, what was chosen for it, and facts about the tree.
func (c *cell) compute(ctx context.Context) (Values, error) {
	out := Values{}
	n, err := newClassInfo(c.draw, c.point.Base, c.point.Epsilon)
	if err != nil {
		return nil, err
	}
	t := trial{cell: c, out: out, train: c.examples(c.draw.train, c.point.N),
		valid: c.examples(c.draw.valid, len(c.draw.valid.y)), test: c.examples(c.draw.all, len(c.draw.all.y))}
	for _, method := range c.methods {
		if method == ScaledCrossEntropy && c.protocol != Paper {
			continue // a longer step is nothing of its own where each method chooses its step
		}
		if t.model, err = n.newModel(method); err != nil {
			return nil, err
		}
		switch c.protocol {
		case Paper:
			err = t.paper(ctx)
		case OnePass:
			err = t.onePass(ctx)
		case Converged:
			err = t.converged(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, c.facts(out, n)
}

// trial is one method of a cell on the cell's examples.
type trial struct {
	*cell
	model              *model
	train, valid, test softmax.Examples
	out                Values // of the cell
}

// name returns what a value of the method is called in the cell.
func (t *trial) name(suffix string) string { return string(t.model.method) + suffix }

// tested puts the accuracy of a layer on the test examples into the cell.
func (t *trial) tested(suffix string, l *softmax.Layer) (err error) {
	t.out[t.name(suffix)], err = l.Accuracy(t.test, 1)
	return err
}

// validate measures a layer on the examples that rates and priors are chosen by, which are
// neither trained nor tested on.
func (t *trial) validate(l *softmax.Layer) (outcome, error) { return measure(l, t.valid) }

// paper trains in one pass at the rate of all methods.
func (t *trial) paper(ctx context.Context) error {
	last, mean, err := t.model.onePass(ctx, t.model.start(t.draw, t.opts.Init), t.train, t.opts.Rate)
	if err != nil {
		return err
	}
	return cmp.Or(t.tested("", last), t.tested(averaged, mean))
}

// onePass trains in one pass at each of Rates. The last and the mean weights are tested at
// a rate each, the best of its own on the validation examples.
func (t *trial) onePass(ctx context.Context) error {
	var best [len(suffixes)]*softmax.Layer // the last, and the mean
	var top [len(suffixes)]outcome
	start := t.model.start(t.draw, ZeroInit)
	for _, rate := range Rates() {
		last, mean, err := t.model.onePass(ctx, start, t.train, rate)
		if errors.Is(err, softmax.ErrDiverged) {
			continue
		} else if err != nil {
			return err
		}
		for i, l := range []*softmax.Layer{last, mean} {
			o, err := t.validate(l)
			if err != nil {
				return err
			}
			if best[i] == nil || o.better(top[i]) {
				best[i], top[i] = l, o
				t.out[t.name(suffixes[i]+chosen)] = rate
			}
		}
	}
	for i, l := range best {
		if l == nil {
			return fmt.Errorf("%s diverges at every rate", t.model.method)
		}
		if err := t.tested(suffixes[i], l); err != nil {
			return err
		}
	}
	return nil
}

// converged trains to the optimum at priors of Priors and tests the best of them.
func (t *trial) converged(ctx context.Context) error {
	best, prior, err := t.model.converge(ctx, t.train, t.draw.k, t.validate)
	if err != nil {
		return err
	}
	t.out[t.name(chosen)] = prior
	return t.tested("", best)
}

// examples returns the first n examples of e.
func (c *cell) examples(e noise, n int) softmax.Examples {
	return c.draw.examples(e, n, c.point.Sigma)
}

// facts adds what can be said about the tree of the point: its shape, whether it is a star
// (on which the tree loss is plain cross entropy), and how far the metric that it was made
// from is off the true one: lambda of the paper's Assumption 3, for epsilon above 0.
func (c *cell) facts(out Values, n *classInfo) error {
	t, err := labeltree.V(n.cover, n.labels)
	if err != nil {
		return err
	}
	shape := t.Shape()
	out["height"], out["fan-out"], out["pseudoclasses"] = float64(shape.Height), shape.FanOut.Mean, float64(shape.Inner)
	out["star"] = star(n.cover)
	// The theory's convention is base 2.
	two, err := covertree.New(n.space, covertree.Options{Base: 2, Seed: n.seed})
	if err != nil {
		return err
	}
	out["star at base 2"] = star(two)
	if c.point.Epsilon > 0 {
		// +Inf where classes are at the same place, and so out of reach of the draws.
		own, err := metric.Euclidean(c.draw.truth)
		if err != nil {
			return err
		}
		out["lambda"] = theory.Distort(c.draw.k, n.space.Distance, own.Distance).Unscaled()
	}
	return nil
}

// star returns 1 for a cover tree with one inner node at most, else 0. Each point has one
// leaf; the other nodes are inner ones.
func star(t *covertree.Tree) float64 {
	if len(t.Nodes())-t.Len() <= 1 {
		return 1
	}
	return 0
}
