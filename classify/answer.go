package classify

import (
	"cmp"
	"slices"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Answer is what a rule makes of the probabilities of one example, by the names of the
// classes. Its JSON is a contract: predict and a server write the same.
type Answer struct {
	Label       string   `json:"label"`                   // of a class, or of a node of the tree; "" if rejected
	Probability float64  `json:"probability"`             // of the label; where it was rejected, what was too low
	Cost        *float64 `json:"expected_cost,omitempty"` // with Rule.Cost
	Rejected    bool     `json:"rejected,omitempty"`
	Path        []string `json:"path,omitempty"`    // from the root, with Rule.Confidence
	Classes     int      `json:"classes,omitempty"` // that an answer of a confidence leaves open
	Top         []Answer `json:"top,omitempty"`     // the likeliest classes, this one first, if there are several

	// Labels are the classes that a model of several labels answers, the likeliest first, of
	// which there may be none: those that reach their threshold, or Rule.Threshold, and with
	// that Rule.Top at most. Label is the likeliest class whether it is one of them or not.
	// nil for a model of one class an example.
	Labels []Answer `json:"labels,omitzero"`
}

// Answerer makes answers of probabilities by one rule. It keeps buffers between calls,
// so each goroutine needs one of its own.
type Answerer struct {
	rule    decide.Rule
	labels  []string
	tree    *labeltree.Tree
	decider *decide.Decider

	several *softmax.Multilabel // nil: one class an example
	order   []int
}

// NewAnswerer returns an Answerer for a model. A tree that is not nil takes the place
// of that of the model. The errors are those of decide.NewDecider.
func NewAnswerer(about About, rule decide.Rule, tree *labeltree.Tree) (*Answerer, error) {
	if err := CheckRule(about, rule); err != nil {
		return nil, err
	}
	if about.Multilabel != nil {
		return &Answerer{rule: rule, labels: about.Labels, several: about.Multilabel, order: make([]int, 0, len(about.Labels))}, nil
	}
	if tree == nil {
		tree = about.Tree
	}
	d, err := decide.NewDecider(rule, len(about.Labels), tree)
	if err != nil {
		return nil, err
	}
	return &Answerer{rule: rule, labels: about.Labels, tree: tree, decider: d}, nil
}

// CheckRule returns an *option.Misuse for a part of a rule that has no effect with a model: a
// threshold where examples are of one class, what decides between classes where they may have
// several. It returns an *option.Error for a threshold that is out of range.
func CheckRule(about About, rule decide.Rule) error {
	if about.Multilabel == nil {
		if rule.Threshold > 0 {
			return option.Refuse("%s has no effect with a model of one class an example; answer nothing below %s", "Threshold", "Reject")
		}
		return nil
	}
	for _, o := range []struct {
		set  bool
		name string
	}{{rule.Cost, "Cost"}, {rule.Confidence > 0, "Confidence"}, {rule.Reject > 0, "Reject"}} {
		if o.set {
			return option.Refuse("%s has no effect with a model of several labels an example; answer those above a %s", o.name, "Threshold")
		}
	}
	return rule.Check()
}

// answerLabels is Answer for a model of several labels. It takes O(k) for the likeliest class
// and O(n log n) for the n that are answered.
func (a *Answerer) answerLabels(p []float32) Answer {
	of := func(c int) Answer { return Answer{Label: a.labels[c], Probability: float64(p[c])} }
	top := score.First(a.order[:0:max(1, min(a.rule.Top, len(p)))], p, nil)
	line := of(top[0])
	if len(top) > 1 {
		for _, c := range top {
			line.Top = append(line.Top, of(c))
		}
	}
	answered := a.several.Answer(nil, p, float32(a.rule.Threshold))
	slices.SortStableFunc(answered, func(c, d int32) int { return cmp.Compare(p[d], p[c]) })
	if n := a.rule.Top; n > 0 && a.rule.Threshold > 0 {
		answered = answered[:min(n, len(answered))]
	}
	line.Labels = []Answer{}
	for _, c := range answered {
		line.Labels = append(line.Labels, of(int(c)))
	}
	return line
}

// Answer returns the answer for the probabilities of the k classes, in memory of its
// own. The errors and the cost are those of decide.Decider.
func (a *Answerer) Answer(p []float32) (Answer, error) {
	if a.several != nil {
		return a.answerLabels(p), nil
	}
	decided, err := a.decider.Decide(p)
	if err != nil {
		return Answer{}, err
	}
	if a.rule.Confidence > 0 && decided.Rejected {
		return Answer{Probability: decided.Choices[0].Probability, Rejected: true}, nil
	}
	if a.rule.Confidence > 0 {
		return Answer{Label: a.tree.Name(decided.Node), Probability: decided.Choices[0].Probability, Path: a.decider.Path(decided), Classes: decided.Classes}, nil
	}
	all := make([]Answer, len(decided.Choices))
	for i, c := range decided.Choices {
		all[i] = Answer{Label: a.labels[c.Class], Probability: c.Probability}
		if a.rule.Cost {
			all[i].Cost = &c.Cost
		}
	}
	line := all[0]
	if decided.Rejected {
		line.Label, line.Rejected = "", true
	}
	if len(all) > 1 {
		line.Top = all
	}
	return line, nil
}
