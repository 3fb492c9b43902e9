package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// Policy says what becomes of examples whose label was never trained.
type Policy string

// The policies.
const (
	Wrong Policy = "wrong" // they count as wrong; also ""
	Skip  Policy = "skip"  // they are left out
	Stop  Policy = "error" // the first is an error
)

// Check returns an *option.Error for another policy.
func (p Policy) Check() error {
	ok := p == "" || p == Wrong || p == Skip || p == Stop
	return option.Check("UnknownLabels", p, ok, "wrong, error or skip")
}

// Options sets up New. The zero value measures the most probable classes.
type Options struct {
	// Rule says how probabilities become the answers that are measured: Cost
	// decides all of them. Confidence and Reject measure answers of their own, and
	// may both be set.
	Rule          decide.Rule
	Tree          *labeltree.Tree // takes the place of that of the classifier
	UnknownLabels Policy

	// Confidences are measured beside that of the rule, for Hedging; they need a tree.
	Confidences []float64

	// Rows, if set, is called with each example that counts, in the order of the
	// examples and on one goroutine at a time.
	Rows func(Row)
}

// Evaluation counts how a classifier does. Each goroutine has counters of its own;
// their sums are exact, so that merging them in any order is the same.
type Evaluation struct {
	about   classify.About
	options Options
	class   map[string]int
	by      string // what similarity is by
	counted score.Options
	workers []*worker

	// Of what was measured, in the order of the examples.
	block   []outcome  // of the block at work
	sure    []sureness // of all examples that count
	hedging []*hedging // of the same, one for each confidence: that of the rule first
	losses  losses     // of those whose label was trained
	outside []float64  // confidence in the answers to examples out of scope

	examples int
	unknown  unknownLabels
}

// worker is what one goroutine counts with.
type worker struct {
	decider *decide.Decider
	counter *score.Counter
	hedgers []*decide.Decider // one for each confidence
}

// outcome is what was found about one example.
type outcome struct {
	sureness
	hedged []hedge // one for each confidence
	loss   float64 // in nats; of a label that was trained
	row    Row     // if rows were asked for
}

// sureness is how sure the model was of one answer, and whether rightly.
type sureness struct {
	confidence float32
	right      bool
	known      bool // the label was trained
}

// New prepares an evaluation. A rule that needs a tree where there is none is a
// decide.ErrNoTree, an option out of range an *option.Error.
func New(c classify.Classifier, o Options) (*Evaluation, error) {
	if c.About().Multilabel != nil {
		return nil, fmt.Errorf("a model of %w, which have no one right class: its measures are those of Multilabel", ErrMultilabel)
	}
	e := &Evaluation{about: c.About(), options: o, class: map[string]int{}, unknown: unknownLabels{}}
	for range e.confidences() {
		e.hedging = append(e.hedging, newHedging(len(e.about.Labels)))
	}
	if err := o.UnknownLabels.Check(); err != nil {
		return nil, err
	}
	e.options.UnknownLabels = cmp.Or(o.UnknownLabels, Wrong)
	// A tree of the options goes before that of the model in decisions and measures alike.
	if o.Tree != nil {
		e.about.Tree = o.Tree
	}
	// Labels of a model are distinct.
	for i, label := range e.about.Labels {
		e.class[label] = i
	}
	// The vectors of the model if it was trained with some, else the n-grams of the names.
	similarity, by, err := score.SimilarityOf(e.about.Labels, e.about.Vectors)
	if err != nil {
		return nil, err
	}
	e.by, e.counted = by, score.Options{Similarity: similarity, Tree: e.about.Tree}
	return e, e.grow(1)
}

// confidences are those at which answers are hedged.
func (e *Evaluation) confidences() []float64 {
	if c := e.options.Rule.Confidence; c != 0 {
		return append([]float64{c}, e.options.Confidences...)
	}
	return e.options.Confidences
}

// grow makes sure that there are n workers.
func (e *Evaluation) grow(n int) error {
	k, tree, rule := len(e.about.Labels), e.about.Tree, e.options.Rule
	for len(e.workers) < n {
		w := new(worker)
		var err error
		if w.counter, err = score.NewCounter(k, e.counted); err != nil {
			return err
		}
		// Cost and Reject decide one answer; a hedged one of Confidence is counted beside it.
		if w.decider, err = decide.NewDecider(decide.Rule{Cost: rule.Cost, Reject: rule.Reject}, k, tree); err != nil {
			return err
		}
		for _, c := range e.confidences() {
			hedger, err := decide.NewDecider(decide.Rule{Confidence: c}, k, tree)
			if err != nil {
				return err
			}
			w.hedgers = append(w.hedgers, hedger)
		}
		e.workers = append(e.workers, w)
	}
	return nil
}

