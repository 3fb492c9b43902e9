package treeloss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/softmax"
)

// Model is a trained classifier, immutable and safe for concurrent use: one for a
// whole server. Save and Write write it; do not copy it.
type Model struct {
	*softmax.Model
	idle sync.Pool // *softmax.Predictor
}

// Prediction is one class with its probability; in JSON "class" is its place among
// the Labels, beside "label" and "probability".
type Prediction = softmax.Prediction

// OptionError is the error for an option or an argument out of range, for errors.As.
type OptionError = option.Error

// ErrModelFile says that what Load, LoadFS or Read met is no usable model.
var ErrModelFile = softmax.ErrModelFile

var errNoModel = errors.New("treeloss: a Model without weights; make it with Fit, FitFiles, Load, LoadFS or Read")

// Load reads a model that Save, Write or the treeloss program wrote.
func Load(path string) (*Model, error) {
	m, err := softmax.Load(path)
	if err != nil {
		return nil, err
	}
	return &Model{Model: m}, nil
}

// LoadFS is Load for a file of fsys, an embed.FS say.
func LoadFS(fsys fs.FS, name string) (*Model, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("treeloss: %s: %w", name, err)
	}
	return m, nil
}

// Read reads a model from a stream, to its end; see softmax.Read.
func Read(r io.Reader) (*Model, error) {
	m, err := softmax.Read(r)
	if err != nil {
		return nil, err
	}
	return &Model{Model: m}, nil
}

// Predict returns the n most probable classes of a text, the most probable
// first, all if there are fewer. n below 1 and a model of numbers are errors.
func (m *Model) Predict(text string, n int) ([]Prediction, error) {
	return m.predict(dataset.Text, dataset.Example{Text: text}, n)
}

// PredictLabels returns the classes of a text that a model of several labels an example
// answers, the most probable first: those that reach their threshold, of which there may be
// none. A model of one class an example is an error.
func (m *Model) PredictLabels(text string) ([]Prediction, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Multilabel == nil {
		return nil, fmt.Errorf("treeloss: the model has one class an example; Predict answers with it: %w", ErrExample)
	}
	all, err := m.Predict(text, len(m.Labels))
	return slices.DeleteFunc(all, func(p Prediction) bool { return float32(p.Probability) < m.Multilabel.Threshold[p.Class] }), err
}

// PredictNumbers is Predict for numbers in the order of training.
func (m *Model) PredictNumbers(x []float64, n int) ([]Prediction, error) {
	return m.predict(dataset.Numbers, dataset.Example{Values: x}, n)
}

// PredictAll is Predict for many texts, on one goroutine a CPU: the result has
// their order. It ends with the first error, which says which text it was, and
// with one that wraps ctx.Err() if ctx is cancelled.
func (m *Model) PredictAll(ctx context.Context, texts []string, n int) ([][]Prediction, error) {
	return m.predictAll(ctx, len(texts), func(i int) ([]Prediction, error) { return m.Predict(texts[i], n) })
}

// PredictAllNumbers is PredictAll for rows of numbers.
func (m *Model) PredictAllNumbers(ctx context.Context, rows [][]float64, n int) ([][]Prediction, error) {
	return m.predictAll(ctx, len(rows), func(i int) ([]Prediction, error) { return m.PredictNumbers(rows[i], n) })
}

// Rebalance returns a model that shares all else with m and answers as if its classes had been
// as frequent in training as the weights of their labels say, counts or shares; the label "*"
// stands for all classes without a weight. It is for a training whose classes are even, or
// else not as they are in use. Save leaves it out. Errors are those of classify.Rebalance.
func (m *Model) Rebalance(weights map[string]float64) (*Model, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	c, err := classify.Rebalance(classify.Linear(m.Model), weights)
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	return &Model{Model: classify.LinearModelOf(c)}, nil
}

// Evaluate measures m on files of labelled examples, as the treeloss program does;
// labels that were never trained count as wrong. Of opts, Data and Threads count. A model of
// several labels is an evaluate.ErrMultilabel: evaluate.Multilabel measures it.
func (m *Model) Evaluate(ctx context.Context, paths []string, opts Options) (*evaluate.Result, error) {
	if err := cmp.Or(m.check(), opts.check()); err != nil {
		return nil, err
	}
	classifier := classify.Linear(m.Model)
	e, err := evaluate.New(classifier, evaluate.Options{})
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	x, err := classifier.Open(classify.Input{Paths: paths, Stdin: os.Stdin, Options: opts.Data, Threads: opts.Threads})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := e.Count(ctx, x); err != nil {
		return nil, err
	}
	return e.Result()
}

func (m *Model) check() error {
	if m == nil || m.Model == nil || m.Layer == nil || m.Features == nil {
		return errNoModel
	}
	return nil
}

// predict takes an idle predictor: making one costs more than a prediction.
func (m *Model) predict(kind dataset.Kind, e dataset.Example, n int) ([]Prediction, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := option.Check("n", n, n >= 1, "a number of at least 1"); err != nil {
		return nil, fmt.Errorf("treeloss: %w", err)
	}
	if trained := m.Features.Kind(); trained != kind {
		return nil, fmt.Errorf("treeloss: %v given to a model of %v: %w", kind, trained, ErrExample)
	}
	p, ok := m.idle.Get().(*softmax.Predictor)
	if !ok {
		p = m.NewPredictor()
	}
	defer m.idle.Put(p)
	top, err := p.Predict(e, n)
	if err != nil {
		return nil, fmt.Errorf("treeloss: %w: %w", ErrExample, err)
	}
	return top, nil
}

// predictAll calls predict for 0..count-1. Places are handed out ascending, and an
// error stops only that, so the first error is the same in every run.
func (m *Model) predictAll(ctx context.Context, count int, predict func(i int) ([]Prediction, error)) ([][]Prediction, error) {
	out, errs := make([][]Prediction, count), make([]error, count)
	// Places are taken one by one, not in blocks: texts differ in length.
	var next atomic.Int64
	var stop atomic.Bool
	work := func() {
		for !stop.Load() {
			i := int(next.Add(1)) - 1
			if i >= count {
				return
			}
			// Each place is handed out once, so that no two goroutines write to one.
			if errs[i] = ctx.Err(); errs[i] == nil {
				out[i], errs[i] = predict(i)
			}
			if errs[i] != nil {
				stop.Store(true)
			}
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), count) {
		group.Go(work)
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("example %d of 0 to %d: %w", i, count-1, err)
		}
	}
	return out, nil
}
