package multilabel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// ErrNoLabels says that no example has a label.
var ErrNoLabels = errors.New("no example has a label")

// Thresholds says how the probabilities are found from which classes are answered.
type Thresholds string

// The ways.
const (
	Global   Thresholds = "global" // one for all classes, for the best micro F1; also ""
	PerClass Thresholds = "class"  // one for each class with leastHeldOut held-out labels, for its best F1, global for the others
)

// Options sets up Train. The zero value is the default.
type Options struct {
	Prior      float64    // C of the support vector machines; 0: chosen on held-out rows among 0.3, 1 and 3
	Thresholds Thresholds // "": Global
	Valid      []int      // table rows to choose by, instead of held-out ones; nil: none
	Seed       uint64     // of held-out rows and of the order of examples
	Threads    int        // 0: one a CPU; never changes a result
	Progress   func(stage string, p softmax.Progress)
}

// Check returns an *option.Error for an option out of range.
func (o Options) Check() error {
	return cmp.Or(
		option.Check("Prior", o.Prior, o.Prior >= 0 && !math.IsInf(o.Prior, 1), "a number above 0, such as 1"),
		option.Check("Thresholds", string(o.Thresholds), o.Thresholds == "" || o.Thresholds == Global || o.Thresholds == PerClass, "global or class"),
		option.Threads(o.Threads))
}

const (
	defaultPrior = 1
	// leastHeldOut is the number of held-out labels of a class from which its own threshold is
	// worth more than that of all classes.
	leastHeldOut = 10
	// mostDecisions bounds the margins of held-out rows, 200 MB.
	mostDecisions = 50e6
	// fewExamples are too few to hold any out.
	fewExamples = 20
)

// priors are tried, ascending.
var priors = []float64{0.3, 1, 3}

// Train trains a model on rows of a corpus with Sets. The record about is completed. Its cost
// is that of a fit for each prior on four fifths of the rows, and of one on all of them:
// about 20 passes over the examples, each of one multiplication for each value and class. The memory is
// bounded by that of the corpus (Need); what does not fit it is an error that wraps
// corpus.ErrMemory. No label at all is ErrNoLabels.
func Train(ctx context.Context, c *corpus.Corpus, rows []int, o Options, about softmax.Training) (*softmax.Model, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if c.Sets == nil {
		return nil, fmt.Errorf("multilabel: the corpus has one label a row; read it with dataset.Options.Multilabel")
	}
	t := &trainer{c: c, o: o, classes: c.Sets.Classes(rows)}
	if len(t.classes) == 0 {
		return nil, fmt.Errorf("%w; give examples of what is to be answered", ErrNoLabels)
	}
	need, err := NeedOf(c, len(rows), len(t.classes))
	if err != nil {
		return nil, err
	}
	t.features = need.Features
	if err := t.choose(ctx, rows); err != nil {
		return nil, err
	}
	return t.final(ctx, rows, about)
}

// trainer is a training at work.
type trainer struct {
	c        *corpus.Corpus
	o        Options
	classes  []string
	features int // at most

	train, held []int
	prior       float64
	duals       *softmax.Duals // of train, at the prior
	record      softmax.MultilabelTraining
	calibration
}

// calibration makes probabilities and decisions of margins.
type calibration struct {
	slope, offset float64   // of the logit
	threshold     []float64 // margins from which each class is answered
}

// split holds a fifth of the rows out, as many as mostDecisions allow, or takes those of
// Options.Valid.
func (t *trainer) split(rows []int) {
	t.train, t.held = rows, t.o.Valid
	if len(t.held) > 0 || len(rows) < fewExamples {
		return
	}
	share := min(corpus.HeldOutShare, mostDecisions/float64(len(t.classes))/float64(len(rows)))
	train, held := dataset.HoldOut(make([]int, len(rows)), 1, share, t.o.Seed)
	t.train, t.held = dataset.At(rows, train), dataset.At(rows, held)
}

// examples returns rows by features.
func (t *trainer) examples(set *feature.Set, rows []int) (softmax.Examples, error) {
	x, err := set.Matrix(t.c.Table, rows)
	ex := softmax.Examples{X: x, Labels: t.c.Sets.Matrix(rows, t.classes)}
	if !t.c.Even() {
		ex.Weight = make([]float32, len(rows))
		for n, row := range rows {
			ex.Weight[n] = t.c.Weight[row]
		}
	}
	return ex, err
}

// options returns those of a fit.
func (t *trainer) options(stage string) softmax.Options {
	o := softmax.Options{Trainer: softmax.SquaredHinge{}, Seed: t.o.Seed, Threads: t.o.Threads, Duals: t.duals}
	if t.o.Progress != nil {
		o.Progress = func(p softmax.Progress) { t.o.Progress(stage, p) }
	}
	return o
}

