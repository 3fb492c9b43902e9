package evaluate

import (
	"errors"
	"math"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/score"
)

// Hedged is how answers of a confidence did.
type Hedged struct {
	Confidence float64       `json:"confidence"`
	Answers    HedgingReport `json:"answers"`
}

// Selected is how the answers did that were not rejected.
type Selected struct {
	Threshold float64  `json:"threshold"`
	Answered  *float64 `json:"answered"` // share of the examples; nil: there are none
	Accuracy  *float64 `json:"accuracy"` // of these; nil: none
}

// selected counts all examples, those of labels never trained among them unless
// they are skipped.
func (e *Evaluation) selected(threshold float64) *Selected {
	// With Reject, confidence is the probability of the answer, calibrated as in predict.
	answered, right := 0.0, 0.0
	for _, x := range e.sure {
		// At the threshold itself there is an answer, as in package decide.
		if decide.Below(x.confidence, threshold) {
			continue
		}
		answered++
		if x.right {
			right++
		}
	}
	return &Selected{Threshold: threshold, Answered: share(answered, float64(len(e.sure))), Accuracy: share(right, answered)}
}

// share returns a/n, nil for n = 0.
func share(a, n float64) *float64 {
	if n == 0 {
		return nil
	}
	x := a / n
	return &x
}

// OutOfScope is how well the model told what belongs to none of its classes.
type OutOfScope struct {
	File  string         `json:"file"` // for the caller to set
	AUROC score.Interval `json:"auroc"`
	At    Decisions      `json:"at"`   // the threshold to reject below, or 0.5
	Best  Decisions      `json:"best"` // the threshold that is best for these very examples
}

// Decisions are what a threshold does with examples in and out of scope. The Right
// of the Detection asks whether there was an answer, RightDecisions also whether it
// was the right one.
type Decisions struct {
	score.Detection
	RightDecisions float64 `json:"right_decisions"`
}

// defaultReject is the threshold below which an answer is more likely wrong than
// right: Chow's rule where a wrong answer costs twice what none does.
const defaultReject = 0.5

// ErrScope says that examples in or out of scope are missing.
var ErrScope = errors.New("cannot tell examples in scope from others")

// outOfScope compares the examples in scope, those whose label was trained, with the
// others, at a threshold; 0 is the default.
func (e *Evaluation) outOfScope(threshold float64) (*OutOfScope, error) {
	inside, right := e.inScope()
	auroc, err := score.AUROC(inside, e.outside)
	if err != nil {
		return nil, errors.Join(ErrScope, err)
	}
	out := &OutOfScope{AUROC: auroc}
	if threshold == 0 {
		threshold = defaultReject
	}
	// Compared in the precision of the model, as decide.Below does.
	if out.At, err = decisionsAt(inside, right, e.outside, float64(float32(threshold))); err != nil {
		return nil, err
	}
	out.At.Threshold = threshold
	// A wrong answer in scope is no right decision at any threshold, so the best
	// one is that for the examples which would be answered rightly.
	best := 1.0
	if len(right) > 0 {
		d, err := score.BestDetection(right, e.outside)
		if err != nil {
			return nil, err
		}
		best = d.Threshold
	}
	out.Best, err = decisionsAt(inside, right, e.outside, best)
	return out, err
}

// inScope returns the confidence in the answers to examples in scope, and in those that are right.
func (e *Evaluation) inScope() (inside, right []float64) {
	for _, x := range e.sure {
		if !x.known {
			continue
		}
		inside = append(inside, float64(x.confidence))
		if x.right {
			right = append(right, float64(x.confidence))
		}
	}
	return inside, right
}

// decisionsAt returns what a threshold does; right are the confidences in scope
// whose answer is right.
func decisionsAt(inside, right, outside []float64, threshold float64) (Decisions, error) {
	d, err := score.DetectionAt(inside, outside, threshold)
	if err != nil {
		return Decisions{}, err
	}
	good := 0
	for _, p := range right {
		if p >= threshold {
			good++
		}
	}
	for _, p := range outside {
		if p < threshold {
			good++
		}
	}
	return Decisions{d, float64(good) / float64(len(inside)+len(outside))}, nil
}

