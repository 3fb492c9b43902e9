package experiment

import (
	"context"
	"errors"
	"math"

	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/softmax"
)

// Constants of the authors' training scripts.
const (
	momentum    = 0.9
	weightDecay = 3e-4
)

// onePass trains on one example after the other, each once, from start. It returns
// the last weights and their mean over the steps, or an error that wraps
// softmax.ErrDiverged if the rate is too large.
func (m *model) onePass(ctx context.Context, start *softmax.Layer, ex softmax.Examples, rate float64) (last, mean *softmax.Layer, err error) {
	opts := m.options
	last = &softmax.Layer{}
	opts.Init = start
	opts.Trainer = softmax.SGD{Epochs: 1, Batch: 1, Rate: rate * m.rate, Momentum: momentum, WeightDecay: weightDecay,
		Average: true, Last: last, RawInputs: true, InOrder: true}
	mean, _, err = softmax.Fit(ctx, ex, start.Classes, opts)
	return last, mean, err
}

// errEnough ends the search for a prior.
var errEnough = errors.New("larger priors are no better")

// converge trains to the optimum for ascending priors and returns the layer of the
// best one on the validation examples, and that. Two in a row that are both less
// accurate and less sure than the best so far end the search: larger ones fit
// the examples even more closely, and take the longest.
func (m *model) converge(ctx context.Context, ex softmax.Examples, k int, validate func(*softmax.Layer) (outcome, error)) (best *softmax.Layer, prior float64, err error) {
	opts := m.options
	opts.Trainer = softmax.Converge{}
	if opts.Sharing != nil {
		if opts.Sharing, err = sharing.Normalized(opts.Sharing); err != nil {
			return nil, 0, err
		}
	}
	var top outcome
	least, worse := math.Inf(1), 0 // log loss
	err = softmax.FitPath(ctx, ex, k, opts, Priors(), func(p float64, l *softmax.Layer, _ softmax.Record) error {
		o, err := validate(l)
		if err != nil {
			return err
		}
		worse++
		if best == nil || !(o.accuracy < top.accuracy && o.logLoss > least) {
			worse = 0
		}
		if worse == 2 {
			return errEnough
		}
		if best == nil || o.better(top) {
			best, prior, top = l, p, o
		}
		least = min(least, o.logLoss)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return best, prior, err
}

// outcome is how a layer does on some examples.
type outcome struct {
	accuracy float64
	logLoss  float64 // mean of -log p_y in nats
}

// better tells whether o is more accurate than p, or as accurate with less log
// loss.
func (o outcome) better(p outcome) bool {
	return o.accuracy > p.accuracy || o.accuracy == p.accuracy && o.logLoss < p.logLoss
}

// measure tests a layer on examples.
func measure(l *softmax.Layer, ex softmax.Examples) (out outcome, err error) {
	all, err := l.Outcomes(ex, 1)
	for _, o := range all {
		if o.Right {
			out.accuracy++
		}
		out.logLoss += o.Loss
	}
	out.accuracy /= float64(len(all))
	out.logLoss /= float64(len(all))
	return out, err
}
