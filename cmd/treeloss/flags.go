package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// addTo adds the arguments of a command to the files that a flag names, as in
// --data a.csv b.csv.
func addTo(files *[]string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		*files = append(*files, args...)
		return nil
	}
}

// dataFlags say which files hold examples and which of their columns count.
type dataFlags struct {
	data       []string
	classNames string // of pictures
	skipped    skippedRows
	dataset.Options
	memory  sizeFlag
	encoder string // folder of a sentence encoder, or file of word vectors; "": none

	encoderPrint string // what tells the encoder from others, once it is read
	scratch      string // folder for examples that memory does not hold; "": they are refused
	origins      bool   // keep place, id and text of the examples
}

func (f *dataFlags) add(c *cobra.Command) {
	f.addColumns(c)
	c.Flags().StringVar(&f.Weight, "weight", "", "column of the weight of each example, where some count more than others; 2 counts as two rows")
	c.Flags().Var(&f.memory, "memory", "memory to use, such as 4G; what does not fit is trained another way (default half of what there is)")
}

// sizeFlag is a flag for a number of bytes, 0 if it was not given.
type sizeFlag struct {
	bytes int64
	text  string
}

func (s *sizeFlag) String() string { return s.text }
func (s *sizeFlag) Type() string   { return "size" }
func (s *sizeFlag) Set(text string) (err error) {
	s.text = text
	s.bytes, err = memory.Parse(text)
	return err
}

// keepMemory makes the process keep to --memory as far as it can, until undone.
func (f *dataFlags) keepMemory() (undo func()) { return memory.Keep(memory.Budget(f.memory.bytes)) }

// reading returns the bar of the files of examples. Where they are packed, or have more
// than texts, how many bytes there are does not tell how far reading is.
func (f *dataFlags) reading(a *app) *console.Bar {
	bar := a.bar()
	for _, path := range f.data {
		info, err := os.Stat(path)
		if err != nil || !slices.Contains([]string{".csv", ".tsv", ".txt"}, filepath.Ext(path)) {
			bar.Size = 0
			break
		}
		bar.Size += info.Size()
	}
	return bar
}

// limits returns the limits of reading.
func (f *dataFlags) limits(bar *console.Bar) corpus.Limits {
	return corpus.Limits{Memory: f.memory.bytes, Scratch: f.scratch, Encoder: f.encoder, Origins: f.origins, Progress: bar.Rows}
}

func (f *dataFlags) addColumns(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.data, "data", nil, "file of examples: CSV, TSV, JSONL, Parquet, fastText, LIBSVM or .npy; - for standard input")
	flags.StringVar(&f.Label, "label", "", "column of the class; give it if it is not called label, class, intent or the like")
	flags.StringVar(&f.Text, "text", "", "column of the text, or several: title,body; give it if it is not called text, question or the like")
	flags.StringSliceVar(&f.Categories, "categories", nil, "columns of names beside a text, separated by commas, such as brand,country")
	flags.StringSliceVar(&f.Columns, "features", nil, "numeric columns in place of a text or, with --text, beside it, such as price,size or margin*")
	flags.StringVar(&f.Labels, "labels", "", "labels of the rows of an .npy file, which holds none: another .npy, or text with one a line")
	flags.BoolVar(&f.FirstLabel, "first-label", false, "of several labels of an example take the first, as a model has one class a text")
	f.addFormat(c)
}

func (f *dataFlags) addFormat(c *cobra.Command) {
	addText(c, &f.Format, "format", formatHelp, inputFormats()...)
	c.Flags().StringVar(&f.LabelPrefix, "label-prefix", "", "how labels begin in files of fastText (default __label__)")
	c.Flags().StringVar(&f.Encoding, "encoding", "", "of text that is not UTF-8, such as windows-1252; UTF-16 is found by its byte-order mark")
	suggest(c, "encoding", "windows-1252", "iso-8859-15", "utf-16le")
	f.addSkip(c)
}

// check refuses flags that exclude each other.
func (f *dataFlags) check() error {
	return option.Memory(f.memory.bytes)
}

