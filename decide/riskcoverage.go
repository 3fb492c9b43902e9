package decide

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
)

// RiskCoverage counts what answers at thresholds on the confidence did on held-out
// examples: the risk-coverage curve of a selective classifier (Geifman and El-Yaniv,
// NeurIPS 2017). It is what an accuracy can be promised by.
//
// Without a tree the answer at a threshold is the most probable class, if it is that
// probable, and none else. With a tree it is the deepest node of at least that
// probability (Rule.Confidence), and none where that is the root, which says nothing.
// The last threshold is 0: the most probable class of every example.
type RiskCoverage struct {
	Examples int       `json:"examples"`       // held out
	Tree     bool      `json:"tree,omitempty"` // answers may be inner nodes
	Answered []int     `json:"answered"`       // of the examples, at each of Thresholds(Tree)
	Wrong    []int     `json:"wrong"`          // of these answers
	Expected []float64 `json:"expected"`       // wrong ones by their probabilities, to two digits

	// Optimism is how much of the accuracy on these examples is not to be expected of others,
	// as a fraction: they chose the method, too, and rare classes have none of them.
	Optimism float64 `json:"optimism,omitempty"`
}

// Thresholds are 1 / (1 + exp(-z)) for z from 8 (0.9997) down in steps of 1/8, then 0:
// at even distances on the scale on which confidence is even. With a tree they end at
// 0.5, below which nodes that have nothing in common may reach a threshold; else at z of
// -4 (0.018).
const (
	firstOdds      = 8
	oddsSteps      = 8 // of 1
	lastOdds       = -4
	lastOddsOfTree = 0
)

// Thresholds returns the thresholds of a RiskCoverage, descending.
func Thresholds(tree bool) []float64 {
	last := lastOdds
	if tree {
		last = lastOddsOfTree
	}
	var list []float64
	for i := firstOdds * oddsSteps; i >= last*oddsSteps; i-- {
		list = append(list, 1/(1+math.Exp(-float64(i)/oddsSteps)))
	}
	return append(list, 0)
}

// thresholdRule is the rule of a threshold.
func thresholdRule(threshold float64, tree bool) Rule {
	switch {
	case threshold == 0:
		return Rule{}
	case tree:
		return Rule{Confidence: threshold, RejectRoot: true}
	}
	return Rule{Reject: threshold}
}

// CountAnswers counts the answers to n held-out examples with their scores (n x k), at
// the probabilities of a calibration that was fitted on them. classes are the true ones.
// Without a tree (nil) answers are classes. Errors are those of FitTemperature and
// NewDecider. It takes O(n k), with a tree O(n nodes) a threshold, on up to threads
// goroutines (0: one a CPU; never a different result).
func CountAnswers(c Calibration, rows []float32, k int, classes []int, t *labeltree.Tree, threads int) (*RiskCoverage, error) {
	h, err := newHeldOut(rows, k, classes, nil, threads)
	if err != nil {
		return nil, err
	}
	list := Thresholds(t != nil)
	grain := h.grain()
	parts := make([]*RiskCoverage, (len(classes)+grain-1)/grain)
	errs := make([]error, len(parts))
	kernel.Parallel(threads, len(classes), grain, func(block, lo, hi int) {
		parts[block], errs[block] = h.answers(&c, list, t, lo, hi)
	})
	sum := newRiskCoverage(len(list), t != nil)
	for n, p := range parts {
		if errs[n] != nil {
			return nil, errs[n]
		}
		sum.Examples += p.Examples
		for i := range list {
			sum.Answered[i] += p.Answered[i]
			sum.Wrong[i] += p.Wrong[i]
			sum.Expected[i] += p.Expected[i]
		}
	}
	for i, x := range sum.Expected {
		sum.Expected[i] = math.Round(100*x) / 100
	}
	return sum, nil
}

func newRiskCoverage(thresholds int, tree bool) *RiskCoverage {
	return &RiskCoverage{Tree: tree, Answered: make([]int, thresholds), Wrong: make([]int, thresholds), Expected: make([]float64, thresholds)}
}

// answers counts the examples from lo to hi.
func (h *heldOut) answers(c *Calibration, thresholds []float64, t *labeltree.Tree, lo, hi int) (*RiskCoverage, error) {
	d, err := NewDecider(thresholdRule(thresholds[0], t != nil), h.k, t)
	if err != nil {
		return nil, err
	}
	out := newRiskCoverage(len(thresholds), t != nil)
	p := make([]float32, h.k)
	for row := lo; row < hi; row++ {
		if _, err := Probabilities(c, p, h.row(row)); err != nil {
			return nil, err
		}
		out.Examples++
		// From the lowest threshold up: an answer stays what it is up to its probability, and
		// where there is none, there is none above.
		var a Answer
		right := false
		for i := len(thresholds) - 1; i >= 0; i-- {
			if next := thresholdRule(thresholds[i], t != nil); i >= len(thresholds)-2 || a.Choices[0].Probability < thresholds[i] {
				d.rule = next
				if a, err = d.Decide(p); err != nil {
					return nil, err
				}
				if a.Rejected {
					break
				}
				right = d.right(a, h.classes[row])
			}
			out.Answered[i]++
			out.Expected[i] += 1 - a.Choices[0].Probability
			if !right {
				out.Wrong[i]++
			}
		}
	}
	return out, nil
}

// right tells whether an answer is the class, or a node that has it.
func (d *Decider) right(a Answer, class int) bool {
	if d.rule.Confidence > 0 {
		return d.Holds(a, class)
	}
	return a.Choices[0].Class == class
}

// PromiseConfidence is the confidence of a promise where none is asked for.
const PromiseConfidence = 0.9

// ShareWanted says what an accuracy to promise is.
const ShareWanted = "a share above 0 and below 1, such as 0.95"

