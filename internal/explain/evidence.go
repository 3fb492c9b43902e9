package explain

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/treeloss/treeloss/dataset"
)

// Piece is a part of a text: a word, or what stands between two words. The pieces of a
// text, one after the other, are the text.
type Piece struct {
	Text string `json:"text"`
	// Contribution is what the features in this piece contributed to the difference of two
	// scores, in nats. 0 between words.
	Contribution float64 `json:"contribution"`
}

// Evidence says which words of a text speak for the class chosen and against the class
// rival, or, where that is below 0, against the mean of all classes. What a feature contributes
// is spread evenly over its occurrences, and that of an occurrence evenly over its letters
// without white space; a word has the sum of its letters. What a sentence encoder contributes is
// that of the text as a whole, and returned beside the pieces: it and the sum over the
// pieces are the Difference of Contrast, less its Bias, but for rounding.
//
// The pieces are nil for a model without scores of classes (a hierarchical softmax) and for records that are no texts. A class
// out of range is an error. O(k) for each feature of the text.
func (e *Explainer) Evidence(record dataset.Example, chosen, rival int) (words []Piece, whole float64, err error) {
	k := e.model.Layer.Classes
	if chosen < 0 || chosen >= k || rival >= k {
		return nil, 0, fmt.Errorf("explain: classes %d and %d, want 0 to %d", chosen, rival, k-1)
	}
	if e.model.Layer.Hierarchy != nil || e.model.Features.Kind() != dataset.Text {
		return nil, 0, nil
	}
	others := e.outputs
	if rival >= 0 {
		others = []int{rival}
	}
	index, value, err := e.rower.Row(record)
	if err != nil {
		return nil, 0, err
	}
	contribution := make(map[int32]float64, len(index))
	e.contributions(chosen, others, index, value)
	for _, t := range e.terms {
		if t.column >= e.model.Features.EncoderStart() {
			whole = t.Contribution
			continue
		}
		contribution[int32(t.column)] = t.Contribution
	}
	// An n-gram that occurs n times has one contribution, of its tf-idf value for n: each
	// occurrence gets a part of 1/n.
	occurrences := e.model.Features.Occurrences(record.Text)
	count := make(map[int32]float64, len(contribution))
	for _, o := range occurrences {
		count[o.Feature]++
	}
	// A letter's contribution stands at its first byte.
	letters := make([]float64, len(record.Text))
	for _, o := range occurrences {
		part := record.Text[o.Start:o.End]
		n := 0
		for _, r := range part {
			if !unicode.IsSpace(r) {
				n++
			}
		}
		for at, r := range part {
			if !unicode.IsSpace(r) {
				letters[o.Start+at] += contribution[o.Feature] / count[o.Feature] / float64(n)
			}
		}
	}
	return pieces(record.Text, letters), whole, nil
}

// pieces cuts a text at white space. letters has a number for each byte.
func pieces(text string, letters []float64) []Piece {
	out := []Piece{}
	start, sum, space := 0, 0.0, false
	flush := func(end int) {
		if end > start {
			out = append(out, Piece{text[start:end], sum})
		}
		start, sum = end, 0
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if is := unicode.IsSpace(r); is != space {
			flush(at)
			space = is
		}
		sum += letters[at]
		at += size
	}
	flush(len(text))
	return out
}

// Between compares the scores of two classes for a record, where a rival below 0 is the
// mean of all classes. The errors are those of Evidence; a hierarchical softmax, whose scores are not
// of classes, is one.
func (e *Explainer) Between(record dataset.Example, chosen, rival int) (Contrast, error) {
	k := e.model.Layer.Classes
	if chosen < 0 || chosen >= k || rival >= k {
		return Contrast{}, fmt.Errorf("explain: classes %d and %d, want 0 to %d", chosen, rival, k-1)
	}
	if e.model.Layer.Hierarchy != nil {
		return Contrast{}, fmt.Errorf("explain: a hierarchical softmax has no scores of classes")
	}
	index, value, err := e.rower.Row(record)
	if err != nil {
		return Contrast{}, err
	}
	others := e.outputs
	if rival >= 0 {
		others = []int{rival}
	}
	return e.contrast(chosen, others, index, value), nil
}
