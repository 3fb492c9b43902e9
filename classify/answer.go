package classify

import (
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/labeltree"
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
}

// Answerer makes answers of probabilities by one rule. It keeps buffers between calls,
// so each goroutine needs one of its own.
type Answerer struct {
	rule    decide.Rule
	labels  []string
	tree    *labeltree.Tree
	decider *decide.Decider
}

// NewAnswerer returns an Answerer for a model. A tree that is not nil takes the place
// of that of the model. The errors are those of decide.NewDecider.
func NewAnswerer(about About, rule decide.Rule, tree *labeltree.Tree) (*Answerer, error) {
	if tree == nil {
		tree = about.Tree
	}
	d, err := decide.NewDecider(rule, len(about.Labels), tree)
	if err != nil {
		return nil, err
	}
	return &Answerer{rule, about.Labels, tree, d}, nil
}

// Answer returns the answer for the probabilities of the k classes, in memory of its
// own. The errors and the cost are those of decide.Decider.
func (a *Answerer) Answer(p []float32) (Answer, error) {
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
