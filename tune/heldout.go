package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// heldOut measures methods on rows that are not trained on. The rows come in
// parts, each held out of the training of the others in turn. The features of a
// part are fitted once for all methods.
type heldOut struct {
	d     *corpus.Data
	opts  Options
	few   bool    // rows of a class, see manyRowsPerClass
	rare  float64 // share of the rows whose classes have none held out
	hinge bool    // squared hinge will be tried beside cross entropy
	parts []heldOutPart
	class []int       // of the held-out rows of all parts
	mixes []score.Mix // of these rows; nil: each is of its class alone
}

// heldOutPart is one part: the table rows outside of it, which are trained on, and those
// inside, of which every so many are measured (maxHeldOutScores).
type heldOutPart struct {
	train, test []int
	fitted      map[corpus.Inputs]*corpus.Fitted // what was needed so far
}

// manyRowsPerClass is the mean number of rows of a class from which cross entropy
// needs no weaker priors than the first ones where squared hinge is tried too.
const manyRowsPerClass = 20

// maxHeldOutScores bounds the memory for the scores of held-out rows: of more
// evenly spaced rows are taken.
const maxHeldOutScores = 4 << 20

// hold returns the held-out rows of some rows, nil if none can be spared.
func hold(d *corpus.Data, rows []int, opts Options) *heldOut {
	train, test := d.HoldOut(rows, opts.Valid, opts.Seed)
	h := &heldOut{d: d, opts: opts, few: len(rows) < manyRowsPerClass*len(d.Classes.Labels)}
	if len(d.Labelled(opts.Valid)) == 0 {
		h.rare = d.TooRare(rows)
	}
	total := 0
	for _, t := range test {
		total += len(t)
	}
	if total == 0 {
		return nil
	}
	// Each attempt keeps a score for each held-out row and class: 16 MB at most.
	step := (total*len(d.Classes.Labels) + maxHeldOutScores - 1) / maxHeldOutScores
	for n := range train {
		kept := every(test[n], step)
		if len(kept) == 0 {
			continue
		}
		h.parts = append(h.parts, heldOutPart{train: train[n], test: kept, fitted: map[corpus.Inputs]*corpus.Fitted{}})
	}
	h.setTruth()
	return h
}

// keepParts leaves the first parts, all for n = 0.
func (h *heldOut) keepParts(n int) {
	if n > 0 {
		h.parts = h.parts[:n]
		h.setTruth()
	}
}

// setTruth sets what the held-out rows are.
func (h *heldOut) setTruth() {
	d := h.d
	h.class, h.mixes = nil, nil
	for _, p := range h.parts {
		for _, row := range p.test {
			h.class = append(h.class, int(d.Class[row]))
		}
	}
	if d.Mix != nil {
		for _, p := range h.parts {
			for _, row := range p.test {
				truth := d.Truth(row)
				if len(truth.Class) == 0 {
					truth = score.Mix{Class: d.Class[row : row+1], Share: []float32{1}}
				}
				h.mixes = append(h.mixes, truth)
			}
		}
	}
}

// every returns each step-th row.
func every(rows []int, step int) []int {
	if step <= 1 {
		return rows
	}
	var out []int
	for i := 0; i < len(rows); i += step {
		out = append(out, rows[i])
	}
	return out
}

// attempt is a method with its prior and what it does on held-out rows.
type attempt struct {
	method      Method
	prior       float64
	scores      []float32           // rows x classes
	logLoss     float64             // mean of the scores as they are, in nats
	calibration *decide.Calibration // of these scores; nil: not fitted yet
	correct     []bool              // of each row
	right       int
	blend       *blend         // of the loss CrossEntropyHinge
	duals       *softmax.Duals // where it ended; nil: not kept
}

// blend is what a mean of two classifiers is made of.
type blend struct {
	crossEntropy, hinge           float64 // priors
	crossEntropyScale, hingeScale float64 // of the scores: 1 / temperature

	from       [2]*attempt    // nil: not tried on held-out rows
	hingeDuals *softmax.Duals // where squared hinge starts; nil: at 0
}

// fitTemperature fits the temperature of an attempt, once.
func (h *heldOut) fitTemperature(a *attempt) error {
	if a.calibration != nil {
		return nil
	}
	c, err := decide.FitTemperature(a.scores, len(h.d.Classes.Labels), h.class, h.mixes, h.opts.Threads)
	a.calibration = &c
	return err
}

// temperature is what the scores of an attempt are divided by before they become
// probabilities.
func (h *heldOut) temperature(a *attempt) (float64, error) {
	if err := h.fitTemperature(a); err != nil || a.calibration.AtLimit {
		return 1, err
	}
	return a.calibration.Temperature, nil
}

// better orders attempts by accuracy, then by log loss.
func (a *attempt) better(than *attempt) bool {
	if a.right != than.right {
		return a.right > than.right
	}
	return a.logLoss < than.logLoss
}

// bestOf returns the best attempt, the first of equals.
func bestOf(attempts []*attempt) *attempt {
	best := attempts[0]
	for _, a := range attempts[1:] {
		if a.better(best) {
			best = a
		}
	}
	return best
}

