package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/wordvec"
)

// namesFlags are the flags of treeloss vectors names.
type namesFlags struct {
	vectorFlags
	names    string
	synonyms string
	unknown  string
}

// Which of a class's synonyms count.
const (
	firstSynonym = "first"
	allSynonyms  = "all"
)

func newVectorsNames(a *app) *cobra.Command {
	var f namesFlags
	c := &cobra.Command{
		Use:   "names --vectors FILE --names FILE",
		Short: "Vectors for the classes of ImageNet, by their names",
		Long: `Names reads the names of classes of WordNet and prints a vector for each, under
its wnid, as a word2vec text file: what train --label-vectors reads for classes
that are called n01440764 and the like. Two classes of ImageNet are called crane,
so wnids are the safer names.

A name has its own vector if the file has one, else the mean of the vectors of its
words. --synonyms all takes the mean over all names of a class, else the first
counts. Unknown words are an error unless --unknown says otherwise; with a
fastText .bin, subword makes their vectors of n-grams. drop leaves classes out.

--names is a file with a wnid and its names on each line, names separated by
commas (LOC_synset_mapping.txt, words.txt), a CSV with the columns wnid and words,
or imagenet_class_index.json.

` + vectorFormats,
		Example: `  treeloss vectors names --vectors cc.en.300.bin --names LOC_synset_mapping.txt --unknown subword > imagenet.vec`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c, a)
		},
	}
	f.add(c)
	flags := c.Flags()
	flags.StringVar(&f.names, "names", "", "file of wnids and their names")
	flags.StringVar(&f.synonyms, "synonyms", firstSynonym, "names of a class that count: first or all")
	flags.StringVar(&f.unknown, "unknown", wordvec.UnknownError.String(), "words without a vector: error, average (of known words), subword (fastText .bin) or drop")
	choices(c, "synonyms", firstSynonym, allSynonyms)
	choices(c, "unknown", "error", "average", "subword", "drop")
	return c
}

func (f *namesFlags) run(c *cobra.Command, a *app) error {
	if err := f.check(); err != nil {
		return err
	}
	policy, err := wordvec.ParseUnknown(f.unknown)
	switch {
	case f.names == "":
		return usagef("no names: name a file of wnids and their names with --names")
	case err != nil || policy == wordvec.UnknownRoot:
		return usagef("--unknown %q, want error, average, subword or drop", f.unknown)
	case f.synonyms != firstSynonym && f.synonyms != allSynonyms:
		return usagef("--synonyms %q, want first or all", f.synonyms)
	}
	classes, err := dataset.ReadSynsets(f.names)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range classes {
		if f.synonyms == firstSynonym {
			s.Names = s.Names[:1]
		}
		names = append(names, s.Names...)
	}
	v, err := f.read(c.Context(), a, wordvec.Options{Names: names})
	if err != nil {
		return err
	}
	found, err := v.Names(names, policy)
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
	var rows [][]float64
	var ids []string
	next := 0
	for _, s := range classes {
		n := len(s.Names)
		if f.synonyms == firstSynonym {
			n = 1
		}
		sum, known := make([]float64, found.Vectors.Cols()), 0
		for i := next; i < next+n; i++ {
			if found.Names[i].Fate != wordvec.Found {
				continue
			}
			known++
			for j, x := range found.Vectors.Row(i) {
				sum[j] += float64(x)
			}
		}
		next += n
		if known == 0 {
			a.logf("skipped, no vector: %s (%s)", s.ID, s.Names[0])
			continue
		}
		for j := range sum {
			sum[j] /= float64(known)
		}
		ids, rows = append(ids, s.ID), append(rows, sum)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: none of the %d classes has a vector in %s", f.names, len(classes), f.path)
	}
	line := fmt.Appendf(nil, "%d %d\n", len(rows), found.Vectors.Cols())
	for i, row := range rows {
		line = append(line, ids[i]...)
		for _, x := range row {
			line = strconv.AppendFloat(append(line, ' '), float64(float32(x)), 'g', -1, 32)
		}
		if _, err := a.out.Write(append(line, '\n')); err != nil {
			return err
		}
		line = line[:0]
	}
	return nil
}
