package score

import (
	"fmt"
	"math"
	"slices"
)

// Cuts are the k of precision at k and its like, ascending.
var Cuts = [...]int{1, 3, 5}

// mostCut is the last of them.
const mostCut = 5

// Multilabel gathers what a MultilabelReport needs of examples that may have any number of
// labels each, one example at a time. It is not safe for concurrent use: give each
// goroutine its own and Merge them.
type Multilabel struct {
	k          int
	propensity []float64 // of each class, above 0, at most 1; nil: not known

	examples, labelled, exact int
	labels, unknown, answers  int // of all examples; unknown ones are among the labels

	support, answered, hits []int // of each class

	hit           [len(Cuts)]int      // labels among the first
	gain          [len(Cuts)]ExactSum // nDCG of each labelled example
	scored, ideal [len(Cuts)]ExactSum // numerator and denominator of the propensity-scored precision
}

// NewMultilabel returns a counter for k classes. propensity has, for each class, the share of
// its examples that have it as a label (Propensities); nil leaves the measures by it out. A k
// below 1, and another number of propensities or one that is not above 0 and at most 1, are
// errors.
func NewMultilabel(k int, propensity []float64) (*Multilabel, error) {
	if k < 1 || k > math.MaxInt32 {
		return nil, fmt.Errorf("score: %d classes, want 1 to %d", k, math.MaxInt32)
	}
	if propensity != nil && len(propensity) != k {
		return nil, fmt.Errorf("score: %d propensities for %d classes", len(propensity), k)
	}
	for c, p := range propensity {
		if !(p > 0 && p <= 1) {
			return nil, fmt.Errorf("score: the propensity of class %d is %v, want a number above 0, up to 1", c, p)
		}
	}
	return &Multilabel{k: k, propensity: propensity, support: make([]int, k), answered: make([]int, k), hits: make([]int, k)}, nil
}

// Propensities estimates how likely a label is given to an example that it is right for, by
// the number of examples of each class among n:
//
//	p_c = 1 / (1 + C (n_c + B)^-A),  C = (ln n - 1) (B + 1)^A,  A = 0.55, B = 1.5
//
// (Jain, Prabhu and Varma 2016, Eq. 6, with the constants that they use where there are none
// for a data set). With n below 3 the C is not above 0: all are 1.
func Propensities(count []int32, n int) []float64 {
	const a, b = 0.55, 1.5
	c := max(0, (math.Log(float64(max(n, 1)))-1)*math.Pow(b+1, a))
	p := make([]float64, len(count))
	for class, n := range count {
		p[class] = 1 / (1 + c*math.Pow(float64(n)+b, -a))
	}
	return p
}

// Add counts one example. truth has its classes, ascending, each once, unknown is the number
// of its labels that were never trained: nothing can answer them, and they count as missed.
// answer has the classes that were answered, ascending. p has a number for each of the k
// classes that orders them, the highest first, the lowest index among equals: a probability
// or any score.
//
// It takes O(k + labels). Classes outside 0..k-1 or out of order, another number of p and a
// p that is NaN are errors; the counter is then unchanged.
func (m *Multilabel) Add(truth []int32, unknown int, answer []int32, p []float32) error {
	if err := m.check(truth, unknown, answer, p); err != nil {
		return fmt.Errorf("score: example %d: %w", m.examples, err)
	}
	m.examples++
	m.labels += len(truth) + unknown
	m.unknown += unknown
	m.answers += len(answer)
	for _, c := range truth {
		m.support[c]++
	}
	for _, c := range answer {
		m.answered[c]++
		if _, right := slices.BinarySearch(truth, c); right {
			m.hits[c]++
		}
	}
	if unknown == 0 && slices.Equal(truth, answer) {
		m.exact++
	}
	if n := len(truth) + unknown; n > 0 {
		m.labelled++
		m.rank(truth, n, p)
	}
	return nil
}

// rank counts the first classes of an example of n labels.
func (m *Multilabel) rank(truth []int32, n int, p []float32) {
	var list [mostCut]int
	first := First(list[:0:mostCut], p, nil)
	best := m.best(truth)
	var hits, cut int
	var gain, ideal, scored, most float64
	for i := range mostCut {
		discount := 1 / math.Log2(float64(i+2))
		if i < n {
			ideal += discount
		}
		if i < len(best) {
			most += best[i]
		}
		if i < len(first) {
			if _, right := slices.BinarySearch(truth, int32(first[i])); right {
				hits++
				gain += discount
				if m.propensity != nil {
					scored += 1 / m.propensity[first[i]]
				}
			}
		}
		if i+1 == Cuts[cut] {
			m.hit[cut] += hits
			m.gain[cut].Add(gain / ideal)
			m.scored[cut].Add(scored / float64(i+1))
			m.ideal[cut].Add(most / float64(i+1))
			cut++
		}
	}
}

