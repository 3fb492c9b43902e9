package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// finish adds to a trained model the temperature, which predict and evaluate decide with.
func (f *trainFlags) finish(ctx context.Context, m *softmax.Model, d *corpus.Data, rows []int, r *tune.Result, opts tune.Options) error {
	f.calibration = ""
	if !f.calibrate {
		return nil
	}
	c, err := tune.Calibrate(ctx, d, rows, r, opts)
	switch {
	case errors.Is(err, tune.ErrNotHeldOut):
		f.calibration = "not calibrated: too few rows to hold any out; give examples with --valid, or three of most classes"
	case err != nil:
		return fmt.Errorf("calibrating: %w", err)
	default:
		if f.calibration = namesInFlags(c.String()); !c.AtLimit {
			m.Training.Calibration = &c
		}
	}
	return nil
}
