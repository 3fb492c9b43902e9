package treeloss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"unicode/utf8"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/multilabel"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
	"github.com/treeloss/treeloss/wordvec"
)

// Example is one example of a class: a text, or numbers.
type Example struct {
	Text    string
	Numbers []float64 // if not nil, the example is these numbers and Text must be ""
	Label   string    // the class; any valid UTF-8 but ""
	Weight  float64   // counts this often; 0 means 1
}

// Options sets up Fit. The zero value chooses what the data asks for.
type Options struct {
	Sharing classinfo.Spec // what classes share parameters by, such as {classinfo.Names, classinfo.Taxonomy}, a sum; nil tries what there is
	Loss    tune.Loss      // tune.CrossEntropy, tune.SquaredHinge ...; "" tries these two and their mean
	Names   tune.Choice    // class names as further examples: tune.Auto (also ""), tune.On or tune.Off
	Fourier tune.Choice    // random Fourier features of numeric columns

	// Examples without labels to learn from, where labelled ones are few: of Fit in memory, of
	// FitFiles in files. A Label or Weight of theirs is not looked at. They are not used where
	// they are unlike the labelled ones; Model.Training.Unlabelled tells.
	Unlabelled      []Example
	UnlabelledFiles []string

	// Files that know something about the classes; "": none. Auto tries what is
	// given and keeps what helps on held-out rows.
	Taxonomy  string // child,parent rows, paths, Newick, JSON or DOT over the labels
	Vectors   string // word vectors of the labels: word2vec, GloVe or fastText
	Distances string // precomputed distances: lines of two labels and a number
	Weights   string // a model of the same classes, whose weights show which are similar
	Encoder   string // sentence encoder, see encoder.OpenAny: features of texts beside their n-grams, and vectors of labels where Vectors is ""
	// Unknown is what becomes of labels without a vector; 0: an error names them.
	Unknown wordvec.Unknown

	Uncalibrated bool   // leave out the temperature that is fitted on held-out examples, if there are any, so that probabilities mean what they say
	Seed         uint64 // the only source of randomness
	Threads      int    // 0: one a CPU; at most 1024; never changes a result
	Memory       int64  // bytes that training may take; 0: half of what the machine or its container has. What does not fit goes with fewer n-grams, or fails with corpus.ErrMemory

	Data     dataset.Options                        // FitFiles: format and columns of the files; the zero value finds them
	Progress func(stage string, p softmax.Progress) // called from one goroutine at a time with what is being done and how far it is; nil: not
}

func (o Options) check() error {
	_, err := wordvec.ParseUnknown(o.Unknown.String())
	err = cmp.Or(option.Check("Unknown", int(o.Unknown), err == nil, "one of wordvec's, such as wordvec.UnknownDrop"), option.Threads(o.Threads), option.Memory(o.Memory))
	if err != nil {
		return fmt.Errorf("treeloss: %w", err)
	}
	return nil
}

// ErrExample says that an example cannot be used.
var ErrExample = errors.New("unusable example")

// Fit trains a classifier on examples of at least two classes, all texts or
// all numbers of one length. It takes from milliseconds to minutes; a
// cancelled ctx ends it with an error that wraps ctx.Err().
func Fit(ctx context.Context, examples []Example, opts Options) (*Model, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if len(examples) == 0 {
		return nil, fmt.Errorf("treeloss: no examples: %w", ErrExample)
	}
	// The first example says what all are; columns have names, as a model file wants them.
	kind, columns := dataset.Text, []string(nil)
	if examples[0].Numbers != nil {
		kind = dataset.Numbers
		for j := range examples[0].Numbers {
			columns = append(columns, fmt.Sprintf("x%d", j+1))
		}
	}
	c := corpus.New(kind, columns)
	c.Memory = opts.Memory
	if opts.Encoder != "" {
		if err := c.Encode(opts.Encoder); err != nil {
			return nil, fmt.Errorf("treeloss: %w", err)
		}
	}
	for i, e := range examples {
		if e.Label == "" {
			return nil, fmt.Errorf("treeloss: example %d has no label: %w", i, ErrExample)
		}
		if !utf8.ValidString(e.Label) {
			return nil, fmt.Errorf("treeloss: example %d: the label %q is not valid UTF-8: %w", i, e.Label, ErrExample)
		}
		if (e.Numbers != nil) != (kind == dataset.Numbers) || e.Numbers != nil && e.Text != "" {
			return nil, fmt.Errorf("treeloss: example %d: texts and numbers cannot be mixed: %w", i, ErrExample)
		}
		if !(e.Weight >= 0) || math.IsInf(e.Weight, 1) {
			return nil, fmt.Errorf("treeloss: example %d: weight %v, want a finite number of at least 0: %w", i, e.Weight, ErrExample)
		}
		if err := c.Add(dataset.Example{Text: e.Text, Values: e.Numbers, Label: e.Label, Weight: cmp.Or(e.Weight, 1)}); err != nil {
			return nil, fmt.Errorf("treeloss: example %d: %w: %w", i, ErrExample, err)
		}
	}
	if len(opts.UnlabelledFiles) > 0 {
		return nil, fmt.Errorf("treeloss: %w", option.Refuse("%s goes with FitFiles; give Fit its examples as Unlabelled", "UnlabelledFiles"))
	}
	if len(opts.Unlabelled) > 0 {
		err := c.AddUnlabelled(func(yield func(dataset.Example, error) bool) {
			for _, e := range opts.Unlabelled {
				if !yield(dataset.Example{Text: e.Text, Values: e.Numbers}, nil) {
					return
				}
			}
		}, opts.Seed)
		if err != nil {
			return nil, fmt.Errorf("treeloss: unlabelled examples: %w: %w", ErrExample, err)
		}
	}
	return fit(ctx, c, opts)
}

