package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// SearchOptions sets up Search. Without Time and Trials a search ends when its
// smallest steps gain nothing.
type SearchOptions struct {
	Tune       Options           // trainer, seed, threads, rows to choose by, progress; its Priors are not used
	Metric     Metric            // to be made best; "" means Accuracy
	Time       time.Duration     // 0: no limit
	Trials     int               // 0: no limit
	Folds      int               // hold out each row once in so many parts; 0: the rows that training holds out
	Similarity *score.Similarity // of the labels, for similarity accuracy; nil: none
	Now        func() time.Time  // the clock of Time; nil: time.Now
}

// Check returns an *option.Error or *option.Misuse for options out of range, or that do
// not go together.
func (o SearchOptions) Check() error {
	if len(o.Tune.Valid) > 0 && o.Folds > 0 {
		return option.Refuse("%s has the rows to choose by, %s takes them from those of training; leave one out", "Valid", "Folds")
	}
	return cmp.Or(o.Metric.check(),
		option.Check("Time", o.Time, o.Time >= 0, "a time above 0, such as 90s"),
		option.Check("Trials", o.Trials, o.Trials >= 0, "at least 0"),
		option.Check("Folds", o.Folds, o.Folds >= 0 && o.Folds != 1, "at least 2, or 0 for one split"))
}

// Trial is what one point of a search did on held-out rows.
type Trial struct {
	Settings
	Number       int // in the order in which they were made, from 1
	Report       score.Report
	SE           float64 // standard error of the metric over held-out rows
	Difference   float64 // of the metric, to that of plain cross entropy with the defaults
	DifferenceSE float64 // paired over held-out rows
	Seconds      float64
	Baseline     bool // measured to compare with only, as the plan asks for something else
}

// Stop says why a search ended.
type Stop string

// The reasons to end a search.
const (
	StopTime      Stop = "time"
	StopTrials    Stop = "trials"
	StopConverged Stop = "converged" // the smallest steps gained nothing
	StopCancelled Stop = "cancelled"
)

// Found is the outcome of a Search.
type Found struct {
	Metric  Metric
	Trials  []Trial // the best first
	HeldOut int     // rows that each trial was measured on
	How     string  // how they were held out, in words
	Stop    Stop
	Skipped []string // methods that the data does not allow, and why

	// Honest is the report of choosing the best trial by all groups of held-out
	// rows but one and measuring it on that one, over all groups. The report of
	// the best trial itself is too good: it is the best of many on these rows.
	// Honest is a little too good still, as the trials were laid around the best.
	// Metrics that are no mean over rows (macro F1, calibration error) may come
	// out better so; Honest is then the best trial's own report.
	Honest score.Report
}

// Best is the trial to train with: the first that is not a mere baseline.
func (f *Found) Best() Trial {
	return f.Trials[slices.IndexFunc(f.Trials, func(t Trial) bool { return !t.Baseline })]
}

// Default is the baseline: plain cross entropy with the defaults.
func (f *Found) Default() Trial {
	return f.Trials[slices.IndexFunc(f.Trials, func(t Trial) bool { return t.Number == 1 })]
}

// ErrNoHeldOut says that there is no row to choose by.
var ErrNoHeldOut = errors.New("no class has two rows, so none can be held out; add examples, or give some to choose by with Options.Valid")

