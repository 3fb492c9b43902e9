package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/labeltree"
)

// modelFlags name a model of any kind and what runs it.
type modelFlags struct {
	model   string
	backend string
	beam    int
	threads int
	balance string // of commands with addBalance

	flags *pflag.FlagSet // of the command, to tell what was given
}

func (f *modelFlags) add(c *cobra.Command) {
	f.flags = c.Flags()
	f.flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	f.flags.IntVar(&f.threads, "threads", 0, threadsHelp)
	f.flags.IntVar(&f.beam, "beam", 0, "models trained with --mode tree: leaves to look at, fewer for speed (default as training chose)")
	addBackend(c, &f.backend)
}

// addBalance adds --class-balance.
func (f *modelFlags) addBalance(c *cobra.Command) {
	c.Flags().StringVar(&f.balance, "class-balance", "", "how frequent classes are: uniform, or a file of label,weight rows (default as in training)")
	suggest(c, "class-balance", corpus.Uniform)
}

// open opens the model, and refuses flags that have no effect with it.
func (f *modelFlags) open(a *app) (classify.Classifier, error) {
	if f.model == "" {
		return nil, usagef("no model: name the file that treeloss train wrote with --model")
	}
	if _, err := threadsOf(f.threads); err != nil {
		return nil, err
	}
	if f.beam < 1 && f.flags.Changed("beam") {
		return nil, usagef("--beam %d, want at least 1", f.beam)
	}
	m, err := anymodel.Open(f.model, anymodel.Options{Backend: f.backend, Beam: f.beam, Log: a.logf})
	if err != nil {
		return nil, err
	}
	if err := checkUse(f.flags, f.model, m.About().Kind); err != nil || f.balance == "" {
		return m, err
	}
	weights, err := corpus.ReadBalance(f.balance)
	if err != nil {
		return nil, err
	}
	if m, err = classify.Rebalance(m, weights); err != nil {
		return nil, fmt.Errorf("--class-balance %s with %s: %w", f.balance, f.model, err)
	}
	return m, nil
}

// decisionFlags say how probabilities become an answer.
type decisionFlags struct {
	rule     decide.Rule
	target   float64
	decode   string
	taxonomy string
}

// decodeCost is the value of --decode that takes the class of least expected cost.
const decodeCost = "cost"

func (f *decisionFlags) add(c *cobra.Command) {
	flags := c.Flags()
	addWord(c, &f.decode, "decode", "likely, the most probable class, or cost, the class of least expected mistake severity", "likely", decodeCost)
	flags.Float64Var(&f.rule.Confidence, "confidence", 0, "answer with the deepest node of the tree that has this probability, such as 0.9")
	flags.Float64Var(&f.rule.Reject, "reject", 0, "answer nothing below this probability, such as 0.5: where some examples belong to no class")
	flags.Float64Var(&f.target, "target-accuracy", 0, "answer only where held-out examples support that accuracy of the answers, such as 0.95")
	flags.Float64Var(&f.rule.Threshold, "threshold", 0, "models of several labels: answer the classes from this probability on (default as training chose)")
	flags.StringVar(&f.taxonomy, "taxonomy", "", "tree over the classes, in place of that of the model: a taxonomy or a tree file, as for train")
}

// check refuses values that no rule has.
func (f *decisionFlags) check(c *cobra.Command) error {
	if c.Flags().Changed("confidence") && f.rule.Confidence == 0 { // which means none
		return usagef("--confidence 0, want a probability above 0, up to 1, such as 0.9")
	}
	if c.Flags().Changed("threshold") && f.rule.Threshold == 0 { // which means those of the model
		return usagef("--threshold 0, want a probability above 0, up to 1, such as 0.5")
	}
	f.rule.Cost = f.decode == decodeCost
	if !c.Flags().Changed("target-accuracy") {
		f.target = math.NaN()
	} else if f.taxonomy != "" {
		return usagef("--target-accuracy goes by the tree of the model, for which examples were held out; leave out --taxonomy")
	}
	return nil
}

// promise sets the rule of --target-accuracy, if that was given, and says what it rests on.
func (f *decisionFlags) promise(a *app, about classify.About, model string) error {
	if math.IsNaN(f.target) {
		return nil
	}
	p, err := classify.Target(about, f.rule, f.target)
	if errors.Is(err, classify.ErrNoPromise) {
		return fmt.Errorf("%s: %w", model, err)
	}
	if err == nil {
		f.rule = p.Rule
		a.logf("%v", p)
	}
	return err
}

// tree reads the tree of --taxonomy, nil if it was not given. A rule that is left
// without one is refused.
func (f *decisionFlags) tree(about classify.About, model string) (*labeltree.Tree, error) {
	if err := classify.CheckRule(about, f.rule); err != nil {
		return nil, err
	}
	if f.taxonomy != "" {
		return corpus.ReadTaxonomy(f.taxonomy, about.Labels)
	}
	if about.Tree == nil && f.rule.NeedsTree() {
		flag := "--confidence"
		if f.rule.Cost {
			flag = "--decode cost"
		}
		return nil, fmt.Errorf("%s: the model has %w, which %s needs; give one with --taxonomy FILE, or train with --taxonomy FILE or --sharing linkage", model, decide.ErrNoTree, flag)
	}
	return nil, nil
}

// hint tells that probabilities are taken at their word which nobody checked.
func (f *decisionFlags) hint(a *app, about classify.About) {
	if (f.rule.Confidence > 0 || f.rule.Reject > 0) && !about.Calibrated {
		a.logf("note: the probabilities of this model are not calibrated, so --confidence and --reject may promise too much or too little; train without --calibrate off")
	}
}

// input is what the flags and the standard input give a model to read.
func (f *dataFlags) input(a *app, threads int) (classify.Input, error) {
	err := f.check()
	if isStream(f.data) {
		a.logTerminal()
	} else if slices.Contains(f.data, "-") {
		err = usagef("- is the standard input and cannot be mixed with files")
	}
	return classify.Input{Paths: f.data, Stdin: a.in, Live: a.live(), Options: f.Options, Threads: threads}, err
}

// open opens examples to go through a model; labels may be missing if unlabelled.
func (f *dataFlags) open(a *app, m classify.Classifier, threads int, unlabelled bool) (classify.Examples, error) {
	in, err := f.input(a, threads)
	if err != nil {
		return nil, err
	}
	in.Options.Unlabelled, in.ClassNames = unlabelled, f.classNames
	x, err := m.Open(in)
	if err == nil {
		a.logf("%s", x.Describe())
	}
	return x, err
}

// interruptible runs work. A read from a terminal or a pipe cannot be broken
// off, so Ctrl-C does not wait for work that reads the standard input.
func interruptible(ctx context.Context, stream bool, work func() error) error {
	if !stream {
		return work()
	}
	return patiently(ctx, 0, work)
}
