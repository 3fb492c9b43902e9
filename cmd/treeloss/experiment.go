package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/experiment"
	"github.com/treeloss/treeloss/internal/shard"
)

// experimentFlags are the flags of treeloss experiment.
type experimentFlags struct {
	opts     experiment.Options
	folder   string
	protocol string
	average  string
	shard    string
	resume   bool
}

const allExperiments = "all"

// newExperiment returns treeloss experiment.
//
//	reads    with --resume the finished cells of --out; no data: problems are drawn from --seed
//	does     experiment.Run
//	writes   into --out: cells.jsonl, a line when a cell is done; at the end the page, its
//	         figures, and claims.md if all experiments were run
//	prints   a paragraph and a short table for each sweep
//	exits    1 for cells of other options in --out; 2 for flags
func newExperiment(a *app) *cobra.Command {
	var f experimentFlags
	c := &cobra.Command{
		Use:   "experiment NAME",
		Short: "Repeat the paper's experiments on synthetic data",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(experimentNames(), args[0]) {
				return usagef("%s wants one of %s, not %q", c.CommandPath(), strings.Join(experimentNames(), ", "), strings.Join(args, " "))
			}
			return nil
		},
		ValidArgs: experimentNames(),
		RunE:      func(c *cobra.Command, args []string) error { return f.run(c.Context(), a, args[0]) },
	}
	flags := c.Flags()
	o := &f.opts
	flags.StringVar(&f.folder, "out", "", "folder for the page, figures and finished cells; without it results are only printed")
	flags.BoolVar(&f.resume, "resume", false, "go on with the cells that are in --out")
	flags.StringVar(&f.shard, "shard", "", "do part i, from 0, of n of the cells, such as 1/4, or auto in a job of Kubernetes or Slurm")
	flags.IntVar(&o.Runs, "runs", experiment.DefaultRuns, "draws of the true parameters: more of them make narrower intervals")
	flags.IntVar(&o.TunedRuns, "tuned-runs", 0, fmt.Sprintf("draws under the protocol tuned; 0 means %d, or --runs if that is less", experiment.DefaultTunedRuns))
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of everything random: another one draws other problems")
	addWord(c, &f.protocol, "protocol", "how to train: paper, tuned or both", "both", "paper", "tuned")
	flags.IntVar(&o.Threads, "threads", 0, "threads; 0: one a CPU. Does not change results")
	addWord(c, &o.Truth, "truth", "true parameters: isotropic (the paper's text), low-rank (its authors' scripts) or clustered", experiment.Isotropic, "low-rank", "clustered")
	addWord(c, &o.Init, "init", "where training under the protocol paper starts: torch or zeros", experiment.TorchInit, "zeros")
	addWord(c, &f.average, "average", "on: figures show the mean of the weights over the pass; numbers of both are always in the tables", "off", "on")
	flags.Float64Var(&o.Rate, "rate", experiment.DefaultRate, "learning rate of the protocol paper, the same for all losses")
	flags.Float64Var(&o.Base, "base", 0, "base of cover trees where it does not vary; 0 means 1.3, for norms 2")
	flags.IntVar(&o.N, "n", 0, "training examples where they do not vary; 0: as in the paper")
	flags.IntVar(&o.D, "d", 0, "features where they do not vary; 0: as in the paper")
	flags.IntVar(&o.K, "k", 0, "classes where they do not vary; 0: as in the paper")
	flags.Float64Var(&o.Sigma, "sigma", 0, "noise of the examples where it does not vary; 0: as in the paper")
	a.jsonFlag(c)
	return c
}

// experimentNames are the arguments of the command.
func experimentNames() []string {
	var names []string
	for _, n := range experiment.Names() {
		names = append(names, string(n))
	}
	return append(names, allExperiments)
}

// options checks the flags.
func (f *experimentFlags) options() (experiment.Options, error) {
	o := f.opts
	o.Protocols = map[string][]experiment.Protocol{"paper": {experiment.Paper},
		"tuned": {experiment.OnePass, experiment.Converged}, "both": experiment.Protocols()}[f.protocol]
	o.Averaged = f.average == "on"
	switch {
	case o.Runs == 0: // would be the default
		return o, usagef("--runs 0, want at least 1")
	case f.resume && f.folder == "":
		return o, usagef("--resume needs --out, the folder to go on with")
	case f.shard != "" && f.folder == "":
		return o, usagef("--shard needs --out, the folder in which the cells of all parts meet")
	}
	_, err := experiment.Sweeps(experiment.Norms, o)
	return o, err
}

func (f *experimentFlags) run(ctx context.Context, a *app, name string) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	names := []experiment.Name{experiment.Name(name)}
	if name == allExperiments {
		names = experiment.Names()
	}
	var part dataset.Shard
	if f.shard != "" {
		if part, err = shard.Parse(f.shard, os.Getenv); err != nil {
			return err
		}
	}
	if f.folder != "" {
		if err := checkReport("--report", f.folder); err != nil {
			return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "--report", "--out"))
		}
		if err := os.MkdirAll(f.folder, 0o777); err != nil {
			return err
		}
		if opts.Store, err = experiment.OpenStore(f.folder, opts, f.resume, part); err != nil {
			if errors.Is(err, experiment.ErrStore) && !f.resume {
				return fmt.Errorf("%w; --resume goes on with them", err)
			}
			return err
		}
		defer opts.Store.Close()
		if n := opts.Store.Len(); n > 0 {
			a.logf("%d cells are finished already", n)
		}
	}
	began := time.Now()
	bar := a.bar()
	opts.Progress = func(p experiment.Progress) {
		bar.Draw(p.Fraction >= 1, func(took time.Duration) string { return experimentLine(p, took) })
	}
	var results *experiment.Results
	if f.shard != "" {
		err = experiment.RunShard(ctx, names, opts, part)
	} else {
		results, err = experiment.Run(ctx, names, opts)
	}
	bar.Clear()
	if err != nil {
		if ctx.Err() != nil && f.folder != "" {
			return fmt.Errorf("%w; the same command with --resume goes on", err)
		}
		return err
	}
	if f.shard != "" {
		a.logf("part %v is done; when all are: treeloss experiment %s --out %s --resume", part, name, f.folder)
		return nil
	}
	for _, w := range results.Warnings() {
		a.logf("warning: %s", w)
	}
	took := time.Since(began)
	if a.json {
		err = a.printJSON(results.Document(name, name == allExperiments, took.Seconds()))
	} else {
		results.WriteText(a.out)
	}
	if f.folder != "" {
		err = cmp.Or(err, saveExperiment(a, results, f.folder, name, took))
	}
	return err
}

// experimentLine is the progress bar of an experiment.
func experimentLine(p experiment.Progress, took time.Duration) string {
	line := fmt.Sprintf("%s  %d of %d cells  %s", console.Part(p.Fraction), p.Done, p.Total, p.Sweep)
	if p.Fraction > 0.01 && p.Fraction < 1 {
		line += console.TimeLeft(took, p.Fraction)
	}
	return line
}
