package fit

import (
	"context"
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/tune"
)

// Labelled are texts and the names of their classes.
type Labelled struct {
	Texts  []string
	Labels []string
}

// ReadTexts reads files of texts, or the standard input. Examples of another kind
// are an error, and so is a label that several classes share, which networks do not
// learn.
func ReadTexts(in classify.Input, log func(format string, args ...any)) (*Labelled, error) {
	r, err := classify.OpenReader(in, in.Options)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Kind() != dataset.Text {
		return nil, fmt.Errorf("%s: %s, BERT wants texts; name their column with Options.Text", in.Name(), r.Kind())
	}
	if r.Fields().Several() {
		return nil, fmt.Errorf("%s: several columns, BERT reads one text; name one with Options.Text", in.Name())
	}
	log("%s", r.Describe())
	t := &Labelled{}
	for x, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if x.Mix != nil && !in.Options.Unlabelled {
			return nil, fmt.Errorf("%s: the label is shared among classes, which networks do not learn; give each row one label", x.Place)
		}
		// Clones, as a reader's strings share the memory of a block of the file.
		t.Texts, t.Labels = append(t.Texts, strings.Clone(x.Text)), append(t.Labels, strings.Clone(x.Label))
	}
	if len(t.Texts) == 0 {
		return nil, fmt.Errorf("%s: no texts in it", in.Name())
	}
	return t, nil
}

// texts are the examples of a BERT.
type texts struct {
	Labelled
	run   *run
	index []int32 // of each text, its class among those that were kept; nil before
}

// Classes returns the names of all labels, in the order of dataset.NewLabels.
func (t texts) Classes() []string { return dataset.NewLabels(t.Labels).Names() }

// Len returns the number of texts.
func (t texts) Len() int { return len(t.Texts) }

// keep returns the texts of some classes, labelled by their places in that list.
func (t texts) keep(classes []string) (examples, int) {
	place := make(map[string]int32, len(classes))
	for i, c := range classes {
		place[c] = int32(i)
	}
	kept := texts{run: t.run}
	for i, l := range t.Labels {
		if c, ok := place[l]; ok {
			kept.Texts, kept.index = append(kept.Texts, t.Texts[i]), append(kept.index, c)
		}
	}
	return kept, len(t.Texts) - len(kept.Texts)
}

// data makes tokens; those of training say how many a text has.
func (t texts) data(training bool) (train.Data, error) {
	r := t.run
	if !training {
		return r.network.Encoder.Texts(t.Texts, t.index, r.about.Length)
	}
	set, err := r.network.Encoder.Texts(t.Texts, t.index, r.o.Tokens)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.o.Data[0], err)
	}
	r.about.Length = set.Length()
	return set, nil
}

// openTexts reads texts as the options say.
func (r *run) openTexts(_ context.Context, paths []string, _ string) (examples, error) {
	all, err := ReadTexts(classify.Input{Paths: paths, Stdin: r.o.Stdin, Options: r.o.Columns}, r.o.Log)
	if err != nil {
		return nil, err
	}
	return texts{Labelled: *all, run: r}, nil
}

// setUpBERT opens the BERT of a folder.
func (r *run) setUpBERT(folder string) (err error) {
	if r.o.Plan.Loss == tune.HierarchicalSoftmax {
		return option.Refuse("%s hierarchical-softmax is not there for bert", "Loss")
	}
	r.what, r.open = "text", r.openTexts
	r.network.Name = network.BERT
	if r.network.Encoder, err = bert.Open(folder); err == nil {
		r.start = r.network.Encoder.Weights
	}
	return err
}
