package tune

import (
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Test counts how the fitted method answers table rows, in their order. Rows of
// none of the classes count as score.Unknown.
func (r *Result) Test(d *corpus.Data, rows []int, opts score.Options, threads int) (*score.Counter, error) {
	return r.test(d, rows, opts, threads, nil)
}

// test is Test that shows each row and its probabilities to answer, unless that is nil.
func (r *Result) test(d *corpus.Data, rows []int, opts score.Options, threads int, answer func(row int, p []float32)) (*score.Counter, error) {
	counter, err := score.NewCounter(len(d.Classes.Labels), opts)
	if err != nil {
		return nil, err
	}
	err = eachAnswer(d, rows, r.Features, r.Layer, threads, func(place int, p []float32) error {
		if answer != nil {
			answer(rows[place], p)
		}
		return d.Score(counter, rows[place], p)
	})
	return counter, err
}

// blockRows is the number of rows whose probabilities are kept at a time: with
// those of all, many classes would need more memory than training did.
const blockRows = 1024

// eachAnswer calls visit, in order, with the place of each row and the
// probabilities of all classes.
func eachAnswer(d *corpus.Data, rows []int, f *feature.Set, l *softmax.Layer, threads int, visit func(place int, p []float32) error) error {
	x, err := f.Matrix(d.Table, rows)
	if err != nil {
		return err
	}
	k := len(d.Classes.Labels)
	// PredictAll calls back in any order, a block is visited in that of the rows.
	p := make([]float32, min(blockRows, len(rows))*k)
	for first := 0; first < len(rows); first += blockRows {
		size := min(blockRows, len(rows)-first)
		err := l.PredictAll(x.Select(dataset.Range(first, first+size)), threads, func(i int, row []float32) { copy(p[i*k:], row) })
		if err != nil {
			return err
		}
		for i := range size {
			if err := visit(first+i, p[i*k:(i+1)*k]); err != nil {
				return err
			}
		}
	}
	return nil
}
