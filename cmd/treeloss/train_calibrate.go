package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
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
	case c.AtLimit:
		f.calibration = notCalibrated(c)
	default:
		m.Training.Calibration = &c
		f.calibration = fmt.Sprintf("calibrated on %d held-out rows: temperature %.3f, log loss %.4f -> %.4f nats, calibration error %s -> %s points",
			c.Rows, c.Temperature, c.LogLossBefore, c.LogLossAfter, points(c.CalibrationErrorBefore), points(c.CalibrationErrorAfter))
	}
	return nil
}

// notCalibrated says why a temperature at the end of its range is not kept.
func notCalibrated(c decide.Calibration) string {
	why := "on which the scores are no better than chance"
	if c.Temperature < 1 {
		why = "all of which are right"
	}
	return fmt.Sprintf("not calibrated: no temperature fits the %d held-out rows, %s; give more examples with --valid", c.Rows, why)
}
