package main

import (
	"context"
	"encoding/json"
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
type classFileFlags struct {
	taxonomy  string
	vectors   string
	unknown   string
	distances string
	weights   string
}

// unknownPolicies are the values of --unknown.
func unknownPolicies() []string {
	var out []string
	for _, u := range []wordvec.Unknown{wordvec.UnknownError, wordvec.UnknownAverage, wordvec.UnknownSubword, wordvec.UnknownDrop, wordvec.UnknownRoot} {
		out = append(out, u.String())
	}
	return out
}

func (f *classFileFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.taxonomy, "taxonomy", "", "tree over the classes: child,parent rows, paths, Newick, JSON or a tree file")
	flags.StringVar(&f.vectors, "label-vectors", "", "word vectors for the class names: word2vec, GloVe or fastText; - for standard input")
	flags.StringVar(&f.unknown, "unknown", wordvec.UnknownError.String(), "class names without a vector: error, average (of known words), subword (fastText .bin), drop, root")
	flags.StringVar(&f.distances, "distances", "", "precomputed distances of classes: lines of two names and a number; - for standard input")
	flags.StringVar(&f.weights, "weights-model", "", "model of the same classes, trained on other examples, whose weights show which are similar")
	choices(c, "unknown", unknownPolicies()...)
}

// flagOfSource returns the flag that names the file of a source, "" for a source
// that the examples bring themselves.
func flagOfSource(s classinfo.Source) string {
	return map[classinfo.Source]string{classinfo.Vectors: "--label-vectors", classinfo.Taxonomy: "--taxonomy",
		classinfo.Distances: "--distances", classinfo.Weights: "--weights-model"}[s]
}

// path returns what the flag of a source names, "" for none.
func (f *classFileFlags) path(s classinfo.Source) string {
	switch s {
	case classinfo.Vectors:
		return f.vectors
	case classinfo.Taxonomy:
		return f.taxonomy
	case classinfo.Distances:
		return f.distances
	case classinfo.Weights:
		return f.weights
	}
	return ""
}

// sources are the files that the flags name.
func (f *classFileFlags) sources() []source {
	var list []source
	for _, s := range classinfo.Metrics() {
		if path := f.path(s); path != "" {
			list = append(list, source{flagOfSource(s), path})
		}
	}
	return list
}

// checkSpec refuses a sharing that needs a file which no flag names; what is how it
// was asked for.
func (f *classFileFlags) checkSpec(what string, spec classinfo.Spec) error {
	for _, s := range spec {
		if flagOfSource(s) != "" && f.path(s) == "" {
			file := "FILE"
			if s == classinfo.Weights {
				file = "MODEL"
			}
			return usagef("%s needs a file: name it with %s %s", what, flagOfSource(s), file)
		}
	}
	return nil
}

// check refuses flags that do not go together; from is the value of --from,
// data that of --data.
func (f *classFileFlags) check(from string, data []string) error {
	policy, err := wordvec.ParseUnknown(f.unknown)
	source := classinfo.Source(from)
	switch {
	case err != nil:
		return usagef("--unknown %q, want one of %s", f.unknown, strings.Join(unknownPolicies(), ", "))
	case f.vectors == "" && policy != wordvec.UnknownError:
		return usagef("--unknown %s says what to do with names that have no vector: give vectors with --label-vectors FILE", f.unknown)
	case f.vectors == "-" && f.distances == "-":
		return usagef("--label-vectors and --distances cannot both be the standard input; name a file for one of them")
	case flagOfSource(source) != "" && f.path(source) == "":
		return usagef("--from %s needs a file: name it with %s", from, flagOfSource(source))
	}
	for _, s := range classinfo.Metrics() {
		switch path := f.path(s); {
		case path == "-" && slices.Contains(data, "-"):
			return usagef("--data and %s cannot both be the standard input; name a file for one of them", flagOfSource(s))
		case path == "" || s == classinfo.Weights:
		case anymodel.IsFile(path) && s == classinfo.Taxonomy:
			return fmt.Errorf("%s is a model; write its tree to a file with treeloss tree show --format json, and give that to --taxonomy", path)
		case anymodel.IsFile(path):
			return fmt.Errorf("%s is a model, which %s does not take; --weights-model does", path, flagOfSource(s))
		}
	}
	if f.weights == "" {
		return nil
	}
	return anymodel.CheckLinear(f.weights)
}

