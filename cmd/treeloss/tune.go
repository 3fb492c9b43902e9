package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/scorecard"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// tuneFlags are the flags of treeloss tune. What train takes it takes as well,
// and leaves as it is given.
type tuneFlags struct {
	trainFlags
	search tune.SearchOptions
	nested int
}

// defaultTime is the budget if neither --time nor --trials is given.
const defaultTime = time.Minute

// newTune returns treeloss tune.
//
//	reads    --data, --valid and the files about the classes, as train does
//	does     tune.Search in the budget of --time or --trials; with --nested N once more on
//	         the training rows of each fold, for a number that the search has not seen
//	prints   the trials, the best options and the command of train that has them; no model
//	         is written
//	exits    1 for files; 2 for flags. An interrupted search prints what it has found
func newTune(a *app) *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune --data FILE [--time 60s] [--metric accuracy]",
		Short: "Find the best options of train in a given time",
		Args:  addTo(&f.data.data),
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	f.addPlan(c)
	f.add(c)
	f.addValid(c)
	flags := c.Flags()
	flags.DurationVar(&f.search.Time, "time", defaultTime, "time to search, such as 90s or 10m; no limit if only --trials is given")
	flags.IntVar(&f.search.Trials, "trials", 0, "number of trials, in place of a time; 0 for as many as time allows")
	addWord(c, &f.search.Metric, "metric", "what to maximise: accuracy, top5, macro-f1, similarity-accuracy, log-loss or calibration-error", tune.Metrics()...)
	flags.IntVar(&f.search.Folds, "folds", 0, "hold out each row once, in so many folds; 0 holds out what train does")
	flags.IntVar(&f.nested, "nested", 0, "search again in each of so many folds and test on the fold; 0 for none")
	a.jsonFlag(c)
	f.flags = flags
	return c
}

// setup checks the flags and returns what they mean.
func (f *tuneFlags) setup() (opts tune.SearchOptions, err error) {
	opts = f.search
	switch {
	case opts.Time == 0: // which means no limit
		return opts, usagef("--time %v, want a time above 0, such as 90s", opts.Time)
	case f.nested < 0 || f.nested == 1:
		return opts, usagef("--nested %d, want at least 2, or 0 for none", f.nested)
	case len(f.valid) > 0 && (opts.Folds > 0 || f.nested > 0):
		return opts, usagef("--valid gives the rows to choose by, --folds and --nested take them from --data; leave one out")
	}
	if opts.Trials > 0 && !f.flags.Changed("time") {
		opts.Time = 0
	}
	if opts.Tune, err = f.options(); err != nil {
		return opts, err
	}
	return opts, cmp.Or(opts.Check(), f.plan.Check(), f.needsValid())
}

// space returns what is left open.
func (f *tuneFlags) space(data *corpus.Data) (tune.Space, error) {
	space, err := f.plan.Space(data)
	space.Prior = f.prior
	space.Fixed = tune.Fixed{Prior: f.prior > 0, Rho: f.plan.ClassInfo.Rho > 0, Smoothing: f.flags.Changed("label-smoothing"), Base: f.flags.Changed("base")}
	return space, err
}

func (f *tuneFlags) run(ctx context.Context, a *app) error {
	opts, err := f.setup()
	if err != nil {
		return err
	}
	defer f.data.keepMemory()()
	start := time.Now()
	data, err := f.read(ctx, a, f.measured())
	if err != nil {
		return err
	}
	rows := data.rows
	opts.Tune.Valid = data.measure
	if need := max(opts.Folds, f.nested); need > len(rows) {
		return fmt.Errorf("%s: %d examples cannot be split into %d folds; ask for fewer", f.data.first(), len(rows), need)
	}
	if opts.Similarity, _, err = score.SimilarityOf(data.Classes.Labels, data.Classes.Vectors); err != nil {
		return err
	}
	space, err := f.space(data.Data)
	if err != nil {
		return err
	}
	bar := a.bar()
	opts.Tune.Progress = bar.Train
	found, err := tune.Search(ctx, data.Data, rows, space, opts)
	bar.Clear()
	if found == nil {
		return fmt.Errorf("tuning on %s: %w", f.data.first(), err)
	}
	for _, why := range found.Skipped {
		a.logf("not tried: %s", why)
	}
	args := f.trainArgs(found.Best().Settings)
	out := found.Document(args, input.ShellLine(append([]string{"treeloss"}, args...)), f.chosen)
	if err == nil && f.nested > 0 {
		var v *tune.CrossValidation
		v, err = f.nest(ctx, a, data.Data, rows, space, opts, len(found.Trials))
		if err == nil {
			out.Nested = v.Nested(found.Metric)
		}
	}
	out.Seconds = time.Since(start).Seconds()
	if a.json {
		if printErr := a.printJSON(out); printErr != nil {
			return printErr
		}
	} else {
		scorecard.PrintTrials(a.out, found, out.Nested, out.Seconds, f.chosen, namesInFlags)
		fmt.Fprintf(a.out, "\n%s\n", out.Command)
	}
	return err
}