// Search looks for the best settings in a space by trials on held-out rows.
//
//  1. Every method with its defaults, plain cross entropy first: the baseline.
//  2. The better half of them, and cross entropy, with a third and three times
//     the prior; then the better quarter one step further in the direction that
//     was better.
//  3. Around the best: each axis in turn (prior, names as examples, rho, label
//     smoothing, base of the tree), a step up and a step down. What is better,
//     or as good with a log loss lower by 1 %, is taken at once. When no axis
//     gains, steps are halved, three times.
//
// Trials depend on the outcome of the trials before and on nothing else: time
// decides only how many there are. The first that can be the answer is always made;
// a later one is broken off and left out when the time is over. Each is the same work that FitBest
// does to measure one method and prior, so training with its settings and seed
// reports the same accuracy on the same held-out rows.
//
// On a cancelled context Search returns what it has found, unless that is
// nothing, and an error.
func Search(ctx context.Context, d *corpus.Data, rows []int, space Space, opts SearchOptions) (*Found, error) {
	s, err := newSearch(d, rows, space, opts)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx)
	switch {
	case errors.Is(err, errTime):
		s.found.Stop, err = StopTime, nil
	case errors.Is(err, errTrials):
		s.found.Stop, err = StopTrials, nil
	case err == nil:
		s.found.Stop = StopConverged
	case ctx.Err() != nil && s.answered:
		s.found.Stop = StopCancelled
		err = fmt.Errorf("the search was interrupted after %d trials: %w", len(s.done), ctx.Err())
	default:
		return nil, err
	}
	if sumErr := s.sumUp(); sumErr != nil {
		return nil, sumErr
	}
	return &s.found, err
}

var (
	errTime   = errors.New("time is over")
	errTrials = errors.New("all trials are made")
)

// streamGroups is the stream of random numbers that deals rows to groups.
const streamGroups = 11

// search is a Search under way.
type search struct {
	d           *corpus.Data
	space       Space
	opts        SearchOptions
	began       time.Time
	train, held [][]int
	done        []trial
	seen        map[string]int // place in done by key
	answered    bool           // some trial in done can be the answer
	found       Found
}

type trial struct {
	Trial
	outcome folded
}

func newSearch(d *corpus.Data, rows []int, space Space, opts SearchOptions) (*search, error) {
	if len(space.Methods) == 0 {
		return nil, errors.New("tune: no methods to search")
	}
	if opts.Metric == "" {
		opts.Metric = Accuracy
	}
	if opts.Metric == SimilarityAccuracy && opts.Similarity == nil {
		return nil, fmt.Errorf("metric %s: the names of the classes have no letters to compare them by; give vectors of them with Options.Vectors", opts.Metric)
	}
	space.Fixed.Prior = space.Fixed.Prior || IgnoresPrior(opts.Tune.Trainer)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if rows = d.Labelled(rows); opts.Folds > len(rows) {
		return nil, fmt.Errorf("tune: %d folds of %d rows, want no more than there are rows", opts.Folds, len(rows))
	}
	s := &search{d: d, space: space, opts: opts, began: opts.Now(), seen: map[string]int{}}
	s.found.Metric = opts.Metric
	s.holdOut(rows)
	for _, part := range s.held {
		s.found.HeldOut += len(part)
	}
	if s.found.HeldOut == 0 {
		return nil, ErrNoHeldOut
	}
	return s, nil
}

// holdOut chooses the rows to measure on: those of the options, those of
// training, or, where training has none to spare, those of corpus.DefaultFolds folds.
func (s *search) holdOut(rows []int) {
	d, opts := s.d, s.opts
	if opts.Folds > 0 {
		s.train, s.held = d.Folds(rows, opts.Folds, opts.Tune.Seed)
		s.found.How = fmt.Sprintf("each row is held out once, in %d folds", opts.Folds)
		return
	}
	s.train, s.held = d.HoldOut(rows, opts.Tune.Valid, opts.Tune.Seed)
	switch {
	case s.train == nil && anyTwice(d, rows):
		s.train, s.held = d.Folds(rows, min(corpus.DefaultFolds, len(rows)), opts.Tune.Seed)
		s.found.How = fmt.Sprintf("each row is held out once, in %d folds; most rows are of classes with fewer than 3 rows, so that training can hold out none", len(s.train))
	case len(d.Labelled(opts.Tune.Valid)) > 0:
		s.found.How = "validation rows, as in training"
	case len(s.train) > 1:
		s.found.How = fmt.Sprintf("each row is held out once, in %d folds, as in training", len(s.train))
	default:
		s.found.How = fmt.Sprintf("%.0f %% of the rows of each class, as in training", 100*corpus.HeldOutShare)
	}
}

