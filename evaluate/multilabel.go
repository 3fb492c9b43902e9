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

// Multilabel runs a model of several labels over labelled examples and counts its answers.
// The propensities of the classes are those of its training examples (score.Propensities).
// A model of one class an example is an ErrMultilabel, an
// option out of range an *option.Error.
func Multilabel(ctx context.Context, c classify.Classifier, x classify.Examples, o MultilabelOptions) (*MultilabelResult, error) {
	about := c.About()
	if about.Multilabel == nil {
		return nil, fmt.Errorf("evaluate: a model of one class an example, want %w", ErrMultilabel)
	}
	if err := cmp.Or(o.UnknownLabels.Check(), option.Check("Threshold", o.Threshold, o.Threshold >= 0 && o.Threshold <= 1, "a probability above 0, up to 1, such as 0.5")); err != nil {
		return nil, err
	}
	class := make(map[string]int32, len(about.Labels))
	for n, label := range about.Labels {
		class[label] = int32(n)
	}
	type worker struct {
		*score.Multilabel
		truth, answer []int32
	}
	propensity := score.Propensities(about.Multilabel.Count, about.Multilabel.Examples)
	workers := make([]worker, x.Workers())
	for n := range workers {
		var err error
		if workers[n].Multilabel, err = score.NewMultilabel(len(about.Labels), propensity); err != nil {
			return nil, err
		}
	}
	unknown := map[string]*UnknownLabel{}
	err := x.Each(ctx, func(number, _ int, e dataset.Example, p []float32) error {
		w := &workers[number]
		w.truth = w.truth[:0]
		strange := 0
		for _, label := range e.Labels { // in the order of their bytes, as those of the model are
			n, known := class[label]
			switch {
			case known:
				w.truth = append(w.truth, n)
			case o.UnknownLabels == Stop:
				return fmt.Errorf("%v: label %q was never trained; correct it, or choose Options.UnknownLabels wrong or skip", e.Place, label)
			case o.UnknownLabels != Skip:
				strange++
			}
		}
		slices.Sort(w.truth)
		w.answer = about.Multilabel.Answer(w.answer[:0], p, float32(o.Threshold))
		return w.Add(w.truth, strange, w.answer, p)
	}, func(block []dataset.Example) error {
		for _, e := range block {
			for _, label := range e.Labels {
				if _, known := class[label]; known {
					continue
				}
				if unknown[label] == nil {
					unknown[label] = &UnknownLabel{Label: label, First: e.Place.String()}
				}
				unknown[label].Examples++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := workers[0].Multilabel
	for _, w := range workers[1:] {
		if err := all.Merge(w.Multilabel); err != nil {
			return nil, err
		}
	}
	r := &MultilabelResult{Threshold: o.Threshold, Report: all.Report(), Unknown: []UnknownLabel{}}
	for _, u := range unknown {
		r.Unknown = append(r.Unknown, *u)
	}
	slices.SortFunc(r.Unknown, func(a, b UnknownLabel) int {
		return cmp.Or(cmp.Compare(b.Examples, a.Examples), cmp.Compare(a.Label, b.Label))
	})
	for n, label := range about.Labels {
		s := all.Class(n)
		r.PerClass = append(r.PerClass, Class{Label: label, Examples: s.Support, Predicted: s.Predicted, Precision: s.Precision, Recall: s.Recall, F1: s.F1})
	}
	return r, nil
}
