package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/softmax"
)

// predictFlags are the flags of treeloss predict.
type predictFlags struct {
	data     dataFlags
	decision decisionFlags
	model    string
	top      int
	output   string
	threads  int
	backend  string // of networks

	flags *pflag.FlagSet // to tell what was given
}

func newPredict(a *app) *cobra.Command {
	var f predictFlags
	c := &cobra.Command{
		Use:   "predict --model MODEL [FILE | -]",
		Short: "Classify examples of a file or of standard input",
		Long: `Predict reads examples from a file, or from standard input, and writes one line
for each: the most probable class, a tab and its probability, or with --top N the
N most probable classes, each followed by its probability.

Lines of a .txt file and of standard input are plain sentences, unless the first
line names a text column or --text does. Other files are read as in training; a
label column is ignored. Answers to lines of a pipe or a terminal come at once.
Tabs, line breaks and backslashes in class names are written as \t, \n and \\.

` + decideHelp + `

A line of --confidence is the name of the node, its probability and its path from
the root, with " > " between; the root itself says nothing. A line that --reject
holds back has no label, only the probability that was too low. With --decode cost
the classes of --top come in the order of their expected cost.

A network on pictures takes a picture (JPEG or PNG), a folder of them, answered in
the order of their names, or a CIFAR-100 file; a BERT takes texts.

With --json, or --output jsonl, each line is one JSON object:
{"label":"...","probability":0.93}, and with --top N also "top", the list of the
N most probable; with --confidence also "path", a list, and "classes", how many are
left open; with --decode cost also "expected_cost"; "rejected":true with a label
of "" where --reject held the answer back; and for pictures of a folder "file".`,
		Example: `  treeloss predict --model intents.safetensors questions.txt
  echo "my card has not arrived" | treeloss predict --model intents.safetensors --top 3
  treeloss predict --model m.safetensors --output jsonl measurements.csv
  treeloss predict --model m.safetensors --confidence 0.9 --taxonomy groups.csv questions.txt
  treeloss predict --model m.safetensors --reject 0.5 questions.txt
  treeloss predict --model network.safetensors --json pictures`,
		Args: func(c *cobra.Command, args []string) error {
			if err := noSentence(c, args); err != nil {
				return err
			}
			if len(args) > 1 {
				return usagef("%s takes one file, not %d; classify them one after the other", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.data.data = []string{"-"}
			if len(args) > 0 {
				f.data.data = args
			}
			if err := f.decision.check(c); err != nil {
				return err
			}
			return f.run(c.Context(), a)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	flags.IntVar(&f.top, "top", 1, "number of classes to write for each example: 3 or 5 where a person or a program picks")
	flags.StringVar(&f.output, "output", outputTSV, "tsv for people and spreadsheets, or jsonl, one JSON object a line, for programs")
	flags.StringVar(&f.data.text, "text", "", "column of the text; give it if it is neither called as in training nor text, sentence, question or the like")
	flags.StringSliceVar(&f.data.features, "features", nil, "numeric columns in the model's order, separated by commas; give them if they have other names than in training")
	flags.StringVar(&f.data.format, "format", "", formatHelp)
	f.decision.add(c)
	flags.IntVar(&f.threads, "threads", 0, threadsHelp)
	addBackend(c, &f.backend)
	flags.BoolVar(&a.json, "json", false, "the same as --output jsonl: one JSON object for each example")
	f.flags = flags
	choices(c, "output", outputTSV, outputJSONL)
	choices(c, "format", inputFormats()...)
	return c
}

// noSentence refuses a text where a file is wanted, and says how it goes in.
func noSentence(c *cobra.Command, args []string) error {
	text := strings.Join(args, " ")
	if len(args) == 0 || len(strings.Fields(text)) < 3 {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return usagef("%q is no file; a text comes by standard input: echo %q | %s --model MODEL", text, text, c.CommandPath())
}

// Forms of predict's output.
const (
	outputTSV   = "tsv"
	outputJSONL = "jsonl"
)

func (f *predictFlags) run(ctx context.Context, a *app) error {
	if !slices.Contains([]string{outputTSV, outputJSONL}, f.output) {
		return usagef("--output %q, want tsv or jsonl", f.output)
	}
	if f.top < 1 {
		return usagef("--top %d, want at least 1", f.top)
	}
	if err := f.together(); err != nil {
		return err
	}
	if err := checkBackend(f.backend); err != nil {
		return err
	}
	threads, err := threadsOf(f.threads)
	if err != nil {
		return err
	}
	if bert.IsFile(f.model) {
		return f.runBERT(ctx, a)
	}
	if network.IsFile(f.model) {
		return f.runNetwork(ctx, a)
	}
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	if err := unheeded(f.flags, f.model, linearKind, "backend"); err != nil {
		return err
	}
	if !isStream(f.data.data) {
		return f.predict(ctx, a, m, threads)
	}
	// A read from a terminal cannot be broken off, so Ctrl-C does not wait for it.
	done := make(chan error, 1)
	go func() { done <- f.predict(ctx, a, m, threads) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}

// together refuses flags that say different things about one answer.
func (f *predictFlags) together() error {
	d := &f.decision
	switch {
	case d.hedges && d.rejects:
		return usagef("--confidence and --reject exclude each other: an unsure answer is either vague or none")
	case d.hedges && d.decode == decodeCost:
		return usagef("--confidence and --decode cost exclude each other: both decide by the tree, in different ways")
	case d.hedges && f.top > 1:
		return usagef("--confidence and --top %d exclude each other: an answer of --confidence is one node", f.top)
	case d.taxonomy != "" && d.needsTree() == "":
		return usagef("--taxonomy is the tree of --confidence or --decode cost; give one of them, too")
	}
	return nil
}

func (f *predictFlags) predict(ctx context.Context, a *app, m *softmax.Model, threads int) error {
	tree, _, err := f.decision.tree(m, f.model)
	if err != nil {
		return err
	}
	r, err := f.data.openFor(a, m, true)
	if err != nil {
		return err
	}
	defer r.Close()
	a.logf("%s", r.Describe())
	f.decision.hint(a, m)
	answerers := make([]*answerer, threads)
	for i := range answerers {
		answerers[i] = newAnswerer(m, f.decision, tree, f.top)
	}
	answers := make([]reply, blockSize)
	out := bufio.NewWriterSize(a.out, 1<<16)
	write := reply.writeTSV
	if a.json || f.output == outputJSONL {
		write = reply.writeJSONL
	}
	return inBlocks(ctx, r, threads, a.blockFor(f.data.data),
		func(worker, at int, e dataset.Example) (err error) {
			answers[at], err = answerers[worker].answer(e)
			return err
		},
		func(block []dataset.Example) error {
			for i := range block {
				if err := write(answers[i], out); err != nil {
					return err
				}
			}
			return out.Flush()
		})
}
