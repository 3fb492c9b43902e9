package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// ErrNotHeldOut says that no row can be spared to calibrate on.
var ErrNotHeldOut = errors.New("no held-out rows to calibrate on")

// Calibrate fits the temperature of a result on the rows that its prior was
// chosen on: opts.Valid if there are any, which the result itself is run on,
// else the rows held out of rows, each predicted by the method and prior of the
// result trained on the others. r, rows and opts are those of Fit or Auto; a
// model to start from (opts.Init), which may have seen these rows, is not used.
//
// It takes one more fit for each part held out, none with opts.Valid, and up to
// 256 MB: of more scores than that evenly spaced rows are taken. Without a row
// to hold out the error is ErrNotHeldOut. A result AtLimit is not to be used.
func Calibrate(ctx context.Context, d *Data, rows []int, r *Result, opts Options) (decide.Calibration, error) {
	opts = opts.withDefaults()
	train, test := d.splits(rows, opts)
	total := 0
	for _, t := range test {
		total += len(t)
	}
	if total == 0 {
		return decide.Calibration{}, ErrNotHeldOut
	}
	k := len(d.Classes.Labels)
	step := (total*k + maxCalibrationScores - 1) / maxCalibrationScores
	var scores []float32
	var classes []int
	var truths []score.Mix
	for n, t := range test {
		t = every(t, step)
		layer, x, err := d.heldOutLayer(ctx, train[n], t, r, opts, fmt.Sprintf("%s: calibrating, part %d of %d", r.Method, n+1, len(test)))
		if err != nil {
			return decide.Calibration{}, err
		}
		scores = append(scores, classScores(layer, x, opts.Threads)...)
		for _, row := range t {
			truth := d.truth(row)
			if len(truth.Class) == 0 {
				truth = score.Mix{Class: d.Class[row : row+1], Share: []float32{1}}
			}
			classes, truths = append(classes, int(d.Class[row])), append(truths, truth)
		}
	}
	if d.Mix != nil {
		return decide.FitTemperatureToMixes(scores, k, truths, opts.Threads)
	}
	return decide.FitTemperature(scores, k, classes, opts.Threads)
}

// maxCalibrationScores bounds the memory for the scores of held-out rows.
const maxCalibrationScores = 64 << 20

// every returns each step-th row.
func every(rows []int, step int) []int {
	if step <= 1 {
		return rows
	}
	var out []int
	for i := 0; i < len(rows); i += step {
		out = append(out, rows[i])
	}
	return out
}

// heldOutLayer returns a layer that was not trained on the rows of test, and
// these as its features.
func (d *Data) heldOutLayer(ctx context.Context, train, test []int, r *Result, opts Options, stage string) (*softmax.Layer, matrix.Matrix, error) {
	if len(d.known(opts.Valid)) > 0 {
		x, err := r.Features.Matrix(d.Table, test)
		return r.Layer, x, err
	}
	f, o, _, err := d.prepare(train, r.Method, opts, stage)
	if err != nil {
		return nil, nil, err
	}
	x, err := f.features.Matrix(d.Table, test)
	if err != nil {
		return nil, nil, err
	}
	o.Prior = r.Prior
	layer, _, err := softmax.Fit(ctx, f.examples(), len(d.Classes.Labels), o)
	return layer, x, err
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