// choose measures the priors on held-out rows and keeps the best by micro F1, its calibration
// and its duals. Where no row can be held out, margins are logits and 0 is the threshold.
func (t *trainer) choose(ctx context.Context, rows []int) error {
	t.prior = cmp.Or(t.o.Prior, defaultPrior)
	t.calibration = calibration{slope: 1, threshold: make([]float64, len(t.classes))}
	if t.split(rows); len(t.held) == 0 {
		return nil
	}
	set, err := t.c.Table.Fit(t.train, feature.Options{MaxFeatures: t.features})
	if err != nil {
		return err
	}
	ex, err := t.examples(set, t.train)
	if err != nil {
		return err
	}
	held, err := t.examples(set, t.held)
	if err != nil {
		return err
	}
	tried := priors
	if t.o.Prior > 0 {
		tried = []float64{t.o.Prior}
	}
	t.record.HeldOut = len(t.held)
	o := t.options("held-out rows")
	o.Duals = &softmax.Duals{}
	best := -1.0
	margins := make([]float32, len(t.held)*len(t.classes))
	return softmax.FitPath(ctx, ex, len(t.classes), o, tried, func(prior float64, l *softmax.Layer, r softmax.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		marginsOf(l, held.X, margins, t.o.Threads)
		h := count(margins, held.Labels, t.o.Threads)
		threshold, f1 := h.bestF1()
		t.record.Candidates = append(t.record.Candidates, t.measure(prior, f1, margins, held.Labels))
		if f1 <= best {
			return nil
		}
		best, t.prior, t.duals = f1, prior, o.Duals.Clone()
		t.slope, t.offset = h.platt()
		for c := range t.threshold {
			t.threshold[c] = threshold
		}
		if t.o.Thresholds == PerClass {
			perClass(t.threshold, margins, held.Labels, t.o.Threads)
		}
		return nil
	})
}

// measure returns what is told of a prior.
func (t *trainer) measure(prior, f1 float64, margins []float32, labels *matrix.Sparse) softmax.MultilabelCandidate {
	k := len(t.classes)
	m, err := score.NewMultilabel(k, nil)
	for i := 0; err == nil && i < labels.Rows(); i++ {
		index, _ := labels.Row(i)
		err = m.Add(index, 0, nil, margins[i*k:(i+1)*k])
	}
	r := m.Report()
	return softmax.MultilabelCandidate{Prior: prior, Precision1: zeroIfNaN(r.Precision[0]), Precision5: zeroIfNaN(r.Precision[2]), MicroF1: f1}
}

// zeroIfNaN makes a number of what no example could tell.
func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// marginsOf sets margins (n x k) to the scores of a layer.
func marginsOf(l *softmax.Layer, x matrix.Matrix, margins []float32, threads int) {
	k := l.Classes
	kernel.Parallel(threads, x.Rows(), countGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			var index []int32
			var value []float32
			if s, ok := x.(*matrix.Sparse); ok {
				index, value = s.Row(i)
			} else {
				value = x.(*matrix.Dense).Row(i)
			}
			l.Scores(margins[i*k:(i+1)*k], index, value)
		}
	})
}

// perClass sets the threshold of each class with enough held-out labels to the margin of its
// best F1, half way to the next lower one.
func perClass(threshold []float64, margins []float32, labels *matrix.Sparse, threads int) {
	type decision struct {
		margin float32
		right  bool
	}
	k, n := len(threshold), labels.Rows()
	has := labels.Transpose() // the rows of each class
	kernel.Parallel(threads, k, 16, func(_, lo, hi int) {
		list := make([]decision, n)
		for c := lo; c < hi; c++ {
			rows, _ := has.Row(c)
			if len(rows) < leastHeldOut {
				continue
			}
			for i := range list {
				list[i] = decision{margin: margins[i*k+c]}
			}
			for _, i := range rows {
				list[i].right = true
			}
			slices.SortFunc(list, func(a, b decision) int { return cmp.Compare(b.margin, a.margin) })
			hits, best := 0, 0.0
			for i, d := range list {
				if d.right {
					hits++
				}
				if f1 := 2 * float64(hits) / float64(i+1+len(rows)); f1 > best && (i+1 == n || list[i+1].margin < d.margin) {
					best, threshold[c] = f1, float64(d.margin)
					if i+1 < n {
						threshold[c] = (threshold[c] + float64(list[i+1].margin)) / 2
					}
				}
			}
		}
	})
}

