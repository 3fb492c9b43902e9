package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/fit"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
)

// embedFlags are the flags of treeloss embed.
type embedFlags struct {
	model      string
	data       dataFlags
	out        string
	classNames string
	backend    string

	flags *pflag.FlagSet // to tell what was given
}

// newEmbed returns treeloss embed.
//
//	reads    --model, a network; --data, pictures or texts
//	writes   --out, a float32 matrix of examples x features in NumPy's format, and the
//	         class of each row to FILE.labels.txt; both whole or not at all
//	prints   the two names and the size of the matrix
//	exits    1 for files, and for a linear model, which has no features to write; 2 for flags
func newEmbed(a *app) *cobra.Command {
	var f embedFlags
	c := &cobra.Command{
		Use:   "embed --model NETWORK --data DATA --out FILE.npy",
		Short: "Write the features that a network finds in pictures or texts",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "network that treeloss train --network wrote")
	flags.StringArrayVar(&f.data.data, "data", nil, "pictures: a CIFAR-100 folder or file, or a folder of folders; for a BERT a file of texts")
	flags.StringVar(&f.data.Labels, "labels", "", "pictures in one folder: their classes, a picture and its class on each line, as for train")
	flags.StringVar(&f.data.Label, "label", "", "texts: column of the class; give it if it is not called label, class, intent or the like")
	flags.StringVar(&f.data.Text, "text", "", "texts: column of the text; give it if it is not called text, sentence, question or the like")
	f.data.addFormat(c)
	flags.StringVar(&f.out, "out", "", "file to write, whose name ends in .npy: a row of features a picture")
	flags.StringVar(&f.classNames, "class-names", "", classNamesHelp)
	addBackend(c, &f.backend)
	a.jsonFlag(c)
	f.flags = flags
	return c
}

func (f *embedFlags) run(ctx context.Context, a *app) error {
	defer f.data.skipped.in(a)()
	switch {
	case f.model == "" || len(f.data.data) == 0 || f.out == "":
		return usagef("embed needs a network (--model), pictures or texts (--data) and a file to write (--out)")
	case filepath.Ext(f.out) != ".npy":
		return usagef("--out %s, want a name that ends in .npy", f.out)
	}
	read := slices.Concat(sources("--data", f.data.data...), sources("--labels", f.data.Labels), sources("--model", f.model), sources("--class-names", f.classNames))
	for _, path := range []string{f.out, fit.LabelsBeside(f.out)} {
		if err := cmp.Or(spare("--out", path, read), canWrite("--out", path)); err != nil {
			return err
		}
	}
	x, err := f.examples(a)
	if err != nil {
		return err
	}
	b, err := backend.Open(f.backend, func(line string) { a.logf("warning: %s", line) })
	if err != nil {
		return err
	}
	defer b.Finalize()
	result, err := fit.Embed(ctx, b, x.model, x.set, x.label, f.out)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(result)
	}
	fmt.Fprintf(a.out, "%s: %d x %d, labels in %s\n", result.Out, result.Examples, result.Features, result.Labels)
	return nil
}

// embeddable is what embed runs through a network.
type embeddable struct {
	set   train.Data
	label func(i int) string
	model *network.Model
}

// examples reads the network and what is to go through it.
func (f *embedFlags) examples(a *app) (*embeddable, error) {
	if !network.IsFile(f.model) {
		if err := checkUse(f.flags, f.model, classify.PictureNetwork); err != nil {
			return nil, err
		}
		if _, err := loadModel(f.model); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is %s; embed wants what treeloss train --network wrote", f.model, classify.LinearModel)
	}
	m, err := network.Load(f.model)
	if err != nil {
		return nil, err
	}
	if m.Encoder != nil {
		if err := checkUse(f.flags, f.model, classify.LanguageNetwork); err != nil {
			return nil, err
		}
		in, err := f.data.input(a, 0)
		if err != nil {
			return nil, err
		}
		data, err := fit.ReadTexts(in, a.logf)
		if err != nil {
			return nil, err
		}
		set, err := m.Texts(data.Texts)
		return &embeddable{set: set, label: func(i int) string { return data.Labels[i] }, model: m}, err
	}
	if err := checkUse(f.flags, f.model, classify.PictureNetwork); err != nil {
		return nil, err
	}
	data, err := images.Open(f.data.data, images.OpenOptions{Labels: f.data.Labels, ClassNames: f.classNames, Side: m.Width, Log: a.logf})
	if err != nil {
		return nil, err
	}
	set, err := m.Images(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.data.data[0], err)
	}
	return &embeddable{set: set, label: data.Class, model: m}, nil
}
