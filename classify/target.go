package classify

import (
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
)

// ErrNoPromise says that the held-out examples of a model support no such accuracy.
var ErrNoPromise = errors.New("not supported by held-out examples")

// Target returns the rule whose answers are right in a share of accuracy of the cases, as
// far as the held-out examples of the model support it with decide.PromiseConfidence. Of
// the rule it is added to only Top may be set, where the model has no tree: with one,
// answers are nodes of it.
//
// A model that has no answers to held-out examples, or none that support the accuracy, is
// an error that wraps ErrNoPromise and says what to do; an accuracy out of range an
// *option.Error, and a rule that has other thresholds or a classifier of Rebalance an *option.Misuse.
func Target(about About, rule decide.Rule, accuracy float64) (decide.Promise, error) {
	const why = "both say which answers are given"
	for _, other := range []struct {
		name string
		set  bool
	}{{"Confidence", rule.Confidence > 0}, {"Reject", rule.Reject > 0}, {"Cost", rule.Cost}} {
		if err := option.Exclude("TargetAccuracy", true, other.name, other.set, why); err != nil {
			return decide.Promise{}, err
		}
	}
	if err := option.Exclude("TargetAccuracy", true, "ClassBalance", about.Balanced, "held-out examples have the class frequencies of the training"); err != nil {
		return decide.Promise{}, err
	}
	if about.Multilabel != nil {
		return decide.Promise{}, option.Refuse("%s has no effect with a model of several labels an example; answer those above a %s", "TargetAccuracy", "Threshold")
	}
	held := about.Answers
	if held == nil {
		if err := option.Check("TargetAccuracy", accuracy, accuracy > 0 && accuracy < 1, decide.ShareWanted); err != nil {
			return decide.Promise{}, err
		}
		return decide.Promise{}, fmt.Errorf("the model has no answers to held-out examples, by which an accuracy could be promised (%w): train a linear model anew, calibrated and with three examples or more of most classes", ErrNoPromise)
	}
	p, ok, err := held.Promise(accuracy, decide.PromiseConfidence)
	switch {
	case err != nil:
		return p, err
	case ok && p.Rule.Confidence > 0 && rule.Top > 1:
		return p, option.Refuse("%s answers with one node of the tree, not with %s", "TargetAccuracy", fmt.Sprint("Top ", rule.Top))
	case ok:
		p.Rule.Top = rule.Top
		return p, nil
	}
	err = fmt.Errorf("an accuracy of %g is %w: the answers to %s support", accuracy, ErrNoPromise, input.Plural(held.Examples, "held-out example"))
	if best := held.Best(decide.PromiseConfidence); best > 0 {
		return p, fmt.Errorf("%w %.3f at most (with %g %% confidence); ask for that, or train on more examples", err, best, 100*decide.PromiseConfidence)
	}
	return p, fmt.Errorf("%w none; train on more examples", err)
}
