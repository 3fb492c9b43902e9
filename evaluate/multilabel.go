package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/score"
)

// ErrMultilabel says that a model of several labels an example was given where one of one
// class an example is measured, or the other way round.
var ErrMultilabel = errors.New("several labels an example")

// MultilabelOptions sets up Multilabel. The zero value measures the answers of the model's
// own thresholds.
type MultilabelOptions struct {
	Threshold     float64 // answer all classes from this probability on; 0: the thresholds of the model
	UnknownLabels Policy  // of labels that were never trained: Wrong counts them as missed, Skip leaves them out of the labels of their example
}

// MultilabelResult is what an evaluation of a model of several labels found. In JSON it has
// the keys of its fields and those of the Report, in one object.
type MultilabelResult struct {
	Model     string  `json:"model"`               // the file, for the caller to set
	Threshold float64 `json:"threshold,omitempty"` // that of the options

	Report  score.MultilabelReport `json:"-"`
	Seconds float64                `json:"seconds"` // for the caller to set

	Unknown  []UnknownLabel `json:"unknown"` // the most frequent first
	PerClass []Class        `json:"per_class"`
}

// MarshalJSON writes the report and the fields as one object.
func (r MultilabelResult) MarshalJSON() ([]byte, error) {
	type fields MultilabelResult // without this method
	head, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	tail, err := json.Marshal(fields(r))
	if err != nil {
		return nil, err
	}
	return append(append(head[:len(head)-1], ','), tail[1:]...), nil
}

// Worst returns the classes that occur, be it as label or as answer, those of the lowest F1
// first, of equals those with more examples.
func (r *MultilabelResult) Worst() []Class {
	list := slices.DeleteFunc(slices.Clone(r.PerClass), func(c Class) bool { return c.Examples+c.Predicted == 0 })
	slices.SortStableFunc(list, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.F1, b.F1), cmp.Compare(b.Examples, a.Examples))
	})
	return list
}

// Multilabel is NewMultilabel, Count and Result.
func Multilabel(ctx context.Context, c classify.Classifier, x classify.Examples, o MultilabelOptions) (*MultilabelResult, error) {
	e, err := NewMultilabel(c, o)
	if err != nil {
		return nil, err
	}
	if err := e.Count(ctx, x); err != nil {
		return nil, err
	}
	return e.Result(), nil
}

// MultilabelEvaluation counts the answers of a model of several labels. Sums are exact, so
// that parts of the examples may be counted in any process.
type MultilabelEvaluation struct {
	about   classify.About
	options MultilabelOptions
	class   map[string]int32
	all     *score.Multilabel
	unknown unknownLabels
}

// NewMultilabel prepares the evaluation of a model of several labels an example. The
// propensities of the classes are those of its training examples (score.Propensities). A
// model of one class an example is an ErrMultilabel, an option out of range an *option.Error.
func NewMultilabel(c classify.Classifier, o MultilabelOptions) (*MultilabelEvaluation, error) {
	e := &MultilabelEvaluation{about: c.About(), options: o, unknown: unknownLabels{}}
	if e.about.Multilabel == nil {
		return nil, fmt.Errorf("evaluate: a model of one class an example, want %w", ErrMultilabel)
	}
	if err := cmp.Or(o.UnknownLabels.Check(), option.Check("Threshold", o.Threshold, o.Threshold >= 0 && o.Threshold <= 1, "a probability above 0, up to 1, such as 0.5")); err != nil {
		return nil, err
	}
	e.class = make(map[string]int32, len(e.about.Labels))
	for n, label := range e.about.Labels {
		e.class[label] = int32(n)
	}
	var err error
	e.all, err = e.counter()
	return e, err
}

// counter returns one that has counted nothing.
func (e *MultilabelEvaluation) counter() (*score.Multilabel, error) {
	m := e.about.Multilabel
	return score.NewMultilabel(len(e.about.Labels), score.Propensities(m.Count, m.Examples))
}

// Count runs the classifier over labelled examples and counts its answers.
func (e *MultilabelEvaluation) Count(ctx context.Context, x classify.Examples) error {
	type worker struct {
		*score.Multilabel
		truth, answer []int32
	}
	workers := make([]worker, x.Workers())
	for n := range workers {
		var err error
		if workers[n].Multilabel, err = e.counter(); err != nil {
			return err
		}
	}
	err := x.Each(ctx, func(number, _ int, x dataset.Example, p []float32) error {
		w := &workers[number]
		w.truth = w.truth[:0]
		strange := 0
		for _, label := range x.Labels { // in the order of their bytes, as those of the model are
			n, known := e.class[label]
			switch {
			case known:
				w.truth = append(w.truth, n)
			case e.options.UnknownLabels == Stop:
				return fmt.Errorf("%v: label %q was never trained; correct it, or choose Options.UnknownLabels wrong or skip", x.Place, label)
			case e.options.UnknownLabels != Skip:
				strange++
			}
		}
		slices.Sort(w.truth)
		w.answer = e.about.Multilabel.Answer(w.answer[:0], p, float32(e.options.Threshold))
		return w.Add(w.truth, strange, w.answer, p)
	}, func(block []dataset.Example) error {
		for _, x := range block {
			for _, label := range x.Labels {
				if _, known := e.class[label]; !known {
					e.unknown.add(UnknownLabel{label, 1, x.Place.String()})
				}
			}
		}
		return nil
	})
	for _, w := range workers {
		if err == nil {
			err = e.all.Merge(w.Multilabel)
		}
	}
	return err
}

// multilabelState is a MultilabelEvaluation in JSON.
type multilabelState struct {
	Counts  *score.Multilabel `json:"counts"`
	Unknown []UnknownLabel    `json:"unknown"`
}

// MarshalJSON writes what was counted so far, for Merge in another process.
func (e *MultilabelEvaluation) MarshalJSON() ([]byte, error) {
	return json.Marshal(multilabelState{e.all, e.unknown.list()})
}

// Merge counts what another evaluation of the same classifier and options has counted, as
// MarshalJSON wrote it, behind what e has. An error leaves e as it was.
func (e *MultilabelEvaluation) Merge(text []byte) error {
	counter, err := e.counter()
	if err != nil {
		return err
	}
	s := multilabelState{Counts: counter}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("evaluate: counts of another process: %w", err)
	}
	if err := e.all.Merge(counter); err != nil {
		return err
	}
	for _, u := range s.Unknown {
		e.unknown.add(u)
	}
	return nil
}

// Result returns what was counted so far.
func (e *MultilabelEvaluation) Result() *MultilabelResult {
	r := &MultilabelResult{Threshold: e.options.Threshold, Report: e.all.Report(), Unknown: e.unknown.list()}
	for n, label := range e.about.Labels {
		s := e.all.Class(n)
		r.PerClass = append(r.PerClass, Class{Label: label, Examples: s.Support, Predicted: s.Predicted, Precision: s.Precision, Recall: s.Recall, F1: s.F1})
	}
	return r
}