// HedgingReport says what became of hedged answers. Shares are fractions of all
// examples. What is not known is nil: all without examples, ClassAccuracy if no
// single class was answered, InformationShare with one class.
type HedgingReport struct {
	Accuracy         *float64 `json:"accuracy"`          // share whose true class is among those of the answer
	ClassShare       *float64 `json:"class_share"`       // share answered with a single class: the coverage
	ClassAccuracy    *float64 `json:"class_accuracy"`    // share of these that is right
	Answered         *float64 `json:"answered"`          // share answered below the root: the coverage of Rule.RejectRoot
	AnsweredAccuracy *float64 `json:"answered_accuracy"` // share of these that is right
	RootShare        *float64 `json:"root_share"`        // share answered with the root, which says nothing
	MeanDepth        *float64 `json:"mean_depth"`        // edges from the root to the answer
	MeanInformation  *float64 `json:"mean_information"`  // log2(k) - log2(classes of the answer), in bits, right or wrong
	InformationShare *float64 `json:"information_share"` // MeanInformation / log2(k): 1 if all answers are single classes
	Examples         int      `json:"examples"`
	Unknown          int      `json:"unknown_labels"` // examples whose label was never trained, wrong by their nature
}

// hedge is what a hedged answer to one example is worth.
type hedge struct {
	right, known bool  // known: the label was trained
	single, root bool  // the answer is one class, or the root as a group
	depth, open  int32 // edges from the root; classes that the answer leaves open
}

// newHedge judges the answer to one example of that class, score.Unknown for a label
// that was never trained: no answer is right for it, not even the root.
func newHedge(d *decide.Decider, truth int, p []float32) (hedge, error) {
	a, err := d.Decide(p)
	if err != nil {
		return hedge{}, err
	}
	single, known := a.Choices[0].Class != decide.None, truth != score.Unknown
	return hedge{right: known && d.Holds(a, truth), known: known, single: single, root: !single && a.Node == 0, depth: int32(a.Depth), open: int32(a.Classes)}, nil
}

// hedging counts hedged answers: how often they are right, and how much they say. It
// keeps counts only, so that the order of the examples does not change a bit of its
// report.
type hedging struct {
	Examples, Unknown, Right int
	Single, Hits             int // answers of a single class, and right ones among these
	Root, RootRight, Depth   int // answers of the root as a group, right ones among these; the sum of depths
	Open                     []int
}

// newHedging returns a hedging of k classes.
func newHedging(k int) *hedging { return &hedging{Open: make([]int, k+1)} }

// add counts one answer.
func (h *hedging) add(a hedge) {
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	h.Examples++
	h.Depth += int(a.depth)
	h.Open[a.open]++
	count(&h.Unknown, !a.known)
	count(&h.Right, a.right)
	count(&h.Single, a.single)
	count(&h.Hits, a.single && a.right)
	count(&h.Root, a.root)
	count(&h.RootRight, a.root && a.right)
}

// merge adds the counts of other examples.
func (h *hedging) merge(o *hedging) {
	h.Examples, h.Unknown, h.Right = h.Examples+o.Examples, h.Unknown+o.Unknown, h.Right+o.Right
	h.Single, h.Hits = h.Single+o.Single, h.Hits+o.Hits
	h.Root, h.RootRight, h.Depth = h.Root+o.Root, h.RootRight+o.RootRight, h.Depth+o.Depth
	for n, count := range o.Open {
		h.Open[n] += count
	}
}

// report divides the counts. An answer that leaves n of k classes open says log2(k/n)
// bits: that many questions of yes and no need not be asked any more.
func (h *hedging) report() HedgingReport {
	n, bits := float64(h.Examples), 0.0
	all := math.Log2(float64(len(h.Open) - 1))
	for open, count := range h.Open {
		if count > 0 {
			bits += float64(count) * (all - math.Log2(float64(open)))
		}
	}
	return HedgingReport{
		Accuracy: share(float64(h.Right), n), ClassShare: share(float64(h.Single), n), ClassAccuracy: share(float64(h.Hits), float64(h.Single)),
		Answered: share(float64(h.Examples-h.Root), n), AnsweredAccuracy: share(float64(h.Right-h.RootRight), float64(h.Examples-h.Root)),
		RootShare: share(float64(h.Root), n), MeanDepth: share(float64(h.Depth), n),
		MeanInformation: share(bits, n), InformationShare: share(bits, n*all), Examples: h.Examples, Unknown: h.Unknown,
	}
}
