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

// cell is what a worker computes at once.
type cell struct {
	opts     Options
	draw     *draw
	point    Point
	protocol Protocol
	methods  []Method
}

// compute trains and tests all methods of the cell.
func (c *cell) compute(ctx context.Context) (Values, error) {
	out := Values{}
	n, err := newClassInfo(c.draw, c.point.Base, c.point.Epsilon)
	if err != nil {
		return nil, err
	}
	train := c.examples(c.draw.train, c.point.N)
	valid, test := c.examples(c.draw.valid, len(c.draw.valid.y)), c.examples(c.draw.all, len(c.draw.all.y))
	validate := func(l *softmax.Layer) (outcome, error) { return measure(l, valid) }
	tested := func(name string, l *softmax.Layer) error {
		var err error
		out[name], err = l.Accuracy(test, 1)
		return err
	}
	for _, method := range c.methods {
		if method == ScaledCrossEntropy && c.protocol != Paper {
			continue
		}
		m, err := n.newModel(method)
		if err != nil {
			return nil, err
		}
		switch c.protocol {
		case Paper:
			last, mean, err := m.onePass(ctx, m.start(c.draw, c.opts.Init), train, c.opts.Rate)
			if err != nil {
				return nil, err
			}
			if err := cmp.Or(tested(string(method), last), tested(string(method)+averaged, mean)); err != nil {
				return nil, err
			}
		case OnePass:
			var best [2]*softmax.Layer // last, mean
			var top [2]outcome
			start := m.start(c.draw, ZeroInit)
			for _, rate := range Rates() {
				last, mean, err := m.onePass(ctx, start, train, rate)
				if errors.Is(err, softmax.ErrDiverged) {
					continue
				} else if err != nil {
					return nil, err
				}
				for i, l := range []*softmax.Layer{last, mean} {
					o, err := validate(l)
					if err != nil {
						return nil, err
					}
					if best[i] == nil || o.better(top[i]) {
						best[i], top[i] = l, o
						out[string(method)+suffixes[i]+chosen] = rate
					}
				}
			}
			for i, l := range best {
				if l == nil {
					return nil, fmt.Errorf("%s diverges at every rate", method)
				}
				if err := tested(string(method)+suffixes[i], l); err != nil {
					return nil, err
				}
			}
		case Converged:
			best, prior, err := m.converge(ctx, train, c.draw.k, validate)
			if err != nil {
				return nil, err
			}
			out[string(method)+chosen] = prior
			if err := tested(string(method), best); err != nil {
				return nil, err
			}
		}
	}
	return out, c.facts(out, n)
}

// examples returns the first n examples of e.
func (c *cell) examples(e noise, n int) softmax.Examples {
	return c.draw.examples(e, n, c.point.Sigma)
}

// facts adds what can be said about the tree.
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
