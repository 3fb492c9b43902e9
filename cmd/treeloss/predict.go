package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
)

// predictFlags are the flags of treeloss predict.
type predictFlags struct {
	data    dataFlags
	model   string
	top     int
	output  string
	threads int
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

With --json, or --output jsonl, each line is one JSON object:
{"label":"...","probability":0.93}, and with --top N also "top", the list of the
N most probable.`,
		Example: `  treeloss predict --model intents.safetensors questions.txt
  echo "my card has not arrived" | treeloss predict --model intents.safetensors --top 3
  treeloss predict --model m.safetensors --output jsonl measurements.csv`,
		Args: func(c *cobra.Command, args []string) error {
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
			return f.run(c.Context(), a)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "model file that treeloss train wrote")
	flags.IntVar(&f.top, "top", 1, "number of classes to write for each example")
	flags.StringVar(&f.output, "output", outputTSV, "tsv, or jsonl for one JSON object a line")
	flags.StringVar(&f.data.text, "text", "", "column of the text (found by its usual names if not given)")
	flags.StringSliceVar(&f.data.features, "features", nil, "numeric columns in the model's order, separated by commas (found by the model's names if not given)")
	flags.StringVar(&f.data.format, "format", "", formatHelp)
	flags.IntVar(&f.threads, "threads", 0, "processor threads, 0 for all; never changes a result")
	flags.BoolVar(&a.json, "json", false, "the same as --output jsonl: one JSON object for each example")
	choices(c, "output", outputTSV, outputJSONL)
	choices(c, "format", inputFormats()...)
	return c
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
	threads, err := threadsOf(f.threads)
	if err != nil {
		return err
	}
	m, err := loadModel(f.model)
	if err != nil {
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

func (f *predictFlags) predict(ctx context.Context, a *app, m *softmax.Model, threads int) error {
	r, err := f.data.openFor(a, m, true)
	if err != nil {
		return err
	}
	defer r.Close()
	a.logf("%s", r.Describe())
	predictors := make([]*softmax.Predictor, threads)
	for i := range predictors {
		predictors[i] = m.NewPredictor()
	}
	answers := make([][]softmax.Prediction, blockSize)
	out := bufio.NewWriterSize(a.out, 1<<16)
	write := writeTSV
	if a.json || f.output == outputJSONL {
		write = writeJSONL
	}
	return inBlocks(ctx, r, threads, a.blockFor(f.data.data),
		func(worker, at int, e dataset.Example) (err error) {
			answers[at], err = predictors[worker].Predict(e, f.top)
			return err
		},
		func(block []dataset.Example) error {
			for i := range block {
				if err := write(out, answers[i], f.top); err != nil {
					return err
				}
			}
			return out.Flush()
		})
}

// writeTSV writes label and probability of each class on one line.
func writeTSV(out *bufio.Writer, classes []softmax.Prediction, _ int) error {
	var line []byte
	for i, c := range classes {
		if i > 0 {
			line = append(line, '\t')
		}
		line = append(line, escape(c.Label)...)
		line = append(line, '\t')
		line = strconv.AppendFloat(line, c.Probability, 'g', 6, 64)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// answer is one line of JSON.
type answer struct {
	Label       string   `json:"label"`
	Probability float64  `json:"probability"`
	Top         []answer `json:"top,omitempty"`
}

func writeJSONL(out *bufio.Writer, classes []softmax.Prediction, top int) error {
	line := answer{Label: classes[0].Label, Probability: classes[0].Probability}
	if top > 1 {
		for _, c := range classes {
			line.Top = append(line.Top, answer{Label: c.Label, Probability: c.Probability})
		}
	}
	return encode(out, line)
}

// encode writes one line of JSON, with < and > as they are.
func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
