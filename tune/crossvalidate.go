package tune

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/shard"
	"github.com/treeloss/treeloss/score"
)

// FoldOptions sets up CrossValidate. The zero value is the default.
type FoldOptions struct {
	Folds      int               // 0 means corpus.DefaultFolds
	Seed       uint64            // of the folds
	Threads    int               // 0: one a CPU
	Similarity *score.Similarity // of the labels, for similarity accuracy; nil: none

	// Cells has the folds, by name: with those of a part only these are done, and the outcome
	// is shard.ErrPart. nil: all are done here. Answers are not kept.
	Cells *shard.Cells

	// Answer, if set, is called with each row of a fold and the k probabilities of the
	// model that was trained without it. p is valid until Answer returns.
	Answer func(row int, p []float32)
}

// Fold is one part of a cross-validation.
type Fold struct {
	Trained int    // rows
	Method  Method // that was chosen on them
	Prior   float64
	Report  score.Report // on the rows that were held
}

// CrossValidation is the outcome of CrossValidate.
type CrossValidation struct {
	Folds  []Fold
	Pooled score.Report // over the held rows of all folds together
	Rare   []int        // classes with rows, but fewer than there are folds
	Single []int        // classes with one row: it is tested by a model that never saw its class
}

// CrossValidate splits the rows into folds with about as many rows of each
// class, calls fit with the rows outside each fold in turn, and tests what it
// returns on the rows inside. fit must choose and fit on the rows that it is
// given alone. The classes are those of all rows: one without rows outside a fold
// can still be predicted if it shares parameters with others.
//
// Fewer than two folds or rows than folds are errors, and so is what fit
// returns: the folds that were done before it come with it.
func CrossValidate(ctx context.Context, d *corpus.Data, rows []int, opts FoldOptions,
	fit func(ctx context.Context, fold int, train []int) (*Result, error)) (*CrossValidation, error) {
	if opts.Folds == 0 {
		opts.Folds = corpus.DefaultFolds
	}
	if rows = d.Labelled(rows); opts.Folds < 2 || opts.Folds > len(rows) {
		return nil, fmt.Errorf("tune: %d folds of %d rows, want at least 2 and no more than there are rows", opts.Folds, len(rows))
	}
	k := len(d.Classes.Labels)
	v := &CrossValidation{}
	for c, n := range d.Count(rows) {
		if n > 0 && n < opts.Folds {
			v.Rare = append(v.Rare, c)
		}
		if n == 1 {
			v.Single = append(v.Single, c)
		}
	}
	var all []*score.Counter
	// Folds are stratified by class, so that each class is tested in as many as it can be.
	train, held := d.Folds(rows, opts.Folds, opts.Seed)
	for n := range train {
		name := fmt.Sprintf("fold %d of %d", n+1, opts.Folds)
		cell, err := newFoldCell(k, opts)
		if err == nil {
			err = opts.Cells.Do(name, &cell, func() error { return cell.compute(ctx, d, n, train[n], held[n], opts, fit) })
		}
		if errors.Is(err, shard.ErrPart) {
			continue
		}
		if err != nil {
			return v, fmt.Errorf("%s: %w", name, err)
		}
		v.Folds = append(v.Folds, Fold{Trained: len(train[n]), Method: cell.Method, Prior: cell.Prior, Report: cell.Counts.Report()})
		all = append(all, cell.Counts)
		if v.Pooled, err = merged(all, k, opts.Similarity); err != nil {
			return v, err
		}
	}
	if opts.Cells.Partial() {
		return nil, shard.ErrPart
	}
	return v, nil
}

// foldCell is what is kept of a fold.
type foldCell struct {
	Method Method         `json:"method"`
	Prior  float64        `json:"prior"`
	Counts *score.Counter `json:"counts"`
}

// newFoldCell returns the cell of a fold that has counted nothing.
func newFoldCell(k int, opts FoldOptions) (c foldCell, err error) {
	c.Counts, err = score.NewCounter(k, score.Options{Similarity: opts.Similarity})
	return c, err
}

// compute does fold n.
func (c *foldCell) compute(ctx context.Context, d *corpus.Data, n int, train, held []int, opts FoldOptions,
	fit func(ctx context.Context, fold int, train []int) (*Result, error)) error {
	r, err := fit(ctx, n, train)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	c.Method, c.Prior = r.Method, r.Prior
	c.Counts, err = r.test(d, held, score.Options{Similarity: opts.Similarity}, opts.Threads, opts.Answer)
	return err
}

// Over returns the mean of a metric over the folds with its standard error. The
// folds share most of what they were trained on, which makes the error a little
// too small (Bengio and Grandvalet 2004: no estimate from the folds alone can be
// right). NaN if some fold does not know the metric.
func (v *CrossValidation) Over(m Metric) score.Interval {
	values := make([]float64, len(v.Folds))
	for n, f := range v.Folds {
		values[n] = m.Of(f.Report)
	}
	i, err := score.MeanInterval(values)
	if err != nil {
		nan := math.NaN()
		return score.Interval{Mean: nan, SE: nan, Low: nan, High: nan}
	}
	return i
}
