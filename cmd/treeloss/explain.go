package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/explain"
	"github.com/treeloss/treeloss/softmax"
)

// explainFlags are the flags of treeloss explain.
type explainFlags struct {
	data    dataFlags
	model   string
	top     int
	against string
}

// newExplain returns treeloss explain.
//
//	reads    --model, linear only, and one file of examples or standard input
//	does     explain.Explainer, one thread
//	prints   an answer and the parts of its score for each example, in their order
//	exits    1 for files, and for a class --against that the model does not have; 2 for flags
func newExplain(a *app) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain --model MODEL [FILE | -]",
		Short: "Say why the model gives each example its answer",
		Args:  oneInput("explain"),
		RunE: func(c *cobra.Command, args []string) error {
			f.data.data = fileOrStdin(args)
			return f.run(c.Context(), a)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	flags.IntVar(&f.top, "top", 5, "number of features to name for the answer, and as many against it; more of them for long texts")
	flags.StringVar(&f.against, "against", "", "class to compare the answer with, instead of the runner-up: the one that you expected")
	flags.StringVar(&f.data.Text, "text", "", "column of the text (default as in training, or text, sentence, question and the like)")
	flags.StringSliceVar(&f.data.Columns, "features", nil, "numeric columns in the model's order, separated by commas, if not named as in training")
	f.data.addFormat(c)
	flags.BoolVar(&a.json, "json", false, "one JSON object a line for each example instead of text")
	return c
}

func (f *explainFlags) run(ctx context.Context, a *app) error {
	defer f.data.skipped.in(a)()
	if f.top < 1 {
		return usagef("--top %d, want at least 1", f.top)
	}
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	e, err := explain.New(m, explain.Options{Features: f.top, Against: f.against})
	if err != nil {
		return fmt.Errorf("%s: %w", f.model, err)
	}
	return interruptible(ctx, isStream(f.data.data), func() error { return f.explain(ctx, a, m, e) })
}

func (f *explainFlags) explain(ctx context.Context, a *app, m *softmax.Model, e *explain.Explainer) error {
	x, err := f.data.open(a, classify.Linear(m), 1, true)
	if err != nil {
		return err
	}
	defer x.Close()
	answers := make([]*explain.Explanation, x.BlockSize())
	out := bufio.NewWriterSize(a.out, 1<<16)
	return x.Each(ctx,
		func(_, at int, x dataset.Example, _ []float32) (err error) {
			answers[at], err = e.Explain(ctx, x)
			return err
		},
		func(block []dataset.Example) error {
			for i, x := range block {
				if a.json {
					if err := encode(out, answers[i]); err != nil {
						return err
					}
					continue
				}
				if err := answers[i].WriteText(out, x); err != nil {
					return err
				}
			}
			return out.Flush()
		})
}
