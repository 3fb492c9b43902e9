package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/compare"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// compareFlags are the flags of treeloss compare.
type compareFlags struct {
	data       dataFlags
	classes    classFlags
	test       []string
	testLabels string
	methods    []string
	weight     string
	prior      priorFlags
	shots      int
	seeds      int
}

func newCompare(a *app) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare --data FILE [--test FILE]",
		Short: "Compare ways to train on the same splits with the same tuning",
		Long: `Compare trains every method on the same rows, gives each the same tuning on rows
held out of them, and tests all on the same test rows. It prints what each gains
over plain cross entropy, with the standard error of the paired difference: over
the seeds where there are several, else over the test rows.

With --shots N every seed 1..SEEDS draws N training rows of each class. Without
--test the rows that were not drawn are tested, or a fifth of all rows.`,
		Example: `  treeloss compare --data train.csv --test test.csv --shots 5 --seeds 5
  treeloss compare --data train.csv --test test.csv --methods cross-entropy,names,v-tree`,
		Args: func(_ *cobra.Command, args []string) error {
			f.data.data = append(f.data.data, args...)
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	f.data.add(c)
	f.classes.add(c)
	f.prior.add(c)
	flags := c.Flags()
	flags.StringArrayVar(&f.test, "test", nil, "file of test examples; may be repeated; without it rows of --data are set aside")
	flags.StringVar(&f.testLabels, "test-labels", "", "labels of the rows of --test, if it is an .npy file")
	flags.StringSliceVar(&f.methods, "methods", []string{"cross-entropy", "v-tree", "names", "names+examples"},
		"methods, separated by commas: "+strings.Join(tune.MethodNames(), ", ")+", or a sum such as names+taxonomy")
	flags.StringVar(&f.weight, "class-weight", "", "balanced, so that rare classes count as much as frequent ones, or a file of label,weight rows")
	suggest(c, "class-weight", balanced)
	flags.IntVar(&f.shots, "shots", 0, "training rows drawn of each class; 0 takes all rows")
	flags.IntVar(&f.seeds, "seeds", 1, "number of draws: seeds 1..N")
	a.jsonFlag(c)
	return c
}

func (f *compareFlags) run(ctx context.Context, a *app) error {
	switch {
	case f.shots < 0 || f.seeds < 1:
		return usagef("--shots %d, --seeds %d: want at least 0 and 1", f.shots, f.seeds)
	}
	knowledge, err := f.classes.knowledge()
	if err != nil {
		return err
	}
	for _, name := range f.methods {
		if _, err := tune.ParseMethod(name, knowledge); err != nil && name != tune.AutoName {
			return usageError{fmt.Errorf("--methods: %w", err)}
		}
	}
	opts, err := f.classes.options()
	if err != nil {
		return err
	}
	if err := f.prior.apply(&knowledge, &opts); err != nil {
		return err
	}
	corpus, err := f.data.corpus(a)
	if err != nil {
		return err
	}
	n := corpus.Table.Rows()
	var test []int
	if len(f.test) > 0 {
		if test, err = corpus.Read(f.test, f.testLabels); err != nil {
			return err
		}
	}
	data, rows, err := f.classes.known.data(ctx, a, corpus, tune.All(0, n))
	if err != nil {
		return err
	}
	test = withoutDropped(a, data, corpus, test, "test rows")
	if err := weigh(f.weight, data, rows); err != nil {
		return err
	}
	if unknown := len(test) - len(known(data, test)); unknown > 0 {
		a.logf("warning: %d of %d test rows have a label that no training row has; they count as wrong", unknown, len(test))
	}
	splits, err := compare.Shots(data, n, f.shots, f.seeds, test)
	if err != nil {
		return named(err, data)
	}
	table, err := runComparison(ctx, a, data, splits, f.methods, compare.Options{Tune: opts, Knowledge: knowledge, Alpha: f.classes.alpha})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(table)
	}
	printComparison(a, table, f.shots)
	return nil
}

// known returns the rows whose label is one of the classes.
func known(d *tune.Data, rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return d.Class[row] < 0 })
}

// comparison is the outcome of a comparison and what its similarity accuracy is
// by, null if nothing is.
type comparison struct {
	*compare.Table
	SimilarityOf *string `json:"similarity_of"`
}

// runComparison compares with a progress bar and with the best similarity of
// classes that there is.
func runComparison(ctx context.Context, a *app, data *tune.Data, splits []compare.Split, methods []string, opts compare.Options) (*comparison, error) {
	var by string
	var err error
	if opts.Similarity, by, err = similarityOf(data.Classes.Labels, data.Classes.Vectors); err != nil {
		return nil, err
	}
	bar := &progress{app: a}
	opts.Progress = func(_ string, split int, stage string, p softmax.Progress) {
		if len(splits) > 1 {
			stage = fmt.Sprintf("split %d of %d, %s", split+1, len(splits), stage)
		}
		bar.report(stage, p)
	}
	table, err := compare.Run(ctx, data, splits, methods, opts)
	bar.done()
	if err != nil {
		return nil, err
	}
	out := &comparison{Table: table}
	if by != "" {
		out.SimilarityOf = &by
	}
	return out, nil
}

func printComparison(a *app, t *comparison, shots int) {
	t2 := newTable(a.out, "method", "accuracy", "difference", "macro F1", "similarity accuracy", "seconds")
	for _, r := range t.Results {
		name := r.Method
		if r.Choice != "" {
			name += " (" + r.Choice + ")"
		}
		gain, similarity := "-", "-"
		if r.Method != tune.CrossEntropy {
			gain = difference(r.Difference, r.DifferenceSE)
		}
		if t.SimilarityOf != nil {
			similarity = points(r.SimilarityAccuracy)
		}
		t2.row(name, points(r.Accuracy), gain, points(r.MacroF1), similarity, fmt.Sprintf("%.1f", r.Seconds))
	}
	t2.flush()
	rows := "all training rows"
	if shots > 0 {
		rows = fmt.Sprintf("%d training rows of each class", shots)
	}
	by := "not known: the names have no letters"
	if t.SimilarityOf != nil {
		by = *t.SimilarityOf
	}
	fmt.Fprintf(a.out, "\npoints; difference: to cross entropy, +- its standard error over %s\n", overWords(t.Table))
	fmt.Fprintf(a.out, "%d classes, %s, %d test rows; similarity of classes: %s\n", t.Classes, rows, t.TestRows, by)
}

// overWords says what the errors of a table cover.
func overWords(t *compare.Table) string {
	if t.Over == score.OverRows {
		return "the test rows of one split"
	}
	if t.OwnTest {
		return fmt.Sprintf("%d splits", t.Splits)
	}
	return fmt.Sprintf("%d splits with the same test rows", t.Splits)
}