// Promise is a rule with an accuracy that held-out examples support.
type Promise struct {
	Rule      Rule
	Threshold float64 // of the rule; 0: every example is answered
	Examples  int     // held out
	Answered  int     // of these
	Right     int     // of the answers
	Lowest    float64 // the accuracy that is exceeded with the confidence asked for
}

// Promise returns the rule that answers most held-out examples among those of which these
// show, with the given confidence, that at least a share of accuracy of the answers are
// right. ok is false if no threshold does.
//
// With m answers, w of them wrong, a threshold passes if fewer wrong ones than w+1 would
// be rare at the accuracy asked for:
//
//	P(Binomial(m, 1 - accuracy) <= w) <= 1 - confidence,
//
// which is an accuracy of at least 1 - accuracy's bound of Clopper and Pearson (1934). The
// optimism is a share of the answers that counts as wrong, too: w need not be whole.
// Thresholds are tested one after the other, from one where it is easiest by the
// calibrated probabilities down to the first that does not pass, each at the whole level:
// a fixed sequence needs no correction for the number of tests (Angelopoulos et al.,
// Learn then Test, 2021).
//
// The promise is for examples drawn like the held-out ones, answered by a model as good as
// those that were trained without them. An accuracy or a confidence that is not above 0
// and below 1 is an *option.Error. It takes microseconds.
func (r *RiskCoverage) Promise(accuracy, confidence float64) (p Promise, ok bool, err error) {
	if err := cmp.Or(
		option.Check("TargetAccuracy", accuracy, accuracy > 0 && accuracy < 1, ShareWanted),
		option.Check("TargetConfidence", confidence, confidence > 0 && confidence < 1, "a share above 0 and below 1, such as 0.9")); err != nil {
		return Promise{}, false, err
	}
	thresholds := Thresholds(r.Tree)
	for i := r.start(1 - accuracy); i < len(thresholds) && r.tail(i, 1-accuracy) <= 1-confidence; i++ {
		p, ok = Promise{
			Rule: thresholdRule(thresholds[i], r.Tree), Threshold: thresholds[i],
			Examples: r.Examples, Answered: r.Answered[i], Right: r.Answered[i] - r.Wrong[i],
			Lowest: r.lowest(i, 1-confidence),
		}, true
	}
	return p, ok, nil
}

// String says what the promise is and what it rests on.
func (p Promise) String() string {
	what := fmt.Sprintf("from a probability of %.3g on", p.Threshold)
	if p.Threshold == 0 {
		what = "always"
	}
	return fmt.Sprintf("answers are given %s: to %d of %d held-out examples, %d of them right, which shows an accuracy of at least %.3f with %g %% confidence for examples like these",
		what, p.Answered, p.Examples, p.Right, p.Lowest, 100*PromiseConfidence)
}

// Best returns the highest accuracy, in steps of 0.001, that Promise supports with a
// confidence; 0: none.
func (r *RiskCoverage) Best(confidence float64) float64 {
	for step := 999; step > 0; step-- {
		if _, ok, err := r.Promise(float64(step)/1000, confidence); ok && err == nil {
			return float64(step) / 1000
		}
	}
	return 0
}

// start returns the threshold at which the expected number of wrong answers is the most
// standard deviations below the one allowed, the highest of equals.
func (r *RiskCoverage) start(risk float64) int {
	best, at := math.Inf(-1), len(r.Answered)
	for i, m := range r.Answered {
		if m == 0 {
			continue
		}
		m := float64(m)
		if z := (m*risk - r.Expected[i]) / math.Sqrt(m*risk*(1-risk)); z > best {
			best, at = z, i
		}
	}
	return at
}

// counts returns the answers at threshold i and the wrong ones, less the optimism.
func (r *RiskCoverage) counts(i int) (answered, wrong float64) {
	answered = float64(r.Answered[i])
	return answered, float64(r.Wrong[i]) + r.Optimism*answered
}

// tail is the probability of no more wrong answers than there are at threshold i, if a
// share of risk of them is wrong.
func (r *RiskCoverage) tail(i int, risk float64) float64 {
	m, w := r.counts(i)
	if w >= m {
		return 1
	}
	return mathext.RegIncBeta(m-w, w+1, 1-risk)
}

// lowest is the accuracy at threshold i whose tail is the level.
func (r *RiskCoverage) lowest(i int, level float64) float64 {
	m, w := r.counts(i)
	if w >= m {
		return 0
	}
	return mathext.InvRegIncBeta(m-w, w+1, level)
}

// Check refuses counts that no examples can have given.
func (r *RiskCoverage) Check() error {
	n := len(Thresholds(r.Tree))
	if len(r.Answered) != n || len(r.Wrong) != n || len(r.Expected) != n {
		return fmt.Errorf("risk and coverage at %d, %d and %d thresholds, want %d", len(r.Answered), len(r.Wrong), len(r.Expected), n)
	}
	if r.Examples < 1 || r.Answered[n-1] != r.Examples || !slices.IsSorted(r.Answered) {
		return fmt.Errorf("%v of %d held-out examples are answered, want more at lower thresholds, and all at the last", r.Answered, r.Examples)
	}
	if !(r.Optimism >= 0 && r.Optimism <= 1) {
		return fmt.Errorf("an optimism of %v on held-out examples, want 0 to 1", r.Optimism)
	}
	for i, w := range r.Wrong {
		if w < 0 || w > r.Answered[i] || !(r.Expected[i] >= 0 && r.Expected[i] <= float64(r.Answered[i])+1) {
			return fmt.Errorf("%d wrong answers and %v expected of %d, want 0 to as many as there are", w, r.Expected[i], r.Answered[i])
		}
	}
	return nil
}
