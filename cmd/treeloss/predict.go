package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
)

// predictFlags are the flags of treeloss predict.
type predictFlags struct {
	modelFlags
	data     dataFlags
	decision decisionFlags
	output   string
	echo     bool
	shard    shardFlags
	all      bool // the probabilities of all classes
}

// newPredict returns treeloss predict.
//
//	reads    --model of any kind, and files of examples or standard input, --taxonomy
//	does     classify.Answerer, on all threads, a block of rows at a time
//	prints   a line for each example, in their order; flushed after each block, so that a
//	         pipe gets its answers as its lines come
//	exits    1 at the first row that cannot be used, unless --skip-bad leaves such out: the
//	         lines before it are printed; 2 for flags
func newPredict(a *app) *cobra.Command {
	var f predictFlags
	c := &cobra.Command{
		Use:   "predict --model MODEL [FILE ... | -]",
		Short: "Classify examples of files or of standard input",
		Args:  noSentence,
		RunE: func(c *cobra.Command, args []string) error {
			f.data.data = fileOrStdin(args)
			if err := f.decision.check(c); err != nil {
				return err
			}
			return f.shard.run(a, commandPredict, f.model, f.data.data, func(a *app, s shared) error {
				f.data.Shard = s.part
				return f.run(c.Context(), a)
			})
		},
	}
	flags := c.Flags()
	f.modelFlags.add(c)
	f.addBalance(c)
	flags.IntVar(&f.decision.rule.Top, "top", 1, "number of classes to write for each example: 3 or 5 where a person or a program picks")
	flags.BoolVar(&f.echo, "echo", false, "write the text in front of its answer; with --json as \"text\"")
	flags.BoolVar(&f.all, "probabilities", false, "with --json: the probabilities of all classes, too, in the order of \"labels\" in the model file")
	flags.StringVar(&f.data.ID, "id", "", "column that tells the examples apart, written in front of each answer; with --json as \"id\"")
	addWord(c, &f.output, "output", "tsv for people and spreadsheets, jsonl, one JSON object a line, for programs, or fasttext", outputTSV, outputJSONL, outputFastText)
	flags.StringVar(&f.data.Text, "text", "", "column of the text (default as in training, or text, sentence, question and the like)")
	flags.StringSliceVar(&f.data.Columns, "features", nil, "numeric columns in the model's order, separated by commas, if not named as in training")
	f.data.addFormat(c)
	f.decision.add(c)
	f.shard.add(c, nil)
	flags.BoolVar(&a.json, "json", false, "the same as --output jsonl: one JSON object for each example")
	return c
}

// oneInput accepts at most one file of examples; verb says what becomes of them.
func oneInput(verb string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := noSentence(c, args); err != nil {
			return err
		}
		if len(args) > 1 {
			return usagef("%s takes one file, not %d; %s them one after the other", c.CommandPath(), len(args), verb)
		}
		return nil
	}
}

// fileOrStdin returns the files to read, the standard input if none is named.
func fileOrStdin(args []string) []string {
	if len(args) == 0 {
		return []string{"-"}
	}
	return args
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

	outputFastText = "fasttext" // as fasttext predict-prob writes
)

func (f *predictFlags) run(ctx context.Context, a *app) error {
	rule := &f.decision.rule
	switch {
	case rule.Top < 1:
		return usagef("--top %d, want at least 1", rule.Top)
	case f.output == outputFastText && (a.json || rule.Confidence > 0 || f.decision.target > 0 || rule.Cost):
		return usagef("--output fasttext has labels and probabilities only; leave out --json, --confidence, --target-accuracy and --decode cost")
	case f.all && !a.json && f.output != outputJSONL:
		return usagef("--probabilities goes with --json; without it use --top N")
	case f.decision.taxonomy != "" && !rule.NeedsTree():
		return usagef("--taxonomy is the tree of --confidence or --decode cost; give one of them, too")
	}
	if err := rule.Check(); err != nil {
		return err
	}
	m, err := f.open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	return interruptible(ctx, isStream(f.data.data), func() error { return f.predict(ctx, a, m) })
}

func (f *predictFlags) predict(ctx context.Context, a *app, m classify.Classifier) error {
	defer f.data.skipped.in(a)()
	about := m.About()
	if err := f.decision.promise(a, about, f.model); err != nil {
		return err
	}
	tree, err := f.decision.tree(about, f.model)
	if err != nil {
		return err
	}
	x, err := f.data.open(a, m, f.threads, true)
	if err != nil {
		return err
	}
	defer x.Close()
	f.decision.hint(a, about)
	if about.Multilabel != nil && !f.flags.Changed("top") {
		f.decision.rule.Top = 0 // as many as are answered
	}
	answerers := make([]*classify.Answerer, x.Workers())
	for i := range answerers {
		if answerers[i], err = classify.NewAnswerer(about, f.decision.rule, tree); err != nil {
			return err
		}
	}
	answers := make([]classify.Line, x.BlockSize())
	var front []byte
	out := bufio.NewWriterSize(a.out, 1<<16)
	write := classify.Line.WriteTSV
	switch {
	case a.json || f.output == outputJSONL:
		write = func(line classify.Line, out *bufio.Writer) error { return encode(out, line) }
	case f.output == outputFastText:
		prefix := cmp.Or(f.data.LabelPrefix, "__label__")
		write = func(line classify.Line, out *bufio.Writer) error { return line.WriteFastText(out, prefix) }
	}
	labelled, examples := 0, 0
	err = x.Each(ctx, func(worker, at int, e dataset.Example, p []float32) error {
		decided, err := answerers[worker].Answer(p)
		if err != nil {
			return err
		}
		answers[at] = classify.Line{Answer: decided, ByTop: f.decision.rule.Top > 0 && f.decision.rule.Threshold == 0}
		if f.all {
			answers[at].Probabilities = slices.Clone(p)
		}
		if e.Place.Line == 0 {
			answers[at].File = e.Place.File
		}
		return nil
	}, func(block []dataset.Example) error {
		for i := range block {
			examples++
			if block[i].Label != "" {
				labelled++
			}
			if f.echo && len(block[i].Values) > 0 {
				return usagef("--echo writes texts, and these examples are numbers; name a column that tells them apart with --id")
			}
			if a.json || f.output == outputJSONL {
				answers[i].ID = block[i].ID
				if f.echo {
					answers[i].Text = &block[i].Text
				}
			} else {
				front = f.front(front[:0], block[i])
				out.Write(front) // what fails shows when out is flushed
			}
			if err := write(answers[i], out); err != nil {
				return err
			}
		}
		return out.Flush()
	})
	if err == nil && labelled > 0 {
		a.logf("%d of %s had a label, which the model does not see; treeloss evaluate measures by them", labelled, input.Plural(examples, "example"))
	}
	return err
}

// front appends what stands before an answer: its id and its text.
func (f *predictFlags) front(line []byte, e dataset.Example) []byte {
	if f.data.ID != "" {
		line = append(append(line, input.Escape(e.ID)...), '\t')
	}
	if f.echo {
		line = append(append(line, input.Escape(e.Text)...), '\t')
	}
	return line
}

// encode writes one line of JSON, with < and > as they are.
func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