// anyTwice tells whether some class has two rows.
func anyTwice(d *corpus.Data, rows []int) bool {
	return slices.ContainsFunc(d.Count(rows), func(n int) bool { return n > 1 })
}

// run goes through the rounds of Search.
func (s *search) run(ctx context.Context) error {
	var leaders []int // places in done, one a method
	var failed error
	for n, m := range s.space.Methods {
		at, err := s.try(ctx, s.space.start(m))
		switch {
		case err == nil:
			leaders = append(leaders, at)
		case n == 0 || ctx.Err() != nil || errors.Is(err, errTime) || errors.Is(err, errTrials):
			return err
		default: // such as means of classes without rows
			failed = fmt.Errorf("%s: %w", m, err)
			s.found.Skipped = append(s.found.Skipped, fmt.Sprintf("%s: %v", m, err))
		}
	}
	if !s.answered {
		return failed
	}
	baseline := leaders[0]
	for range 2 {
		s.rank(leaders)
		leaders = leaders[:(len(leaders)+1)/2]
		if !slices.Contains(leaders, baseline) {
			leaders = append(leaders, baseline)
		}
		for n, at := range leaders {
			better, err := s.climb(ctx, at, priorAxis, 0)
			if err != nil {
				return err
			}
			if at == baseline {
				baseline = better
			}
			leaders[n] = better
		}
	}
	return s.refine(ctx)
}

// halvings is how often steps are halved around the best.
const halvings = 3

// refine moves from the best trial along every axis until the smallest steps
// gain nothing.
func (s *search) refine(ctx context.Context) error {
	all := dataset.Range(0, len(s.done))
	s.rank(all)
	best := all[slices.IndexFunc(all, func(at int) bool { return !s.done[at].Baseline })]
	// A round without a gain halves the steps; one with a gain is repeated at the same size.
	for h := 0; h <= halvings; {
		before := best
		for a := range axes {
			var err error
			if best, err = s.climb(ctx, best, a, h); err != nil {
				return err
			}
		}
		if best == before {
			h++
		}
	}
	return nil
}

// climb tries the neighbours of a trial on an axis and returns the place of the
// best of them and it.
func (s *search) climb(ctx context.Context, at int, a axis, halved int) (int, error) {
	best := at
	for _, x := range s.space.neighbours(s.done[at].Settings, a, halved) {
		n, err := s.try(ctx, x)
		if err != nil {
			return at, err
		}
		if s.gains(n, best) {
			best = n
		}
	}
	return best, nil
}

// leastGain is the share of the log loss that a move must save where it does
// not gain in the metric. Without it the prior would run away for nothing.
const leastGain = 0.01

// gains tells whether a trial is worth a move away from another.
func (s *search) gains(a, b int) bool {
	x, y := s.done[a].Report, s.done[b].Report
	same := s.opts.Metric.Of(x) == s.opts.Metric.Of(y)
	return s.better(a, b) && (!same || x.LogLoss <= (1-leastGain)*y.LogLoss)
}

// better orders trials by the metric, the log loss, then by which came first.
func (s *search) better(a, b int) bool {
	return s.opts.Metric.better(s.done[a].Report, s.done[b].Report)
}

// rank sorts places of trials, the best first.
func (s *search) rank(places []int) {
	slices.SortStableFunc(places, func(a, b int) int {
		switch {
		case s.better(a, b):
			return -1
		case s.better(b, a):
			return 1
		}
		return a - b
	})
}