// best returns the largest inverse propensities of the classes of an example, descending,
// mostCut at most: what no answer can exceed.
func (m *Multilabel) best(truth []int32) []float64 {
	if m.propensity == nil {
		return nil
	}
	best := make([]float64, 0, mostCut+1)
	for _, c := range truth {
		v := 1 / m.propensity[c]
		at, _ := slices.BinarySearchFunc(best, v, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		})
		if best = slices.Insert(best, at, v); len(best) > mostCut {
			best = best[:mostCut]
		}
	}
	return best
}

// check returns an error for what Add cannot count.
func (m *Multilabel) check(truth []int32, unknown int, answer []int32, p []float32) error {
	if len(p) != m.k {
		return fmt.Errorf("%d scores, want one for each of the %d classes", len(p), m.k)
	}
	for c, v := range p {
		if v != v {
			return fmt.Errorf("the score of class %d is NaN, want a number", c)
		}
	}
	if unknown < 0 {
		return fmt.Errorf("%d unknown labels, want 0 or more", unknown)
	}
	for _, list := range [][]int32{truth, answer} {
		last := int32(-1)
		for _, c := range list {
			if c <= last || int(c) >= m.k {
				return fmt.Errorf("class %d after %d, want ascending ones from 0 to %d", c, last, m.k-1)
			}
			last = c
		}
	}
	return nil
}

// Merge adds all of other's examples behind those of m, as if they had been added to m one
// by one. Another number of classes, or other propensities, are errors.
func (m *Multilabel) Merge(other *Multilabel) error {
	if m.k != other.k || !slices.Equal(m.propensity, other.propensity) {
		return fmt.Errorf("score: merge a counter of %d classes into one of %d, or of other propensities", other.k, m.k)
	}
	m.examples += other.examples
	m.labelled += other.labelled
	m.exact += other.exact
	m.labels += other.labels
	m.unknown += other.unknown
	m.answers += other.answers
	for c := range m.k {
		m.support[c] += other.support[c]
		m.answered[c] += other.answered[c]
		m.hits[c] += other.hits[c]
	}
	for i := range Cuts {
		m.hit[i] += other.hit[i]
		m.gain[i].Merge(other.gain[i])
		m.scored[i].Merge(other.scored[i])
		m.ideal[i].Merge(other.ideal[i])
	}
	return nil
}

// MultilabelReport holds the totals of a test set of examples that may have any number of
// labels. Rates are fractions from 0 to 1; one that is not known is NaN here and null in JSON.
//
// The first three look at the order of the classes alone, and at examples with at least one
// label: an answer to the others can be right in no place. Labels that were never trained
// count as labels that were missed.
type MultilabelReport struct {
	// Precision at k is how many of the k most probable classes are labels of the example,
	// over k. An example with fewer labels than k cannot reach 1.
	Precision [len(Cuts)]float64
	// NDCG at k is the sum of 1 / log2(1 + place) over the labels among the k first classes,
	// over its largest value for the number of labels of the example.
	NDCG [len(Cuts)]float64
	// PSP at k, propensity-scored precision, weighs each label by how likely it was
	// overlooked (Propensities), so that rare classes count more: the sum over examples,
	// over the largest that it can be (Jain, Prabhu and Varma 2016). NaN without propensities.
	PSP [len(Cuts)]float64

	// Micro measures count all decisions alike, an example and a class each.
	MicroPrecision, MicroRecall, MicroF1 float64
	// MacroF1 is the mean F1 of the classes that occur, be it as label or as answer.
	MacroF1 float64
	// SubsetAccuracy is the fraction of examples whose answer is the set of their labels.
	SubsetAccuracy float64

	Examples int // all that were added
	Labelled int // those with a label
	Classes  int // k
	Labels   int // of all examples
	Answers  int // of all examples
	Unknown  int // labels that were never trained, among Labels
}

