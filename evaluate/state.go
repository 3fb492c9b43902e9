package evaluate

import (
	"encoding/json"
	"fmt"

	"github.com/treeloss/treeloss/score"
)

// state is an Evaluation in JSON: what it has counted, none of its options. It takes some
// twelve bytes for each example, which the areas under curves and the quantiles are made of.
type state struct {
	Counts     *score.Counter `json:"counts"`
	Confidence []float32      `json:"confidence"` // in each answer, in the order of the examples
	Right      []byte         `json:"right"`      // of each answer: 1 or 0
	Known      []byte         `json:"known"`      // of each example: 1 if its label was trained
	Hedging    []*hedging     `json:"hedging"`    // one for each confidence
	Losses     losses         `json:"losses"`
	Outside    []float64      `json:"outside"` // confidence in the answers to examples out of scope
	Examples   int            `json:"examples"`
	Unknown    []UnknownLabel `json:"unknown"`
}

// MarshalJSON writes what was counted so far, for Merge in another process. The same
// examples give the same bytes, whatever the number of goroutines.
func (e *Evaluation) MarshalJSON() ([]byte, error) {
	all, err := e.total()
	if err != nil {
		return nil, err
	}
	s := state{Counts: all, Confidence: make([]float32, len(e.sure)), Right: make([]byte, len(e.sure)), Known: make([]byte, len(e.sure)),
		Hedging: e.hedging, Losses: e.losses, Outside: e.outside, Examples: e.examples, Unknown: e.unknown.list()}
	bit := map[bool]byte{true: 1}
	for n, x := range e.sure {
		s.Confidence[n], s.Right[n], s.Known[n] = x.confidence, bit[x.right], bit[x.known]
	}
	return json.Marshal(s)
}

// Merge counts what another evaluation has counted, as MarshalJSON wrote it, behind what e
// has: the Result is that of one evaluation of all examples. Both have to be of the same
// classifier and options. Rows are not among it. An error leaves e as it was.
func (e *Evaluation) Merge(text []byte) error {
	counter, err := score.NewCounter(len(e.about.Labels), e.counted)
	if err != nil {
		return err
	}
	s := state{Counts: counter}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("evaluate: counts of another process: %w", err)
	}
	if len(s.Right) != len(s.Confidence) || len(s.Known) != len(s.Confidence) || len(s.Hedging) != len(e.hedging) || s.Counts == nil || s.Unknown == nil {
		return fmt.Errorf("evaluate: counts of another process: %d confidences, %d right, %d known, %d of hedging, want those of the same options", len(s.Confidence), len(s.Right), len(s.Known), len(s.Hedging))
	}
	for n, h := range s.Hedging {
		if h == nil || len(h.Open) != len(e.hedging[n].Open) {
			return fmt.Errorf("evaluate: counts of another process: hedged answers of another number of classes, want %d", len(e.about.Labels))
		}
	}
	if err := e.workers[0].counter.Merge(counter); err != nil {
		return err
	}
	for n, confidence := range s.Confidence {
		e.sure = append(e.sure, sureness{confidence, s.Right[n] == 1, s.Known[n] == 1})
	}
	for n, h := range s.Hedging {
		e.hedging[n].merge(h)
	}
	e.losses.merge(s.Losses)
	e.outside = append(e.outside, s.Outside...)
	e.examples += s.Examples
	for _, u := range s.Unknown {
		e.unknown.add(u)
	}
	return nil
}