// Count runs the classifier over labelled examples and counts them.
func (e *Evaluation) Count(ctx context.Context, x classify.Examples) error {
	if err := e.prepare(x); err != nil {
		return err
	}
	// count runs on any goroutine, tally on one, block by block in the order of the examples.
	return x.Each(ctx, e.count, e.tally)
}

// Examples returns how many examples were counted or skipped so far.
func (e *Evaluation) Examples() int { return e.examples }

// prepare makes room for a block and for all goroutines.
func (e *Evaluation) prepare(x classify.Examples) error {
	// Goroutines write outcomes by their place in the block: no lock, and the order of the
	// examples is kept.
	e.block = slices.Grow(e.block[:0], x.BlockSize())[:x.BlockSize()]
	return e.grow(x.Workers())
}

// count counts one example, on the goroutine of that number.
func (e *Evaluation) count(number, at int, x dataset.Example, p []float32) error {
	truth, mix, unknown := e.truth(x)
	known := truth != score.Unknown
	if !known {
		switch e.options.UnknownLabels {
		case Stop:
			return fmt.Errorf("%v: label %q was never trained; correct it, or choose Options.UnknownLabels wrong or skip", x.Place, unknown)
		case Skip:
			return nil
		}
	}
	w := e.workers[number]
	a, err := w.decider.Decide(p)
	if err != nil {
		return err
	}
	class := a.Choices[0].Class
	hedged := e.block[at].hedged[:0] // of an earlier block
	e.block[at] = outcome{sureness: sureness{confidence: p[class], right: class == truth, known: known}}
	if known {
		e.block[at].loss = logLoss(truth, mix, p)
	}
	if e.options.Rows != nil {
		e.block[at].row = NewRow(x, e.about.Labels, truth, class, p)
	}
	for _, hedger := range w.hedgers {
		h, err := newHedge(hedger, truth, p)
		if err != nil {
			return err
		}
		hedged = append(hedged, h)
	}
	e.block[at].hedged = hedged
	return score.Count(w.counter, truth, mix, p, a.Costs)
}

// truth returns the class of an example, and its shares if it has several labels:
// then the class of the largest. If one of the labels was never trained, it is that
// one, and the class score.Unknown.
func (e *Evaluation) truth(x dataset.Example) (class int, mix score.Mix, unknown string) {
	class, known := e.class[x.Label]
	if !known {
		return score.Unknown, mix, x.Label
	}
	if len(x.Mix) < 2 {
		return class, mix, ""
	}
	for _, s := range x.Mix {
		c, known := e.class[s.Label]
		if !known {
			return score.Unknown, score.Mix{}, s.Label
		}
		mix.Class, mix.Share = append(mix.Class, int32(c)), append(mix.Share, float32(s.Share))
	}
	return class, mix, ""
}

// tally notes how sure the answers of a block are, and the labels never trained.
func (e *Evaluation) tally(block []dataset.Example) error {
	for i, x := range block {
		e.examples++
		class, _, label := e.truth(x)
		if class != score.Unknown || e.options.UnknownLabels == Wrong {
			e.sure = append(e.sure, e.block[i].sureness)
			for n, h := range e.block[i].hedged {
				e.hedging[n].add(h)
			}
			if class != score.Unknown {
				e.losses.add(e.block[i].loss)
			}
			if e.options.Rows != nil {
				e.options.Rows(e.block[i].row)
			}
		}
		if class != score.Unknown {
			continue
		}
		e.unknown.add(UnknownLabel{label, 1, x.Place.String()})
	}
	return nil
}

// CountOutOfScope runs the classifier over examples that belong to none of its
// classes; they may have other labels, or none.
func (e *Evaluation) CountOutOfScope(ctx context.Context, x classify.Examples) error {
	if err := e.prepare(x); err != nil {
		return err
	}
	return x.Each(ctx, func(number, at int, x dataset.Example, p []float32) error {
		if _, known := e.class[x.Label]; known {
			return fmt.Errorf("%v: label %q is a class of the model; examples out of scope are of none, take it out", x.Place, x.Label)
		}
		a, err := e.workers[number].decider.Decide(p)
		if err != nil {
			return err
		}
		e.block[at].confidence = p[a.Choices[0].Class]
		return nil
	}, func(block []dataset.Example) error {
		for i := range block {
			e.outside = append(e.outside, float64(e.block[i].confidence))
		}
		return nil
	})
}
