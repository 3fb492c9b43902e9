package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/multilabel"
	"github.com/treeloss/treeloss/softmax"
)

// oneClassFlags have no effect where an example has several labels.
var oneClassFlags = []string{"sharing", "taxonomy", "label-vectors", "distances", "weights-model", "from", "names-as-examples", "loss", "fourier", "label-smoothing",
	"class-weight", "trainer", "mode", "init-model", "resume", "calibrate", "oos", "out", "id", "confusions", "report", "target-accuracy"}

// checkSeveral refuses flags that have no effect with what is of several labels an example.
func checkSeveral(flags *pflag.FlagSet, what string) error {
	for _, name := range oneClassFlags {
		if f := flags.Lookup(name); f != nil && f.Changed && f.Value.String() != f.DefValue && f.Value.String() != modeFlat {
			return usagef("--%s has no effect with %s, of several labels an example", name, what)
		}
	}
	return nil
}

// addMultilabel adds the flags of examples with several labels.
func (f *trainFlags) addMultilabel() {
	f.flags.BoolVar(&f.data.Multilabel, "multilabel", false, "examples have any number of labels each: a decision for each class (default found by the data)")
	f.flags.StringVar(&f.data.LabelSeparator, "label-separator", "", labelSeparatorHelp)
	f.flags.StringVar((*string)(&f.thresholds), "thresholds", string(multilabel.Global), "several labels: answer classes from one probability on, global, or from one for each, class")
}

const labelSeparatorHelp = "what separates the labels in a cell, such as ; where an example has several"

// hasSeveral tells whether what failed to be read with one label an example is to be read with
// several, and says so. A stream is gone.
func (f *trainFlags) hasSeveral(a *app, err error) bool {
	if !errors.Is(err, dataset.ErrSeveralLabels) || isStream(f.data.data) || f.flags.Changed("multilabel") {
		return false
	}
	a.logf("several labels an example: training a decision for each class (--multilabel); --first-label trains one class an example")
	return true
}

// runMultilabel trains on examples with several labels.
func (f *trainFlags) runMultilabel(ctx context.Context, a *app, start time.Time) error {
	o := multilabel.Options{Prior: f.prior, Thresholds: f.thresholds, Seed: f.seed, Threads: f.threads}
	if err := cmp.Or(checkSeveral(f.flags, f.data.first()), o.Check()); err != nil {
		return err
	}
	defer f.data.skipped.in(a)()
	f.data.Multilabel, f.data.scratch = true, ""
	examples, err := f.data.read(a)
	if err != nil {
		return err
	}
	rows := examples.Rows()
	about := softmax.Training{Program: program(), Data: examples.Fingerprint(), Options: f.given()}
	if len(f.valid) > 0 {
		if o.Valid, err = examples.Append(f.valid, f.validLabels); err != nil {
			return err
		}
	}
	classes := len(examples.Sets.Classes(rows))
	a.logf("%d examples of %s", len(rows), input.Plural(classes, "label"))
	if need, err := multilabel.NeedOf(examples, len(rows), classes); err == nil {
		a.logf("%s", need)
	}
	bar := a.bar()
	bar.Examples = len(rows)
	o.Progress = bar.Train
	m, err := multilabel.Train(ctx, examples, rows, o, about)
	bar.Clear()
	if err != nil {
		return fmt.Errorf("training on %s: %w", f.data.first(), err)
	}
	if err := m.Save(f.model); err != nil {
		return err
	}
	t := trained{Model: f.model, Examples: len(rows), Classes: classes, Features: m.Features.Dim(), Seconds: time.Since(start).Seconds(), Training: m.Training}
	if a.json {
		return a.printJSON(t)
	}
	multilabel.Write(a.out, m)
	fmt.Fprintf(a.out, "%s: %d classes, %d features, trained on %d examples in %.1f s\n", t.Model, t.Classes, t.Features, t.Examples, t.Seconds)
	return nil
}
