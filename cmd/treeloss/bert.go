package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/tune"
)

// bertPrefix begins a --network that is a folder of Hugging Face.
const bertPrefix = "bert:"

// ofTexts are the flags that mean something for texts only, notOfTexts those for
// pictures only.
var (
	ofTexts    = []string{"label", "text", "format"}
	notOfTexts = []string{"augment", "class-names", "side", "init-model", "momentum", "nesterov", "damaged", "labels", "valid-labels"}
)

// bert returns the folder of --network bert:FOLDER.
func (f *deepFlags) bert() (folder string, ok bool) { return strings.CutPrefix(f.network, bertPrefix) }

// Defaults of fine-tuning: the rate is among those that Devlin et al. (2019)
// advise, the decay theirs and the authors'.
const (
	bertRate   = 2e-5
	bertDecay  = 0.01
	bertClip   = 1
	bertEpochs = 3
	bertBatch  = 32
	bertWarmUp = 0.1 // of the epochs
)

// labelledTexts are texts and the names of their classes.
type labelledTexts struct {
	texts  []string
	labels []string
}

// readTexts reads files of texts, or the standard input.
func (a *app) readTexts(paths []string, o dataset.Options) (*labelledTexts, error) {
	r, err := a.openExamples(paths, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Kind() != dataset.Text {
		return nil, fmt.Errorf("%s: %s, BERT wants texts; name their column with --text", paths[0], r.Kind())
	}
	a.logf("%s", r.Describe())
	t := &labelledTexts{}
	for x, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if x.Mix != nil && !o.Unlabelled {
			return nil, fmt.Errorf("%s: the label is shared among classes, which networks do not learn; give each row one label", x.Place)
		}
		t.texts, t.labels = append(t.texts, strings.Clone(x.Text)), append(t.labels, strings.Clone(x.Label))
	}
	if len(t.texts) == 0 {
		return nil, fmt.Errorf("%s: no texts in it", paths[0])
	}
	return t, nil
}

// keep returns the texts of some classes, with their places in that list, and how
// many others there were.
func (t *labelledTexts) keep(classes []string) (texts []string, labels []int32, others int) {
	place := make(map[string]int32, len(classes))
	for i, c := range classes {
		place[c] = int32(i)
	}
	for i, l := range t.labels {
		if c, ok := place[l]; ok {
			texts, labels = append(texts, t.texts[i]), append(labels, c)
		} else {
			others++
		}
	}
	return texts, labels, others
}

// runBERT fine-tunes a BERT on texts.
func (f *trainFlags) runBERT(ctx context.Context, a *app, folder string) error {
	if err := checkTarget(f.model); err != nil {
		return err
	}
	if err := f.deep.checkEvents(); err != nil {
		return err
	}
	if len(f.data.data) == 0 {
		return usagef("no data: name a file of texts with --data")
	}
	if f.classes.loss == tune.HierarchicalSoftmax {
		return usagef("--loss hierarchical-softmax is not there for bert")
	}
	plan, err := f.classes.plan(f.data.data)
	if err != nil {
		return err
	}
	e, err := bert.Open(folder)
	if err != nil {
		return err
	}
	r := &networkRun{flags: f}
	set, valid, err := r.readTexts(ctx, a, e)
	if err != nil {
		return err
	}
	spec, err := r.build(plan)
	if err != nil {
		return err
	}
	l, err := r.loss(plan)
	if err != nil {
		return err
	}
	if r.task, err = e.Task(r.sharing, l); err != nil {
		return err
	}
	r.lookForCheckpoint(a)
	opts := r.bertOptions(spec)
	opts.Start = e.Weights
	about := bert.About{Classes: r.classes.Labels, Length: set.Length(), Training: f.options()}
	about.Training["program"] = program()
	about.Training["network"] = strings.TrimSuffix(bertPrefix, ":") // a path is no part of a model
	var validData train.Data
	if valid != nil {
		validData = valid
	}
	return r.train(ctx, a, spec, set, validData, opts, func(t *train.Trainer) (savable, error) {
		m, err := bert.Fold(e, about, t.Store(), r.sharing)
		if err != nil {
			return nil, err
		}
		m.Tree, m.Vectors = r.tree, r.classes.Vectors
		return m, nil
	})
}

// readTexts reads texts and what is known about their classes.
func (r *networkRun) readTexts(ctx context.Context, a *app, e *bert.Encoder) (set, valid *bert.Texts, err error) {
	f := r.flags
	o, err := f.data.options()
	if err != nil {
		return nil, nil, err
	}
	data, err := a.readTexts(f.data.data, o)
	if err != nil {
		return nil, nil, err
	}
	names := dataset.NewLabels(data.labels).Names()
	classes, found, err := f.classes.known.known(a).Classes(ctx, names)
	if err != nil {
		return nil, nil, f.classes.known.explain(err)
	}
	f.classes.known.tell(a, found)
	r.classes = classes
	texts, labels, others := data.keep(classes.Labels)
	if others > 0 {
		a.logf("skipped, no vector: %d classes with %d of %d texts", len(names)-len(classes.Labels), others, len(data.texts))
	}
	r.examples = len(texts)
	if set, err = e.Texts(texts, labels, f.deep.tokens); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.data.first(), err)
	}
	if len(f.valid) == 0 {
		if f.classes.trainer.patience > 0 {
			return nil, nil, usagef("--patience needs texts to measure on, name them with --valid")
		}
		return set, nil, nil
	}
	if data, err = a.readTexts(f.valid, o); err != nil {
		return nil, nil, err
	}
	if texts, labels, others = data.keep(classes.Labels); others > 0 {
		a.logf("left out: %d of %d texts of --valid, whose classes are not trained", others, len(data.texts))
	}
	if len(texts) == 0 {
		return nil, nil, fmt.Errorf("%s: no text of a class of the training data; is it the right file for --valid?", f.valid[0])
	}
	valid, err = e.Texts(texts, labels, set.Length())
	return set, valid, err
}

// bertOptions are the options of fine-tuning.
func (r *networkRun) bertOptions(spec string) train.Options {
	f := r.flags
	o := r.options(spec)
	if o.Epochs == 0 {
		o.Epochs = bertEpochs
	}
	if o.Batch == 0 {
		o.Batch = bertBatch
	}
	if f.classes.trainer.rate == 0 {
		o.Rate.Base = bertRate
	}
	if !f.flags.Changed("warm-up") {
		o.Rate.WarmUp = bertWarmUp * float64(o.Epochs)
	}
	decay := f.classes.trainer.decay
	if decay == 0 {
		decay = bertDecay
	}
	o.Optimizer = train.AdamW{Rate: o.Rate.Base, Decay: max(decay, 0), Clip: bertClip}
	return o
}