// classFiles returns what package tune calls the same. Files of word vectors with a
// word twice are common enough: the first counts, as in treeloss vectors.
func (f *classFileFlags) classFiles(a *app) corpus.ClassFiles {
	policy, _ := wordvec.ParseUnknown(f.unknown) // check has refused others
	return corpus.ClassFiles{Taxonomy: f.taxonomy, Vectors: f.vectors, Unknown: policy, KeepFirst: true, Distances: f.distances, Weights: f.weights, Stdin: a.in}
}

// data ends the reading of a corpus, logs how the label vectors were found, and
// returns the rows to train on: those of classes that were not dropped.
func (f *classFileFlags) data(ctx context.Context, a *app, examples *corpus.Corpus, rows []int) (*corpus.Data, []int, error) {
	if f.vectors != "" {
		a.logf("reading label vectors from %s", f.vectors)
	}
	d, err := examples.Data(ctx, rows, f.classFiles(a))
	if err != nil {
		return nil, nil, f.explain(err)
	}
	f.logNames(a, d.Found)
	f.logTriangle(a, d.Classes)
	if len(d.Dropped) == 0 {
		return d, rows, nil
	}
	kept := labelled(d, rows)
	a.logf("skipped, no vector: %d classes with %d of %d training rows", len(d.Dropped), len(rows)-len(kept), len(rows))
	return d, kept, nil
}

// shownSpellings is how many names the log lists that were found under another
// spelling. The model file has all.
const shownSpellings = 20

// logNames logs which names were found under another spelling than their own, and
// which were not.
func (f *classFileFlags) logNames(a *app, found *wordvec.LabelVectors) {
	if found == nil {
		return
	}
	a.logf("%v", found)
	if n := found.Source.Duplicates; n > 0 {
		a.logf("  %d words stand there again; their first vectors count", n)
	}
	other := slices.DeleteFunc(slices.Clone(found.Names), func(n wordvec.Name) bool {
		return n.Fate != wordvec.Found || !slices.ContainsFunc(n.Words, func(w wordvec.Word) bool { return w.Found != "" && w.Found != w.Text })
	})
	for _, n := range other[:min(len(other), shownSpellings)] {
		a.logf("  %v", n)
	}
	if more := len(other) - shownSpellings; more > 0 {
		a.logf("  and %d more names under another spelling", more)
	}
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
		for _, s := range classinfo.Metrics() {
			if f.path(s) != "" {
				flags = append(flags, flagOfSource(s))
			}
		}
		return fmt.Errorf("%w of %s", err, strings.Join(flags, " and "))
	}
	return err
}

// withoutDropped removes the rows whose label was dropped from rows to measure
// on, and tells how many these were.
func withoutDropped(a *app, d *corpus.Data, examples *corpus.Corpus, rows []int, what string) []int {
	if len(d.Dropped) == 0 {
		return rows
	}
	kept := slices.DeleteFunc(slices.Clone(rows), func(row int) bool {
		return slices.ContainsFunc(examples.LabelsOf(row), func(label string) bool { return slices.Contains(d.Dropped, label) })
	})
	if n := len(rows) - len(kept); n > 0 {
		a.logf("left out with their classes: %d of %d %s", n, len(rows), what)
	}
	return kept
}

// record adds what became of the class names to the options that the model
// file keeps.
func (f *classFileFlags) record(options map[string]string, found *wordvec.LabelVectors) error {
	if found == nil {
		return nil
	}
	text, err := json.Marshal(struct {
		Format string         `json:"format"`
		Dim    int            `json:"dim"`
		Words  int            `json:"words"`
		Names  []wordvec.Name `json:"names"`
	}{found.Source.Format.String(), found.Source.Dim, found.Source.Words, found.Names})
	if err != nil {
		return err
	}
	options["unknown"] = found.Policy.String()
	options["label-vectors-found"] = string(text)
	return nil
}
