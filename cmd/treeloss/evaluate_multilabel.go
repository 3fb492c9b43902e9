package main

import (
	"cmp"
	"context"
	"time"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/scorecard"
)

// runMultilabel measures a model of several labels an example.
func (f *evaluateFlags) runMultilabel(ctx context.Context, a *app, m classify.Classifier) error {
	if err := cmp.Or(checkSeveral(f.flags, f.model), classify.CheckRule(m.About(), f.decision.rule)); err != nil {
		return err
	}
	start := time.Now()
	e, err := evaluate.NewMultilabel(m, evaluate.MultilabelOptions{Threshold: f.decision.rule.Threshold, UnknownLabels: f.options.UnknownLabels})
	if err != nil {
		return err
	}
	if err := f.count(ctx, a, m, e, func() error { return nil }); err != nil {
		return err
	}
	r := e.Result()
	r.Model, r.Seconds = f.model, time.Since(start).Seconds()
	if n := len(r.Unknown); n > 0 {
		u := r.Unknown[0]
		a.logf("warning: %d labels were never trained, %q (%d examples, first at %s) most often", n, u.Label, u.Examples, u.First)
	}
	if a.json {
		return a.printJSON(r)
	}
	scorecard.PrintMultilabel(a.out, r, f.perClass)
	return nil
}
