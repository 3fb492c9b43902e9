package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/tweets"
	"github.com/treeloss/treeloss/wordvec"
)

func newTweets(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tweets",
		Short: "Make examples of tweets",
		Args:  commandsOnly,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTweetsPrepare(a))
	return c
}

// tweetFlags are the flags of treeloss tweets prepare.
type tweetFlags struct {
	data      []string
	out       string
	emojis    string
	vectors   string
	languages []string
	tones     string
	options   tweets.Options
}

// newTweetsPrepare returns treeloss tweets prepare.
//
//	reads    --data, JSON lines of Twitter's API v1.1, once, as a stream; --emojis, --vectors
//	does     tweets.Read: emojis become labels, a user falls into one of three files
//	writes   train.csv, valid.csv, test.csv and emojis.csv in --out, all of them at the end
//	prints   how many lines became examples, and why the others did not
//	exits    1 for files; 2 for flags
func newTweetsPrepare(a *app) *cobra.Command {
	var f tweetFlags
	c := &cobra.Command{
		Use:   "prepare --data FILE... --out FOLDER",
		Short: "Tweets to examples: which emoji stood in this text?",
		Args:  addTo(&f.data),
		RunE: func(c *cobra.Command, _ []string) error {
			return interruptible(c.Context(), slices.Contains(f.data, "-"), func() error { return f.run(c.Context(), a) })
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.data, "data", nil, "files of tweets, one JSON object a line, also .gz and .zst; - for standard input")
	flags.StringVar(&f.out, "out", "", "folder for train.csv, valid.csv, test.csv and emojis.csv; made if need be")
	flags.StringVar(&f.emojis, "emojis", "", "keep only these labels: a file with one a line; of a CSV the first column")
	flags.StringVar(&f.vectors, "vectors", "", "keep only emojis that have a vector in this file of word vectors, such as emoji2vec.bin")
	flags.StringSliceVar(&f.languages, "languages", nil, "keep only these, as the API calls them, separated by commas: en,es (default all)")
	addWord(c, &f.tones, "skin-tones", "emojis that differ by skin tone are classes of their own (keep) or one class (drop)", "keep", "drop")
	flags.BoolVar(&f.options.Retweets, "retweets", false, "keep retweets, which repeat the tweets of others")
	flags.Float64Var(&f.options.Valid, "valid", 0.1, "share of the users for valid.csv")
	flags.Float64Var(&f.options.Test, "test", 0.1, "share of the users for test.csv")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "decides which users go where")
	flags.IntVar(&f.options.Threads, "threads", 0, "processor threads, 0 for all; never changes a result")
	a.jsonFlag(c)
	return c
}

func (f *tweetFlags) check() error {
	switch {
	case len(f.data) == 0:
		return usagef("no tweets: name files of them with --data")
	case f.out == "":
		return usagef("no place for the examples: name a folder with --out")
	case f.emojis != "" && f.vectors != "":
		return usagef("--emojis and --vectors both say which emojis to keep; give one of them")
	}
	return f.options.Check()
}

func (f *tweetFlags) run(ctx context.Context, a *app) error {
	if err := f.check(); err != nil {
		return err
	}
	read := slices.Concat(sources("--data", f.data...), sources("--emojis", f.emojis), sources("--vectors", f.vectors))
	for _, name := range []string{"train.csv", "valid.csv", "test.csv", "emojis.csv"} {
		if err := spare("--out", filepath.Join(f.out, name), read); err != nil {
			return err
		}
	}
	o, err := f.complete(ctx)
	if err != nil {
		return err
	}
	out, err := tweets.Create(f.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer out.Discard()
	bar := a.bar()
	var all tweets.Counts
	for _, path := range f.data {
		o.Progress = func(c tweets.Counts) {
			bar.Draw(false, func(took time.Duration) string {
				lines := all.Lines + c.Lines
				return fmt.Sprintf("%s  %d lines  %d tweets with emojis  %.0f lines/s", path, lines, all.Tweets+c.Tweets, float64(lines)/took.Seconds())
			})
		}
		var c tweets.Counts
		if path == "-" {
			o.Name = stdinName
			c, err = tweets.Read(ctx, a.in, o, out.Write)
		} else {
			o.Name = path
			c, err = tweets.Open(ctx, path, o, out.Write)
		}
		bar.Clear()
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: no such file of tweets; check the path", path)
		}
		if err != nil {
			return err
		}
		all.Merge(c)
	}
	if err := all.Check(f.data[0]); err != nil {
		return err
	}
	if err := out.Commit(all); err != nil {
		return err
	}
	return f.print(a, all)
}

// complete reads which emojis to keep.
func (f *tweetFlags) complete(ctx context.Context) (tweets.Options, error) {
	o := f.options
	o.NoTones = f.tones == "drop"
	var labels []string
	switch {
	case f.emojis != "":
		var err error
		if labels, err = tweets.ReadLabels(f.emojis); err != nil {
			return o, fmt.Errorf("--emojis: %w", err)
		}
	case f.vectors != "":
		v, err := wordvec.Open(ctx, f.vectors, wordvec.Options{KeepFirst: true})
		if err != nil {
			return o, err
		}
		labels = v.Words()
	}
	if labels != nil {
		if o.Emojis = tweets.Among(labels, o.NoTones); len(o.Emojis) == 0 {
			return o, fmt.Errorf("%s: no emojis in it", cmp.Or(f.emojis, f.vectors))
		}
	}
	if len(f.languages) > 0 {
		o.Languages = map[string]bool{}
		for _, l := range f.languages {
			o.Languages[l] = true
		}
	}
	return o, nil
}

func (f *tweetFlags) print(a *app, c tweets.Counts) error {
	if a.json {
		return a.printJSON(struct {
			tweets.Counts
			Folder     string           `json:"folder"`
			Labels     int              `json:"labels"`
			ByLanguage map[string]int64 `json:"by_language"`
		}{c, f.out, len(c.Emojis), c.ByLanguage})
	}
	fmt.Fprintf(a.out, "%s: %d examples of %d emojis in %d languages, from %d tweets in %d lines\n", f.out,
		c.Examples["train"]+c.Examples["valid"]+c.Examples["test"], len(c.Emojis), len(c.ByLanguage), c.Tweets, c.Lines)
	fmt.Fprintf(a.out, "train.csv %d, valid.csv %d, test.csv %d\n", c.Examples["train"], c.Examples["valid"], c.Examples["test"])
	fmt.Fprintf(a.out, "skipped: %s\n", c.Skipped())
	return nil
}
