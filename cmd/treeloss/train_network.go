package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/fit"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/console"
)

// networkFlags are the flags of train that are for networks.
type networkFlags struct {
	fit     fit.Options
	damaged string
}

// damagedSkip leaves out pictures that cannot be read.
const damagedSkip = "skip"

func (f *networkFlags) add(c *cobra.Command) {
	flags, o := c.Flags(), &f.fit
	flags.StringVar(&o.Network, "network", "", "train a network: "+strings.Join(network.Names(), ", ")+" on pictures, or bert:FOLDER on texts")
	addBackend(c, &o.Backend)
	addWord(c, &o.Augment, "augment", "pictures: crops and flips in training: fresh (new each epoch), frozen (drawn once) or none", images.Fresh, images.Frozen, images.None)
	flags.StringVar(&o.ClassNames, "class-names", "", classNamesHelp)
	flags.Float64SliceVar(&o.Train.Rate.Milestones, "milestones", nil, "networks: epochs at which the rate falls to a tenth, separated by commas")
	flags.Float64Var(&o.Train.Rate.WarmUp, "warm-up", 0, "networks: epochs over which the rate grows at the start (default none, bert a tenth of all)")
	flags.IntVar(&o.Side, "side", 0, "pictures: side of the squares to which those of a folder are brought (default 224)")
	addWord(c, &f.damaged, "damaged", "pictures that cannot be read: error stops at the first, skip decodes all and leaves them out", "error", damagedSkip)
	flags.StringVar(&o.Train.TensorBoard, "tensorboard", "", "networks: folder for event files of TensorBoard, one for each training")
	flags.IntVar(&o.Tokens, "tokens", 0, "bert: tokens of a text, longer ones are cut (default 64, or what the longest has)")
	choices(c, "network", append(network.Names(), fit.BERT)...)
}

// classNamesHelp is the help of --class-names.
const classNamesHelp = "networks: names of the classes of pictures: a file with one a line, or FILE.csv:COLUMN"

// addBackend adds --backend to a command that runs networks.
func addBackend(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", "", "networks: what computes: "+strings.Join(backend.Names(), ", ")+" (default the fastest there is)")
	choices(c, "backend", backend.Names()...)
}

// trainingOf returns the folder in which the training of a network keeps its
// checkpoint and log.
func trainingOf(model string) string { return model + ".training" }

// runNetwork trains a network.
func (f *trainFlags) runNetwork(ctx context.Context, a *app) error {
	defer f.data.skipped.in(a)()
	if err := checkTarget(f.model); err != nil {
		return err
	}
	o, err := f.networkOptions(ctx, a)
	if err != nil {
		return err
	}
	bar := &networkProgress{app: a, bar: a.bar(), valid: len(f.valid) > 0}
	o.Train.Progress = bar.report
	result, err := fit.Run(ctx, o)
	bar.bar.Clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; go on after the last whole epoch with the same command and --resume", context.Canceled)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(result)
	}
	fmt.Fprintf(a.out, "%s: %s, %d parameters, %d epochs, training loss %.3f\n", f.model, result.Network, result.Parameters, result.Epochs, result.TrainLoss)
	if v := result.Valid; v != nil {
		fmt.Fprintf(a.out, "accuracy on --valid %s, best epoch: %d (chosen on these examples: report accuracy on others)\n", console.Points(v.Accuracy), result.BestEpoch)
	}
	return nil
}

// networkOptions returns what the flags mean for package fit.
func (f *trainFlags) networkOptions(ctx context.Context, a *app) (fit.Options, error) {
	o, t := f.network.fit, f.trainer.sgd
	if len(f.data.data) == 0 {
		return o, usagef("no data: name pictures, or texts for a BERT, with --data")
	}
	if err := cmp.Or(f.trainer.zeros(), f.data.check(), f.check(), f.plan.Check()); err != nil {
		return o, err
	}
	o.Plan, o.Columns = f.plan, f.data.Options
	o.Model, o.Data, o.Valid, o.ValidLabels, o.Weights, o.Stdin = f.model, f.data.data, f.valid, f.validLabels, f.initModel, a.in
	o.SkipDamaged = f.network.damaged == damagedSkip
	o.Training, o.Program, o.Log = f.given(), program(), a.logf
	o.Classes = func(labels []string) (classinfo.Info, error) {
		classes, _, err := f.files.read(ctx, a, labels)
		return classes, err
	}
	p := &o.Train
	p.Momentum, p.Decay, p.Nesterov, p.Patience, p.Rate.Base = t.Momentum, t.WeightDecay, t.Nesterov, t.Patience, t.Rate
	p.Seed, p.Folder, p.Resume = f.seed, trainingOf(f.model), f.resume
	if f.flags.Changed("epochs") { // else it is the default of linear models
		p.Epochs = t.Epochs
	}
	if f.flags.Changed("batch") {
		p.Batch = t.Batch
	}
	if f.flags.Changed("momentum") && t.Momentum == 0 {
		p.Momentum = -1 // none, where 0 means the default
	}
	o.NoWarmUp = f.flags.Changed("warm-up")
	return o, nil
}

// networkProgress draws the bar, and a line an epoch where there is none.
type networkProgress struct {
	app   *app
	bar   *console.Bar
	valid bool // each epoch ends with an evaluation
}

func (p *networkProgress) report(s train.Progress) {
	if s.Valid != nil || s.Step == s.Steps && !p.valid {
		p.bar.Clear()
		p.app.logf("%s", epochLine(s))
		return
	}
	p.bar.Draw(false, func(time.Duration) string { return stepLine(s) })
}

// epochLine tells of an epoch that is done.
func epochLine(s train.Progress) string {
	line := fmt.Sprintf("epoch %d of %d  loss %.4f  accuracy %s  %.0f examples/s", s.Epoch, s.Epochs, s.Loss, console.Points(s.Accuracy), s.PerSecond)
	if s.Valid != nil {
		line += fmt.Sprintf("  valid: loss %.4f  accuracy %s", s.Valid.Loss, console.Points(s.Valid.Accuracy))
	}
	if s.Epoch < s.Epochs {
		line += fmt.Sprintf("  %v left", s.Left.Round(time.Second))
	}
	return line
}

// stepLine tells of an epoch that is being trained.
func stepLine(s train.Progress) string {
	return fmt.Sprintf("epoch %d of %d  step %d of %d  loss %.4f  %.0f examples/s  %v left", s.Epoch, s.Epochs, s.Step, s.Steps, s.Loss, s.PerSecond, s.Left.Round(time.Second))
}
