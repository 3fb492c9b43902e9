package tune

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// hingePriors are tried for squared hinge. Its accuracy is flat between them.
var hingePriors = []float64{0.6, 2, 6}

// defaultHingePrior is that of squared hinge where no row can be held out.
const defaultHingePrior = 2

// hingeScale makes of margins scores of about the size of logits: the temperature
// of margins on held-out rows is mostly between 0.2 and 0.4.
const hingeScale = 4

// hinge is squared hinge on the examples of m.
func (m Method) hinge() Method {
	return Method{Names: m.Names, Fourier: m.Fourier, EncoderScale: m.EncoderScale, EncoderAlone: m.EncoderAlone, Loss: SquaredHinge}
}

// scale makes logits of the scores of a layer that m trained.
func (m Method) scale(l *softmax.Layer, threads int) {
	if m.Loss == SquaredHinge {
		kernel.Scale(hingeScale, l.Bias)
		kernel.Parallel(threads, len(l.Weight), combineGrain, func(_, lo, hi int) { kernel.Scale(hingeScale, l.Weight[lo:hi]) })
	}
}

// takesHinge tells whether squared hinge can be tried beside a method.
func (h *heldOut) takesHinge(m Method) bool {
	// Squared hinge has a trainer and priors of its own, no start, no soft labels and no
	// smoothing: where one of these was asked for, it is not.
	if h.opts.Trainer != nil || h.opts.Init != nil || h.opts.Priors != nil || h.d.Mix != nil || m.Smoothing != 0 || m.Loss != "" {
		return false
	}
	f, err := h.fit(&h.parts[0], m.inputs())
	if err != nil {
		return false
	}
	_, converges := trainerFor(h.d, f.X, softmax.Options{}).(softmax.Converge)
	return converges
}

// hinges tries squared hinge on the examples of an attempt.
func (h *heldOut) hinges(ctx context.Context, plain *attempt) ([]*attempt, error) {
	if m := plain.method.hinge(); !costly(h.d, h.parts[0].train) {
		return h.try(ctx, m, hingePriors)
	} else {
		return h.climb(ctx, m, hingePriors, nil)
	}
}

// farErrors is the number of standard errors by which squared hinge has to be better for
// cross entropy with another prior, or the mean of the two, to be out of the question.
const farErrors = 4

// farBetter tells whether the best of squared hinge is.
func farBetter(hinges []*attempt, plain *attempt) bool {
	if len(hinges) == 0 {
		return false
	}
	gain, err := gainOver(bestOf(hinges), plain)
	return err == nil && gain.Difference > farErrors*gain.DifferenceSE
}

// withHinge returns what is best on held-out rows of an attempt by cross
// entropy, squared hinge on the same examples, and the mean of the two, which it tries.
//
// The one with the most right answers is taken, of equals the mean, which is never
// far from the better of the two.
func (h *heldOut) withHinge(plain, hinge *attempt) (best, mean *attempt, why string, err error) {
	if mean, err = h.mean(plain, hinge); err != nil {
		return nil, nil, "", err
	}
	best = mean
	for _, a := range []*attempt{plain, hinge} {
		if a.right > best.right {
			best = a
		}
	}
	gain, err := gainOver(best, plain)
	if err != nil || best == plain {
		return best, mean, "", err
	}
	return best, mean, fmt.Sprintf("%s %+.1f ± %.1f points to cross entropy alone", best.method.Loss, 100*gain.Difference, 100*gain.DifferenceSE), nil
}

// mean is the mean of the scores of two attempts, each at its temperature.
func (h *heldOut) mean(plain, hinge *attempt) (*attempt, error) {
	m := plain.method
	m.Loss = CrossEntropyHinge
	plainTemperature, err := h.temperature(plain)
	if err != nil {
		return nil, err
	}
	hingeTemperature, err := h.temperature(hinge)
	if err != nil {
		return nil, err
	}
	a := &attempt{method: m, prior: plain.prior, scores: make([]float32, len(plain.scores)),
		blend: &blend{crossEntropy: plain.prior, hinge: hinge.prior,
			crossEntropyScale: 0.5 / plainTemperature, hingeScale: 0.5 / hingeTemperature, from: [2]*attempt{plain, hinge}}}
	p, q := float32(a.blend.crossEntropyScale), float32(a.blend.hingeScale)
	for i, s := range plain.scores {
		a.scores[i] = p*s + q*hinge.scores[i]
	}
	return a, h.judge(a)
}

// fitBlend trains both classifiers of a blend and returns the mean of their
// scores, which is a layer like any other.
func fitBlend(ctx context.Context, d *corpus.Data, f *corpus.Fitted, o softmax.Options, b blend) (*softmax.Layer, softmax.Record, error) {
	k := len(d.Classes.Labels)
	o.Prior = b.crossEntropy
	layer, record, err := softmax.Fit(ctx, f.Examples, k, o)
	if err != nil {
		return layer, record, err
	}
	hinge, hingeRecord, err := softmax.Fit(ctx, f.Examples, k, softmax.Options{
		Trainer: softmax.SquaredHinge{}, Prior: b.hinge, Seed: o.Seed, Threads: o.Threads, Progress: o.Progress, Duals: b.hingeDuals})
	if err != nil {
		return layer, record, err
	}
	combine(layer, float32(b.crossEntropyScale), hinge, float32(hingeScale*b.hingeScale), o.Threads)
	record.Steps += hingeRecord.Steps
	record.Converged = record.Converged && hingeRecord.Converged
	return layer, record, nil
}

// combineGrain is the number of weights that a goroutine takes at a time.
const combineGrain = 1 << 16

// combine sets l to p times l plus q times m.
func combine(l *softmax.Layer, p float32, m *softmax.Layer, q float32, threads int) {
	add := func(x, y []float32) {
		kernel.Scale(p, x)
		kernel.Axpy(q, y, x)
	}
	add(l.Bias, m.Bias)
	kernel.Parallel(threads, len(l.Weight), combineGrain, func(_, lo, hi int) { add(l.Weight[lo:hi], m.Weight[lo:hi]) })
}

// gainOver is the accuracy of an attempt minus that of another on the same rows.
func gainOver(a, b *attempt) (*softmax.Gain, error) {
	d, err := score.PairedRows(a.correct, b.correct)
	return &softmax.Gain{Difference: d.Interval.Mean, DifferenceSE: d.Interval.SE, Rows: len(a.correct)}, err
}