// FitFiles is Fit for files of examples: CSV, TSV, JSONL, fastText, LIBSVM or
// .npy, plain, .gz or .zst, or Parquet, with the columns that opts.Data names or
// that have the usual names.
//
// With opts.Data.Multilabel, or a LabelSeparator, examples have any number of labels each and
// every class is decided by itself (package multilabel); Model.PredictLabels answers. What
// opts has about the classes and the choice of a method is then an error.
func FitFiles(ctx context.Context, paths []string, opts Options) (*Model, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Data.Unlabelled {
		return nil, fmt.Errorf("treeloss: %w", option.Check("Unlabelled", true, false, "false: training needs labels"))
	}
	c, _, err := corpus.Read(paths, opts.Data, corpus.Limits{Memory: opts.Memory, Encoder: opts.Encoder})
	if err != nil {
		return nil, err
	}
	if len(opts.Unlabelled) > 0 {
		return nil, fmt.Errorf("treeloss: %w", option.Refuse("%s goes with Fit; give FitFiles its files as UnlabelledFiles", "Unlabelled"))
	}
	if len(opts.UnlabelledFiles) > 0 {
		if _, err := c.AppendUnlabelled(classify.Input{Paths: opts.UnlabelledFiles, Stdin: os.Stdin}, opts.Seed); err != nil {
			return nil, err
		}
	}
	return fit(ctx, c, opts)
}

func fit(ctx context.Context, c *corpus.Corpus, opts Options) (*Model, error) {
	if c.Sets != nil {
		return fitLabels(ctx, c, opts)
	}
	data, err := c.Data(ctx, c.Rows(), corpus.ClassFiles{
		Taxonomy: opts.Taxonomy, Vectors: opts.Vectors, Unknown: opts.Unknown, KeepFirst: true,
		Distances: opts.Distances, Weights: opts.Weights,
	})
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	// Rows of dropped classes stay in the table, where nothing looks at them.
	var rows []int // but for those of classes dropped for want of a vector
	for row, class := range data.Class {
		if class >= 0 {
			rows = append(rows, row)
		}
	}
	plan := tune.Plan{Sharing: opts.Sharing, Loss: opts.Loss, Names: opts.Names, Fourier: opts.Fourier}
	options := tune.Options{Seed: opts.Seed, Threads: opts.Threads, Progress: opts.Progress}
	m, result, err := plan.Train(ctx, data, rows, options, softmax.Training{Data: c.Fingerprint()})
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	if !opts.Uncalibrated {
		c, err := tune.Calibrate(ctx, data, rows, result, options)
		switch {
		// Without held-out examples probabilities stay as they are; so they do where no
		// temperature fits.
		case errors.Is(err, tune.ErrNotHeldOut):
		case err != nil:
			return nil, fmt.Errorf("treeloss: calibrating: %w", err)
		case !c.AtLimit:
			m.Training.Calibration = &c
		}
	}
	return &Model{Model: m}, nil
}

// fitLabels is fit for examples that have any number of labels.
func fitLabels(ctx context.Context, c *corpus.Corpus, opts Options) (*Model, error) {
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"Sharing", opts.Sharing != nil}, {"Loss", opts.Loss != ""}, {"Names", opts.Names != ""}, {"Fourier", opts.Fourier != ""}, {"Taxonomy", opts.Taxonomy != ""},
		{"Vectors", opts.Vectors != ""}, {"Distances", opts.Distances != ""}, {"Weights", opts.Weights != ""}, {"Uncalibrated", opts.Uncalibrated},
	} {
		if o.set {
			return nil, fmt.Errorf("treeloss: %w", option.Refuse("%s has no effect with examples of several labels; leave it out", o.name))
		}
	}
	m, err := multilabel.Train(ctx, c, c.Rows(), multilabel.Options{Seed: opts.Seed, Threads: opts.Threads, Progress: opts.Progress}, softmax.Training{Data: c.Fingerprint()})
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	return &Model{Model: m}, nil
}
