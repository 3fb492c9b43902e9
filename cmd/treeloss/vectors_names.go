package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/wordvec"
)

// namesFlags are the flags of treeloss vectors names.
type namesFlags struct {
	vectorFlags
	names    string
	synonyms string
	unknown  wordvec.Unknown
}

// firstSynonym is the value of --synonyms that leaves out all but the first.
const firstSynonym = "first"

// newVectorsNames returns treeloss vectors names. It reads the names of ImageNet's classes
// from --names, prints a file of vectors in word2vec's text form, wnids for words, and
// exits with 1 if no class has a vector; those without one are logged.
func newVectorsNames(a *app) *cobra.Command {
	var f namesFlags
	c := &cobra.Command{
		Use:   "names --vectors FILE --names FILE",
		Short: "Vectors for the classes of ImageNet, by their names",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c, a)
		},
	}
	f.add(c)
	flags := c.Flags()
	flags.StringVar(&f.names, "names", "", "file of wnids and their names")
	addWord(c, &f.synonyms, "synonyms", "names of a class that count: first or all", firstSynonym, "all")
	addText(c, &f.unknown, "unknown", "words without a vector: error, average (of known words), subword (fastText .bin) or drop", "error", "average", "subword", "drop")
	return c
}

func (f *namesFlags) run(c *cobra.Command, a *app) error {
	if f.names == "" {
		return usagef("no names: name a file of wnids and their names with --names")
	}
	if f.unknown == wordvec.UnknownRoot { // there is no tree
		return usagef("--unknown %q, want error, average, subword or drop", f.unknown.String())
	}
	classes, err := dataset.ReadSynsets(f.names)
	if err != nil {
		return err
	}
	var names []string
	for i := range classes {
		if f.synonyms == firstSynonym {
			classes[i].Names = classes[i].Names[:1]
		}
		names = append(names, classes[i].Names...)
	}
	v, err := f.read(c.Context(), a, wordvec.Options{Names: names})
	if err != nil {
		return err
	}
	found, err := v.Names(names, f.unknown)
	if errors.Is(err, wordvec.ErrUnknown) {
		return fmt.Errorf("%w (--unknown)", err)
	}
	if err != nil {
		return err
	}
	return f.print(a, classes, found)
}

// print prints the mean vector of each class, in the order of the file.
func (f *namesFlags) print(a *app, classes []dataset.Synset, found *wordvec.LabelVectors) error {
	means := make([][]float64, len(classes)) // nil without a vector
	next, known := 0, 0
	for i, s := range classes {
		means[i] = found.Mean(next, next+len(s.Names))
		if next += len(s.Names); means[i] == nil {
			a.logf("skipped, no vector: %s (%s)", s.ID, s.Names[0])
			continue
		}
		known++
	}
	if known == 0 {
		return fmt.Errorf("%s: none of the %d classes has a vector in %s", f.names, len(classes), f.path)
	}
	if _, err := fmt.Fprintf(a.out, "%d %d\n", known, found.Vectors.Cols()); err != nil {
		return err
	}
	for i, mean := range means {
		if mean == nil {
			continue
		}
		if err := writeVector(a.out, classes[i].ID, mean); err != nil {
			return err
		}
	}
	return nil
}
