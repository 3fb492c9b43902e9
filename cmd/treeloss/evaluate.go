package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// evaluateFlags are the flags of treeloss evaluate.
type evaluateFlags struct {
	data     dataFlags
	model    string
	unknown  string
	perClass bool
	threads  int
}

// What --unknown-labels may say about examples whose label was never trained.
const (
	unknownWrong = "wrong"
	unknownError = "error"
	unknownSkip  = "skip"
)

func newEvaluate(a *app) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use:   "evaluate --model MODEL --data FILE",
		Short: "Measure a model on labelled examples",
		Long: `Evaluate runs a model on labelled examples that it was not trained on and prints
how good it is, which classes it does worst on and what it takes for what.

Columns are found as in training: the numeric ones by the names that the model
knows, label and text by the names that train was given. Rates are printed in
points, 0 to 100, and are fractions from 0 to 1 with --json.

  top-5 accuracy       the right class is among the five most probable
  macro F1             mean F1 of the classes, each of the same weight
  similarity accuracy  mean cosine of the names (their n-grams) of the predicted
                       and the right class: a near miss counts in part
  log loss             mean -log of the probability of the right class, in nats
  calibration error    mean gap between confidence and accuracy`,
		Example: `  treeloss evaluate --model intents.safetensors --data test.csv
  treeloss evaluate --model intents.safetensors --data test.csv --per-class
  treeloss evaluate --model m.safetensors --data test.tsv.gz --label topic --json`,
		Args: func(_ *cobra.Command, args []string) error {
			f.data.data = append(f.data.data, args...) // --data a.csv b.csv
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	f.data.addColumns(c)
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	flags.StringVar(&f.unknown, "unknown-labels", unknownWrong, "examples whose label was never trained: wrong counts them as wrong, skip leaves them out, error stops at the first")
	flags.BoolVar(&f.perClass, "per-class", false, "print all classes, not only the worst ones")
	flags.IntVar(&f.threads, "threads", 0, "processor threads, 0 for all; never changes a result")
	a.jsonFlag(c)
	choices(c, "unknown-labels", unknownWrong, unknownError, unknownSkip)
	return c
}

func (f *evaluateFlags) run(ctx context.Context, a *app) error {
	if len(f.data.data) == 0 {
		return usagef("no data: name a file of labelled examples with --data")
	}
	if !slices.Contains([]string{unknownWrong, unknownError, unknownSkip}, f.unknown) {
		return usagef("--unknown-labels %q, want wrong, error or skip", f.unknown)
	}
	threads, err := threadsOf(f.threads)
	if err != nil {
		return err
	}
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	r, err := f.data.openFor(a, m, false)
	if err != nil {
		return err
	}
	defer r.Close()
	a.logf("%s", r.Describe())
	start := time.Now()
	e, err := newEvaluation(m, f.unknown, threads)
	if err != nil {
		return err
	}
	if err := inBlocks(ctx, r, threads, blockSize, e.add, e.tally); err != nil {
		return err
	}
	e.warn(a)
	if e.rows == e.strangers && f.unknown == unknownSkip {
		return fmt.Errorf("%s: none of the %d examples has a label of %s; is it the right model, and --label the right column?", f.data.first(), e.rows, f.model)
	}
	result, err := e.result(f.model, time.Since(start))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(result)
	}
	result.print(a, f.perClass)
	return nil
}

// evaluation counts how a model does. Each worker has a predictor and a counter
// of its own; the sums are exact, so merging them in any order is the same.
type evaluation struct {
	model      *softmax.Model
	class      map[string]int
	unknown    string
	predictors []*softmax.Predictor
	counters   []*score.Counter
	similarity *score.Similarity

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

func newEvaluation(m *softmax.Model, unknown string, threads int) (*evaluation, error) {
	e := &evaluation{model: m, unknown: unknown, class: make(map[string]int, len(m.Labels)), stranger: make(map[string]*stranger)}
	for c, label := range m.Labels {
		e.class[label] = c
	}
	var err error
	if e.similarity, err = similarityOf(m.Labels); err != nil {
		return nil, err
	}
	for range threads {
		counter, err := score.NewCounter(len(m.Labels), score.Options{Similarity: e.similarity})
		if err != nil {
			return nil, err
		}
		e.counters = append(e.counters, counter)
		e.predictors = append(e.predictors, m.NewPredictor())
	}
	return e, nil
}

// add counts one example.
func (e *evaluation) add(worker, _ int, x dataset.Example) error {
	truth, known := e.class[x.Label]
	if !known {
		switch e.unknown {
		case unknownError:
			return fmt.Errorf("%v: label %q was never trained; correct it, or choose --unknown-labels wrong or skip", x.Place, x.Label)
		case unknownSkip:
			return nil
		}
		truth = score.Unknown
	}
	p, err := e.predictors[worker].Probabilities(x)
	if err != nil {
		return err
	}
	return e.counters[worker].Add(truth, p)
}

// tally notes the labels of a block that were never trained.
func (e *evaluation) tally(block []dataset.Example) error {
	for _, x := range block {
		e.rows++
		if _, known := e.class[x.Label]; known {
			continue
		}
		e.strangers++
		s := e.stranger[x.Label]
		if s == nil {
			s = &stranger{Label: x.Label, First: x.Place.String()}
			e.stranger[x.Label] = s
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
