package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/score"
)

// FoldOptions sets up CrossValidate. The zero value is the default.
type FoldOptions struct {
	Folds      int               // 0 means corpus.DefaultFolds
	Seed       uint64            // of the folds
	Threads    int               // 0: one a CPU
	Similarity *score.Similarity // of the labels, for similarity accuracy; nil: none

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
		r, err := fit(ctx, n, train[n])
		if err == nil {
			err = ctx.Err()
		}
		var counter *score.Counter
		if err == nil {
			counter, err = r.test(d, held[n], score.Options{Similarity: opts.Similarity}, opts.Threads, opts.Answer)
		}
		if err != nil {
			return v, fmt.Errorf("fold %d of %d: %w", n+1, opts.Folds, err)
		}
		v.Folds = append(v.Folds, Fold{Trained: len(train[n]), Method: r.Method, Prior: r.Prior, Report: counter.Report()})
		all = append(all, counter)
		if v.Pooled, err = merged(all, k, opts.Similarity); err != nil {
			return v, err
		}
	}
	return v, nil
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
