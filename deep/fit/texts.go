package fit

import (
	"fmt"
	"strings"

	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/bert"
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
	log("%s", r.Describe())
	t := &Labelled{}
	for x, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if x.Mix != nil && !in.Options.Unlabelled {
			return nil, fmt.Errorf("%s: the label is shared among classes, which networks do not learn; give each row one label", x.Place)
		}
		t.Texts, t.Labels = append(t.Texts, strings.Clone(x.Text)), append(t.Labels, strings.Clone(x.Label))
	}
	if len(t.Texts) == 0 {
		return nil, fmt.Errorf("%s: no texts in it", in.Name())
	}
	return t, nil
}

// keep returns the texts of some classes, with their places in that list, and how
// many others there were.
func (t *Labelled) keep(classes []string) (texts []string, labels []int32, others int) {
	place := make(map[string]int32, len(classes))
	for i, c := range classes {
		place[c] = int32(i)
	}
	for i, l := range t.Labels {
		if c, ok := place[l]; ok {
			texts, labels = append(texts, t.Texts[i]), append(labels, c)
		} else {
			others++
		}
	}
	return texts, labels, others
}

// texts prepares the training of the BERT of a folder.
func (r *run) texts(folder string) error {
	o := r.o
	if o.Plan.Loss == tune.HierarchicalSoftmax {
		return option.Refuse("%s hierarchical-softmax is not there for bert", "Loss")
	}
	e, err := bert.Open(folder)
	if err != nil {
		return err
	}
	all, err := ReadTexts(classify.Input{Paths: o.Data, Stdin: o.Stdin, Options: o.Columns}, o.Log)
	if err != nil {
		return err
	}
	names := dataset.NewLabels(all.Labels).Names()
	if err := r.prepare(names); err != nil {
		return err
	}
	texts, labels, others := all.keep(r.classes.Labels)
	if others > 0 {
		o.Log("skipped, no vector: %d classes with %d of %d texts", len(names)-len(r.classes.Labels), others, len(all.Texts))
	}
	set, err := e.Texts(texts, labels, o.Tokens)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Data[0], err)
	}
	r.set = set
	if len(o.Valid) > 0 {
		all, err := ReadTexts(classify.Input{Paths: o.Valid, Stdin: o.Stdin, Options: o.Columns}, o.Log)
		if err != nil {
			return err
		}
		texts, labels, others := all.keep(r.classes.Labels)
		if others > 0 {
			o.Log("left out: %d of %d texts to measure on, whose classes are not trained", others, len(all.Texts))
		}
		if len(texts) == 0 {
			return fmt.Errorf("%s: no text of a class of the training data; is it the right file for Options.Valid?", o.Valid[0])
		}
		if r.valid, err = e.Texts(texts, labels, set.Length()); err != nil {
			return err
		}
	} else if err := r.needsValid("texts"); err != nil {
		return err
	}
	r.start = e.Weights
	r.task, err = e.Task(r.sharing, r.loss)
	r.fold = func(store *model.Store) (trained, error) {
		about := bert.About{Classes: r.classes.Labels, Length: set.Length(), Training: r.record()}
		about.Training["network"] = strings.TrimSuffix(BERT, ":") // a path is no part of a model
		m, err := bert.Fold(e, about, store, r.sharing)
		if err != nil {
			return nil, err
		}
		m.Tree, m.Vectors = r.tree, r.classes.Vectors
		return m, nil
	}
	return err
}