// judge counts right answers and measures the log loss.
func (h *heldOut) judge(a *attempt) error {
	k := len(h.d.Classes.Labels)
	a.correct = make([]bool, len(h.class))
	for i, y := range h.class {
		// The first of the classes with the highest score is the answer, as in predict.
		row := a.scores[i*k : (i+1)*k]
		top := 0
		for c, s := range row {
			if s > row[top] {
				top = c
			}
		}
		if a.correct[i] = top == y; a.correct[i] {
			a.right++
		}
	}
	var err error
	a.logLoss, err = decide.LogLoss(a.scores, k, h.class, h.mixes, h.opts.Threads)
	return err
}

// try trains a method with each prior, ascending, and judges it.
func (h *heldOut) try(ctx context.Context, m Method, priors []float64) ([]*attempt, error) {
	attempts := make([]*attempt, len(priors))
	for n, prior := range priors {
		attempts[n] = &attempt{method: m, prior: prior}
	}
	for n := range h.parts {
		if err := h.tryPart(ctx, &h.parts[n], m, attempts, fmt.Sprintf("%s: choosing, part %d of %d", m, n+1, len(h.parts))); err != nil {
			return nil, err
		}
	}
	for _, a := range attempts {
		if err := h.judge(a); err != nil {
			return nil, err
		}
	}
	return attempts, nil
}

// tryPart trains a method on the rows outside a part and appends the scores of
// the rows inside to the attempts, one a prior.
func (h *heldOut) tryPart(ctx context.Context, p *heldOutPart, m Method, attempts []*attempt, stage string) error {
	f, o, x, err := h.prepare(p, m, stage)
	if err != nil {
		return err
	}
	var priors []float64
	for _, a := range attempts {
		priors = append(priors, a.prior)
	}
	// FitPath starts each prior where the one before ended, and visits them in this order.
	next := 0
	return softmax.FitPath(ctx, f.Examples, len(h.d.Classes.Labels), o, priors, func(_ float64, l *softmax.Layer, _ softmax.Record) error {
		m.scale(l, h.opts.Threads)
		attempts[next].scores = append(attempts[next].scores, classScores(l, x, h.opts.Threads)...)
		next++
		return nil
	})
}

// prepare returns what a fit of a method on the rows outside a part needs, and the features
// of the rows inside.
func (h *heldOut) prepare(p *heldOutPart, m Method, stage string) (f *corpus.Fitted, o softmax.Options, inside matrix.Matrix, err error) {
	if f, err = h.fit(p, m.inputs()); err != nil {
		return nil, o, nil, err
	}
	if o, _, err = options(h.d, f, m, h.opts, stage); err != nil {
		return nil, o, nil, err
	}
	o.Trainer = toChoose(o.Trainer)
	inside, err = f.Features.Matrix(h.d.Table, p.test)
	return f, o, inside, err
}

// choosingTolerance is that of fits which only serve to choose: far below what
// a held-out row can show.
const choosingTolerance = 3e-3

// roughTolerance is that of squared hinge where fits take long.
const roughTolerance = 5e-3

// toChoose returns a trainer for a fit that only serves to choose.
func toChoose(t softmax.Trainer) softmax.Trainer {
	if c, ok := t.(softmax.Converge); ok && c.Tolerance == 0 {
		c.Tolerance = choosingTolerance
		return c
	}
	return t
}

// fit returns the features of the rows outside a part.
func (h *heldOut) fit(p *heldOutPart, in corpus.Inputs) (*corpus.Fitted, error) {
	if p.fitted[in] == nil {
		f, err := h.d.Fit(p.train, in)
		if err != nil {
			return nil, err
		}
		p.fitted[in] = f
	}
	return p.fitted[in], nil
}

// The priors that are tried unless the user gives some: these, then weaker or
// stronger ones while the last one gains.
var (
	firstPriors    = []float64{3, 10, 30, 100}
	weakerPriors   = [][]float64{{300, 1000}, {3000, 10000}}
	strongerPriors = []float64{0.3, 1}
)

// path tries a method with the priors of the options, or with default ones, and
// returns the attempts in ascending order of the prior.
func (h *heldOut) path(ctx context.Context, m Method) ([]*attempt, error) {
	if priors := h.opts.Priors; priors != nil {
		return h.try(ctx, m, priors)
	}
	if IgnoresPrior(h.opts.Trainer) {
		return h.try(ctx, m, []float64{softmax.DefaultPrior})
	}
	all, err := h.try(ctx, m, firstPriors)
	if err != nil {
		return nil, err
	}
	// The best prior may lie beyond one end of the first ones: there more are tried.
	if gains(all[0], all[1:]) {
		stronger, err := h.try(ctx, m, strongerPriors)
		return slices.Concat(stronger, all), err
	}
	for _, weaker := range weakerPriors {
		if h.hinge && !h.few {
			break // where so weak a prior helps, squared hinge does too, in a tenth of the time
		}
		if last := len(all) - 1; !gains(all[last], all[:last]) {
			break
		}
		more, err := h.try(ctx, m, weaker)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// gains tells whether an attempt is worth a step beyond all others: it has more
// right answers, or as many and a lower log loss by leastGain.
func gains(a *attempt, others []*attempt) bool {
	b := bestOf(others)
	return a.better(b) && (a.right > b.right || a.logLoss < (1-leastGain)*b.logLoss)
}

// candidates lists attempts as a model file keeps them.
func candidates(attempts []*attempt) []softmax.Candidate {
	var out []softmax.Candidate
	for _, a := range attempts {
		out = append(out, softmax.Candidate{
			Method: a.method.String(), Prior: a.prior,
			Accuracy: float64(a.right) / float64(len(a.correct)), LogLoss: a.logLoss,
		})
	}
	return out
}
