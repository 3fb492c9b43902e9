package tune

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/softmax"
)

// choosingTolerance is that of fits which only serve to choose: far below what
// a held-out row can show.
const choosingTolerance = 3e-3

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

// best returns the place of the best score, the first of equals.
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

// measureSplit trains m on the rows train and adds to scores, one a prior, how it
// does on the rows test.
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
