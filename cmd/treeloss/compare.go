package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/compare"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/internal/shard"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// compareFlags are the flags of treeloss compare.
type compareFlags struct {
	trainingFlags
	test       []string
	testLabels string
	methods    []string
	shots      []int
	seeds      int
	report     string
	shard      shardFlags

	flags *pflag.FlagSet // to tell what was given
}

// maxSeeds is the most draws. All are made before the first method is trained.
const maxSeeds = 10_000

// namesAsExamples is the method for texts alone.
const namesAsExamples = "names+examples"

// newCompare returns treeloss compare.
//
//	reads    --data, --test, and the files about the classes, as train does
//	does     compare.RunAll: the same splits and the same tuning for each method
//	writes   the page of --report and its figures; no model
//	prints   accuracy and paired difference of each method, or all of it with --json
//	exits    1 for files, and for a class with fewer rows than --shots; 2 for flags, and
//	         for a method that needs a file which is not named
func newCompare(a *app) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare --data FILE [--test FILE]",
		Short: "Compare ways to train on the same splits with the same tuning",
		Args:  addTo(&f.data.data),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.shard.run(a, c.Name(), "", f.data.data, func(a *app, s shared) error {
				return s.grid(a, func(cells *shard.Cells) error { return f.run(c.Context(), a, cells) })
			})
		},
	}
	f.add(c)
	flags := c.Flags()
	f.flags = flags
	flags.StringArrayVar(&f.test, "test", nil, "file of test examples; may be repeated; without it rows of --data are set aside")
	flags.StringVar(&f.testLabels, "test-labels", "", "labels of the rows of --test, if that is an .npy file, which holds none")
	flags.StringSliceVar(&f.methods, "methods", []string{"cross-entropy", "v-tree", "names", namesAsExamples},
		"methods, separated by commas, of those listed above, or sums such as names+taxonomy")
	choicesOf(c, "methods", ",", tune.MethodNames()...)
	flags.IntSliceVar(&f.shots, "shots", nil, "training rows drawn of each class; several, such as 1,3,5, make a learning curve (default all)")
	flags.IntVar(&f.seeds, "seeds", 1, "number of draws, seeds 1..N: 5 or more for errors to go by")
	reportFlag(c, &f.report)
	f.shard.add(c, nil)
	a.jsonFlag(c)
	return c
}

