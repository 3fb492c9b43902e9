package score

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// counts is a Counter in JSON: all that it has counted, none of its options. Equal counters
// have equal bytes.
type counts struct {
	Classes   int        `json:"classes"`
	Examples  int        `json:"examples"`
	Unknown   int        `json:"unknown"`
	Correct   int        `json:"correct"`
	InTop     int        `json:"in_top"`
	Support   []int      `json:"support"` // of each class, as the next two
	Predicted []int      `json:"predicted"`
	Hits      []int      `json:"hits"`
	Wrong     [][3]int   `json:"wrong"` // true class, predicted class, examples; ascending
	Loss      ExactSum   `json:"loss"`
	Clipped   int        `json:"clipped"`
	Bins      []binState `json:"bins"`
	TreeTop   []int      `json:"tree_top,omitempty"` // mistakes.inTop
	TreeMost  []int      `json:"tree_most,omitempty"`
	Rows      []bool     `json:"rows,omitempty"`
}

// binState is a bin in JSON.
type binState struct {
	Examples   int      `json:"examples"`
	Correct    int      `json:"correct"`
	Confidence ExactSum `json:"confidence"`
}

// MarshalJSON writes what was counted, for UnmarshalJSON of another process.
func (c *Counter) MarshalJSON() ([]byte, error) {
	s := counts{Classes: c.k, Examples: c.examples, Unknown: c.unknown, Correct: c.correct, InTop: c.inTop,
		Support: c.support, Predicted: c.predicted, Hits: c.hits, Wrong: [][3]int{}, Loss: c.loss, Clipped: c.clipped, Rows: c.rows}
	keys := slices.SortedFunc(maps.Keys(c.wrong), func(a, b confusionKey) int {
		return cmp.Or(cmp.Compare(a.truth, b.truth), cmp.Compare(a.predicted, b.predicted))
	})
	for _, key := range keys {
		s.Wrong = append(s.Wrong, [3]int{int(key.truth), int(key.predicted), c.wrong[key]})
	}
	for _, b := range c.bins {
		s.Bins = append(s.Bins, binState{b.examples, b.correct, b.confidence})
	}
	if c.mistakes != nil {
		s.TreeTop, s.TreeMost = c.mistakes.inTop, c.mistakes.inMost
	}
	return json.Marshal(s)
}

// UnmarshalJSON replaces what c has counted by what MarshalJSON wrote. c has to be one of
// NewCounter, with the same options; counts of another number of classes or nodes of the tree
// are an error.
func (c *Counter) UnmarshalJSON(data []byte) error {
	var s counts
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	nodes := 0
	if c.mistakes != nil {
		nodes = len(c.mistakes.height)
	}
	lengths := []int{len(s.Support), len(s.Predicted), len(s.Hits), len(s.Bins), len(s.TreeTop), len(s.TreeMost)}
	if s.Classes != c.k || !slices.Equal(lengths, []int{c.k, c.k, c.k, calibrationBins, nodes, nodes}) {
		return fmt.Errorf("score: counts of %d classes and %d nodes of a tree, want %d and %d", s.Classes, len(s.TreeTop), c.k, nodes)
	}
	c.examples, c.unknown, c.correct, c.inTop = s.Examples, s.Unknown, s.Correct, s.InTop
	c.support, c.predicted, c.hits = s.Support, s.Predicted, s.Hits
	c.wrong = make(map[confusionKey]int, len(s.Wrong))
	for _, w := range s.Wrong {
		if w[0] < 0 || w[0] >= c.k || w[1] < 0 || w[1] >= c.k {
			return fmt.Errorf("score: class %d counted as class %d, want 0 to %d", w[0], w[1], c.k-1)
		}
		c.wrong[confusionKey{int32(w[0]), int32(w[1])}] = w[2]
	}
	c.loss, c.clipped, c.rows = s.Loss, s.Clipped, s.Rows
	for n, b := range s.Bins {
		c.bins[n] = bin{b.Examples, b.Correct, b.Confidence}
	}
	if c.mistakes != nil {
		c.mistakes.inTop, c.mistakes.inMost = s.TreeTop, s.TreeMost
	}
	return nil
}

// multilabelCounts is a Multilabel in JSON, without its propensities.
type multilabelCounts struct {
	Examples int                 `json:"examples"`
	Labelled int                 `json:"labelled"`
	Exact    int                 `json:"exact"`
	Labels   int                 `json:"labels"`
	Unknown  int                 `json:"unknown"`
	Answers  int                 `json:"answers"`
	Support  []int               `json:"support"` // of each class, as the next two
	Answered []int               `json:"answered"`
	Hits     []int               `json:"hits"`
	Hit      [len(Cuts)]int      `json:"hit"`
	Gain     [len(Cuts)]ExactSum `json:"gain"`
	Scored   [len(Cuts)]ExactSum `json:"scored"`
	Ideal    [len(Cuts)]ExactSum `json:"ideal"`
}

// MarshalJSON writes what was counted, for UnmarshalJSON of another process.
func (m *Multilabel) MarshalJSON() ([]byte, error) {
	return json.Marshal(multilabelCounts{m.examples, m.labelled, m.exact, m.labels, m.unknown, m.answers,
		m.support, m.answered, m.hits, m.hit, m.gain, m.scored, m.ideal})
}

// UnmarshalJSON replaces what m has counted by what MarshalJSON wrote. m has to be one of
// NewMultilabel, with the same propensities; another number of classes is an error.
func (m *Multilabel) UnmarshalJSON(data []byte) error {
	var s multilabelCounts
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if !slices.Equal([]int{len(s.Support), len(s.Answered), len(s.Hits)}, []int{m.k, m.k, m.k}) {
		return fmt.Errorf("score: counts of %d classes, want %d", len(s.Support), m.k)
	}
	*m = Multilabel{m.k, m.propensity, s.Examples, s.Labelled, s.Exact, s.Labels, s.Unknown, s.Answers,
		s.Support, s.Answered, s.Hits, s.Hit, s.Gain, s.Scored, s.Ideal}
	return nil
}

// MarshalJSON writes the two halves of the sum, the higher first.
func (s ExactSum) MarshalJSON() ([]byte, error) { return json.Marshal([2]uint64{s.high, s.low}) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *ExactSum) UnmarshalJSON(data []byte) error {
	var halves [2]uint64
	err := json.Unmarshal(data, &halves)
	s.high, s.low = halves[0], halves[1]
	return err
}
