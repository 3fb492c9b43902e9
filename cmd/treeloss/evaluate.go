package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/network"
)

// evaluateFlags are the flags of treeloss evaluate.
type evaluateFlags struct {
	data     dataFlags
	decision decisionFlags
	oos      string
	model    string
	unknown  string
	perClass bool
	threads  int

	backend    string // of networks
	classNames string

	flags *pflag.FlagSet // to tell what was given
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

The model may be a network that train --network made; --data are then pictures or
texts as train takes them.

Columns are found as in training: the numeric ones by the names that the model
knows, label and text by the names that train was given. Rates are printed in
points, 0 to 100, and are fractions from 0 to 1 with --json.

  top-5 accuracy       the right class is among the five most probable
  macro F1             mean F1 of the classes, each of the same weight
  similarity accuracy  mean cosine of the predicted and the right class, by the
                       label vectors of the model if it was trained with some,
                       else by the n-grams of their names: a near miss counts
                       in part
  log loss             mean -log of the probability of the right class, in nats
  calibration error    mean gap between confidence and accuracy

In JSONL a row may share its label among classes ("labels": {"cat": 0.75, "dog":
0.25}). The class with the largest share is then the right one, and log loss the
cross entropy against the shares, which is above 0 for the best of models. A share
of a label that was never trained makes the row one of --unknown-labels.

With a tree over the classes, that of the model or --taxonomy:

  mistake severity       mean height of the lowest common ancestor of the predicted
                         and the right class, over the mistakes; to be read with
                         the accuracy, since many small mistakes lower it
  hierarchical distance  the same over all examples, of the 1, 5, 20 most probable
  hierarchical F1        of the nodes on the paths of the predicted and right class

` + decideHelp + `
Evaluate prints how often such answers are right and how much they say.

--oos FILE has examples of no class: labelled ones, or lines of text. AUROC is the
chance that an answer to an example of --data is more probable than one to these.
A decision is right if an example in scope gets its class, or one out of scope gets
no answer, below --reject; without it below 0.5, where an answer is more likely
wrong than right. Detection asks only whether there was an answer. The best
threshold for these very examples is printed too: it flatters. To choose one,
evaluate held-out examples with as large a share out of scope as is to be
expected, and give what they say to --reject: it depends on that share.`,
		Example: `  treeloss evaluate --model intents.safetensors --data test.csv
  treeloss evaluate --model intents.safetensors --data test.csv --per-class
  treeloss evaluate --model m.safetensors --data test.tsv.gz --label topic --json
  treeloss evaluate --model m.safetensors --data test.csv --taxonomy groups.csv --confidence 0.9
  treeloss evaluate --model m.safetensors --data test.csv --oos strange.txt --reject 0.4`,
		Args: func(_ *cobra.Command, args []string) error {
			f.data.data = append(f.data.data, args...) // --data a.csv b.csv
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.decision.check(c); err != nil {
				return err
			}
			return f.run(c.Context(), a)
		},
	}
	f.data.addColumns(c)
	f.decision.add(c)
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	flags.StringVar(&f.unknown, "unknown-labels", unknownWrong, "examples whose label was never trained: wrong counts them as wrong, skip leaves them out, error stops at the first")
	flags.StringVar(&f.oos, "oos", "", "examples of no class, a file of texts or of rows with other labels: measures how well the model tells that it does not know")
	flags.BoolVar(&f.perClass, "per-class", false, "print all classes, not only the worst ones")
	flags.IntVar(&f.threads, "threads", 0, threadsHelp)
	addBackend(c, &f.backend)
	flags.StringVar(&f.classNames, "class-names", "", classNamesHelp)
	a.jsonFlag(c)
	f.flags = flags
	choices(c, "unknown-labels", unknownWrong, unknownError, unknownSkip)
	return c
}

func (f *evaluateFlags) run(ctx context.Context, a *app) error {
	if err := checkBackend(f.backend); err != nil {
		return err
	}
	if len(f.data.data) == 0 {
		return usagef("no data: name a file of labelled examples with --data")
	}
	if !slices.Contains([]string{unknownWrong, unknownError, unknownSkip}, f.unknown) {
		return usagef("--unknown-labels %q, want wrong, error or skip", f.unknown)
	}
	if f.oos == "-" && isStream(f.data.data) {
		return usagef("--data and --oos cannot both be the standard input; name a file for one of them")
	}
	threads, err := threadsOf(f.threads)
	if err != nil {
		return err
	}
	if bert.IsFile(f.model) {
		return f.runBERT(ctx, a)
	}
	if network.IsFile(f.model) {
		return f.runNetwork(ctx, a)
	}
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	if err := unheeded(f.flags, f.model, linearKind, "backend", "class-names"); err != nil {
		return err
	}
	tree, from, err := f.decision.tree(m, f.model)
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
	f.decision.hint(a, m)
	e, err := newEvaluation(m, f.unknown, threads, f.decision, tree)
	if err != nil {
		return err
	}
	e.treeOf = from
	if err := inBlocks(ctx, r, threads, blockSize, e.add, e.tally); err != nil {
		return err
	}
	e.warn(a)
	if e.rows == e.strangers && f.unknown == unknownSkip {
		return fmt.Errorf("%s: none of the %d examples has a label of %s; is it the right model, and --label the right column?", f.data.first(), e.rows, f.model)
	}
	if f.oos != "" {
		if err := e.readOutOfScope(ctx, a, f.data, f.oos, threads); err != nil {
			return err
		}
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
