package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/theory"
)

// averaged is what the mean of the weights over a pass is called beside the
// last weights.
const averaged = " averaged"

// chosen is what the learning rate or prior of a method is called.
const chosen = " chosen"

// Rates and Priors are the budget of each method under the tuned protocols.
func Rates() []float64  { return []float64{1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1} }
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
	n, err := newKnowledge(c.draw, c.point.Base, c.point.Epsilon)
	if err != nil {
		return nil, err
	}
	train := c.draw.examples(c.draw.train, c.point.N, c.point.Sigma)
	var names []string
	var heads []head
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
			last, mean := m.onePass(m.start(c.draw, c.opts.Init), train, c.opts.Rate)
			names = append(names, string(method), string(method)+averaged)
			heads = append(heads, head{m, last}, head{m, mean})
		case OnePass:
			start := m.start(c.draw, ZeroInit)
			var tried []head
			for _, rate := range Rates() {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				last, mean := m.onePass(start, train, rate)
				tried = append(tried, head{m, last}, head{m, mean})
			}
			how := c.validate(tried)
			for i, suffix := range []string{"", averaged} {
				best := i
				for j := i; j < len(how); j += 2 {
					if how[j].better(how[best]) {
						best = j
					}
				}
				out[string(method)+suffix+chosen] = Rates()[best/2]
				names = append(names, string(method)+suffix)
				heads = append(heads, tried[best])
			}
		case Converged:
			best, prior, err := c.converge(ctx, m, train)
			if err != nil {
				return nil, err
			}
			out[string(method)+chosen] = prior
			names, heads = append(names, string(method)), append(heads, best)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for i, o := range evaluateHeads(heads, c.draw.d, c.draw.all.y, c.row(c.draw.all), false) {
		out[names[i]] = o.accuracy
	}
	return out, c.facts(out, n)
}

func (c *cell) row(e noise) func(i int, x []float32) {
	return func(i int, x []float32) { c.draw.row(e, i, c.point.Sigma, x) }
}

// validate measures heads on the validation examples.
func (c *cell) validate(heads []head) []outcome {
	return evaluateHeads(heads, c.draw.d, c.draw.valid.y, c.row(c.draw.valid), true)
}

// better tells whether o is more accurate than p, or as accurate with less log
// loss.
func (o outcome) better(p outcome) bool {
	return o.accuracy > p.accuracy || o.accuracy == p.accuracy && o.logLoss < p.logLoss
}

// converge returns the head of the best prior, and that. Priors ascend, so each
// has only a little way to go from the one before. Two in a row that are both
// less accurate and less sure than the best so far end the search: larger ones
// fit the examples even more closely, and take the longest.
func (c *cell) converge(ctx context.Context, m *model, train examples) (best head, prior float64, err error) {
	s, err := newSolver(m, train)
	if err != nil {
		return best, 0, err
	}
	var top outcome
	least, worse := math.Inf(1), 0 // log loss
	for i, p := range Priors() {
		if err := s.solve(ctx, p); err != nil {
			return best, 0, err
		}
		h := head{m, s.weights()}
		o := c.validate([]head{h})[0]
		if i > 0 && o.accuracy < top.accuracy && o.logLoss > least {
			if worse++; worse == 2 {
				break
			}
		} else {
			worse = 0
		}
		if i == 0 || o.better(top) {
			best, prior, top = h, p, o
		}
		least = min(least, o.logLoss)
	}
	return best, prior, nil
}

// facts adds what can be said about the tree.
func (c *cell) facts(out Values, n *knowledge) error {
	t, err := labeltree.V(n.cover, n.labels)
	if err != nil {
		return err
	}
	fan := n.cover.FanOut()
	out["height"], out["fan-out"], out["pseudoclasses"] = float64(t.Height()), fan.Mean, float64(fan.Inner)
	out["star"] = 0
	if fan.Inner <= 1 {
		out["star"] = 1
	}
	// The theory's convention is base 2.
	two, err := covertree.New(n.space, covertree.Options{Base: 2, Seed: n.seed})
	if err != nil {
		return err
	}
	out["star at base 2"] = 0
	if two.FanOut().Inner <= 1 {
		out["star at base 2"] = 1
	}
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
