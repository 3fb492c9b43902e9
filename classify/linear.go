package classify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/softmax"
)

// BlockSize is the number of examples that are read together where no one waits for
// the single answer.
const BlockSize = 512

// linear is a softmax model as a Classifier.
type linear struct{ model *softmax.Model }

// Linear makes a classifier of a model, which must not be changed any more. Each
// example is classified by itself, on all goroutines of Input.Threads.
func Linear(m *softmax.Model) Classifier { return linear{m} }

// About takes the tree of a hierarchical softmax, which is a part of the model, before
// any other.
func (l linear) About() About {
	m := l.model
	about := About{Kind: LinearModel, Like: LikeModel(m), Labels: m.Labels, Tree: m.Tree, Vectors: m.Vectors, Temperature: m.Temperature(), Multilabel: m.Multilabel, Balanced: m.Balance != nil}
	if c := m.Training.Calibration; c != nil {
		about.Calibrated, about.Answers = true, c.Answers
	}
	if m.Layer.Hierarchy != nil {
		about.Tree = m.Layer.Hierarchy.Tree()
	}
	return about
}

// Totals are those of the model.
func (l linear) Totals() []float32 { return l.model.ClassTotals }

// Balanced has a model of its own.
func (l linear) Balanced(b decide.Balance) Classifier {
	m := *l.model
	m.Balance = b
	return linear{&m}
}

// Close does nothing: the memory of a model goes when nobody holds it.
func (l linear) Close() error { return nil }

// Open opens the examples with a Predictor for each goroutine.
func (l linear) Open(in Input) (Examples, error) {
	reader, err := OpenLike(LikeModel(l.model), in)
	if err != nil {
		return nil, err
	}
	return PredictRecords(reader, in, l.predictor), nil
}

// Runners returns n of them, each with a Predictor.
func (l linear) Runners(n int) ([]Runner, error) { return PredictBlocks(n, l.predictor), nil }

func (l linear) predictor() Predictor { return l.model.NewPredictor() }

// Predictor classifies one example at a time. The probabilities are valid until the next
// call.
type Predictor interface {
	Probabilities(e dataset.Example) ([]float32, error)
}

// BlockPredictor is a Predictor that takes less time for many examples together. Block calls
// visit with the probabilities of each, in order, as Probabilities has them. It returns how
// many there are before the first that cannot be used, or visit fails at, and why.
type BlockPredictor interface {
	Predictor
	Block(block []dataset.Example, visit func(at int, p []float32) error) (int, error)
}

// predictBlock calls visit with the probabilities of each example, as BlockPredictor does.
func predictBlock(one Predictor, block []dataset.Example, visit func(at int, p []float32) error) (int, error) {
	if all, ok := one.(BlockPredictor); ok {
		return all.Block(block, visit)
	}
	for at, e := range block {
		p, err := one.Probabilities(e)
		if err == nil {
			err = visit(at, p)
		}
		if err != nil {
			return at, err
		}
	}
	return len(block), nil
}

// PredictRecords makes Records of what reader gives, with a predictor for each goroutine of
// the input. Of a live stream the examples that have arrived go together.
func PredictRecords(reader *dataset.Reader, in Input, predictor func() Predictor) *Records {
	r := &Records{Reader: reader, Block: BlockSize, Threads: in.Threads}
	if r.Threads == 0 {
		r.Threads = runtime.GOMAXPROCS(0)
	}
	r.Live = in.Live && in.Stream()
	predictors := make([]Predictor, r.Threads)
	for i := range predictors {
		predictors[i] = predictor()
	}
	r.Run = func(_ context.Context, block []dataset.Example, visit func(worker, at int, p []float32) error) (int, error) {
		return inParts(len(block), r.Threads, func(worker, lo, hi int) (int, error) {
			return predictBlock(predictors[worker], block[lo:hi], func(at int, p []float32) error { return visit(worker, lo+at, p) })
		})
	}
	return r
}

