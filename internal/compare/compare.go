package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/shard"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Options sets up Run.
type Options struct {
	Tune       tune.Options
	Similarity *score.Similarity // of the labels, for similarity accuracy; nil: none

	// Cells has what each method did on each split, by name: with those of a part only these
	// are done, and the outcome is shard.ErrPart. nil: all are done here.
	Cells *shard.Cells

	shots int // of the Draw, for the names of cells

	// Progress is called as the work goes on; nil: not.
	Progress func(method string, split int, stage string, p softmax.Progress)
	// Keep is called with each fitted method and its scores; nil: not.
	Keep func(method string, split int, r *tune.Result, s *score.Counter)
}

// Result is what one method did over all splits. Rates are fractions 0..1.
type Result struct {
	Method             string  `json:"method"`
	Accuracy           float64 `json:"accuracy"`
	AccuracySE         float64 `json:"accuracy_se"`
	Difference         float64 `json:"difference"` // this accuracy minus that of cross entropy
	DifferenceSE       float64 `json:"difference_se"`
	MacroF1            float64 `json:"macro_f1"`
	SimilarityAccuracy float64 `json:"similarity_accuracy"`
	Seconds            float64 `json:"seconds"` // training and tuning, mean over splits

	Choice  string   `json:"choice,omitempty"` // what auto chose in the last split, and whether that was without the unlabelled rows
	Correct [][]bool `json:"-"`                // of each split's test rows
	Shots   int      `json:"shots,omitempty"`  // training rows of each class; 0 where the caller compares no numbers of them

	Interval           score.Interval `json:"-"` // of Accuracy
	DifferenceInterval score.Interval `json:"-"`
	Total              *score.Counter `json:"-"` // the test rows of all splits: counts of classes and mistakes

	accuracies []float64 // of the splits
}

// Comparison is the outcome of comparing methods on the splits of one Draw.
type Comparison struct {
	Results  []Result   `json:"results"`
	Splits   int        `json:"splits"`
	TestRows int        `json:"test_rows"` // of the last split
	Classes  int        `json:"classes"`
	Over     score.Over `json:"errors_over"` // what the standard errors are over
	OwnTest  bool       `json:"own_test"`    // each split has test rows of its own

	SimilarityOf *string         `json:"similarity_of"` // what similarity accuracy is by, null if nothing is
	Shots        int             `json:"-"`             // training rows of each class, 0 for all
	Tree         *labeltree.Tree `json:"-"`             // of the first method that has one, or nil
}

// MarshalJSON writes null for a similarity accuracy that is not known.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	out := struct {
		plain
		SimilarityAccuracy *float64 `json:"similarity_accuracy"`
	}{plain: plain(r)}
	if !math.IsNaN(r.SimilarityAccuracy) {
		out.SimilarityAccuracy = &r.SimilarityAccuracy
	}
	return json.Marshal(out)
}

// Method is a way to train, and the name that tables give it.
type Method struct {
	Name string
	tune.Plan
	Unlabelled bool // learns from the unlabelled rows of the data, too
}

// WithUnlabelled is how the name of a method ends that learns from unlabelled rows, too.
const WithUnlabelled = "+unlabeled"

// Methods reads names of methods (tune.ParsePlan, and WithUnlabelled behind it), each of which may come once. Cross
// entropy is put in front. o and alpha, of the method hxe, are those of all; alpha 0 means
// tune.DefaultHXEAlpha.
func Methods(names []string, o classinfo.Options, alpha float64) ([]Method, error) {
	var list []Method
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%q comes twice; name it once", name)
		}
		plain, unlabelled := strings.CutSuffix(name, WithUnlabelled)
		p, err := tune.ParsePlan(plain, o)
		if err != nil {
			return nil, err
		}
		if p.Loss == tune.HXE {
			p.Alpha = alpha
		}
		if err := p.Check(); err != nil {
			return nil, err
		}
		list = append(list, Method{name, p, unlabelled})
	}
	at := slices.Index(names, tune.Baseline)
	if at < 0 {
		p, err := tune.ParsePlan(tune.Baseline, o)
		return slices.Insert(list, 0, Method{Name: tune.Baseline, Plan: p}), err
	}
	baseline := list[at]
	return slices.Insert(slices.Delete(list, at, at+1), 0, baseline), nil
}

