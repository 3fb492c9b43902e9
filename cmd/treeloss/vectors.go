package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/wordvec"
)

// newVectors returns treeloss vectors, which only holds info, get, nearest and names. They
// read one file of word vectors, --vectors, write none and print to standard output.
func newVectors(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "vectors",
		Short: "Look into files of word vectors",
		Args:  commandsOnly,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newVectorsInfo(a), newVectorsGet(a), newVectorsNearest(a), newVectorsNames(a))
	return c
}

// vectorFlags name a file of word vectors.
type vectorFlags struct{ path string }

func (f *vectorFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "vectors", "", "file of word vectors: word2vec, GloVe or fastText, also .gz and .zst; - for standard input")
}

// run reads the words of the options and prints what came of it.
func (f *vectorFlags) run(ctx context.Context, a *app, opts wordvec.Options, print func(*wordvec.Vectors) error) error {
	v, err := f.read(ctx, a, opts)
	if err != nil {
		return err
	}
	return print(v)
}

// read reads what the options want, with a progress bar.
func (f *vectorFlags) read(ctx context.Context, a *app, opts wordvec.Options) (*wordvec.Vectors, error) {
	if f.path == "" {
		return nil, usagef("no word vectors: name a file of them with --vectors")
	}
	bar := a.bar()
	// Files with a word twice are common enough: the first counts, as in gensim.
	opts.KeepFirst, opts.Progress = true, bar.Bytes
	var v *wordvec.Vectors
	err := interruptible(ctx, f.path == "-", func() (err error) {
		if f.path == "-" {
			v, err = wordvec.Read(ctx, a.in, stdinName, opts)
			return err
		}
		if info, err := os.Stat(f.path); err == nil && info.Mode().IsRegular() {
			bar.Size = info.Size()
		}
		v, err = wordvec.Open(ctx, f.path, opts)
		return err
	})
	bar.End()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file of word vectors; check the path", f.path)
	case err != nil:
		return nil, err
	}
	if n := v.Info().Duplicates; n > 0 {
		a.logf("%s: %d words stand there again; their first vectors count", v.Info().Name, n)
	}
	return v, nil
}

// wordVector is one word of get.
type wordVector struct {
	Word   string    `json:"word"`
	Source string    `json:"source"` // sourceFile or sourceNgrams
	Vector []float32 `json:"vector"`
}

const (
	sourceFile   = "file"
	sourceNgrams = "n-grams"
)

// checkWords refuses words that no file has and no line can hold.
func checkWords(words []string) error {
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, "\r\n") {
			return usagef("the word %q, want one that is not empty and has no line break", w)
		}
	}
	return nil
}

// vectorOf returns the vector of a word as get and nearest have it.
func vectorOf(v *wordvec.Vectors, word string) (wordVector, error) {
	if row, ok := v.Vector(word); ok {
		return wordVector{word, sourceFile, row}, nil
	}
	row, err := v.Subword(word)
	return wordVector{word, sourceNgrams, row}, err
}

// writeVector writes a line of a word2vec text file.
func writeVector[T float32 | float64](w io.Writer, word string, vector []T) error {
	line := []byte(word)
	for _, x := range vector {
		line = strconv.AppendFloat(append(line, ' '), float64(float32(x)), 'g', -1, 32)
	}
	_, err := w.Write(append(line, '\n'))
	return err
}
