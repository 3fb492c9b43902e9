package explorer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/explain"
	"github.com/treeloss/treeloss/score"
)

// Question asks about one example.
type Question struct {
	Example       dataset.Example
	Probabilities []float32 // of the k classes, by the model
	Confidence    float64   // of the hedged answer; 0: none
	Against       string    // the class to compare the answer with; "": the second most probable
}

// Answer is what the page draws of an example.
type Answer struct {
	Classes []choice   `json:"classes"` // the most probable ones, the answer first
	Mass    []massNode `json:"mass"`    // nodes with a probability worth drawing, the root first
	Hedged  *hedged    `json:"hedged,omitempty"`

	// Of a plain linear model: what speaks for the answer and against its rival.
	Rival      *int            `json:"rival,omitempty"`
	Difference float64         `json:"difference,omitempty"` // of their scores, in nats
	Bias       float64         `json:"bias,omitempty"`
	Positive   []weight        `json:"positive,omitempty"` // features and what they contribute
	Negative   []weight        `json:"negative,omitempty"`
	Words      []explain.Piece `json:"words,omitempty"`   // of a text
	Encoder    float64         `json:"encoder,omitempty"` // what a sentence encoder contributes, which is that of no word
}

type choice struct {
	Class       int     `json:"class"`
	Probability float64 `json:"p"`
}

type massNode struct {
	Node        int     `json:"node"`
	Probability float64 `json:"p"`
}

// hedged is the deepest node that is probable enough.
type hedged struct {
	Node        int     `json:"node"`
	Class       int     `json:"class"` // -1: a group
	Classes     int     `json:"classes"`
	Probability float64 `json:"p"`
	Confidence  float64 `json:"confidence"`
}

const (
	answersShown = 10
	leastMass    = 0.002 // probability of a node that is drawn
	mostPieces   = 2000  // words of a text that are highlighted

	// Bytes of a text whose words are: a byte is in some ten n-grams, of 24 bytes each here.
	mostHighlighted = 64 << 10
)

// Why says how the probabilities of an example are spread over the tree, the hedged answer, and
// which features, and words of a text, speak for it. Of a model of several labels an example,
// whose probabilities have no sum, a group has the largest of its classes, and there is no
// hedged answer and no rival. A confidence out of range and an unknown class are errors.
// O(nodes), and O(k) for each feature of the example.
func (e *Explorer) Why(ctx context.Context, q Question) (*Answer, error) {
	k, t, several := len(e.about.Labels), e.tree, e.about.Multilabel != nil
	if len(q.Probabilities) != k {
		return nil, fmt.Errorf("explorer: %d probabilities for %d classes", len(q.Probabilities), k)
	}
	a := &Answer{Mass: []massNode{}}
	for _, c := range score.First(make([]int, 0, min(answersShown, k)), q.Probabilities, nil) {
		a.Classes = append(a.Classes, choice{c, round(float64(q.Probabilities[c]), 5)})
	}
	// Children come behind their parents, so that one pass from the last node up adds up all:
	// the mass of a node is that of its own class and of all nodes below it.
	mass := make([]float64, t.Len())
	for v := t.Len() - 1; v >= 0; v-- {
		if c := t.Class(v); c >= 0 {
			mass[v] += float64(q.Probabilities[c])
		}
		if v > 0 && several {
			mass[t.Parent(v)] = max(mass[t.Parent(v)], mass[v])
		} else if v > 0 {
			mass[t.Parent(v)] += mass[v]
		}
	}
	// Of 100,000 classes a text gives nearly all of its mass to a few hundred nodes.
	for v, p := range mass {
		if v == 0 || p >= leastMass {
			a.Mass = append(a.Mass, massNode{v, round(p, 5)})
		}
	}
	// Over groups of the alphabet a hedged answer would say nothing about the classes.
	if q.Confidence != 0 && e.origin != OfNames && !several {
		d, err := decide.NewDecider(decide.Rule{Confidence: q.Confidence}, k, t)
		if err != nil {
			return nil, err
		}
		h, err := d.Decide(q.Probabilities)
		if err != nil {
			return nil, err
		}
		a.Hedged = &hedged{Node: h.Node, Class: h.Choices[0].Class, Classes: h.Classes, Probability: round(h.Choices[0].Probability, 5), Confidence: q.Confidence}
	}
	if e.model == nil || k < 2 || several {
		return a, nil
	}
	// Scores of a softmax have a meaning as differences only, so there is always a rival.
	answer := a.Classes[0].Class
	rival := a.Classes[1].Class
	if q.Against != "" {
		against, ok := e.class[q.Against]
		if !ok {
			return nil, fmt.Errorf("no class %.100q among the %d of the model", q.Against, k)
		}
		if against != answer {
			rival = against
		}
	}
	return a, e.explain(ctx, func(x *explain.Explainer) error { return a.evidence(x, q.Example, answer, rival) })
}

// evidence compares the answer with its rival.
func (a *Answer) evidence(x *explain.Explainer, example dataset.Example, answer, rival int) error {
	c, err := x.Between(example, answer, rival)
	if err != nil {
		return err
	}
	a.Rival, a.Difference, a.Bias = &rival, round(c.Difference, 4), round(c.Bias, 4)
	list := func(from []explain.Contribution) []weight {
		out := []weight{}
		for _, f := range from {
			out = append(out, weight{short(f.Feature, mostName), round(f.Contribution, 4)})
		}
		return out
	}
	a.Positive, a.Negative = list(c.Positive), list(c.Negative)
	if len(example.Text) > mostHighlighted {
		return nil
	}
	words, whole, err := x.Evidence(example, answer, rival)
	if err != nil {
		return err
	}
	a.Encoder = round(whole, 4)
	a.Words = strongestWords(words)
	for i := range a.Words {
		a.Words[i].Contribution = round(a.Words[i].Contribution, 4)
	}
	return nil
}

// strongestWords joins those words of a long text to their neighbours that contribute least, so
// that at most mostPieces have a number of their own: mostPieces/2 are stronger than least,
// and between two of these is one that is joined. Contributions add up, so that the sum over
// all stays what it was.
func strongestWords(list []explain.Piece) []explain.Piece {
	if len(list) <= mostPieces {
		return list
	}
	size := func(p explain.Piece) float64 { return max(p.Contribution, -p.Contribution) }
	sizes := make([]float64, len(list))
	for i, p := range list {
		sizes[i] = size(p)
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	least := sizes[mostPieces/2-1] // of equals none has its own
	var out []explain.Piece
	for _, p := range list {
		if n := len(out); n > 0 && size(p) <= least && size(out[n-1]) <= least {
			out[n-1].Text += p.Text
			out[n-1].Contribution += p.Contribution
			continue
		}
		out = append(out, p)
	}
	return out
}