// final trains on all rows, from the duals found on most of them, and folds the calibration
// into the weights.
func (t *trainer) final(ctx context.Context, rows []int, about softmax.Training) (*softmax.Model, error) {
	set, err := t.c.Table.Fit(rows, feature.Options{MaxFeatures: t.features})
	if err != nil {
		return nil, err
	}
	ex, err := t.examples(set, rows)
	if err != nil {
		return nil, err
	}
	if t.duals != nil && len(t.train) != len(rows) {
		at, place := make([]int, len(rows)), make(map[int]int, len(t.train))
		for n, row := range t.train {
			place[row] = n
		}
		for n, row := range rows {
			at[n] = -1
			if p, ok := place[row]; ok {
				at[n] = p
			}
		}
		t.duals = t.duals.For(at)
	}
	o := t.options("all rows")
	o.Prior = t.prior
	l, fit, err := softmax.Fit(ctx, ex, len(t.classes), o)
	if err != nil {
		return nil, err
	}
	t.fold(l)
	m := &softmax.Model{Layer: l, Features: set, Labels: t.classes, Training: about,
		Multilabel: &softmax.Multilabel{Threshold: t.probabilities(), Count: counts(ex.Labels), Examples: len(rows)}}
	r := &m.Training
	r.Examples, r.Sharing, r.Loss, r.Trainer, r.Prior, r.Seed, r.Fit = len(rows), "none", "squared-hinge", "converge", t.prior, t.o.Seed, fit
	if n := set.MinRows(); n > 1 {
		r.MinRows = n
	}
	t.record.Thresholds = string(cmp.Or(t.o.Thresholds, Global))
	if len(t.held) == 0 {
		t.record.Thresholds = ""
	}
	r.Multilabel = &t.record
	return m, m.Check()
}

// fold makes logits of the scores of a layer.
func (t *trainer) fold(l *softmax.Layer) {
	l.Sigmoid = true
	kernel.Parallel(t.o.Threads, len(l.Weight), 1<<16, func(_, lo, hi int) { kernel.Scale(float32(t.slope), l.Weight[lo:hi]) })
	for c, b := range l.Bias {
		l.Bias[c] = float32(t.slope*float64(b) + t.offset)
	}
}

// probabilities returns the thresholds as probabilities.
func (t *trainer) probabilities() []float32 {
	out := make([]float32, len(t.threshold))
	for c, m := range t.threshold {
		// A class that is never right to answer is answered from above 1: never.
		if out[c] = 2; !math.IsInf(m, 1) {
			out[c] = float32(1 / (1 + math.Exp(-(t.slope*m + t.offset))))
		}
	}
	return out
}

// counts returns the number of examples of each class.
func counts(labels *matrix.Sparse) []int32 {
	n := make([]int32, labels.Columns)
	for _, c := range labels.Index {
		n[c]++
	}
	return n
}

// Need is an estimate of what training takes.
type Need struct {
	Bytes, Budget      int64
	Features, Distinct int // features that are used at most, and that the rows have
}

const (
	// Weights of the classes in blocks, of the layer made of them, and packed as it is saved.
	weightBytes = 3 * 4
	// Duals at work, those of the prior before, of the best one and of all rows.
	dualBytes    = 4 * 4
	programBytes = 48 << 20
	// usable is the share of the budget that is given away: estimates err.
	usable = 0.9
	// maxWeights bounds the weights of a model of texts, as that of package corpus does.
	maxWeights = 100e6
	// leastFeatures are kept however many classes there are.
	leastFeatures = 1000
)

// NeedOf estimates what training on so many rows of a corpus and classes takes. Where n-grams x
// classes are too many weights, the rarest n-grams are left out. What does not fit at all
// is an error that wraps corpus.ErrMemory.
func NeedOf(c *corpus.Corpus, rows, classes int) (Need, error) {
	table, grams := c.Table.Bytes()
	k := int64(classes)
	need := Need{Budget: memory.Budget(c.Memory), Distinct: c.Table.Distinct()}
	fixed := programBytes + grams + 4*table + dualBytes*int64(rows)*k
	fixed += int64(4 * min(mostDecisions, corpus.HeldOutShare*float64(rows)*float64(k)))
	need.Features = need.Distinct
	if c.Table.Kind() == dataset.Text { // whose n-grams can be left out
		room := (usable*float64(need.Budget) - float64(fixed)) / weightBytes
		need.Features = min(need.Features, max(int(min(maxWeights, room)/float64(k)), leastFeatures))
	}
	need.Bytes = fixed + weightBytes*int64(need.Features)*k
	if float64(need.Bytes) > usable*float64(need.Budget) {
		return need, fmt.Errorf("%s of %d classes need about %s to train, and the memory budget is %s: raise it with Options.Memory (there are %s), or leave out the rarest labels: %w",
			input.Plural(rows, "example"), classes, memory.Text(need.Bytes), memory.Text(need.Budget), memory.Text(memory.Machine()), corpus.ErrMemory)
	}
	return need, nil
}

// String returns the estimate in one line.
func (n Need) String() string {
	s := fmt.Sprintf("memory: about %s of a budget of %s", memory.Text(n.Bytes), memory.Text(n.Budget))
	if n.Features < n.Distinct {
		s += fmt.Sprintf("; of %d n-grams at most %d are used, the rarest are left out", n.Distinct, n.Features)
	}
	return s
}