func (f *compareFlags) run(ctx context.Context, a *app, cells *shard.Cells) error {
	began := time.Now()
	if err := f.checkDraws(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	methods, err := f.checkMethods()
	if err != nil {
		return err
	}
	defer f.data.keepMemory()()
	data, err := f.read(ctx, a, measured{"--test", "test rows", f.test, f.testLabels, "they count as wrong"})
	if err != nil {
		return err
	}
	if !data.Named() && !f.flags.Changed("methods") { // numbers learn nothing from the text of a name
		methods = slices.DeleteFunc(methods, func(m compare.Method) bool { return m.Name == namesAsExamples })
	}
	draws, err := f.draws(data)
	if err != nil {
		return named(err, data.Data)
	}
	all, failed := runComparisons(ctx, a, data.Data, draws, methods, compare.Options{Tune: opts, Cells: cells})
	if len(all) == 0 {
		return failed
	}
	// What was measured is printed before a page is written, which may fail.
	if table := compare.Joined(all); a.json {
		err = a.printJSON(table)
	} else {
		table.WriteText(a.out)
	}
	if failed != nil {
		failed = fmt.Errorf("%w; the table has what was finished before", failed)
	}
	err = cmp.Or(err, failed)
	if f.report != "" {
		all = slices.DeleteFunc(all, func(t *compare.Comparison) bool { return len(t.Results) < len(all[0].Results) })
		page := compare.Page{
			Title:  fmt.Sprintf("%d methods compared on %s", len(all[0].Results), filepath.Base(f.data.first())),
			Labels: data.Classes.Labels, Tables: all,
			Facts: []report.Fact{
				{Name: "Data", Value: strings.Join(f.data.data, ", ")},
				{Name: "Test data", Value: cmp.Or(strings.Join(f.test, ", "), "examples of the data that were not trained on")},
				{Name: "Seeds", Value: fmt.Sprintf("1 to %d, one draw each", f.seeds)},
			},
		}
		page.Tree = compare.TreeOf(all, data.Classes, f.plan.ClassInfo)
		err = cmp.Or(err, saveReport(a, page.Report(), f.report, time.Since(began)))
	}
	return err
}

// checkMethods returns the methods, and refuses such as lack a file.
func (f *compareFlags) checkMethods() ([]compare.Method, error) {
	if len(f.unlabeled) > 0 && !f.flags.Changed("methods") {
		f.methods = []string{"cross-entropy", "auto", "auto" + compare.WithUnlabelled}
	}
	if len(f.methods) == 0 {
		return nil, usagef("--methods is empty; name some, such as cross-entropy,names,v-tree")
	}
	methods, err := compare.Methods(f.methods, f.plan.ClassInfo, f.plan.Alpha)
	if err != nil {
		return nil, usagef("--methods: %w", err)
	}
	switch uses := slices.ContainsFunc(methods, func(m compare.Method) bool { return m.Unlabelled }); {
	case uses && len(f.unlabeled) == 0:
		return nil, usagef("a method that ends in %s needs examples: name a file with --unlabeled", compare.WithUnlabelled)
	case !uses && len(f.unlabeled) > 0:
		return nil, usagef("--unlabeled has an effect on methods that end in %s, such as --methods auto,auto%[1]s", compare.WithUnlabelled)
	}
	for _, m := range methods {
		if err := f.files.CheckSources("Methods "+m.Name, m.Sharing...); err != nil {
			return nil, err
		}
	}
	return methods, nil
}

// checkDraws refuses flags that cannot be meant, before anything is read.
func (f *compareFlags) checkDraws() error {
	slices.Sort(f.shots)
	if len(f.shots) == 0 {
		f.shots = []int{0}
	}
	if f.shots[0] < 0 {
		return usagef("--shots %d, want at least 1, or 0 for all rows", f.shots[0])
	}
	if f.seeds < 1 || f.seeds > maxSeeds {
		return usagef("--seeds %d, want at least 1 and at most %d", f.seeds, maxSeeds)
	}
	if len(f.shots) > 1 && f.shots[0] == 0 {
		return usagef("--shots 0 takes all rows and stands alone, not in a list")
	}
	if len(slices.Compact(slices.Clone(f.shots))) < len(f.shots) {
		return usagef("--shots %s: want each number once", strings.Trim(fmt.Sprint(f.shots), "[]"))
	}
	if f.report == "" {
		return nil
	}
	if err := spareIn("--report", f.report, f.sources()); err != nil {
		return err
	}
	return checkReport("--report", f.report)
}

// sources are the files that are read.
func (f *compareFlags) sources() []source {
	return slices.Concat(sources("--data", f.data.data...), sources("--labels", f.data.Labels), sources("--test", f.test...),
		sources("--test-labels", f.testLabels), sources("--class-weight", f.classWeight), sources("--unlabeled", f.unlabeled...), f.files.sources())
}

// draws makes all splits, so that too few rows show before the work begins.
func (f *compareFlags) draws(data *trainingData) ([]compare.Draw, error) {
	var list []compare.Draw
	for _, shots := range f.shots {
		splits, err := data.Shots(data.rows, shots, f.seeds, data.measure)
		if err != nil {
			return nil, err
		}
		list = append(list, compare.Draw{Shots: shots, Splits: splits})
	}
	return list, nil
}

// named puts the label into an error that knows only the class's number.
func named(err error, d *corpus.Data) error {
	var few *dataset.TooFewError
	if errors.As(err, &few) {
		return fmt.Errorf("class %q has %d training rows, --shots wants %d of each; ask for fewer or add examples", d.Classes.Labels[few.Class], few.Have, few.Want)
	}
	return err
}

// runComparisons compares with a progress bar.
func runComparisons(ctx context.Context, a *app, data *corpus.Data, draws []compare.Draw, methods []compare.Method, opts compare.Options) ([]*compare.Comparison, error) {
	bar := a.bar()
	opts.Progress = func(_ string, _ int, stage string, p softmax.Progress) { bar.Train(stage, p) }
	defer bar.Clear()
	return compare.RunAll(ctx, data, draws, methods, opts)
}
