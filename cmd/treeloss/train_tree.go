package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/extreme"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/shard"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Values of --mode.
const (
	modeAuto = "auto"
	modeFlat = "flat"
	modeTree = "tree"
)

// addMode adds --mode.
func (f *trainFlags) addMode(c *cobra.Command) {
	addWord(c, &f.mode, "mode", "flat, one softmax over all classes, tree, many small ones, or auto: tree from 2,000 classes on", modeAuto, modeFlat, modeTree)
}

// takesTree tells whether to train a tree of softmaxes, and why.
func (f *trainFlags) takesTree(d *corpus.Data, rows []int) (bool, string, error) {
	if f.mode == modeFlat {
		return false, "", nil
	}
	misuse := f.flatOnly()
	if f.mode == modeTree {
		return true, "", misuse
	}
	pays, why := extreme.Pays(d, len(rows))
	if !pays || misuse != nil || extreme.CheckData(d) != nil {
		return false, "", nil
	}
	return true, why, nil
}

// flatOnly refuses flags that a tree of softmaxes has no use for.
func (f *trainFlags) flatOnly() error {
	for _, o := range []struct {
		set  bool
		name string
	}{
		{f.trainer.name != "auto" && f.trainer.name != "converge", "Trainer " + f.trainer.name},
		{f.plan.Loss != "" && f.plan.Loss != tune.CrossEntropy, "Loss " + string(f.plan.Loss)},
		{f.plan.Smoothing > 0, "Smoothing"},
		{f.plan.Fourier == tune.On, "Fourier on"},
		{f.initModel != "", "Init"},
		{len(f.unlabeled) > 0, "Unlabelled"},
	} {
		if o.set {
			return option.Refuse("%s has no effect with %s; leave it out, or train with %s", o.name, "Mode tree", "Mode flat")
		}
	}
	return f.treeOptions().Check()
}

// treeOptions are the options of a tree of softmaxes.
func (f *trainFlags) treeOptions() extreme.Options {
	o := extreme.Options{Sharing: f.plan.Sharing, Names: f.plan.Names, ClassInfo: f.plan.ClassInfo, Prior: f.prior,
		Calibrate: bool(f.calibrate), Seed: f.seed, Threads: f.threads, Checkpoint: checkpointOf(f.model), Resume: f.resume, Part: f.shared.part}
	switch {
	case f.shared.parts != nil:
		o.Parts = f.shared.parts.Files
	case f.shared.any():
		o.Checkpoint, o.Resume = shard.Unfinished(f.shared.folder, f.shared.part), true
	}
	return o
}

// treeTrained is what train prints of a tree of softmaxes.
type treeTrained struct {
	trained
	Tree extreme.Report `json:"tree"`
}

// runTree trains a tree of softmaxes on data that was read.
func (f *trainFlags) runTree(ctx context.Context, a *app, data *trainingData, why string, about softmax.Training, start time.Time) error {
	if why != "" {
		a.logf("mode tree: %s; a flat model may be a little better where there is time for one, with --mode flat", why)
	}
	o := f.treeOptions()
	o.Valid, o.Scratch = data.measure, f.data.scratch
	bar := a.bar()
	bar.Examples = len(data.rows)
	o.Progress = bar.Train
	m, err := extreme.Train(ctx, data.Data, data.rows, o, about)
	bar.Clear()
	if errors.Is(err, extreme.ErrPart) {
		return shard.Copy(o.Checkpoint, a.out)
	}
	if err != nil {
		err = fmt.Errorf("training on %s: %w", f.data.first(), err)
		if _, none := os.Stat(o.Checkpoint); ctx.Err() != nil && none == nil {
			with := " with --resume"
			if f.shared.any() {
				with = ""
			}
			err = fmt.Errorf("%w; the same command%s goes on", err, with)
		}
		return err
	}
	if err := m.Save(f.model); err != nil {
		return err
	}
	if err := os.Remove(o.Checkpoint); err != nil && o.Parts == nil {
		a.logf("warning: %v", err)
	}
	t := trained{Model: f.model, Examples: m.Training.Examples, Classes: len(m.Labels), Features: m.Features.Dim(), Seconds: time.Since(start).Seconds(), Training: m.Training}
	if a.json {
		return a.printJSON(treeTrained{t, m.Report})
	}
	m.Report.Write(a.out, m.Training)
	fmt.Fprintf(a.out, "%s: %d classes, %d features, trained on %d examples in %.1f s\n", t.Model, t.Classes, t.Features, t.Examples, t.Seconds)
	return nil
}
