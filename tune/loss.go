package tune

import (
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/option"
)

// Loss names what is minimised. "" leaves it open: a Method takes cross entropy, a Plan
// what does better on held-out rows.
type Loss string

// The losses.
const (
	CrossEntropy        Loss = "cross-entropy"
	SimLoss             Loss = "simloss"
	SoftLabels          Loss = "soft-labels"
	HXE                 Loss = "hxe"
	HierarchicalSoftmax Loss = "hierarchical-softmax"
	SquaredHinge        Loss = "squared-hinge"               // one class against the rest, without sharing
	CrossEntropyHinge   Loss = "cross-entropy+squared-hinge" // the mean of the scores of both, each at its temperature
)

// Losses returns all losses, in the order in which help texts list them.
func Losses() []Loss {
	return []Loss{CrossEntropy, SquaredHinge, CrossEntropyHinge, SimLoss, SoftLabels, HXE, HierarchicalSoftmax}
}

// plain tells whether the loss is cross entropy, which knows nothing of the classes.
func (l Loss) plain() bool { return l == "" || l == CrossEntropy }

// check returns an *option.Error for a loss that is none of Losses, nor "".
func (l Loss) check() error {
	list := make([]string, len(Losses()))
	for i, known := range Losses() {
		list[i] = string(known)
	}
	return option.Check("Loss", string(l), l == "" || slices.Contains(Losses(), l), AutoName+" or one of "+strings.Join(list, ", "))
}

// MarshalText returns the name, and "auto" for "".
func (l Loss) MarshalText() ([]byte, error) { return orAuto(string(l)), nil }

// UnmarshalText reads what MarshalText writes, or an *option.Error.
func (l *Loss) UnmarshalText(text []byte) error {
	*l = Loss(withoutAuto(text))
	return l.check()
}

// Choice answers a question by yes or no, or leaves it to held-out rows.
type Choice string

// The choices.
const (
	Auto Choice = ""
	On   Choice = "on"
	Off  Choice = "off"
)

func (c Choice) check(name string) error {
	return option.Check(name, string(c), slices.Contains([]Choice{Auto, On, Off}, c), "auto, on or off")
}

// MarshalText returns auto, on or off.
func (c Choice) MarshalText() ([]byte, error) { return orAuto(string(c)), nil }

// UnmarshalText reads what MarshalText writes, or an *option.Error.
func (c *Choice) UnmarshalText(text []byte) error {
	*c = Choice(withoutAuto(text))
	return c.check("Choice")
}

// AutoName is the word for what is left open.
const AutoName = "auto"

func orAuto(name string) []byte {
	if name == "" {
		name = AutoName
	}
	return []byte(name)
}

func withoutAuto(text []byte) string {
	if string(text) == AutoName {
		return ""
	}
	return string(text)
}