// Report returns the totals so far, in O(k) time.
func (m *Multilabel) Report() MultilabelReport {
	r := MultilabelReport{Examples: m.examples, Labelled: m.labelled, Classes: m.k, Labels: m.labels, Answers: m.answers, Unknown: m.unknown}
	nan := math.NaN()
	for i, k := range Cuts {
		r.Precision[i], r.NDCG[i], r.PSP[i] = nan, nan, nan
		if m.labelled > 0 {
			r.Precision[i] = float64(m.hit[i]) / float64(k*m.labelled)
			r.NDCG[i] = m.gain[i].Value() / float64(m.labelled)
		}
		if ideal := m.ideal[i].Value(); m.propensity != nil && ideal > 0 {
			r.PSP[i] = m.scored[i].Value() / ideal
		}
	}
	hits := 0
	for _, n := range m.hits {
		hits += n
	}
	r.MicroPrecision, r.MicroRecall = ratio(float64(hits), float64(m.answers)), ratio(float64(hits), float64(m.labels))
	r.MicroF1 = ratio(2*float64(hits), float64(m.answers+m.labels))
	occurring := 0
	for c := range m.k {
		if n := m.support[c] + m.answered[c]; n > 0 {
			occurring++
			r.MacroF1 += 2 * float64(m.hits[c]) / float64(n)
		}
	}
	r.MacroF1 = ratio(r.MacroF1, float64(occurring))
	if r.SubsetAccuracy = nan; m.examples > 0 {
		r.SubsetAccuracy = float64(m.exact) / float64(m.examples)
	}
	return r
}

// Class returns what was counted of one class.
func (m *Multilabel) Class(c int) Class {
	hits, support, answered := float64(m.hits[c]), float64(m.support[c]), float64(m.answered[c])
	return Class{Class: c, Support: m.support[c], Predicted: m.answered[c],
		Precision: ratio(hits, answered), Recall: ratio(hits, support), F1: ratio(2*hits, support+answered)}
}

// MultilabelMetric is one number of a MultilabelReport.
type MultilabelMetric struct {
	Key   string // in JSON
	Name  string // in tables
	field func(*MultilabelReport) *float64
}

// Of returns the metric's number in a report, NaN if it is not known there.
func (m MultilabelMetric) Of(r MultilabelReport) float64 { return *m.field(&r) }

// MultilabelMetrics returns all numbers of a MultilabelReport, in the order of tables and JSON.
func MultilabelMetrics() []MultilabelMetric {
	var list []MultilabelMetric
	for i, k := range Cuts {
		list = append(list, MultilabelMetric{fmt.Sprintf("precision_at_%d", k), fmt.Sprintf("precision at %d", k), func(r *MultilabelReport) *float64 { return &r.Precision[i] }})
	}
	for i, k := range Cuts {
		list = append(list, MultilabelMetric{fmt.Sprintf("ndcg_at_%d", k), fmt.Sprintf("nDCG at %d", k), func(r *MultilabelReport) *float64 { return &r.NDCG[i] }})
	}
	for i, k := range Cuts {
		list = append(list, MultilabelMetric{fmt.Sprintf("propensity_scored_precision_at_%d", k), fmt.Sprintf("propensity-scored precision at %d", k), func(r *MultilabelReport) *float64 { return &r.PSP[i] }})
	}
	return append(list,
		MultilabelMetric{"micro_f1", "micro F1", func(r *MultilabelReport) *float64 { return &r.MicroF1 }},
		MultilabelMetric{"micro_precision", "micro precision", func(r *MultilabelReport) *float64 { return &r.MicroPrecision }},
		MultilabelMetric{"micro_recall", "micro recall", func(r *MultilabelReport) *float64 { return &r.MicroRecall }},
		MultilabelMetric{"macro_f1", "macro F1", func(r *MultilabelReport) *float64 { return &r.MacroF1 }},
		MultilabelMetric{"subset_accuracy", "subset accuracy", func(r *MultilabelReport) *float64 { return &r.SubsetAccuracy }},
	)
}

// MarshalJSON writes the keys of MultilabelMetrics in their order, null for a number that is
// not known, then examples, labelled_examples, classes, labels, answers and unknown_labels.
func (r MultilabelReport) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, m := range MultilabelMetrics() {
		if v := m.Of(r); v == v {
			out = fmt.Appendf(out, "%q:%v,", m.Key, v)
		} else {
			out = fmt.Appendf(out, "%q:null,", m.Key)
		}
	}
	return fmt.Appendf(out, `"examples":%d,"labelled_examples":%d,"classes":%d,"labels":%d,"answers":%d,"unknown_labels":%d}`,
		r.Examples, r.Labelled, r.Classes, r.Labels, r.Answers, r.Unknown), nil
}