// PredictBlocks makes n Runners, at least 1, with a predictor each.
func PredictBlocks(n int, predictor func() Predictor) []Runner {
	runners := make([]Runner, max(n, 1))
	for i := range runners {
		one := predictor()
		runners[i] = func(ctx context.Context, block []dataset.Example, visit func(at int, p []float32) error) (int, error) {
			return predictBlock(one, block, func(at int, p []float32) error { return cmp.Or(visit(at, p), ctx.Err()) })
		}
	}
	return runners
}

// LinearModelOf returns the linear model that a classifier is made of, nil for a
// network.
func LinearModelOf(c Classifier) *softmax.Model {
	if l, ok := c.(linear); ok {
		return l.model
	}
	return nil
}

// inParts calls work for parts of 0..n-1 on several goroutines. Work returns how much of its
// part is before an error; inParts the first place with one, n for none, and that error.
func inParts(n, threads int, work func(worker, lo, hi int) (int, error)) (int, error) {
	parts := min(threads, n)
	failed, errs := make([]int, parts), make([]error, parts)
	var group sync.WaitGroup
	for w := range parts {
		run := func() {
			lo := w * n / parts
			failed[w], errs[w] = work(w, lo, (w+1)*n/parts)
			failed[w] += lo
		}
		if parts == 1 {
			run()
			break
		}
		group.Go(run)
	}
	group.Wait()
	for w, err := range errs {
		if err != nil {
			return failed[w], err
		}
	}
	return n, nil
}

// OpenReader opens the files of the input, or Stdin, as the options say.
func OpenReader(in Input, o dataset.Options) (*dataset.Reader, error) {
	if in.Stream() {
		return dataset.NewReader(in.Stdin, StdinName, o)
	}
	return dataset.OpenAll(in.Paths, o)
}

// Like is how the examples of a training were read.
type Like struct {
	Kind     dataset.Kind
	Fields   dataset.Fields    // of texts that come with others; zero: a text alone
	Columns  []string          // of Numbers, by their names; x1, x2, ... for those of an array
	Training map[string]string // the record of training: "label" and "text" are columns, "label-prefix" that of fastText's files, "label-separator" of cells with several labels
	Several  bool              // examples may have several labels
}

// LikeModel returns how the examples of a model were read.
func LikeModel(m *softmax.Model) Like {
	l := Like{Kind: m.Features.Kind(), Fields: m.Features.Fields(), Training: m.Training.Options, Several: m.Multilabel != nil}
	if l.Kind == dataset.Numbers {
		l.Columns = m.Features.Columns()
	}
	return l
}

// OpenLike opens examples that are to go through a model. What the options leave
// open is read as in training: the numeric columns by the model's names for them,
// text and label by the names that the training record holds. Examples of another
// kind are an error.
func OpenLike(like Like, in Input) (*dataset.Reader, error) {
	var first error
	for _, o := range like.options(in) {
		r, err := OpenReader(in, o)
		if err == nil {
			if err = like.fits(r, in); err == nil {
				return r, nil
			}
			r.Close()
		}
		first = cmp.Or(first, err)
		if in.Stream() || slices.ContainsFunc(in.Paths, isPipe) {
			break // what was read of it is gone
		}
	}
	if like.Fields.Several() {
		return nil, fmt.Errorf("%w; the model reads tables or JSON lines with %s", first, like.Fields.Describe())
	}
	return nil, first
}

// options returns the options to try one after the other.
func (l Like) options(in Input) []dataset.Options {
	given := in.Options
	given.LabelPrefix = cmp.Or(given.LabelPrefix, l.Training["label-prefix"])
	if l.Several {
		given.Multilabel = true
		if isTable(given.Format, in.Paths) {
			given.LabelSeparator = cmp.Or(given.LabelSeparator, l.Training["label-separator"])
		}
	}
	trained := given
	if trained.Label == "" && !given.Unlabelled {
		trained.Label = l.Training["label"]
	}
	switch l.Kind {
	case dataset.Numbers:
		if len(given.Columns) > 0 || isArray(given, in.Paths) {
			return []dataset.Options{trained, given}
		}
		array := trained
		trained.Columns = l.Columns
		if numbered(trained.Columns) { // trained on an array, whose columns have no names
			return []dataset.Options{array, trained}
		}
		given.Columns = trained.Columns
	case dataset.Text:
		if f := l.Fields; f.Several() {
			trained.Text = cmp.Or(given.Text, strings.Join(f.Texts, ","))
			if len(given.Categories) == 0 {
				trained.Categories = f.Categories
			}
			if len(given.Columns) == 0 {
				trained.Columns = f.Numbers
			}
			return []dataset.Options{trained}
		}
		// Lines typed at a terminal have no columns; a named one would make
		// the first of them a header.
		if given.Text == "" && !(given.Unlabelled && in.Stream()) {
			trained.Text = l.Training["text"]
		}
	case dataset.Sparse:
		// Files of the Extreme Classification Repository are called .txt.
		if given.Format == dataset.Auto && (in.Stream() || strings.HasSuffix(in.Paths[0], ".txt")) {
			trained.Format = dataset.LIBSVM
		}
	}
	return []dataset.Options{trained, given}
}