// try makes a trial, unless it was made before, and returns its place in done.
func (s *search) try(ctx context.Context, x Settings) (int, error) {
	if at, ok := s.seen[x.key()]; ok {
		return at, nil
	}
	if s.opts.Trials > 0 && len(s.done) >= s.opts.Trials && s.answered {
		return 0, errTrials
	}
	if s.late() {
		return 0, errTime
	}
	begin := s.opts.Now()
	outcome, err := s.measure(ctx, x)
	if err != nil {
		return 0, err
	}
	t := trial{Trial{Settings: x, Number: len(s.done) + 1, Report: outcome.all, SE: outcome.se(s.opts.Metric),
		Seconds: s.opts.Now().Sub(begin).Seconds(), Baseline: s.space.apart && x.Method.isPlain()}, outcome}
	s.answered = s.answered || !t.Baseline
	first := outcome
	if len(s.done) > 0 {
		first = s.done[0].outcome
	}
	// Paired with the first trial, plain cross entropy, on the same groups of rows.
	t.Difference, t.DifferenceSE = outcome.minus(first, s.opts.Metric)
	// Climbs from different methods may meet; a point is measured once.
	s.seen[x.key()] = len(s.done)
	s.done = append(s.done, t)
	return len(s.done) - 1, nil
}

// late tells whether the time is over. There is no end before the first answer.
func (s *search) late() bool {
	return s.opts.Time > 0 && s.answered && s.opts.Now().Sub(s.began) >= s.opts.Time
}

// measure trains with the settings on the rows less the held-out ones, just as
// Plan.Fit does, and counts how the held-out ones are answered.
func (s *search) measure(ctx context.Context, x Settings) (folded, error) {
	// The clock is looked at whenever a trainer reports: a trial may take minutes.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts := s.opts.Tune
	report := opts.Progress
	opts.Progress = func(stage string, p softmax.Progress) {
		if s.late() {
			cancel(errTime)
		}
		if report != nil {
			report(stage, p)
		}
	}
	k := len(s.d.Classes.Labels)
	counts, err := newTally(s.found.HeldOut, k, s.opts.Similarity)
	if err != nil {
		return folded{}, err
	}
	// Dealt at random: the order of a file may have a rhythm.
	deal := rand.New(rand.NewPCG(opts.Seed, streamGroups)).Perm(s.found.HeldOut)
	next := 0
	for n, test := range s.held {
		if len(test) == 0 {
			continue
		}
		stage := fmt.Sprintf("trial %d, %s, part %d of %d", len(s.done)+1, x.Method, n+1, len(s.held))
		f, o, _, err := prepare(s.d, s.train[n], x.Method, opts, stage)
		if err != nil {
			return folded{}, err
		}
		o.Trainer = toChoose(o.Trainer)
		o.Prior = x.Prior
		layer, _, err := fitMethod(ctx, s.d, f, o, x.Method, nil)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if errors.Is(context.Cause(ctx), errTime) {
				err = errTime
			}
			return folded{}, err
		}
		err = eachAnswer(s.d, test, f.Features, layer, opts.Threads, func(place int, p []float32) error {
			return s.d.Score(counts[deal[next+place]%len(counts)], test[place], p)
		})
		if err != nil {
			return folded{}, err
		}
		next += len(test)
	}
	return counts.fold(k, s.opts.Similarity)
}

// sumUp ranks the trials and makes the honest report.
func (s *search) sumUp() error {
	places := dataset.Range(0, len(s.done))
	s.rank(places)
	for _, at := range places {
		s.found.Trials = append(s.found.Trials, s.done[at].Trial)
	}
	groups := len(s.done[0].outcome.tally)
	judged := make([]*score.Counter, groups)
	answers := slices.DeleteFunc(slices.Clone(s.done), func(t trial) bool { return t.Baseline })
	// The choice is made without group g and judged on it, so that no group judges its own.
	for g := range groups {
		best := answers[0]
		for _, t := range answers[1:] {
			if s.opts.Metric.better(t.outcome.without[g], best.outcome.without[g]) {
				best = t
			}
		}
		judged[g] = best.outcome.tally[g]
	}
	honest, err := merged(judged, len(s.d.Classes.Labels), s.opts.Similarity)
	if s.found.Honest = honest; s.opts.Metric.better(honest, s.found.Best().Report) {
		s.found.Honest = s.found.Best().Report
	}
	return err
}

// Fit trains with settings of a search on all the given rows.
func (x Settings) Fit(ctx context.Context, d *corpus.Data, rows []int, opts Options) (*Result, error) {
	return final(ctx, d, rows, x.Method, x.Prior, opts)
}
