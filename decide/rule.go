package decide

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
)

// Rule says how the probabilities of classes become an answer. The zero value
// answers with the most probable class.
type Rule struct {
	Cost       bool    // the class of least expected cost over the tree, in place of the most probable
	Confidence float64 // above 0, up to 1: the deepest node of the tree that is this probable
	RejectRoot bool    // with Confidence: no answer in place of the root, which says nothing
	Reject     float64 // above 0, up to 1: no answer below this probability
	Top        int     // classes of an answer; 0 means 1

	// Threshold is for models of examples that may have several labels, whose probabilities
	// have no Decider (see classify.Answerer): above 0, up to 1, all classes from this
	// probability on; 0: from the thresholds of the model.
	Threshold float64
}

// ErrNoTree says that a rule decides over a tree and there is none.
var ErrNoTree = errors.New("no tree over the classes")

// NeedsTree tells whether the rule decides over a tree.
func (r Rule) NeedsTree() bool { return r.Cost || r.Confidence > 0 }

// Check returns an *option.Error for a number that is out of range, and an
// *option.Misuse for two choices that exclude each other.
func (r Rule) Check() error {
	hedges := r.Confidence > 0
	return cmp.Or(
		option.Check("Confidence", r.Confidence, r.Confidence >= 0 && r.Confidence <= 1, "a probability above 0, up to 1, such as 0.9"),
		option.Check("Reject", r.Reject, r.Reject >= 0 && r.Reject <= 1, "a probability from 0 to 1, such as 0.5"),
		option.Check("Top", r.Top, r.Top >= 0, "at least 1"),
		option.Check("Threshold", r.Threshold, r.Threshold >= 0 && r.Threshold <= 1, "a probability above 0, up to 1, such as 0.5"),
		option.Exclude("Confidence", hedges, "Reject", r.Reject > 0, "an unsure answer is either vague or none"),
		option.Exclude("Confidence", hedges, "Cost", r.Cost, "both decide by the tree, in different ways"),
		option.Exclude("Confidence", hedges, fmt.Sprint("Top ", r.Top), r.Top > 1, "an answer of a confidence is one node"))
}

// None is the class of an answer that names no class.
const None = -1

// Answer is what a rule makes of the probabilities of one example.
type Answer struct {
	// Choices are classes, the answer first: one, or Rule.Top of them.
	Choices  []Choice
	Rejected bool // the first choice is less probable than Rule.Reject, or the root with Rule.RejectRoot

	// With Rule.Confidence the one choice is a node of the tree, and its class is
	// None where it leaves several open.
	Node    int // of the tree; 0, the root, says nothing
	Depth   int // edges from the root
	Classes int // how many the answer leaves open

	// Costs has the expected cost of each class, with Rule.Cost; else nil.
	Costs []float64
}

// Choice is one class, or a group of them, that an example may be of.
type Choice struct {
	Class       int     // None for a group
	Probability float64 // of the group together; of a rejected root, of the likeliest node below
	Cost        float64 // expected, with Rule.Cost
}

// Decider decides by a rule about one example after the other. It keeps buffers
// between calls, so each goroutine needs one of its own.
type Decider struct {
	rule    Rule
	tree    *tree // nil: none
	classes int
	order   []int
	choices []Choice
	costs   []float64 // nil unless Rule.Cost
	work    []float64
}

// NewDecider returns a decider for k classes. The tree may be nil if the rule
// needs none; if it needs one the error is ErrNoTree. A rule that does not pass
// Check and a tree of other classes are errors. O(nodes).
func NewDecider(rule Rule, k int, t *labeltree.Tree) (*Decider, error) {
	if err := rule.Check(); err != nil {
		return nil, err
	}
	d := &Decider{rule: rule, classes: k, order: make([]int, 0, min(max(rule.Top, 1), k))}
	if !rule.NeedsTree() {
		return d, nil
	}
	if t == nil {
		return nil, ErrNoTree
	}
	if t.Classes() != k {
		return nil, fmt.Errorf("decide: a tree of %d classes for %d classes, want one over the same", t.Classes(), k)
	}
	d.tree, d.work = newTree(t), make([]float64, 2*t.Len())
	if rule.Cost {
		d.costs = make([]float64, k)
	}
	return d, nil
}

// Decide returns the answer for the probabilities p of the k classes; its slices
// are valid until the next call. Classes are ranked by cost if the rule says so,
// the lowest first, then by probability, the highest first, then by number.
// Thresholds are compared in the precision of p, so that 0.9 reaches 0.9.
//
// Another number of probabilities than k, one that is no number from 0 to 1, and a
// sum that is off 1 by more than 0.001 are errors. It takes O(k), O(nodes) with a
// tree and O(k Top) for many choices.
func (d *Decider) Decide(p []float32) (Answer, error) {
	if err := score.CheckProbabilities(p, d.classes); err != nil {
		return Answer{}, fmt.Errorf("decide: %w", err)
	}
	if d.rule.Confidence > 0 {
		return d.hedge(p), nil
	}
	if d.rule.Cost {
		d.tree.expect(d.costs, p, d.work)
	}
	a := Answer{Choices: d.choices[:0], Costs: d.costs}
	for _, c := range score.First(d.order[:0], p, d.costs) {
		choice := Choice{Class: c, Probability: float64(p[c])}
		if d.costs != nil {
			choice.Cost = d.costs[c]
		}
		a.Choices = append(a.Choices, choice)
	}
	d.choices = a.Choices
	a.Rejected = Below(p[a.Choices[0].Class], d.rule.Reject)
	return a, nil
}

// Below tells whether a probability is too low for a threshold.
func Below(p float32, threshold float64) bool { return p < float32(threshold) }

// slack is how far rounding may take a sum of probabilities in float32.
const slack = 1e-6
