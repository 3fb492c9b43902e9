package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/score"
)

// Metric names what a search looks for and a cross-validation prints.
type Metric string

// The metrics of Metrics. For log loss and calibration error less is better.
const (
	Accuracy           Metric = "accuracy"
	Top5               Metric = "top5"
	MacroF1            Metric = "macro-f1"
	SimilarityAccuracy Metric = "similarity-accuracy"
	LogLoss            Metric = "log-loss"
	CalibrationError   Metric = "calibration-error"
)

// Metrics returns all metrics, in the order in which tables list them.
func Metrics() []Metric {
	return []Metric{Accuracy, Top5, MacroF1, SimilarityAccuracy, LogLoss, CalibrationError}
}

func (m Metric) check() error {
	return option.Check("Metric", string(m), m == "" || slices.Contains(Metrics(), m), strings.Trim(fmt.Sprint(Metrics()), "[]"))
}

// Score returns the number of a report that the metric is.
func (m Metric) Score() score.Metric {
	key := strings.ReplaceAll(string(m), "-", "_")
	if m == Top5 {
		key = "top5_accuracy"
	}
	all := score.Metrics()
	return all[max(0, slices.IndexFunc(all, func(s score.Metric) bool { return s.Key == key }))]
}

// Of returns the metric's value in a report: a fraction 0..1, nats for LogLoss,
// NaN if it is not known there.
func (m Metric) Of(r score.Report) float64 { return m.Score().Of(r) }

// LessIsBetter tells whether the metric counts harm.
func (m Metric) LessIsBetter() bool { return m == LogLoss || m == CalibrationError }

// better tells whether report a is better than b: by the metric, then by the
// log loss. What is not known is not better.
func (m Metric) better(a, b score.Report) bool {
	// NaN compares as false either way, so that what is not known never wins.
	x, y := m.Of(a), m.Of(b)
	if m.LessIsBetter() {
		x, y = -x, -y
	}
	return x > y || x == y && a.LogLoss < b.LogLoss
}

// tally is the outcome on some rows, dealt into groups of about the same size.
// Two tallies of the same rows have the same groups, so that what differs
// between them is paired.
type tally []*score.Counter

// Groups of rows. More of them make a steadier standard error, and each takes
// memory for every class.
const (
	manyGroups  = 20
	fewGroups   = 10
	manyClasses = 1000 // above which there are few groups
)

func newTally(rows, k int, similarity *score.Similarity) (tally, error) {
	n := manyGroups
	if k > manyClasses {
		n = fewGroups
	}
	t := make(tally, min(n, rows))
	// Each group may take memory for every class, and there is no use in empty groups.
	for g := range t {
		var err error
		if t[g], err = score.NewCounter(k, score.Options{Similarity: similarity}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// merged adds counters of k classes up.
func merged(counters []*score.Counter, k int, similarity *score.Similarity) (score.Report, error) {
	sum, err := score.NewCounter(k, score.Options{Similarity: similarity})
	if err != nil {
		return score.Report{}, err
	}
	for _, c := range counters {
		if err := sum.Merge(c); err != nil {
			return score.Report{}, err
		}
	}
	return sum.Report(), nil
}

// folded is a tally and the reports that its errors are made of.
type folded struct {
	tally
	all     score.Report
	without []score.Report // by the group that is left out
}

func (t tally) fold(k int, similarity *score.Similarity) (folded, error) {
	f := folded{tally: t, without: make([]score.Report, len(t))}
	// The report without a group is that of the sum of all others: metrics such as macro F1
	// are no means over rows, so they cannot be subtracted.
	var err error
	if f.all, err = merged(t, k, similarity); err != nil {
		return f, err
	}
	for g := range t {
		if f.without[g], err = merged(slices.Delete(slices.Clone(t), g, g+1), k, similarity); err != nil {
			return f, err
		}
	}
	return f, nil
}

// jackknife returns the standard error of a number of which values holds what
// it is without each group in turn: sqrt((G-1)/G * sum of squared distances from
// their mean) (Efron 1982). NaN for fewer than two groups.
func jackknife(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return math.NaN()
	}
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt((n - 1) / n * squares)
}

// se is the standard error of a metric over the rows.
func (f folded) se(m Metric) float64 {
	values := make([]float64, len(f.without))
	for g, r := range f.without {
		values[g] = m.Of(r)
	}
	return jackknife(values)
}

// minus returns the paired difference to another outcome on the same rows, with
// its standard error.
func (f folded) minus(other folded, m Metric) (difference, se float64) {
	values := make([]float64, len(f.without))
	for g := range values {
		values[g] = m.Of(f.without[g]) - m.Of(other.without[g])
	}
	return m.Of(f.all) - m.Of(other.all), jackknife(values)
}
