package explain

import (
	"cmp"
	"math"
	"slices"
)

// Decision is a choice that the model made on the way to its answer.
type Decision struct {
	Chosen      string  `json:"chosen"`      // a class, or a group of the tree
	Probability float64 `json:"probability"` // among the choices
	Choices     int     `json:"choices"`
	// Mean compares the chosen one with the mean of all choices, itself among
	// them.
	Mean Contrast `json:"mean"`
	// Rival compares it with one other: the class of Options.Against or the
	// group that it is in, else the choice with the next highest score.
	Rival Rival `json:"rival"`
}

// Rival is one of the choices that were not chosen.
type Rival struct {
	Name        string  `json:"name"`
	Probability float64 `json:"probability"` // among the choices
	Contrast
}

// Contrast is where a difference of scores comes from:
//
//	Difference = Bias + the contributions in Positive and Negative + Rest
//
// all in nats and positive where they speak for what was chosen. Adding up in
// another order changes the last digits only.
type Contrast struct {
	Difference float64        `json:"difference"` // of the scores
	Bias       float64        `json:"bias"`       // the part that is the same for every record
	Positive   []Contribution `json:"positive"`   // the largest first
	Negative   []Contribution `json:"negative"`   // the most negative first
	Rest       float64        `json:"rest"`       // of all other features
	Others     int            `json:"rest_features"`
}

// Contribution is the part of one feature: weight difference times value.
type Contribution struct {
	Feature      string  `json:"feature"`
	Value        float64 `json:"value"` // as the model sees it: tf-idf, or standard deviations from the mean
	Contribution float64 `json:"contribution"`

	column int
}

// choice is what a model chose, and from what, by its outputs.
type choice struct {
	chosen, rival int
	outputs       []int // all that there were, the chosen one among them
	name          func(output int) string
	probability   func(output int) float64 // among the outputs
}

// decision explains a choice for a row of features.
func (e *Explainer) decision(c choice, index []int32, value []float32) Decision {
	return Decision{
		Chosen:      c.name(c.chosen),
		Probability: c.probability(c.chosen),
		Choices:     len(c.outputs),
		Mean:        e.contrast(c.chosen, c.outputs, index, value),
		Rival: Rival{
			Name:        c.name(c.rival),
			Probability: c.probability(c.rival),
			Contrast:    e.contrast(c.chosen, []int{c.rival}, index, value),
		},
	}
}

// flat is the choice of a flat model: between all classes, whose probabilities are
// p.
func (e *Explainer) flat(answer int, p []float32) choice {
	rival := e.against
	if rival < 0 || rival == answer {
		rival = e.runnerUp(answer, e.outputs)
	}
	return choice{chosen: answer, rival: rival, outputs: e.outputs,
		name: func(c int) string { return e.model.Labels[c] }, probability: func(c int) float64 { return float64(p[c]) }}
}

// among is the choice of a hierarchical softmax of the child v of parent. Its output
// for node v is v-1. The probabilities are those of the classes, so that they hold
// whatever was done to these.
func (e *Explainer) among(parent, v int, p []float32) choice {
	t := e.tree
	var outputs []int
	for _, s := range t.Children(parent) {
		outputs = append(outputs, s-1)
	}
	rival := e.runnerUp(v-1, outputs)
	if e.against >= 0 {
		node := t.Node(e.against)
		for _, s := range t.Children(parent) {
			if s != v && s <= node && node < t.End(s) {
				rival = s - 1
			}
		}
	}
	below := func(v int) (sum float64) {
		for _, c := range t.ClassesBelow(v) {
			sum += float64(p[c])
		}
		return sum
	}
	return choice{chosen: v - 1, rival: rival, outputs: outputs,
		name: func(o int) string { return t.Name(o + 1) }, probability: func(o int) float64 { return below(o+1) / below(parent) }}
}

// runnerUp returns the output with the highest score but for one, of equals the
// first. Probabilities may all be 0 where scores still differ.
func (e *Explainer) runnerUp(chosen int, outputs []int) int {
	best := -1
	for _, o := range outputs {
		if o != chosen && (best < 0 || e.scores[o] > e.scores[best]) {
			best = o
		}
	}
	return best
}

// contrast compares the score of one output with the mean score of others. It
// takes O(len(others)) for each feature that is not 0.
func (e *Explainer) contrast(chosen int, others []int, index []int32, value []float32) Contrast {
	out := Contrast{Positive: []Contribution{}, Negative: []Contribution{}}
	out.Bias, out.Difference = e.contributions(chosen, others, index, value)
	terms := e.terms
	slices.SortFunc(terms, func(a, b Contribution) int {
		return cmp.Or(cmp.Compare(b.Contribution, a.Contribution), cmp.Compare(a.column, b.column))
	})
	for len(terms) > 0 && len(out.Positive) < e.opts.Features && terms[0].Contribution > 0 {
		out.Positive = append(out.Positive, e.named(terms[0]))
		terms = terms[1:]
	}
	for len(terms) > 0 && len(out.Negative) < e.opts.Features && terms[len(terms)-1].Contribution < 0 {
		out.Negative = append(out.Negative, e.named(terms[len(terms)-1]))
		terms = terms[:len(terms)-1]
	}
	for _, t := range terms {
		out.Rest += t.Contribution
	}
	out.Others = len(terms)
	return out
}

// contributions sets e.terms to the contribution of each feature that is not 0 to the
// difference of one score and the mean of others, which it returns with its bias. The
// numbers of a sentence encoder mean nothing one by one: together they are one term.
func (e *Explainer) contributions(chosen int, others []int, index []int32, value []float32) (bias, difference float64) {
	l := e.model.Layer
	above := func(row []float32) float64 {
		var sum float64
		for _, o := range others {
			sum += float64(row[o])
		}
		return float64(row[chosen]) - sum/float64(len(others))
	}
	bias = above(l.Bias)
	difference = bias
	terms, row := e.terms[:0], make([]float32, l.Outputs())
	encoder := Contribution{column: e.model.Features.EncoderStart()}
	for i, x := range value {
		if x == 0 {
			continue
		}
		f := i
		if index != nil {
			f = int(index[i])
		}
		c := above(l.Row(f, row)) * float64(x)
		difference += c
		if f >= encoder.column {
			encoder.Value += float64(x) * float64(x)
			encoder.Contribution += c
			continue
		}
		terms = append(terms, Contribution{Value: float64(x), Contribution: c, column: f})
	}
	if encoder.Value > 0 {
		encoder.Value = math.Sqrt(encoder.Value)
		terms = append(terms, encoder)
	}
	e.terms = terms
	return bias, difference
}

// named puts in the name of the feature.
func (e *Explainer) named(c Contribution) Contribution {
	if c.Feature = "sentence encoder"; c.column < e.model.Features.EncoderStart() {
		c.Feature = e.model.Features.Name(c.column)
	}
	return c
}
