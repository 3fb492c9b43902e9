package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/softmax"
)

// Accuracy is the share of labelled examples that each of some models answers right.
// Labels that were never trained count as wrong. in opens files, which are read once for
// each model. Without a labelled example there is no share, and an error.
func Accuracy(ctx context.Context, in classify.Input, models ...*softmax.Model) (accuracy []float64, examples int, err error) {
	for _, m := range models {
		one, err := measure(ctx, in, classify.Linear(m))
		if err != nil {
			return nil, 0, err
		}
		examples = one.Report.Examples
		if examples == 0 {
			return nil, 0, errors.New("no labelled example to measure on")
		}
		accuracy = append(accuracy, one.Report.Accuracy)
	}
	return accuracy, examples, nil
}

// measure evaluates a model on all examples of in.
func measure(ctx context.Context, in classify.Input, c classify.Classifier) (*evaluate.Result, error) {
	e, err := evaluate.New(c, evaluate.Options{})
	if err != nil {
		return nil, err
	}
	x, err := c.Open(in)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := e.Count(ctx, x); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	return e.Result()
}
