package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/wordvec"
)

// vectorFacts is what info tells about a file.
type vectorFacts struct {
	File       string `json:"file"`
	Format     string `json:"format"`
	Words      int    `json:"words"`
	Dimensions int    `json:"dimensions"`
	Subwords   bool   `json:"subwords"` // whether unknown words get a vector from their n-grams
	MinN       int    `json:"min_n"`    // characters of these n-grams
	MaxN       int    `json:"max_n"`
	Buckets    int    `json:"buckets"` // rows that the n-grams share
	Supervised bool   `json:"supervised"`
}

// newVectorsInfo returns treeloss vectors info, which reads the whole file, so that a
// damaged one is found, and keeps none of it.
func newVectorsInfo(a *app) *cobra.Command {
	var f vectorFlags
	c := &cobra.Command{
		Use:   "info --vectors FILE",
		Short: "Tell the format and the size of a file of word vectors",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), a, wordvec.Options{Words: []string{}}, func(v *wordvec.Vectors) error { return printVectorFacts(a, v.Info()) })
		},
	}
	f.add(c)
	a.jsonFlag(c)
	return c
}

func printVectorFacts(a *app, i wordvec.Info) error {
	facts := vectorFacts{File: i.Name, Format: i.Format.String(), Words: i.Words, Dimensions: i.Dim,
		Subwords: i.MaxN > 0, MinN: i.MinN, MaxN: i.MaxN, Buckets: i.Buckets, Supervised: i.Supervised}
	if a.json {
		return a.printJSON(facts)
	}
	unknown := "have no vector"
	if facts.Subwords {
		unknown = fmt.Sprintf("from n-grams of %d to %d characters in %d rows", i.MinN, i.MaxN, i.Buckets)
	}
	for _, row := range [][2]string{
		{"file", input.Escape(facts.File)},
		{"format", facts.Format},
		{"words", strconv.Itoa(facts.Words)},
		{"dimensions", strconv.Itoa(facts.Dimensions)},
		{"unknown words", unknown},
	} {
		fmt.Fprintf(a.out, "%-15s%s\n", row[0], row[1])
	}
	if i.Supervised {
		fmt.Fprintf(a.out, "%-15s%s\n", "trained for", "classification (fastText supervised)")
	}
	return nil
}