// read reads the training files and logs how they were understood.
func (f *dataFlags) read(a *app) (*corpus.Corpus, error) {
	if len(f.data) == 0 {
		return nil, usagef("no data: name a file of examples with --data")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	defer f.skipped.in(a)()
	if isStream(f.data) {
		return f.streamCorpus(a)
	}
	if slices.Contains(f.data, "-") {
		return nil, usagef("--data - is the standard input and cannot be mixed with files")
	}
	for i, path := range f.data {
		if slices.Contains(f.data[:i], path) {
			return nil, usagef("--data %s is named twice, so each of its rows would count twice; name it once", path)
		}
	}
	bar := f.reading(a)
	defer bar.Clear()
	c, how, err := corpus.Read(f.data, f.Options, f.limits(bar))
	if err != nil {
		return nil, err
	}
	a.logf("%s", how)
	if missing := c.Missing(); missing != "" {
		a.logf("%s", missing)
	}
	warnSwapped(a, c)
	return c, nil
}

// warnSwapped tells of labels that look like texts: a sentence for each row.
func warnSwapped(a *app, c *corpus.Corpus) {
	words, seen := 0, make(map[string]bool, len(c.Labels))
	for _, label := range c.Labels {
		if seen[label] {
			return
		}
		seen[label] = true
		words += len(strings.Fields(label))
	}
	if n := len(c.Labels); n >= 10 && words > 4*n {
		a.logf("warning: each of %d examples has a class of its own, a sentence such as %q: are --label and --text swapped?", n, c.Labels[0])
	}
}

// streamCorpus reads the standard input.
func (f *dataFlags) streamCorpus(a *app) (*corpus.Corpus, error) {
	r, err := a.openExamples(f.data, f.Options)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	bar := f.reading(a)
	defer bar.Clear()
	c, err := corpus.ReadFrom(r, f.limits(bar))
	if err != nil {
		return nil, err
	}
	a.logf("%s", r.Describe())
	return c, nil
}

// inFile names the first file in an error about its content as a whole.
func (f *dataFlags) inFile(err error) error {
	if errors.Is(err, corpus.ErrOneClass) {
		return fmt.Errorf("%s: %w", f.first(), err)
	}
	return err
}

// first names the first file in messages.
func (f *dataFlags) first() string {
	if f.data[0] == "-" {
		return stdinName
	}
	return f.data[0]
}

// Help that several commands share.
const (
	baseHelp      = "base of the cover tree of u-tree and v-tree: nearer to 1 for a taller tree that shares more"
	unlabeledHelp = "examples without labels to learn from, too, where labelled ones are few; may be repeated"
	threadsHelp   = "processor threads, 0 for all; fewer leave room for other work; never changes a result"
	formatHelp    = "csv, tsv, jsonl, fasttext, libsvm, npy, parquet, lines (plain text), or auto, by the file's name"
)

// addFrom adds --from; use says what its distances are for.
func addFrom(c *cobra.Command, from *classinfo.Source, use string) {
	c.Flags().StringVar((*string)(from), "from", "", use+": "+join(classinfo.Metrics()))
	choices(c, "from", plainTexts(classinfo.Metrics())...)
}

// trainingFlags are what train, tune, cv and compare have in common: the examples, what is
// known about their classes, and how to train on them.
type trainingFlags struct {
	data        dataFlags
	files       classFileFlags
	plan        tune.Plan
	prior       float64
	classWeight string
	unlabeled   []string
	trainer     trainerFlags
	seed        uint64
	threads     int
}

func (f *trainingFlags) add(c *cobra.Command) {
	flags, info := c.Flags(), &f.plan.ClassInfo
	f.data.add(c)
	flags.StringVar(&f.data.encoder, "encoder", "", "sentence encoder for features beside n-grams: a folder of model2vec's kind, or word vectors")
	f.files.add(c)
	addFrom(c, &info.From, "what u-tree, v-tree and linkage are built from")
	flags.Float64Var(&info.Base, "base", classinfo.DefaultBase, baseHelp)
	flags.Float64Var(&info.Rho, "rho", 0, "class-specific variance, relative to the shared part; 0 for the default of the source")
	flags.Float64Var(&f.plan.Alpha, "hxe-alpha", 0, fmt.Sprintf("loss hxe: a step down the tree counts exp(-X) times as much as the one above it (default %v)", tune.DefaultHXEAlpha))
	flags.Float64Var(&f.prior, "prior", 0, "prior variance of the weights: larger is less regularisation (default chosen on held-out rows)")
	flags.StringVar(&f.classWeight, "class-weight", "", "balanced, where rare classes count as much as frequent ones, or a file of label,weight rows")
	suggest(c, "class-weight", corpus.Balanced)
	flags.StringArrayVar(&f.unlabeled, "unlabeled", nil, unlabeledHelp)
	flags.Uint64Var(&f.seed, "seed", 1, "the only source of randomness: the same seed gives the same model")
	flags.IntVar(&f.threads, "threads", 0, threadsHelp)
	f.trainer.add(c)
}

// addPlan adds the flags that compare replaces by --methods.
func (f *trainingFlags) addPlan(c *cobra.Command) {
	addText(c, &f.plan.Sharing, "sharing", "what classes share parameters by: auto, none, names, taxonomy, v-tree ... or names+taxonomy")
	addText(c, &f.plan.Loss, "loss", "auto, cross-entropy, squared-hinge, or for milder mistakes simloss, soft-labels or hxe", append([]string{tune.AutoName}, plainTexts(tune.Losses())...)...)
	addText(c, &f.plan.Names, "names-as-examples", "train on the names of the classes too: auto, on or off; helps most with few examples", "auto", "on", "off")
	addText(c, &f.plan.Fourier, "fourier", "random Fourier features of numeric columns, for curved boundaries between classes: auto, on or off", "auto", "on", "off")
	c.Flags().Float64Var(&f.plan.Smoothing, "label-smoothing", 0, "share of the target spread over all classes, 0 to 1: for labels that are sometimes wrong")
	choicesOf(c, "sharing", "+", append([]string{tune.AutoName}, plainTexts(classinfo.Sources())...)...)
}

// check completes the plan and refuses what cannot be meant.
func (f *trainingFlags) check() error {
	f.plan.ClassInfo.Seed, f.files.Encoder = f.seed, f.data.encoder
	if f.trainer.flags.Changed("hxe-alpha") && f.plan.Alpha == 0 { // which means the default
		return usagef("--hxe-alpha 0, want a number above 0, such as %v; 0 would be --loss %s", tune.DefaultHXEAlpha, tune.CrossEntropy)
	}
	return cmp.Or(f.files.check(f.plan.ClassInfo.From, f.data.data), f.plan.ClassInfo.Check(),
		f.files.CheckSources("Sharing "+f.plan.Sharing.String(), f.plan.Sharing...))
}

// options checks all flags and returns the options of tuning and training.
func (f *trainingFlags) options() (tune.Options, error) {
	if err := f.check(); err != nil {
		return tune.Options{}, err
	}
	trainer, err := f.trainer.trainer()
	opts := tune.Options{Trainer: trainer, Seed: f.seed, Threads: f.threads}
	if f.prior != 0 {
		opts.Priors = []float64{f.prior}
	}
	return opts, cmp.Or(err, opts.Check())
}

// measured names files of examples that are measured on.
type measured struct {
	flag   string
	rows   string // what messages call them
	paths  []string
	labels string // of the rows of an .npy file
	fate   string // what becomes of labels that are not trained; "": rows with other labels alone are an error, else left out
}

// readUnlabeled reads the files of --unlabeled behind the other examples.
func (f *dataFlags) readUnlabeled(a *app, examples *corpus.Corpus, paths []string, seed uint64) error {
	if len(paths) == 0 {
		return nil
	}
	if slices.Contains(paths, "-") && (isStream(f.data) || len(paths) > 1) {
		return usagef("--unlabeled - is the standard input and cannot be mixed with files, nor with --data -")
	}
	how, err := examples.AppendUnlabelled(classify.Input{Paths: paths, Stdin: a.in}, seed)
	if err == nil {
		a.logf("unlabelled: %s", how)
	}
	return err
}

// trainingData is what the flags name, read.
type trainingData struct {
	*corpus.Data
	examples    *corpus.Corpus
	fingerprint string // of the examples to train on
	rows        []int  // to train on: without those of classes that were dropped
	measure     []int  // to measure on
}

// read reads the examples, what is known about their classes, and what to measure on.
func (f *trainingFlags) read(ctx context.Context, a *app, m measured) (*trainingData, error) {
	defer f.data.skipped.in(a)() // of the rows to measure on
	examples, err := f.data.read(a)
	if err != nil {
		return nil, err
	}
	t := &trainingData{examples: examples, fingerprint: examples.Fingerprint(), rows: examples.Rows()}
	for _, path := range m.paths {
		if path != "-" && slices.Contains(f.data.data, path) {
			a.logf("warning: %s is given to --data and to %s, so its rows are trained on: what is measured on them flatters", path, m.flag)
		}
	}
	if len(m.paths) > 0 {
		if t.measure, err = examples.Append(m.paths, m.labels); err != nil {
			return nil, err
		}
	}
	if err := f.data.readUnlabeled(a, examples, f.unlabeled, f.seed); err != nil {
		return nil, err
	}
	if t.Data, t.rows, err = f.files.data(ctx, a, examples, t.rows); err != nil {
		return nil, f.data.inFile(err)
	}
	kept := examples.Without(t.measure, t.Dropped)
	if n := len(t.measure) - len(kept); n > 0 {
		a.logf("left out with their classes: %d of %d %s", n, len(t.measure), m.rows)
	}
	t.measure = kept
	switch unknown := len(kept) - len(t.Labelled(kept)); {
	case unknown == 0:
	case unknown == len(kept) && m.fate == "":
		return nil, fmt.Errorf("%s: none of the %d examples has a label of the training data; is it the right file for %s?", m.paths[0], unknown, m.flag)
	default:
		a.logf("warning: %d of %d %s have a label that no training row has; %s", unknown, len(kept), m.rows, cmp.Or(m.fate, "they are left out"))
	}
	return t, t.WeighClasses(f.classWeight, t.rows)
}

// trainerFlags choose and set up the trainer.
type trainerFlags struct {
	name     string
	sgd      softmax.SGD // what adamw has in common with it, too
	schedule string

	flags *pflag.FlagSet // to tell what was given
}

func (f *trainerFlags) add(c *cobra.Command) {
	flags, sgd := c.Flags(), &f.sgd
	f.flags = flags
	addWord(c, &f.name, "trainer", "converge (full batch, no learning rate), sgd (large data), adamw, or auto, by size", "auto", "converge", "sgd", "adamw")
	flags.IntVar(&sgd.Epochs, "epochs", 20, "sgd, adamw: passes over the examples; more for thousands of them, fewer for millions")
	flags.IntVar(&sgd.Batch, "batch", 32, "sgd, adamw: examples a step")
	flags.Float64Var(&sgd.Rate, "rate", 0, "sgd, adamw: learning rate, for inputs of mean squared length 1 (default sgd 1, adamw 0.01)")
	flags.Float64Var(&sgd.Momentum, "momentum", 0, "sgd: momentum, from 0 to below 1: 0.9 gets further in few epochs, with a tenth of the rate")
	flags.BoolVar(&sgd.Nesterov, "nesterov", false, "sgd: Nesterov's momentum, steadier than the plain one; goes with --momentum")
	flags.Float64Var(&sgd.WeightDecay, "weight-decay", 0, "sgd, adamw: weight decay, in place of --prior; 0 for the default, negative for none")
	addWord(c, &f.schedule, "schedule", "sgd, adamw: rate over the epochs: constant, step (a tenth after each third) or cosine", "constant", "step", "cosine")
	flags.BoolVar(&sgd.Average, "average", false, "sgd: return the mean of the weights over all steps: for many classes and few epochs")
	flags.IntVar(&sgd.Patience, "patience", 0, "sgd, adamw: stop after so many epochs without gain on --valid; 0 for never")
}

// trainer returns the trainer, nil for auto.
func (f *trainerFlags) trainer() (softmax.Trainer, error) {
	if err := cmp.Or(checkTraining(f.flags, f.name, ""), f.zeros()); err != nil {
		return nil, err
	}
	sgd := f.sgd
	if !f.flags.Changed("epochs") { // 20, on a stream by its length
		sgd.Epochs = 0
	}
	switch f.schedule {
	case "constant":
		if f.flags.Changed("schedule") { // else a stream takes a cosine
			sgd.Schedule = softmax.Step{Every: 1, Gamma: 1}
		}
	case "step":
		sgd.Schedule = softmax.Step{Every: (f.sgd.Epochs + 2) / 3, Gamma: 0.1}
	case "cosine":
		sgd.Schedule = softmax.Cosine{}
	}
	switch f.name {
	case "converge":
		return softmax.Converge{}, nil
	case "sgd":
		return sgd, sgd.Check()
	case "adamw":
		t := softmax.AdamW{Epochs: f.sgd.Epochs, Batch: sgd.Batch, Rate: sgd.Rate, WeightDecay: sgd.WeightDecay, Schedule: sgd.Schedule, Monitor: sgd.Monitor}
		return t, t.Check()
	}
	return nil, nil
}

// zeros refuses a 0 that would be the default of the library.
func (f *trainerFlags) zeros() error {
	for name, n := range map[string]int{"epochs": f.sgd.Epochs, "batch": f.sgd.Batch} {
		if n == 0 {
			return usagef("--%s 0, want at least 1", name)
		}
	}
	return nil
}
