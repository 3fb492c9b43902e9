package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/wordvec"
)

// classFileFlags name the files with information about the classes.
type classFileFlags struct{ corpus.ClassFiles }

func (f *classFileFlags) add(c *cobra.Command) {
	flags := c.Flags()
	f.KeepFirst = true // a word twice in a file of vectors is common; the first counts, as in treeloss vectors
	flags.StringVar(&f.Taxonomy, "taxonomy", "", "tree over the classes: child,parent rows, paths, Newick, JSON or a tree file")
	flags.StringVar(&f.Vectors, "label-vectors", "", "word vectors for the class names: word2vec, GloVe or fastText; - for standard input")
	addText(c, &f.Unknown, "unknown", "class names without a vector: error, average (of known words), subword (fastText .bin), drop, root",
		"error", "average", "subword", "drop", "root")
	flags.StringVar(&f.Distances, "distances", "", "precomputed distances of classes: lines of two names and a number; - for standard input")
	flags.StringVar(&f.Weights, "weights-model", "", "model of the same classes, trained on other examples, whose weights show which are similar")
}

// each calls visit with each file that is named, its source and its flag.
func (f *classFileFlags) each(visit func(s classinfo.Source, flag, path string)) {
	for _, s := range classinfo.Metrics() {
		if name, path := f.File(s); path != "" {
			visit(s, flagOf(name), path)
		}
	}
}

// sources are the files that the flags name.
func (f *classFileFlags) sources() (list []source) {
	f.each(func(_ classinfo.Source, flag, path string) { list = append(list, source{flag, path}) })
	return list
}

// check refuses flags that do not go together; from is what trees are built from, data
// are the files of examples.
func (f *classFileFlags) check(from classinfo.Source, data []string) error {
	err := cmp.Or(f.Check(), f.CheckSources("From "+string(from), from))
	f.each(func(s classinfo.Source, flag, path string) {
		switch {
		case err != nil:
		case path == "-" && slices.Contains(data, "-"):
			err = usagef("--data and %s cannot both be the standard input; name a file for one of them", flag)
		case s == classinfo.Weights:
			err = anymodel.CheckLinear(path)
		case anymodel.IsFile(path) && s == classinfo.Taxonomy:
			err = fmt.Errorf("%s is a model; write its tree to a file with treeloss tree show --format json, and give that to --taxonomy", path)
		case anymodel.IsFile(path):
			err = fmt.Errorf("%s is a model, which %s does not take; --weights-model does", path, flag)
		}
	})
	return err
}

// read reads what is known about classes with these labels, and logs how it was found.
func (f *classFileFlags) read(ctx context.Context, a *app, labels []string) (classinfo.Info, *wordvec.LabelVectors, error) {
	f.Stdin = a.in
	classes, found, err := f.Read(ctx, labels)
	if err != nil {
		return classes, nil, f.explain(err)
	}
	f.log(a, found, classes)
	return classes, found, nil
}

// log logs what is worth knowing about the files.
func (f *classFileFlags) log(a *app, found *wordvec.LabelVectors, c classinfo.Info) {
	if found != nil {
		for _, line := range found.Notes() {
			a.logf("%s", line)
		}
	}
	f.logTriangle(a, c)
}

// data ends the reading of a corpus, logs how the label vectors were found, and
// returns the rows to train on: those of classes that were not dropped.
func (f *classFileFlags) data(ctx context.Context, a *app, examples *corpus.Corpus, rows []int) (*corpus.Data, []int, error) {
	if f.Vectors != "" {
		a.logf("reading label vectors from %s", f.Vectors)
	}
	f.Stdin = a.in
	d, err := examples.Data(ctx, rows, f.ClassFiles)
	if err != nil {
		return nil, nil, f.explain(err)
	}
	f.log(a, d.Found, d.Classes)
	if len(d.Dropped) == 0 {
		return d, rows, nil
	}
	kept := d.Labelled(rows)
	a.logf("skipped, no vector: %d classes with %d of %d training rows", len(d.Dropped), len(rows)-len(kept), len(rows))
	return d, kept, nil
}

// triples is how many triples of classes are looked at for distances that are
// none: a moment, and every triple of 64 classes.
const triples = 50_000

// logTriangle logs that precomputed distances break the triangle inequality. It is no
// error: trees are built all the same, and measured dissimilarities often do.
func (f *classFileFlags) logTriangle(a *app, c classinfo.Info) {
	if c.Distances == nil {
		return
	}
	var broken *metric.TriangleError
	if errors.As(metric.CheckTriangle(c.Distances, triples, 1), &broken) {
		a.logf("note: the distances are no metric: %q and %q are %v apart, but %v + %v over %q; trees are built all the same",
			c.Labels[broken.I], c.Labels[broken.J], broken.Distance, broken.ToVia, broken.FromVia, c.Labels[broken.Via])
	}
}

// explain names the flag that helps with an error of these files.
func (f *classFileFlags) explain(err error) error {
	switch {
	case errors.Is(err, wordvec.ErrUnknown):
		return fmt.Errorf("%w (--unknown)", err)
	case errors.Is(err, fs.ErrNotExist):
		var flags []string
		f.each(func(_ classinfo.Source, flag, _ string) { flags = append(flags, flag) })
		return fmt.Errorf("%w of %s", err, strings.Join(flags, " and "))
	}
	return err
}

// record adds what became of the class names to the options that the model
// file keeps.
func (f *classFileFlags) record(options map[string]string, found *wordvec.LabelVectors) error {
	if found == nil {
		return nil
	}
	text, err := found.JSON()
	if err != nil {
		return err
	}
	options["unknown"] = found.Policy.String()
	options["label-vectors-found"] = string(text)
	return nil
}
