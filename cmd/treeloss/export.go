package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/export"
	"github.com/treeloss/treeloss/softmax"
)

// exportFlags are the flags of treeloss export.
type exportFlags struct {
	data   dataFlags
	model  string
	format export.Format
	out    string
	small  softmax.Compression
}

func newExport(a *app) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export --model MODEL --out FILE [--format FORMAT]",
		Short: "Write a linear model for another program, or a smaller one",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "linear model that treeloss train wrote")
	flags.StringVar(&f.out, "out", "", "file to write, or folder for npy")
	addWord(c, &f.format, "format", "form of the file: "+join(export.Formats()), export.Formats()...)
	addWord(c, &f.small.Quantize, "quantize", "precision of the weights: fp16 or int8 (default as they are)", softmax.Float32, softmax.Float16, softmax.Int8)
	flags.Float64Var(&f.small.Prune, "prune", 0, "share of the weights to keep, such as 0.25 (default all)")
	flags.StringArrayVar(&f.data.data, "data", nil, "file of labelled examples, to print the accuracy before and after")
	a.jsonFlag(c)
	return c
}

// exported is what is printed.
type exported struct {
	Files    []string `json:"files"`
	Bytes    int64    `json:"bytes"` // of the first of them
	Before   *float64 `json:"accuracy_before,omitempty"`
	After    *float64 `json:"accuracy_after,omitempty"`
	Examples int      `json:"examples,omitempty"`
}

func (f *exportFlags) run(ctx context.Context, a *app) error {
	if f.model == "" || f.out == "" {
		return usagef("nothing to write: name the model with --model, and the file to write with --out")
	}
	whole, err := anymodel.Linear(f.model)
	if err != nil {
		return err
	}
	if a, err := os.Stat(f.model); err == nil {
		if b, err := os.Stat(f.out); err == nil && os.SameFile(a, b) {
			return usagef("--out %s is the model itself; name another file", f.out)
		}
	}
	small, err := whole.Compress(f.small)
	if err != nil {
		return err
	}
	var r exported
	if len(f.data.data) > 0 {
		in, err := f.data.input(a, 0)
		if err != nil {
			return err
		}
		accuracy, n, err := export.Accuracy(ctx, in, whole, small)
		if err != nil {
			return err
		}
		r.Before, r.After, r.Examples = &accuracy[0], &accuracy[1], n
	}
	if r.Files, err = export.Write(small, f.format, f.out); err != nil {
		return fmt.Errorf("%s: %w", f.model, err)
	}
	if info, err := os.Stat(r.Files[0]); err == nil {
		r.Bytes = info.Size()
	}
	if a.json {
		return a.printJSON(r)
	}
	for _, file := range r.Files {
		fmt.Fprintln(a.out, file)
	}
	if r.Examples > 0 {
		fmt.Fprintf(a.out, "accuracy on %d examples: %s before, %s after\n", r.Examples, console.Points(*r.Before), console.Points(*r.After))
	}
	return nil
}
