package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// checkpointOf returns the file in which a training keeps where it stands.
func checkpointOf(model string) string { return model + ".checkpoint" }

// checkpoints lets SGD and AdamW, also where auto takes them, write a checkpoint
// after each epoch of the last fit, and reads the one to go on from with
// --resume. data is the fingerprint of all examples that were read.
func (f *trainFlags) checkpoints(a *app, opts *tune.Options, data string) error {
	if _, ok := opts.Trainer.(softmax.Converge); ok {
		if f.resume {
			return usagef("--resume goes with --trainer sgd or adamw, which run in epochs; training to convergence keeps no checkpoint")
		}
		return nil
	}
	run, err := f.identity(data)
	if err != nil {
		return err
	}
	path := checkpointOf(f.model)
	opts.Checkpoint = func(c *softmax.Checkpoint) error {
		return softmax.SaveCheckpoint(path, run.String(), c)
	}
	if !f.resume {
		return nil
	}
	c, of, err := softmax.LoadCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		a.logf("there is no %s: training starts at the beginning", path)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; train without --resume to start again", err)
	}
	if of != run.String() {
		return fmt.Errorf("%s belongs to another training (%s); give the same data and options, or train without --resume to start again", path, run.Difference(of))
	}
	opts.Resume = c
	a.logf("going on after epoch %d of %s", c.Epoch, path)
	return nil
}

// identity is the run that the flags ask for.
func (f *trainFlags) identity(data string) (tune.Run, error) {
	run := tune.Run(f.given())
	run["program"] = program()
	run["data"] = data
	run["seed"] = fmt.Sprint(f.seed)
	weights := f.classWeight
	if weights == corpus.Balanced { // no file
		weights = ""
	}
	for flag, path := range map[string]string{"taxonomy": f.files.Taxonomy, "label-vectors": f.files.Vectors, "init-model": f.initModel, "class-weight": weights} {
		if err := run.AddFile(flag, path); err != nil {
			return nil, err
		}
	}
	run["valid"] = fmt.Sprint(len(f.valid) > 0)
	return run, nil
}

// interrupted tells how to go on with a training that was broken off.
func (f *trainFlags) interrupted(ctx context.Context, err error, opts tune.Options) error {
	if ctx.Err() == nil || opts.Checkpoint == nil {
		return err
	}
	if _, none := os.Stat(checkpointOf(f.model)); none != nil {
		return err
	}
	return fmt.Errorf("%w; the same command with --resume goes on", err)
}

// removeCheckpoint removes what a finished training no longer needs.
func (f *trainFlags) removeCheckpoint(a *app, opts tune.Options) {
	if opts.Checkpoint == nil {
		return
	}
	if err := os.Remove(checkpointOf(f.model)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.logf("warning: %v", err)
	}
}
