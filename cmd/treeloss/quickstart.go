package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/compare"
	"github.com/treeloss/treeloss/internal/quickstart"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

func newQuickstart(a *app) *cobra.Command {
	var model, folder string
	var threads int
	c := &cobra.Command{
		Use:   "quickstart",
		Short: "Do the main job on real data inside the program",
		Long: `Quickstart trains plain cross entropy, the tree loss, names of the classes as
features, and these with the names as further examples, on 5 examples of each of
77 intents of bank customers. Each gets the same tuning on held-out examples and
is tested on 3,080 others. It writes nothing but what --model and --report name;
as the data inside the program has no text, that model has hashes of n-grams for
its vocabulary. With --report it also compares with 1 and 3 examples of each
intent, for a learning curve; compare --help lists what the page shows.

Data: ` + quickstart.Attribution + `.`,
		Example: `  treeloss quickstart
  treeloss quickstart --model bank.safetensors
  treeloss quickstart --report out`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runQuickstart(c.Context(), a, model, folder, threads) },
	}
	c.Flags().StringVar(&model, "model", "", "file to keep the best model in, to try predict and explain on; without it nothing is written")
	reportFlag(c, &folder)
	c.Flags().IntVar(&threads, "threads", 0, threadsHelp)
	a.jsonFlag(c)
	return c
}

// quickstartMethods are compared by the quickstart, cross entropy first.
func quickstartMethods() ([]compare.Method, error) {
	return compare.Methods([]string{tune.Baseline, "v-tree", "names", "names+examples"}, classinfo.Options{}, 0)
}

// sentences are new questions of a bank's customer, written for this tour.
func sentences() []string {
	return []string{
		"the cash machine swallowed my card, what now?",
		"can I get a second card for my daughter?",
	}
}

// quickstartShots is the number of training rows of each class.
const quickstartShots = 5

// quickstartCurve compares with fewer training rows, for a learning curve.
func quickstartCurve(ctx context.Context, a *app, data *corpus.Data, methods []compare.Method, rows int, test []int, opts compare.Options) ([]*compare.Comparison, error) {
	var draws []compare.Draw
	for _, shots := range []int{1, 3} {
		splits, err := data.Shots(dataset.Range(0, rows), shots, 1, test)
		if err != nil {
			return nil, err
		}
		draws = append(draws, compare.Draw{Shots: shots, Splits: splits})
	}
	return runComparisons(ctx, a, data, draws, methods, opts)
}

// answered is a sentence with its most probable class.
type answered struct {
	Text        string  `json:"text"`
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

func runQuickstart(ctx context.Context, a *app, path, folder string, threads int) error {
	began := time.Now()
	if _, err := threadsOf(threads); err != nil {
		return err
	}
	if path != "" {
		if err := checkTarget(path); err != nil {
			return err
		}
	}
	if folder != "" {
		if err := checkReport(folder); err != nil {
			return err
		}
	}
	data, train, test, err := quickstart.Data()
	if err != nil {
		return err
	}
	a.logf("%d examples of %d intents to train on, %d to test on (%s)", len(train), len(data.Classes.Labels), len(test), quickstart.Attribution)
	var best *tune.Result
	bestAccuracy := -1.0
	opts := compare.Options{
		Tune: tune.Options{Seed: 1, Threads: threads},
		Keep: func(_ string, _ int, r *tune.Result, s *score.Counter) {
			if accuracy := s.Report().Accuracy; accuracy > bestAccuracy {
				best, bestAccuracy = r, accuracy
			}
		},
	}
	main := compare.Draw{Shots: quickstartShots, Splits: []corpus.Split{{Train: train, Test: test, Seed: 1}}}
	methods, err := quickstartMethods()
	if err != nil {
		return err
	}
	tables, err := runComparisons(ctx, a, data, []compare.Draw{main}, methods, opts)
	if err != nil {
		return err
	}
	table := tables[0]
	if folder != "" {
		opts.Keep = nil
		fewer, err := quickstartCurve(ctx, a, data, methods, len(train), test, opts)
		if err != nil {
			return err
		}
		page := compare.Page{
			Title:  "Quickstart: 77 intents of bank customers",
			Labels: data.Classes.Labels, Tables: append(fewer, table), Tree: table.Tree,
			Facts: []report.Fact{{Name: "Data", Value: quickstart.Attribution}, {Name: "Seeds", Value: "1, one draw"}},
		}
		if err := saveReport(a, page.Report(), folder, time.Since(began)); err != nil {
			return err
		}
	}
	model := best.Model(data.Classes.Labels, softmax.Training{Program: program(), Data: "quickstart: " + quickstart.Attribution, Examples: len(train), Seed: 1})
	predictor := model.NewPredictor()
	var answers []answered
	for _, text := range sentences() {
		top, err := predictor.Predict(dataset.Example{Text: text}, 1)
		if err != nil {
			return err
		}
		answers = append(answers, answered{Text: text, Label: top[0].Label, Probability: top[0].Probability})
	}
	if path != "" {
		if err := model.Save(path); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(struct {
			*compare.Comparison
			Predictions []answered `json:"predictions"`
			Model       string     `json:"model,omitempty"`
		}{table, answers, path})
	}
	printComparison(a, table)
	printAnswers(a, best.Method, answers, path)
	return nil
}

// printAnswers prints what the best model answers, and what to do next. path is
// the file that it was saved to, "" for none.
func printAnswers(a *app, method tune.Method, answers []answered, path string) {
	fmt.Fprintf(a.out, "\n%s answers:\n", method)
	for _, x := range answers {
		fmt.Fprintf(a.out, "  %-52q %s (%.0f %%)\n", x.Text, x.Label, 100*x.Probability)
	}
	if path == "" {
		path = "bank.safetensors"
		fmt.Fprintf(a.out, "\nNext, keep this model and use it:\n  treeloss quickstart --model %s\n", path)
	} else {
		fmt.Fprintf(a.out, "\nThe best model is in %s. Next, use it:\n", path)
	}
	fmt.Fprintf(a.out, `  echo "my card has not come" | treeloss predict --model %s --top 3
or train on your own data:
  treeloss train --data train.csv --model my.safetensors
  treeloss compare --data train.csv --test test.csv --shots 5 --seeds 5
`, path)
}