// nest repeats the search, with as many trials, on the training rows of each
// fold and tests what it finds on the fold.
func (f *tuneFlags) nest(ctx context.Context, a *app, data *corpus.Data, rows []int, space tune.Space, opts tune.SearchOptions, trials int) (*tune.CrossValidation, error) {
	opts.Time, opts.Trials = 0, trials
	bar := a.bar()
	defer bar.Clear()
	fo := tune.FoldOptions{Folds: f.nested, Seed: opts.Tune.Seed, Threads: opts.Tune.Threads, Similarity: opts.Similarity}
	return tune.CrossValidate(ctx, data, rows, fo, func(ctx context.Context, fold int, train []int) (*tune.Result, error) {
		if err := data.WeighClasses(f.classWeight, train); err != nil {
			return nil, err
		}
		inner := opts
		inner.Folds = min(opts.Folds, len(train))
		inner.Tune.Progress = func(stage string, p softmax.Progress) {
			bar.Train(fmt.Sprintf("nested fold %d of %d, %s", fold+1, f.nested, stage), p)
		}
		found, err := tune.Search(ctx, data, train, space, inner)
		if err != nil {
			return nil, err
		}
		return found.Best().Fit(ctx, data, train, inner.Tune)
	})
}

// chosen returns the flags of train that settings stand for.
func (f *tuneFlags) chosen(x tune.Settings) []string {
	m := x.Method
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	sharing := cmp.Or(m.Sharing.String(), string(classinfo.None))
	names := "off"
	if m.Names {
		names = "on"
	}
	list := []string{"--sharing", sharing, "--names-as-examples", names}
	if t, err := f.trainer.trainer(); err == nil && !tune.IgnoresPrior(t) { // else train would refuse it
		list = append(list, "--prior", text(x.Prior))
	}
	if m.Loss != "" && m.Loss != tune.CrossEntropy {
		list = append(list, "--loss", string(m.Loss))
	}
	if m.Loss == tune.HXE && m.Alpha != 0 && m.Alpha != tune.DefaultHXEAlpha {
		list = append(list, "--hxe-alpha", text(m.Alpha))
	}
	if m.Smoothing != 0 {
		list = append(list, "--label-smoothing", text(m.Smoothing))
	}
	if m.ClassInfo.Rho != 0 {
		list = append(list, "--rho", text(m.ClassInfo.Rho))
	}
	if b := m.ClassInfo.Base; b != 0 && b != classinfo.DefaultBase {
		list = append(list, "--base", text(b))
	}
	return list
}

// trainArgs returns the arguments of treeloss that train with settings: the
// flags that were given, then those that were found.
func (f *tuneFlags) trainArgs(x tune.Settings) []string {
	args := []string{"train"}
	for _, path := range f.data.data {
		args = append(args, "--data", path)
	}
	own := []string{"data", "time", "trials", "metric", "folds", "nested", "json", "quiet", "help",
		"sharing", "names-as-examples", "prior", "loss", "hxe-alpha", "label-smoothing", "rho", "base"}
	f.flags.Visit(func(flag *pflag.Flag) {
		if slices.Contains(own, flag.Name) {
			return
		}
		list, many := flag.Value.(pflag.SliceValue)
		switch {
		case flag.Value.Type() == "bool":
			args = append(args, "--"+flag.Name+"="+flag.Value.String())
		case many && flag.Value.Type() == "stringArray":
			for _, v := range list.GetSlice() {
				args = append(args, "--"+flag.Name, v)
			}
		case many:
			args = append(args, "--"+flag.Name, strings.Trim(flag.Value.String(), "[]"))
		default:
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	args = append(args, f.chosen(x)...)
	return append(args, "--model", "model.safetensors")
}
