package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/wordvec"
)

// newVectorsGet returns treeloss vectors get. It prints the words in the order in which they
// were asked for and exits with 1 if one of them has no vector, after printing the others.
func newVectorsGet(a *app) *cobra.Command {
	var f vectorFlags
	c := &cobra.Command{
		Use:   "get --vectors FILE WORD...",
		Short: "Print the vectors of words",
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return usagef("no words: name them behind the flags")
			}
			return checkWords(words)
		},
		RunE: func(c *cobra.Command, words []string) error {
			return f.run(c.Context(), a, wordvec.Options{Words: words}, func(v *wordvec.Vectors) error { return printVectors(a, v, words) })
		},
	}
	f.add(c)
	a.jsonFlag(c)
	return c
}

func printVectors(a *app, v *wordvec.Vectors, words []string) error {
	known, unknown := []wordVector{}, []string{}
	for _, word := range words {
		found, err := vectorOf(v, word)
		switch {
		case err == nil:
			known = append(known, found)
		case !errors.Is(err, wordvec.ErrUnknown):
			return err
		case !slices.Contains(unknown, word):
			unknown = append(unknown, word)
		}
	}
	if a.json {
		if err := a.printJSON(map[string]any{"vectors": known, "unknown": unknown}); err != nil {
			return err
		}
	} else {
		for _, w := range known {
			if err := writeVector(a.out, w.Word, w.Vector); err != nil {
				return err
			}
		}
	}
	if len(unknown) > 0 {
		return v.MissingError(unknown)
	}
	return nil
}
