package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/wordvec"
)

// newVectorsNearest returns treeloss vectors nearest. It holds the whole file in memory, and
// exits with 1 for a word that has no vector or one of zeros.
func newVectorsNearest(a *app) *cobra.Command {
	var f vectorFlags
	var top int
	c := &cobra.Command{
		Use:   "nearest --vectors FILE WORD",
		Short: "Print the words whose vectors are nearest to that of a word",
		Args: func(c *cobra.Command, words []string) error {
			if len(words) != 1 {
				return usagef("%s takes one word, not %d", c.CommandPath(), len(words))
			}
			return checkWords(words)
		},
		RunE: func(c *cobra.Command, words []string) error {
			if top < 1 {
				return usagef("--top %d, want at least 1", top)
			}
			return f.run(c.Context(), a, wordvec.Options{}, func(v *wordvec.Vectors) error { return printNearest(a, v, words[0], top) })
		},
	}
	f.add(c)
	c.Flags().IntVar(&top, "top", 10, "number of words to print, the nearest first")
	a.jsonFlag(c)
	return c
}

// nearWord is a word of nearest.
type nearWord struct {
	Word   string  `json:"word"`
	Cosine float64 `json:"cosine"`
}

func printNearest(a *app, v *wordvec.Vectors, word string, top int) error {
	query, err := vectorOf(v, word)
	if errors.Is(err, wordvec.ErrUnknown) {
		return v.MissingError([]string{word})
	}
	if err != nil {
		return err
	}
	found, err := v.Nearest(query.Vector, min(top, v.Len())+1) // the word itself is among them
	if err != nil {
		return fmt.Errorf("%s: word %q: %w", v.Info().Name, word, err)
	}
	near := []nearWord{}
	for _, n := range found {
		if n.Word != word && len(near) < top {
			near = append(near, nearWord(n))
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"word": word, "source": query.Source, "nearest": near})
	}
	for _, n := range near {
		if _, err := fmt.Fprintf(a.out, "%s\t%.6f\n", input.Escape(n.Word), n.Cosine); err != nil {
			return err
		}
	}
	return nil
}