// Parse reads examples that are in memory, as OpenLike does from a file: a name such as
// lines.jsonl stands for them in messages, and its ending for the format. Labels may be
// missing.
func (l Like) Parse(data []byte, name string, o dataset.Options) ([]dataset.Example, error) {
	o.Unlabelled = true
	in := Input{Paths: []string{name}, Options: o}
	var first error
	for _, o := range l.options(in) {
		r, err := dataset.NewReader(bytes.NewReader(data), name, o)
		if err == nil {
			err = l.fits(r, in)
		}
		var examples []dataset.Example
		if err == nil {
			for e, failed := range r.All() {
				if err = failed; err != nil {
					break
				}
				examples = append(examples, e.Clone())
			}
		}
		if err == nil {
			return examples, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// isPipe tells whether a path is no regular file, of which what was read is gone.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// isArray tells whether the first file is a NumPy array, whose columns have no
// names.
func isArray(o dataset.Options, paths []string) bool {
	name := strings.ToLower(paths[0])
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return o.Format == dataset.NPY || o.Format == dataset.Auto && strings.HasSuffix(name, ".npy")
}

// isTable tells whether the first file has, or may have, cells with labels in them.
func isTable(format dataset.Format, paths []string) bool {
	if format == dataset.Auto {
		format = dataset.FormatOfName(paths[0])
	}
	return format == dataset.CSV || format == dataset.TSV || format == dataset.Parquet || format == dataset.JSONL
}

// numbered tells whether columns are x1, x2, ..., the names that training gives
// to the columns of an array.
func numbered(columns []string) bool {
	for j, name := range columns {
		if name != fmt.Sprintf("x%d", j+1) {
			return false
		}
	}
	return true
}

// fits refuses examples that are not what the model was trained on.
func (l Like) fits(r *dataset.Reader, in Input) error {
	path := in.Name()
	if got := r.Kind(); got != l.Kind {
		err := fmt.Errorf("%s: holds %v, but the model was trained on %v", path, got, l.Kind)
		switch l.Kind {
		case dataset.Text:
			return fmt.Errorf("%w; name the column of the text with Options.Text", err)
		case dataset.Sparse:
			return fmt.Errorf("%w; give LIBSVM lines", err)
		}
		return fmt.Errorf("%w; name its numeric columns with Options.Columns", err)
	}
	if got := r.Fields(); l.Kind == dataset.Text && (len(got.Texts) != len(l.Fields.Texts) || len(got.Categories) != len(l.Fields.Categories) || len(got.Numbers) != len(l.Fields.Numbers)) {
		return fmt.Errorf("%s: has %s, but the model was trained on %s", path, got.Describe(), l.Fields.Describe())
	}
	if l.Kind != dataset.Numbers {
		return nil
	}
	if r.Width() != len(l.Columns) {
		return fmt.Errorf("%s: %d numbers a row, but the model was trained on %d; bring rows with the columns of its training data", path, r.Width(), len(l.Columns))
	}
	if got := r.Columns(); len(in.Options.Columns) == 0 && got != nil && !slices.Equal(got, l.Columns) {
		return fmt.Errorf("%s: the numeric columns begin with %q, those of the model with %q; name them in the model's order with Options.Columns", path, got[0], l.Columns[0])
	}
	return nil
}
