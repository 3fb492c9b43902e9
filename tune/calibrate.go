package tune

import (
	"context"
	"errors"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// ErrNotHeldOut says that no row can be spared to calibrate on.
var ErrNotHeldOut = errors.New("no held-out rows to calibrate on")

// Calibrate fits the calibration of a result on the rows that its prior was
// chosen on: opts.Valid if there are any, which the result itself is run on,
// else the rows held out of rows, each predicted by the method and prior of the
// result trained on the others. r, rows and opts are those of FitBest; a
// model to start from (opts.Init), which may have seen these rows, is not used.
//
// Where r was chosen on held-out rows it takes no time, else one more fit for each
// part held out, and none with opts.Valid. Without a row to hold out the error is
// ErrNotHeldOut. A result AtLimit is not to be used.
func Calibrate(ctx context.Context, d *corpus.Data, rows []int, r *Result, opts Options) (decide.Calibration, error) {
	if r.calibration != nil && len(d.Labelled(opts.Valid)) == 0 {
		return *r.calibration, nil
	}
	h := hold(d, rows, opts)
	if h == nil {
		return decide.Calibration{}, ErrNotHeldOut
	}
	if len(d.Labelled(opts.Valid)) == 0 {
		attempts, err := h.try(ctx, r.Method, []float64{r.Prior})
		if err != nil {
			return decide.Calibration{}, err
		}
		return h.calibrate(attempts[0])
	}
	x, err := r.Features.Matrix(d.Table, h.parts[0].test)
	if err != nil {
		return decide.Calibration{}, err
	}
	// Validation rows are no part of the training, so that the result itself is asked.
	a := &attempt{scores: classScores(r.Layer, x, opts.Threads)}
	if err := h.judge(a); err != nil {
		return decide.Calibration{}, err
	}
	return h.calibrate(a)
}

// calibrate returns the calibration of an attempt: its temperature, and how the
// temperature of a row depends on how sure it is.
func (h *heldOut) calibrate(a *attempt) (decide.Calibration, error) {
	if err := h.fitTemperature(a); err != nil {
		return decide.Calibration{}, err
	}
	return decide.FitConfidence(*a.calibration, a.scores, len(h.d.Classes.Labels), h.class, h.mixes, h.opts.Threads)
}

// calibrationGrain is the number of rows that a goroutine takes at a time.
const calibrationGrain = 64

// classScores returns the scores (n x k) of the rows of x.
func classScores(l *softmax.Layer, x matrix.Matrix, threads int) []float32 {
	k := l.Classes
	scores := make([]float32, x.Rows()*k)
	kernel.Parallel(threads, x.Rows(), calibrationGrain, func(_, lo, hi int) {
		scratch := make([]float32, 2*l.Outputs())
		for i := lo; i < hi; i++ {
			var index []int32
			var value []float32
			switch x := x.(type) {
			case *matrix.Sparse:
				index, value = x.Row(i)
			case *matrix.Dense:
				value = x.Row(i)
			}
			l.ClassScores(scores[i*k:(i+1)*k], scratch, index, value)
		}
	})
	return scores
}
