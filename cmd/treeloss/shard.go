package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/shard"
)

// shardFlags have a command do one part of its work and write it into a folder.
type shardFlags struct {
	shard  string
	out    *string // the folder
	output bool    // without --shard --out is a file of the command
	flags  *pflag.FlagSet
}

// add adds --shard, and --out unless the command has one of its own.
func (f *shardFlags) add(c *cobra.Command, out *string) {
	f.flags, f.out, f.output = c.Flags(), out, out != nil
	f.flags.StringVar(&f.shard, "shard", "", "do part i, from 0, of n into the folder --out: 3/8, or auto in a job of Kubernetes or Slurm")
	if out == nil {
		f.out = f.flags.String("out", "", "folder for the parts of --shard, which treeloss gather joins")
	}
}

// Commands of which gather needs to know more than that they have parts.
const (
	commandPredict = "predict"
	commandTrain   = "train"
)

// shared is what a command has to do with parts: nothing, if it is zero.
type shared struct {
	part   dataset.Shard // the one to do; zero: all is done
	parts  *shard.Parts  // done before, in place of the work; nil: none are
	task   shard.Task
	folder string
}

// any tells whether --out names the folder of parts.
func (s shared) any() bool { return s.part.Count > 0 || s.parts != nil }

// grid runs a command whose work is cells: those of its part are written to a.out.
func (s shared) grid(a *app, command func(*shard.Cells) error) error {
	if !s.any() {
		return command(nil)
	}
	if s.parts != nil {
		cells, err := s.parts.Cells()
		if err != nil {
			return err
		}
		return command(cells)
	}
	cells, err := shard.OpenCells(s.folder, s.part, s.task)
	if err != nil {
		return err
	}
	defer cells.Close()
	if err := command(cells); !errors.Is(err, shard.ErrPart) {
		return err
	}
	return cells.Write(a.out)
}

// unshared are flags that change nothing of the parts.
var unshared = []string{"shard", "out", "model", "threads", "quiet", "report", "confusions"}

// task is what all parts have in common: the flags of the command, the model that it reads,
// and all other files that its flags name.
func (f *shardFlags) task(a *app, command, model string, data []string) (shard.Task, error) {
	options, files := make(map[string]string), slices.Clone(data)
	f.flags.Visit(func(flag *pflag.Flag) {
		if slices.Contains(unshared, flag.Name) || flag.Name == "json" && command != commandPredict { // gather prints
			return
		}
		options[flag.Name] = a.named(flag.Value.String())
		values := []string{flag.Value.String()}
		if list, many := flag.Value.(pflag.SliceValue); many {
			values = list.GetSlice()
		}
		for _, path := range values {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(files, path) {
				files = append(files, path)
			}
		}
	})
	return shard.NewTask(program(), command, options, model, files)
}

// run runs a command as it is, for its part, whose output goes into the folder, or where
// gather has the parts. model, "" for none, and data are files that it reads. A part that is
// there, whole, is not done again.
func (f *shardFlags) run(a *app, command, model string, data []string, do func(a *app, s shared) error) error {
	switch {
	case a.parts != nil:
		task, err := f.task(a, command, model, data)
		if err == nil {
			err = a.parts.Check(task)
		}
		if err != nil {
			return err
		}
		return do(a, shared{parts: a.parts})
	case f.shard == "" && (*f.out == "" || f.output):
		return do(a, shared{})
	case f.shard == "":
		return usagef("--out is the folder for the parts of --shard; give --shard i/n, too, or redirect the output")
	case *f.out == "":
		return usagef("--shard writes its part into a folder; name it with --out")
	case isStream(data):
		return usagef("--shard divides files, and the standard input is none; save it to a file first")
	}
	part, err := shard.Parse(f.shard, os.Getenv)
	if err != nil {
		return err
	}
	task, err := f.task(a, command, model, data)
	if err != nil {
		return err
	}
	w, err := shard.Create(*f.out, part, task, a.args)
	if err != nil {
		return err
	}
	if w == nil {
		a.logf("part %v is in %s already", part, *f.out)
		return nil
	}
	defer w.Discard()
	own := *a
	own.out = w
	if err := do(&own, shared{part: part, task: task, folder: *f.out}); err != nil && !errors.Is(err, shard.ErrPart) {
		return err
	}
	return w.Commit()
}

// newGather returns treeloss gather.
//
//	reads    the parts in a folder, each twice, and, but for predict, what the command reads
//	does     the command of the parts, with what they have done in place of its work
//	writes   --out, whole or not at all; without it results go to standard output
//	exits    1 if a part is missing, damaged or of another task
func newGather(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "gather FOLDER",
		Short: "Join the parts that a command wrote with --shard",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one folder, that of --out of the parts", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			parts, err := shard.Open(args[0])
			if err != nil {
				return err
			}
			return a.gather(c.Context(), parts, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write: a model of train, else what is printed (default standard output)")
	a.jsonFlag(c)
	return c
}

// gather writes to out, "" for a.out, what the command of the parts makes of them.
func (a *app) gather(ctx context.Context, parts *shard.Parts, out string) error {
	if parts.Command == commandTrain {
		if out == "" {
			return usagef("these are parts of a model; name the file to write with --out")
		}
		return a.withParts(ctx, parts, "--model", out)
	}
	own := *a
	if out != "" {
		file, err := atomicfile.Create(out)
		if err != nil {
			return err
		}
		defer file.Discard()
		own.out = file
	}
	var err error
	switch {
	case parts.Command != commandPredict:
		err = own.withParts(ctx, parts)
	case a.json:
		err = usagef("parts of predict are joined as they are; give --json to each of them")
	default:
		err = parts.Join(own.out)
	}
	if file, ok := own.out.(*atomicfile.File); ok && err == nil {
		err = file.Commit()
		a.logf("%s in %s", input.Plural(len(parts.Files), "part"), out)
	}
	return err
}

// withParts runs the command of the parts, with more arguments.
func (a *app) withParts(ctx context.Context, parts *shard.Parts, more ...string) error {
	c, _, err := newRoot(&app{}).Find(parts.Args)
	if err != nil || c.Name() != parts.Command || c.Flags().Lookup("shard") == nil {
		return fmt.Errorf("the parts are of no command that is known here: %s", input.ShellLine(parts.Args))
	}
	for flag, set := range map[string]bool{"--json": a.json, "--quiet": a.quiet} {
		if set {
			more = append(more, flag)
		}
	}
	return (&app{in: a.in, out: a.out, log: a.log, parts: parts}).execute(ctx, slices.Concat(parts.Args, more))
}
