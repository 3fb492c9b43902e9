package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
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
	data     []string
	label    string
	text     string
	features []string
	weight   string
	labels   string
	format   string
}

func (f *dataFlags) add(c *cobra.Command) {
	f.addColumns(c)
	c.Flags().StringVar(&f.weight, "weight", "", "column of the weight of each example, where some count more than others; 2 counts as two rows")
}

func (f *dataFlags) addColumns(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.data, "data", nil, "file of examples: CSV, TSV, JSONL, Parquet, fastText, LIBSVM or .npy; - for standard input")
	flags.StringVar(&f.label, "label", "", "column of the class; give it if it is not called label, class, intent or the like")
	flags.StringVar(&f.text, "text", "", "column of the text; give it if it is not called text, sentence, question or the like")
	flags.StringSliceVar(&f.features, "features", nil, "numeric columns, separated by commas, in place of a text; margin* is all that begin so")
	flags.StringVar(&f.labels, "labels", "", "labels of the rows of an .npy file, which holds none: another .npy, or text with one a line")
	flags.StringVar(&f.format, "format", "", formatHelp)
	choices(c, "format", inputFormats()...)
}

// options returns what the flags mean for dataset.
func (f *dataFlags) options() (dataset.Options, error) {
	o := dataset.Options{Label: f.label, Text: f.text, Columns: f.features, Weight: f.weight, Labels: f.labels}
	if f.text != "" && len(f.features) > 0 {
		return o, usagef("--text and --features exclude each other: examples are texts or numbers")
	}
	var err error
	if o.Format, err = dataset.ParseFormat(f.format); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// corpus reads the training files and logs how they were understood.
func (f *dataFlags) read(a *app) (*corpus.Corpus, error) {
	if len(f.data) == 0 {
		return nil, usagef("no data: name a file of examples with --data")
	}
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if isStream(f.data) {
		return f.streamCorpus(a, o)
	}
	if slices.Contains(f.data, "-") {
		return nil, usagef("--data - is the standard input and cannot be mixed with files")
	}
	for i, path := range f.data {
		if slices.Contains(f.data[:i], path) {
			return nil, usagef("--data %s is named twice, so each of its rows would count twice; name it once", path)
		}
	}
	c, how, err := corpus.Read(f.data, o)
	if err != nil {
		return nil, err
	}
	a.logf("%s", how)
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
func (f *dataFlags) streamCorpus(a *app, o dataset.Options) (*corpus.Corpus, error) {
	r, err := a.openExamples(f.data, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c, err := corpus.ReadFrom(r)
	if err != nil {
		return nil, err
	}
	a.logf("%s", r.Describe())
	return c, nil
}

// warnTrainedOn tells of files to measure on that are also trained on.
func warnTrainedOn(a *app, data []string, flag string, files []string) {
	for _, path := range files {
		if path != "-" && slices.Contains(data, path) {
			a.logf("warning: %s is given to --data and to %s, so its rows are trained on: what is measured on them flatters", path, flag)
		}
	}
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

// classFlags say what is known about the classes and how to train.
type classFlags struct {
	sharing   string
	loss      string
	smoothing float64
	alpha     float64
	files     classFileFlags
	from      string
	base      float64
	names     string
	trainer   trainerFlags
	seed      uint64
	threads   int
}

func (f *classFlags) add(c *cobra.Command) {
	flags := c.Flags()
	f.files.add(c)
	flags.StringVar(&f.from, "from", "", "what u-tree, v-tree and linkage are built from: "+fromHelp)
	flags.Float64Var(&f.base, "base", classinfo.DefaultBase, baseHelp)
	flags.Float64Var(&f.alpha, "hxe-alpha", tune.DefaultHXEAlpha, "loss hxe: a step down the tree counts exp(-X) times as much as the one above it")
	flags.Uint64Var(&f.seed, "seed", 1, "the only source of randomness: the same seed gives the same model")
	flags.IntVar(&f.threads, "threads", 0, threadsHelp)
	choices(c, "from", metricSources()...)
	f.trainer.add(c)
}

// addChoice adds the flags that compare replaces by --methods.
func (f *classFlags) addChoice(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.sharing, "sharing", tune.AutoName, "what classes share parameters by: auto, none, names, taxonomy, v-tree ... or names+taxonomy")
	flags.StringVar(&f.loss, "loss", tune.AutoName, "auto, cross-entropy, squared-hinge, or for milder mistakes simloss, soft-labels or hxe")
	flags.Float64Var(&f.smoothing, "label-smoothing", 0, "share of the target spread over all classes, 0 to 1: for labels that are sometimes wrong")
	flags.StringVar(&f.names, "names-as-examples", tune.AutoName, "train on the names of the classes too: auto, on or off; helps most with few examples")
	choicesOf(c, "sharing", "+", append([]string{tune.AutoName}, sourceNames()...)...)
	choices(c, "loss", append([]string{tune.AutoName}, tune.Losses()...)...)
	choices(c, "names-as-examples", "auto", "on", "off")
}

// knowledge checks the flags about the classes; data are the files of examples.
func (f *classFlags) knowledge(data []string) (classinfo.Options, error) {
	if err := f.files.check(f.from, data); err != nil {
		return classinfo.Options{}, err
	}
	if !(f.alpha > 0) || math.IsInf(f.alpha, 1) {
		return classinfo.Options{}, usagef("--hxe-alpha %v, want a number above 0, such as %v; 0 would be --loss %s", f.alpha, tune.DefaultHXEAlpha, tune.CrossEntropy)
	}
	return treeOptions(f.from, f.base, f.seed)
}

// metricSources are what distances between classes can come from.
func metricSources() []string {
	var names []string
	for _, s := range classinfo.Metrics() {
		names = append(names, string(s))
	}
	return names
}

// Help that several commands share.
const (
	baseHelp    = "base of the cover tree of u-tree and v-tree: nearer to 1 for a taller tree that shares more"
	threadsHelp = "processor threads, 0 for all; fewer leave room for other work; never changes a result"
)

const fromHelp = "names, vectors, taxonomy, distances, weights, means"

// treeOptions checks the flags that say how trees are built. A from of "" is the
// default: see classinfo.Options.
func treeOptions(from string, base float64, seed uint64) (classinfo.Options, error) {
	if from != "" && !slices.Contains(metricSources(), from) {
		return classinfo.Options{}, usagef("--from %q, want one of %s", from, strings.Join(metricSources(), ", "))
	}
	if !(base >= 1.0001 && base <= 1e6) {
		return classinfo.Options{}, usagef("--base %v, want a number from 1.0001 to 1e6, such as 1.3", base)
	}
	return classinfo.Options{Base: base, From: classinfo.Source(from), Seed: seed}, nil
}

// plan returns what the flags ask for; data are the files of examples.
func (f *classFlags) plan(data []string) (tune.Plan, error) {
	k, err := f.knowledge(data)
	if err != nil {
		return tune.Plan{}, err
	}
	if f.sharing != tune.AutoName {
		spec, err := classinfo.ParseSpec(f.sharing)
		if err != nil {
			return tune.Plan{}, usageError{fmt.Errorf("--sharing: %w, or auto", err)}
		}
		if err := f.files.checkSpec("--sharing "+f.sharing, spec); err != nil {
			return tune.Plan{}, err
		}
		trees := []classinfo.Source{classinfo.None, classinfo.Taxonomy, classinfo.UTree, classinfo.VTree, classinfo.Linkage}
		if f.loss == tune.HierarchicalSoftmax && (len(spec) > 1 || !slices.Contains(trees, spec[0])) {
			return tune.Plan{}, usagef("--loss %s goes along one tree, and --sharing %s is not one; want taxonomy, u-tree, v-tree, linkage or auto", f.loss, f.sharing)
		}
	}
	if f.loss != tune.AutoName && !slices.Contains(tune.Losses(), f.loss) {
		return tune.Plan{}, usagef("--loss %q, want %s or one of %s", f.loss, tune.AutoName, strings.Join(tune.Losses(), ", "))
	}
	if !(f.smoothing >= 0 && f.smoothing < 1) {
		return tune.Plan{}, usagef("--label-smoothing %v, want a number from 0 to below 1", f.smoothing)
	}
	if !slices.Contains([]string{"auto", "on", "off"}, f.names) {
		return tune.Plan{}, usagef("--names-as-examples %q, want auto, on or off", f.names)
	}
	if f.smoothing > 0 && f.loss != tune.AutoName && f.loss != tune.CrossEntropy {
		return tune.Plan{}, usagef("--label-smoothing goes with the loss %s only, not with --loss %s", tune.CrossEntropy, f.loss)
	}
	if f.trainer.flags.Changed("hxe-alpha") && f.loss != tune.HXE {
		return tune.Plan{}, usagef("--hxe-alpha goes with --loss %s, not with --loss %s", tune.HXE, f.loss)
	}
	loss := f.loss
	if loss == tune.AutoName {
		loss = ""
	}
	return tune.Plan{Sharing: f.sharing, Loss: loss, Smoothing: f.smoothing, Alpha: f.alpha, Names: f.names, ClassInfo: k}, nil
}

// options returns the options of tuning and training.
func (f *classFlags) options() (tune.Options, error) {
	trainer, err := f.trainer.trainer()
	return tune.Options{Trainer: trainer, Seed: f.seed, Threads: f.threads}, cmp.Or(err, option.Threads(f.threads))
}

// planAndOptions returns what the flags leave to choose and how, with the priors of p.
func (f *classFlags) planAndOptions(p *priorFlags, data []string) (plan tune.Plan, opts tune.Options, err error) {
	if plan, err = f.plan(data); err != nil {
		return plan, opts, err
	}
	if opts, err = f.options(); err != nil {
		return plan, opts, err
	}
	return plan, opts, p.apply(&plan.ClassInfo, &opts)
}

// trainerFlags choose and set up the trainer.
type trainerFlags struct {
	name     string
	epochs   int
	batch    int
	rate     float64
	momentum float64
	nesterov bool
	decay    float64
	schedule string
	average  bool
	patience int

	flags *pflag.FlagSet // to tell what was given
}

func (f *trainerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.name, "trainer", "auto", "converge (full batch, no learning rate), sgd (large data), adamw, or auto, by size")
	flags.IntVar(&f.epochs, "epochs", 20, "sgd, adamw: passes over the examples; more for thousands of them, fewer for millions")
	flags.IntVar(&f.batch, "batch", 32, "sgd, adamw: examples a step")
	flags.Float64Var(&f.rate, "rate", 0, "sgd, adamw: learning rate, for inputs of mean squared length 1 (default sgd 1, adamw 0.01)")
	flags.Float64Var(&f.momentum, "momentum", 0, "sgd: momentum, from 0 to below 1: 0.9 gets further in few epochs, with a tenth of the rate")
	flags.BoolVar(&f.nesterov, "nesterov", false, "sgd: Nesterov's momentum, steadier than the plain one; goes with --momentum")
	flags.Float64Var(&f.decay, "weight-decay", 0, "sgd, adamw: weight decay, in place of --prior; 0 for the default, negative for none")
	flags.StringVar(&f.schedule, "schedule", "constant", "sgd, adamw: rate over the epochs: constant, step (a tenth after each third) or cosine")
	flags.BoolVar(&f.average, "average", false, "sgd: return the mean of the weights over all steps: for many classes and few epochs")
	flags.IntVar(&f.patience, "patience", 0, "sgd, adamw: stop after so many epochs without gain on --valid; 0 for never")
	f.flags = flags
	choices(c, "trainer", "auto", "converge", "sgd", "adamw")
	choices(c, "schedule", "constant", "step", "cosine")
}

// trainer returns the trainer, nil for auto.
func (f *trainerFlags) trainer() (softmax.Trainer, error) {
	if err := checkTraining(f.flags, f.name, ""); err != nil {
		return nil, err
	}
	if err := f.zeros(); err != nil {
		return nil, err
	}
	var schedule softmax.Schedule
	switch f.schedule {
	case "constant":
	case "step":
		schedule = softmax.Step{Every: (f.epochs + 2) / 3, Gamma: 0.1}
	case "cosine":
		schedule = softmax.Cosine{}
	default:
		return nil, usagef("--schedule %q, want constant, step or cosine", f.schedule)
	}
	monitor := softmax.Monitor{Patience: f.patience}
	switch f.name {
	case "converge":
		return softmax.Converge{}, nil
	case "sgd":
		t := softmax.SGD{Epochs: f.epochs, Batch: f.batch, Rate: f.rate, Momentum: f.momentum, Nesterov: f.nesterov,
			WeightDecay: f.decay, Schedule: schedule, Average: f.average, Monitor: monitor}
		return t, t.Check()
	case "adamw":
		t := softmax.AdamW{Epochs: f.epochs, Batch: f.batch, Rate: f.rate, WeightDecay: f.decay, Schedule: schedule, Monitor: monitor}
		return t, t.Check()
	}
	return nil, nil
}

// zeros refuses a 0 that would be the default of the library.
func (f *trainerFlags) zeros() error {
	for name, n := range map[string]int{"epochs": f.epochs, "batch": f.batch} {
		if n == 0 {
			return usagef("--%s 0, want at least 1", name)
		}
	}
	return nil
}
