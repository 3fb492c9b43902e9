package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/scorecard"
	"github.com/treeloss/treeloss/internal/shard"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// cvFlags are the flags of treeloss cv.
type cvFlags struct {
	trainingFlags
	folds int
	rows  rowFlags
	shard shardFlags
}

// newCV returns treeloss cv.
//
//	reads    --data and the files about the classes, as train does
//	does     tune.CrossValidate with the plan of train on the rows of each fold
//	writes   --out: a row for each example with the answer of the model that was trained
//	         without it
//	prints   the folds, their mean with its standard error, and the pooled measures; after
//	         an interruption those of the folds that are done
//	exits    1 for files, and for fewer examples than folds; 2 for flags
func newCV(a *app) *cobra.Command {
	var f cvFlags
	c := &cobra.Command{
		Use:   "cv --data FILE [--folds N]",
		Short: "Measure a way to train by cross-validation",
		Args:  addTo(&f.data.data),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.shard.run(a, c.Name(), "", f.data.data, func(a *app, s shared) error {
				if s.any() {
					f.rows.out = "" // the folder of the parts
				}
				return s.grid(a, func(cells *shard.Cells) error { return f.run(c.Context(), a, cells) })
			})
		},
	}
	f.addPlan(c)
	f.add(c)
	flags := c.Flags()
	flags.IntVar(&f.folds, "folds", corpus.DefaultFolds, "number of folds: 5 or 10; more of them take longer and train on more rows each")
	f.rows.add(c, &f.data)
	f.shard.add(c, &f.rows.out)
	a.jsonFlag(c)
	return c
}

func (f *cvFlags) run(ctx context.Context, a *app, cells *shard.Cells) error {
	if f.folds < 2 {
		return usagef("--folds %d, want at least 2", f.folds)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := f.plan.Check(); err != nil {
		return err
	}
	if f.trainer.sgd.Patience > 0 {
		return usagef("--patience needs examples to measure on, which cv does not have; give --epochs")
	}
	out, err := f.rows.create(&f.data, false, f.files.Taxonomy, f.files.Distances, f.files.Vectors, f.classWeight)
	if err != nil {
		return err
	}
	defer out.discard()
	f.data.origins = out != nil
	start := time.Now()
	defer f.data.keepMemory()()
	data, err := f.read(ctx, a, measured{})
	if err != nil {
		return err
	}
	rows := data.rows
	if f.folds > len(rows) {
		return fmt.Errorf("%s: %d examples cannot be split into --folds %d; ask for fewer", f.data.first(), len(rows), f.folds)
	}
	fo := tune.FoldOptions{Folds: f.folds, Seed: opts.Seed, Threads: opts.Threads, Cells: cells}
	var by string
	if fo.Similarity, by, err = score.SimilarityOf(data.Classes.Labels, data.Classes.Vectors); err != nil {
		return err
	}
	answers := make([]evaluate.Row, len(data.examples.Origins))
	if out != nil {
		fo.Answer = func(row int, p []float32) { answers[row] = data.answer(row, p) }
	}
	bar := a.bar()
	v, err := tune.CrossValidate(ctx, data.Data, rows, fo, func(ctx context.Context, fold int, train []int) (*tune.Result, error) {
		if err := data.WeighClasses(f.classWeight, train); err != nil { // balanced by what this fold trains on
			return nil, err
		}
		foldOptions := opts
		foldOptions.Progress = func(stage string, p softmax.Progress) {
			bar.Train(fmt.Sprintf("fold %d of %d, %s", fold+1, f.folds, stage), p)
		}
		return f.plan.FitUnmeasured(ctx, data.Data, train, foldOptions)
	})
	bar.Clear()
	if err != nil && (v == nil || len(v.Folds) == 0) {
		return err
	}
	f.warn(a, data.Classes.Labels, v)
	if printErr := f.print(a, data.Classes.Labels, v, by, len(rows), time.Since(start)); printErr != nil {
		return printErr
	}
	if err != nil || out == nil {
		return err
	}
	for _, row := range rows {
		out.write(answers[row])
	}
	return out.commit(a)
}

// answer returns the row of --out for an example, of which the origin was kept.
func (t *trainingData) answer(row int, p []float32) evaluate.Row {
	from, predicted := t.examples.Origins[row], score.First(make([]int, 0, 1), p, nil)[0]
	x := dataset.Example{Place: from.Place, ID: from.ID, Text: from.Text, Label: t.examples.Labels[row]}
	return evaluate.NewRow(x, t.Classes.Labels, int(t.Class[row]), predicted, p)
}

// warn tells of classes that folds do not do justice to.
func (f *cvFlags) warn(a *app, labels []string, v *tune.CrossValidation) {
	if len(v.Rare) > 0 {
		a.logf("warning: %d of %d classes have fewer examples than there are folds: some folds do not test them; %s",
			len(v.Rare), len(labels), someNames(labels, v.Rare))
	}
	if len(v.Single) > 0 {
		a.logf("warning: %d of %d classes have one example, which is tested by a model that never saw the class; %s",
			len(v.Single), len(labels), someNames(labels, v.Single))
	}
}

// someNames lists the first few of some classes.
func someNames(labels []string, classes []int) string {
	var list []string
	for _, c := range classes[:min(len(classes), shownUnknown)] {
		list = append(list, strconv.Quote(labels[c]))
	}
	return input.Some(list, shownUnknown, len(classes))
}

func (f *cvFlags) print(a *app, labels []string, v *tune.CrossValidation, by string, examples int, took time.Duration) error {
	if a.json {
		return a.printJSON(v.Document(labels, by, examples, took))
	}
	scorecard.PrintFolds(a.out, labels, v, by, took)
	return nil
}
