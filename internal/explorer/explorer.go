package explorer

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/explain"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/softmax"
)

// Explorer is a model as the page shows it. Its methods may be called at the same time
// once Measure and Compare are done.
type Explorer struct {
	name   string
	about  classify.About
	model  *softmax.Model // nil: not a plain linear model, whose weights say nothing here
	tree   *labeltree.Tree
	origin Origin
	data   *measured // nil: no examples

	free      chan struct{}      // has room for the one who uses the explainer
	explainer *explain.Explainer // nil: not asked for yet
	class     map[string]int
}

// measured is what examples said about the model: counts of 4 bytes a class, the cells of
// the confusion matrix that are not 0, and the kept examples.
type measured struct {
	files     []string
	examples  int
	unknown   int // with a label that was never trained; they are left out
	matrix    *evaluate.Matrix
	predicted []int32
	kept      *keeper

	baseline      string  // name of the model to compare with; "": none
	baselineRight []int32 // examples of each class that it is right on
}

// New returns the Explorer of a model, called name on the page. Without a tree of its own
// the model gets one, see Origin; of the weights that takes up to a minute. New does not keep c.
func New(c classify.Classifier, name string) (*Explorer, error) {
	t, origin, err := treeOf(c)
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	e := &Explorer{name: short(name, mostName), about: c.About(), model: classify.LinearModelOf(c), tree: t, origin: origin, class: map[string]int{}, free: make(chan struct{}, 1)}
	if e.model != nil && (e.model.Layer.Hierarchy != nil || e.about.Balanced) {
		e.model = nil // its weights are of nodes, or do not tell all that an answer comes from
	}
	for class, label := range e.about.Labels {
		e.class[label] = class
	}
	return e, nil
}

// Origin tells where the tree is from.
func (e *Explorer) Origin() Origin { return e.origin }

// Tree returns the tree on the page.
func (e *Explorer) Tree() *labeltree.Tree { return e.tree }

// Measure runs the model over labelled examples, once, and keeps the counts of its answers
// and a few examples of each class; see keeper. Examples with a label that was never
// trained are left out. files, at least one, are named on the page. Examples none of which
// has a label of the model are an error, as is a model of several labels an example.
func (e *Explorer) Measure(ctx context.Context, c classify.Classifier, x classify.Examples, files []string) error {
	if e.about.Multilabel != nil {
		return fmt.Errorf("a model of several labels an example has no confusions to show; explore it without examples")
	}
	keep := newKeeper(e.about.Labels)
	v, err := evaluate.New(c, evaluate.Options{UnknownLabels: evaluate.Skip, Rows: keep.add})
	if err != nil {
		return err
	}
	if err := v.Count(ctx, x); err != nil {
		return err
	}
	matrix, err := v.Matrix()
	if err != nil {
		return err
	}
	// What was predicted as a class is its right answers and the mistakes of its column.
	m := &measured{matrix: matrix, predicted: make([]int32, len(e.about.Labels)), kept: keep}
	for class, n := range matrix.Right {
		m.predicted[class] += int32(n)
		m.examples += matrix.Support[class]
	}
	for _, x := range matrix.Mistakes {
		m.predicted[x.Predicted] += int32(x.Count)
	}
	// A file of other labels would give a page of zeros: the wrong model, or the wrong column.
	if m.unknown = v.Examples() - m.examples; m.examples == 0 {
		return fmt.Errorf("%s: none of the %d examples has a label of the model; is it the right model, and --label the right column?", files[0], m.unknown)
	}
	for _, file := range files {
		m.files = append(m.files, short(filepath.Base(file), mostName))
	}
	e.data = m
	return nil
}

// Compare runs another model over the same examples, so that classes can be coloured by
// what the model gains over it: e.g. one trained without sharing. It must have
// all classes, in any order, which is checked before the examples are opened. Measure
// comes first.
func (e *Explorer) Compare(ctx context.Context, baseline classify.Classifier, open func() (classify.Examples, error), name string) error {
	if e.data == nil {
		return fmt.Errorf("explorer: a baseline needs examples to be compared on")
	}
	place := make(map[string]int)
	for c, label := range baseline.About().Labels {
		place[label] = c
	}
	for _, label := range e.about.Labels {
		if _, ok := place[label]; !ok {
			return fmt.Errorf("%s: has no class %q; the baseline needs all classes of the model", name, label)
		}
	}
	v, err := evaluate.New(baseline, evaluate.Options{UnknownLabels: evaluate.Skip})
	if err != nil {
		return err
	}
	x, err := open()
	if err != nil {
		return err
	}
	defer x.Close()
	if err := v.Count(ctx, x); err != nil {
		return err
	}
	matrix, err := v.Matrix()
	if err != nil {
		return err
	}
	// Classes are matched by name. That the counts agree shows that both models saw the same
	// examples: a gain is a difference of two rates on one set.
	right := make([]int32, len(e.about.Labels))
	for c, label := range e.about.Labels {
		if matrix.Support[place[label]] != e.data.matrix.Support[c] {
			return fmt.Errorf("%s: class %q has %d examples here, and %d with the model; are these the same examples?", name, label, matrix.Support[place[label]], e.data.matrix.Support[c])
		}
		right[c] = int32(matrix.Right[place[label]])
	}
	e.data.baseline, e.data.baselineRight = short(filepath.Base(name), mostName), right
	return nil
}

// explain calls use with the explainer of the model, which one goroutine has at a time: it
// keeps what it found out about the weights. Who has waited until ctx is done goes, which a
// mutex does not know.
func (e *Explorer) explain(ctx context.Context, use func(*explain.Explainer) error) error {
	select {
	case e.free <- struct{}{}:
		defer func() { <-e.free }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.explainer == nil {
		x, err := explain.New(e.model, explain.Options{})
		if err != nil {
			return err
		}
		e.explainer = x
	}
	return use(e.explainer)
}

// round keeps so many digits behind the point, so that the JSON is short. A NaN or an
// infinity, which JSON does not have, is 0.
func round(x float64, digits int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits))
	return math.Round(x*scale) / scale
}