// Run fits every method, the first of which is the one to compare with, on every split.
// On a cancelled context the error comes with what is finished: the splits on which every
// method was measured, or the methods that were on the first split; nil if there are none.
func Run(ctx context.Context, d *corpus.Data, splits []corpus.Split, methods []Method, opts Options) (*Comparison, error) {
	if len(splits) == 0 || len(methods) == 0 {
		return nil, errors.New("compare: no splits or no methods")
	}
	table := &Comparison{TestRows: len(splits[len(splits)-1].Test), Classes: len(d.Classes.Labels)}
	for _, m := range methods {
		table.Results = append(table.Results, Result{Method: m.Name})
	}
	var failed error
	for s, split := range splits {
		var done []outcome // of the methods
		for _, method := range methods {
			o, err := run(ctx, d, s, split, method, opts)
			if errors.Is(err, shard.ErrPart) {
				continue
			}
			if err != nil {
				failed = fmt.Errorf("%s, split %d of %d: %w", method.Name, s+1, len(splits), err)
				break
			}
			done = append(done, o)
		}
		if opts.Cells.Partial() {
			if failed != nil {
				return nil, failed
			}
			continue
		}
		if failed != nil && (ctx.Err() == nil || s == 0 && len(done) == 0) {
			return nil, failed
		}
		if failed != nil && s > 0 { // the others have more splits
			break
		}
		table.Results = table.Results[:len(done)]
		for m, o := range done {
			if err := table.add(m, o, opts.counted()); err != nil {
				return nil, err
			}
		}
		if table.Splits++; failed != nil {
			break
		}
	}
	if opts.Cells.Partial() {
		return nil, shard.ErrPart
	}
	table.OwnTest = table.Splits > 1 && !slices.Equal(splits[0].Test, splits[1].Test)
	for m := range table.Results {
		if err := table.finish(m); err != nil {
			return nil, err
		}
	}
	return table, failed
}

// outcome is what a method did on one split.
type outcome struct {
	Choice  string          `json:"choice,omitempty"` // see Result
	Tree    *labeltree.Tree `json:"tree,omitempty"`
	Counts  *score.Counter  `json:"counts"`
	Seconds float64         `json:"seconds"`
}

// counted is what each method counts on each split.
func (opts Options) counted() score.Options {
	return score.Options{Similarity: opts.Similarity, KeepRows: true}
}

// run returns what a method did on one split.
func run(ctx context.Context, d *corpus.Data, s int, split corpus.Split, method Method, opts Options) (o outcome, err error) {
	if o.Counts, err = score.NewCounter(len(d.Classes.Labels), opts.counted()); err != nil {
		return o, err
	}
	err = opts.Cells.Do(fmt.Sprintf("%d shots, split %d, %s", opts.shots, s+1, method.Name), &o, func() error {
		return o.compute(ctx, d, s, split, method, opts)
	})
	return o, err
}

// compute fits a method on one split and tests it.
func (o *outcome) compute(ctx context.Context, d *corpus.Data, s int, split corpus.Split, method Method, opts Options) error {
	to := opts.Tune
	to.Seed, to.Supervised = split.Seed, !method.Unlabelled
	if opts.Progress != nil {
		to.Progress = func(stage string, p softmax.Progress) { opts.Progress(method.Name, s, stage, p) }
	}
	start := time.Now()
	fit, err := method.Fit(ctx, d, split.Train, to)
	if err != nil {
		return err
	}
	o.Seconds, o.Tree = time.Since(start).Seconds(), fit.Tree
	if strings.TrimSuffix(method.Name, WithUnlabelled) == tune.AutoName {
		o.Choice = fit.Method.String()
	}
	if u := fit.Unlabelled; u != nil && u.Used == 0 {
		o.Choice = strings.TrimPrefix(o.Choice+", unlabelled examples not used", ", ")
	}
	if o.Counts, err = fit.Test(d, split.Test, opts.counted(), opts.Tune.Threads); err != nil {
		return err
	}
	if opts.Keep != nil {
		opts.Keep(method.Name, s, fit, o.Counts)
	}
	return nil
}

