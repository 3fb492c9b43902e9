package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/shard"
)

// shardFlags have a command do one part of its work and write it into a folder.
type shardFlags struct {
	shard, out string
	flags      *pflag.FlagSet
}

func (f *shardFlags) add(c *cobra.Command) {
	f.flags = c.Flags()
	f.flags.StringVar(&f.shard, "shard", "", "answer part i, from 0, of n into --out, such as 3/8, or auto in a job of Kubernetes or Slurm")
	f.flags.StringVar(&f.out, "out", "", "folder for the parts of --shard, which treeloss gather joins")
}

// sameAnswers are flags that change no byte of the output.
var sameAnswers = map[string]bool{"shard": true, "out": true, "model": true, "threads": true, "quiet": true}

// run runs a command for its part, whose output goes into the folder, or, without
// --shard, as it is. A part that is there, whole, is not made again.
func (f *shardFlags) run(a *app, model string, data *dataFlags, command func(a *app) error) error {
	switch {
	case f.shard == "" && f.out == "":
		return command(a)
	case f.shard == "":
		return usagef("--out is the folder for the parts of --shard; give --shard i/n, too, or redirect the output")
	case f.out == "":
		return usagef("--shard writes its part into a folder; name it with --out")
	case isStream(data.data):
		return usagef("--shard divides files, and the standard input is none; save it to a file first")
	}
	part, err := shard.Parse(f.shard, os.Getenv)
	if err != nil {
		return err
	}
	data.Shard = part
	options := make(map[string]string)
	f.flags.Visit(func(flag *pflag.Flag) {
		if !sameAnswers[flag.Name] {
			options[flag.Name] = flag.Value.String()
		}
	})
	task, err := shard.NewTask(program(), "predict", options, model, data.data)
	if err != nil {
		return err
	}
	w, err := shard.Create(f.out, part, task)
	if err != nil {
		return err
	}
	if w == nil {
		a.logf("part %v is in %s already", part, f.out)
		return nil
	}
	defer w.Discard()
	own := *a
	own.out = w
	if err := command(&own); err != nil {
		return err
	}
	return w.Commit()
}

// newGather returns treeloss gather.
//
//	reads    the parts in a folder, each twice
//	writes   --out, whole or not at all; without it they go to standard output
//	exits    1 if a part is missing, damaged or of another task
func newGather(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "gather FOLDER",
		Short: "Join the parts that predict --shard wrote",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one folder, that of --out of the parts", c.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				_, _, err := shard.Gather(args[0], a.out)
				return err
			}
			file, err := atomicfile.Create(out)
			if err != nil {
				return err
			}
			defer file.Discard()
			parts, rows, err := shard.Gather(args[0], file)
			if err != nil {
				return err
			}
			if err := file.Commit(); err != nil {
				return err
			}
			a.logf("%s of %s in %s", input.Plural(rows, "line"), input.Plural(parts, "part"), out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default standard output)")
	return c
}
