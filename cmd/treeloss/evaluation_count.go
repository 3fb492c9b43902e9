package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// evaluation counts how a model does. Each worker has a predictor and a counter
// of its own; the sums are exact, so merging them in any order is the same.
type evaluation struct {
	model      *softmax.Model
	class      map[string]int
	unknown    string
	predictors []*softmax.Predictor
	counters   []*score.Counter
	similarity *score.Similarity
	by         string // what similarity is by

	decision decisionFlags
	tree     *decide.Tree // nil: none
	treeOf   string
	costs    [][]float64       // of each worker, with --decode cost
	hedgings []*decide.Hedging // of each worker, with --confidence
	block    []sureness        // of the block at work
	sure     []sureness        // of all rows that count
	outside  []float64         // confidence in the answers to examples out of scope
	oos      string            // their file

	rows      int
	strangers int // rows with a label that was never trained
	stranger  map[string]*stranger
}

// stranger is a label that was never trained.
type stranger struct {
	Label    string `json:"label"`
	Examples int    `json:"examples"`
	First    string `json:"first"` // file:line
}

// sureness is how sure the model was of one answer, and whether rightly.
type sureness struct {
	confidence float32
	right      bool
	known      bool // the label was trained
}

func newEvaluation(m *softmax.Model, unknown string, threads int, decision decisionFlags, tree *decide.Tree) (*evaluation, error) {
	e := &evaluation{model: m, unknown: unknown, decision: decision, tree: tree, block: make([]sureness, blockSize),
		class: make(map[string]int, len(m.Labels)), stranger: make(map[string]*stranger)}
	for c, label := range m.Labels {
		e.class[label] = c
	}
	var err error
	if e.similarity, e.by, err = similarityOf(m.Labels, m.Vectors); err != nil {
		return nil, err
	}
	options := score.Options{Similarity: e.similarity}
	if tree != nil {
		options.Tree = tree.LabelTree()
	}
	for range threads {
		counter, err := score.NewCounter(len(m.Labels), options)
		if err != nil {
			return nil, err
		}
		e.counters = append(e.counters, counter)
		e.predictors = append(e.predictors, m.NewPredictor())
		e.costs = append(e.costs, make([]float64, len(m.Labels)))
		if decision.hedges {
			e.hedgings = append(e.hedgings, decide.NewHedging(tree))
		}
	}
	return e, nil
}

// add counts one example.
func (e *evaluation) add(worker, at int, x dataset.Example) error {
	truth, mix, stranger := e.truth(x)
	known := truth != score.Unknown
	if !known {
		switch e.unknown {
		case unknownError:
			return fmt.Errorf("%v: label %q was never trained; correct it, or choose --unknown-labels wrong or skip", x.Place, stranger)
		case unknownSkip:
			return nil
		}
	}
	p, err := e.predictors[worker].Probabilities(x)
	if err != nil {
		return err
	}
	if e.decision.hedges {
		h, err := decide.Hedge(e.tree, p, e.decision.confidence)
		if err != nil {
			return err
		}
		if err := e.hedgings[worker].Add(truth, h); err != nil {
			return err
		}
	}
	class, err := e.decide(worker, p)
	if err != nil {
		return err
	}
	e.block[at] = sureness{confidence: p[class], right: class == truth, known: known}
	var costs []float64
	if e.decision.decode == decodeCost {
		costs = e.costs[worker]
	}
	switch {
	case len(mix.Class) > 0:
		return e.counters[worker].AddMix(mix, p, costs)
	case costs != nil:
		return e.counters[worker].AddCosts(truth, p, costs)
	}
	return e.counters[worker].Add(truth, p)
}

// truth returns the class of an example, and its shares if it has several
// labels: then the class of the largest. If one of the labels was never trained,
// it is that one, and the class score.Unknown.
func (e *evaluation) truth(x dataset.Example) (class int, mix score.Mix, stranger string) {
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

// decide returns the class that --decode asks for; with cost it leaves the cost
// of each class with the worker.
func (e *evaluation) decide(worker int, p []float32) (int, error) {
	if e.decision.decode != decodeCost {
		return softmax.Top(p), nil
	}
	order, err := costRank(e.tree, e.costs[worker], p, 1)
	if err != nil {
		return 0, err
	}
	return order[0], nil
}

// tally notes the labels of a block that were never trained.
func (e *evaluation) tally(block []dataset.Example) error {
	for i, x := range block {
		e.rows++
		class, _, label := e.truth(x)
		known := class != score.Unknown
		if known || e.unknown == unknownWrong {
			e.sure = append(e.sure, e.block[i])
		}
		if known {
			continue
		}
		e.strangers++
		s := e.stranger[label]
		if s == nil {
			s = &stranger{Label: label, First: x.Place.String()}
			e.stranger[label] = s
		}
		s.Examples++
	}
	return nil
}

// unknownLabels returns the labels never trained, the most frequent first.
func (e *evaluation) unknownLabels() []stranger {
	list := make([]stranger, 0, len(e.stranger))
	for _, s := range e.stranger {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b stranger) int {
		return cmp.Or(b.Examples-a.Examples, strings.Compare(a.Label, b.Label))
	})
	return list
}

// shownStrangers is how many labels a warning names.
const shownStrangers = 5

func (e *evaluation) warn(a *app) {
	if e.strangers == 0 {
		return
	}
	list := e.unknownLabels()
	var some []string
	for _, s := range list[:min(len(list), shownStrangers)] {
		some = append(some, fmt.Sprintf("%q (%d, first at %s)", s.Label, s.Examples, s.First))
	}
	if more := len(list) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	fate := "they count as wrong"
	if e.unknown == unknownSkip {
		fate = "they are left out"
	}
	a.logf("warning: %d of %d examples have a label that was never trained, %s: %s", e.strangers, e.rows, fate, strings.Join(some, ", "))
}
