package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/compare"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/quickstart"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/tune"
)

// quickstartFlags are the flags of treeloss quickstart.
type quickstartFlags struct {
	model, report, save string
	threads             int
}

// newQuickstart returns treeloss quickstart.
//
//	reads    the examples inside the program; no file and no network
//	writes   what --model, --save-data and --report name, and nothing else
//	prints   the comparison of four methods, the accuracy of the best one trained on all
//	         examples, and two answers of it
//	exits    1 for what cannot be written; 2 for flags
func newQuickstart(a *app) *cobra.Command {
	var f quickstartFlags
	c := &cobra.Command{
		Use:   "quickstart",
		Short: "Do the main job on real data inside the program",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	c.Flags().StringVar(&f.model, "model", "", "file to keep the model in that all examples trained, to try predict and explain on")
	c.Flags().StringVar(&f.save, "save-data", "", "folder to write the examples to, as train.csv and test.csv, to try the other commands on")
	reportFlag(c, &f.report)
	c.Flags().IntVar(&f.threads, "threads", 0, threadsHelp)
	a.jsonFlag(c)
	return c
}

// shots are the numbers of training rows of each class to compare with; the table is of
// the last, the others are further points of the report's learning curve.
func (f *quickstartFlags) shots() []int {
	if f.report == "" {
		return []int{5}
	}
	return []int{1, 3, 5}
}

// check refuses files that cannot be written, before the work begins.
func (f *quickstartFlags) check() error {
	if _, err := threadsOf(f.threads); err != nil {
		return err
	}
	if f.model != "" {
		if err := checkTarget(f.model); err != nil {
			return err
		}
	}
	if f.report != "" {
		return checkReport("--report", f.report)
	}
	return nil
}

func (f *quickstartFlags) run(ctx context.Context, a *app) error {
	began := time.Now()
	if err := f.check(); err != nil {
		return err
	}
	if f.save != "" {
		if err := quickstart.WriteFiles(f.save); err != nil {
			return fmt.Errorf("--save-data: %w", err)
		}
		a.logf("the examples are in %s and %s", filepath.Join(f.save, "train.csv"), filepath.Join(f.save, "test.csv"))
	}
	data, train, test, err := quickstart.Data(ctx)
	if err != nil {
		return err
	}
	a.logf("%d classes, %d examples to test on; %s", len(data.Classes.Labels), len(test), quickstart.Attribution)
	var draws []compare.Draw
	for _, shots := range f.shots() {
		splits, err := data.Shots(train, shots, 1, test)
		if err != nil {
			return err
		}
		draws = append(draws, compare.Draw{Shots: shots, Splits: splits})
	}
	methods, err := quickstart.Methods()
	if err != nil {
		return err
	}
	opts := tune.Options{Seed: 1, Threads: f.threads}
	tables, err := runComparisons(ctx, a, data, draws, methods, compare.Options{Tune: opts})
	if err != nil {
		return err
	}
	table := tables[len(tables)-1]
	if !a.json {
		table.WriteText(a.out)
	}
	best := 0
	for m, r := range table.Results {
		if r.Accuracy > table.Results[best].Accuracy {
			best = m
		}
	}
	bar := a.bar()
	bar.Examples = len(train)
	opts.Progress = bar.Train
	model, err := quickstart.Train(ctx, data, train, test, methods[best], opts, program(), f.model)
	bar.Clear()
	switch {
	case a.json: // of a model that could not be saved, too: the comparison is not lost
		out := struct {
			*compare.Comparison
			Model *quickstart.Model `json:"model,omitempty"`
		}{Comparison: table}
		if err == nil {
			out.Model = &model
		}
		err = cmp.Or(err, a.printJSON(out))
	case err == nil:
		f.printAnswers(a, model)
	}
	if err != nil || f.report == "" {
		return err
	}
	page := compare.Page{
		Title:  "Quickstart: 77 intents of bank customers",
		Labels: data.Classes.Labels, Tables: tables, Tree: table.Tree,
		Facts: []report.Fact{{Name: "Data", Value: quickstart.Attribution}, {Name: "Seeds", Value: "1, one draw"}},
	}
	return saveReport(a, page.Report(), f.report, time.Since(began))
}

// printAnswers prints what the model answers, and what to do next.
func (f *quickstartFlags) printAnswers(a *app, m quickstart.Model) {
	fmt.Fprintf(a.out, "\n%s trained on all %d training rows has %s %% accuracy and answers:\n", m.Method, m.Examples, console.Points(m.Accuracy))
	for _, x := range m.Predictions {
		fmt.Fprintf(a.out, "  %-52q %s (%.0f %%)\n", x.Text, x.Label, 100*x.Probability)
	}
	file := f.model
	if file == "" {
		file = "bank.safetensors"
		fmt.Fprintf(a.out, "\nNext, keep this model and use it:\n  treeloss quickstart --model %s\n", file)
	} else {
		fmt.Fprintf(a.out, "\nThis model is in %s. Next, use it:\n", file)
	}
	folder := f.save
	if folder == "" {
		folder = "bank"
	}
	fmt.Fprintf(a.out, "  echo %q | treeloss predict --model %s --top 3\n  echo %q | treeloss explain --model %s\n",
		nextQuestion, file, nextQuestion, file)
	if f.save == "" {
		fmt.Fprintf(a.out, "or train on these examples, or on a file of your own in this form:\n  treeloss quickstart --save-data %s\n", folder)
	} else {
		fmt.Fprintf(a.out, "or train on these examples, or on a file of your own in this form:\n")
	}
	fmt.Fprintf(a.out, `  treeloss train --data %[1]s/train.csv --model my.safetensors
  treeloss compare --data %[1]s/train.csv --test %[1]s/test.csv --shots 5 --seeds 5
`, filepath.ToSlash(folder))
}

// nextQuestion is what a newcomer is told to ask the model.
const nextQuestion = "my card has not come"
