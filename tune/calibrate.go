package tune

import (
	"cmp"
	"context"
	"errors"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
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
// part held out, and the rounds again where it learned from unlabelled rows; with
// opts.Valid no fit. Without a row to hold out the error is ErrNotHeldOut. A result AtLimit
// is not to be used.
func Calibrate(ctx context.Context, d *corpus.Data, rows []int, r *Result, opts Options) (decide.Calibration, error) {
	if r.calibration != nil && len(d.Labelled(opts.Valid)) == 0 {
		return *r.calibration, nil
	}
	h := hold(d, rows, opts)
	if h == nil {
		return decide.Calibration{}, ErrNotHeldOut
	}
	if len(d.Labelled(opts.Valid)) == 0 {
		a, err := r.heldOutScores(ctx, h)
		if err != nil {
			return decide.Calibration{}, err
		}
		return h.calibrate(a, r, r.optimism+growth)
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
	return h.calibrate(a, r, r.optimism)
}

// heldOutScores is what the method and prior of a result give held-out rows, each trained
// without it.
func (r *Result) heldOutScores(ctx context.Context, h *heldOut) (*attempt, error) {
	if r.learner != nil {
		return r.learner.heldOutScores(ctx, h)
	}
	attempts, err := h.try(ctx, r.Method, []float64{r.Prior})
	if err != nil {
		return nil, err
	}
	return attempts[0], nil
}

// growth is how much more the probabilities of a fit on all rows grow than its accuracy,
// from fits on four fifths of them, as a fraction: on banking77, clinc150 and the seven
// sets of docs/panel.md, with 5 and 10 rows a class and with all, the mean of both is 0.005.
const growth = 0.005

// selectionGroups is the number of groups of held-out rows of optimismOf.
const selectionGroups = 5

// optimismOf estimates how much of the accuracy of the chosen attempt is the chance of
// being the best of many on the rows that chose. Each fifth of the rows is answered by the
// attempt that is the best on the others, the mean of equals; what these answers have
// fewer right than the chosen one, as a fraction of the rows, is the optimism. It takes no
// fit (Tibshirani and Tibshirani, Annals of Applied Statistics 2009, correct the error of
// a cross-validation by the same differences).
func optimismOf(chosen *attempt, all []*attempt) float64 {
	honest := 0.0
	for group := range selectionGroups {
		most, equals, inside := -1, 0, 0
		for _, a := range all {
			in := 0
			for i := group; i < len(a.correct); i += selectionGroups {
				if a.correct[i] {
					in++
				}
			}
			switch outside := a.right - in; {
			case outside > most:
				most, equals, inside = outside, 1, in
			case outside == most:
				equals++
				inside += in
			}
		}
		honest += float64(inside) / float64(equals)
	}
	return max(0, float64(chosen.right)-honest) / float64(len(chosen.correct))
}

// calibrate returns the calibration of an attempt: its temperature, how the
// temperature of a row depends on how sure it is, less the optimism, and what thresholds
// on the probabilities then do, by the tree of the model of r.
func (h *heldOut) calibrate(a *attempt, r *Result, optimism float64) (decide.Calibration, error) {
	if err := h.fitTemperature(a); err != nil {
		return decide.Calibration{}, err
	}
	k, threads := len(h.d.Classes.Labels), h.opts.Threads
	c, err := decide.FitConfidence(*a.calibration, a.scores, k, h.class, h.mixes, optimism, threads)
	if err != nil || c.AtLimit {
		return c, err
	}
	if c.Answers, err = decide.CountAnswers(c, a.scores, k, h.class, r.tree(h.d), threads); err == nil {
		// Examples of classes that none was held out of count as wrong answers.
		c.Answers.Optimism = min(r.optimism+h.rare, 1)
	}
	return c, err
}

// tree is that of a model of r: what the method shares by, else the taxonomy.
func (r *Result) tree(d *corpus.Data) *labeltree.Tree { return cmp.Or(r.Tree, d.Classes.Taxonomy) }

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