// add adds what method m did on one more split to its sums.
func (t *Comparison) add(m int, o outcome, counted score.Options) error {
	r := &t.Results[m]
	r.Seconds += o.Seconds
	r.Choice = o.Choice
	report := o.Counts.Report()
	r.accuracies = append(r.accuracies, report.Accuracy)
	r.MacroF1 += report.MacroF1
	r.SimilarityAccuracy += report.SimilarityAccuracy
	r.Correct = append(r.Correct, o.Counts.Correct())
	if t.Tree == nil {
		t.Tree = o.Tree
	}
	if r.Total == nil {
		var err error
		if r.Total, err = score.NewCounter(t.Classes, counted); err != nil {
			return err
		}
	}
	return r.Total.Merge(o.Counts)
}

// finish turns the sums of method m into means with their errors.
func (t *Comparison) finish(m int) error {
	r := &t.Results[m]
	n := float64(t.Splits)
	r.MacroF1, r.SimilarityAccuracy, r.Seconds = r.MacroF1/n, r.SimilarityAccuracy/n, r.Seconds/n
	var own score.Interval
	var err error
	if t.Splits == 1 {
		own, err = score.AccuracyInterval(r.Correct[0])
	} else {
		own, err = score.MeanInterval(r.accuracies)
	}
	if err != nil {
		return err
	}
	r.Accuracy, r.AccuracySE, r.Interval = own.Mean, own.SE, own
	difference, err := score.PairedSplits(r.Correct, t.Results[0].Correct)
	if err != nil {
		return err
	}
	t.Over = difference.Over
	r.Difference, r.DifferenceSE, r.DifferenceInterval = difference.Interval.Mean, difference.Interval.SE, difference.Interval
	return nil
}

// Draw is what one comparison is made of: the splits with so many training rows of
// each class, 0 for all.
type Draw struct {
	Shots  int
	Splits []corpus.Split
}

// RunAll makes one table for each draw, with the best similarity of classes
// that there is. The stage of Options.Progress says which draw and split it is. On a
// cancelled context the error comes with the tables so far, the last as Run returns it.
func RunAll(ctx context.Context, d *corpus.Data, draws []Draw, methods []Method, opts Options) ([]*Comparison, error) {
	similarity, by, err := score.SimilarityOf(d.Classes.Labels, d.Classes.Vectors)
	if err != nil {
		return nil, err
	}
	opts.Similarity = similarity
	progress := opts.Progress
	var list []*Comparison
	for _, draw := range draws {
		if progress != nil {
			opts.Progress = func(method string, split int, stage string, p softmax.Progress) {
				if len(draw.Splits) > 1 {
					stage = fmt.Sprintf("split %d of %d, %s", split+1, len(draw.Splits), stage)
				}
				if len(draws) > 1 {
					stage = fmt.Sprintf("%d shots, %s", draw.Shots, stage)
				}
				progress(method, split, stage, p)
			}
		}
		opts.shots = draw.Shots
		t, err := Run(ctx, d, draw.Splits, methods, opts)
		if errors.Is(err, shard.ErrPart) {
			continue
		}
		if t == nil && ctx.Err() == nil {
			return nil, err
		}
		if t != nil {
			t.Shots = draw.Shots
			if by != "" {
				t.SimilarityOf = &by
			}
			list = append(list, t)
		}
		if err != nil {
			return list, err
		}
	}
	if opts.Cells.Partial() {
		return nil, shard.ErrPart
	}
	return list, nil
}

// Joined returns one table with the results of all. Those of several tables say how
// many training rows a class had.
func Joined(all []*Comparison) *Comparison {
	out := *all[len(all)-1]
	if len(all) == 1 {
		return &out
	}
	out.Results = nil
	for _, one := range all {
		for _, r := range one.Results {
			r.Shots = one.Shots
			out.Results = append(out.Results, r)
		}
	}
	return &out
}

// OverWords says what the errors of a table cover.
func (t *Comparison) OverWords() string {
	if t.Over == score.OverRows {
		return "the test rows of one split"
	}
	if t.OwnTest {
		return fmt.Sprintf("%d splits", t.Splits)
	}
	return fmt.Sprintf("%d splits with the same test rows", t.Splits)
}
