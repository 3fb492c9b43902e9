package feature

import (
	"fmt"
	"slices"

	"github.com/treeloss/treeloss/record"
)

// Rower turns single records into rows of a Set. It keeps buffers between
// calls, so each goroutine needs one of its own.
type Rower struct {
	set     *Set
	counter recordCounter
	row     textRow
	values  []float32
	vector  []float32 // of a sentence encoder
}

// NewRower returns a Rower for s.
func NewRower(s *Set) *Rower {
	r := &Rower{set: s}
	if s.kind == record.Text {
		vocabulary := s.lookup()
		r.row = textRow{index: []int32{}, value: []float32{}} // a sparse row is not nil, even if empty
		r.counter.set(s.fields, vocabulary.find)
		r.vector = make([]float32, s.block.dim())
	}
	return r
}

// Row returns the features of one record, which are what Set.Matrix gives for
// it, to the last bit. They are valid until the next call. A dense row has a
// nil index and Dim values; the index of a sparse row is not nil. N-grams and
// sparse features that the set does not have are left out.
//
// A record of another kind, another number of numeric columns, and what
// Table.Add refuses are errors that name the record's place.
func (r *Rower) Row(e record.Example) (index []int32, value []float32, err error) {
	s := r.set
	values, err := checkRecord(s.kind, s.fields, e, r.values[:0])
	if err != nil {
		return nil, nil, err
	}
	r.values = values
	switch s.kind {
	case record.Text:
		r.row.reset()
		ids, count := r.counter.countRecord(e)
		for n, f := range ids {
			r.row.add(f, count[n])
		}
		if s.block != nil {
			s.block.encoder.Encode(e.Text, r.vector)
		}
		index, value = r.row.finish(s, values, r.vector)
		return index, value, nil
	case record.Numbers:
		if len(values) != len(s.columns) {
			return nil, nil, fmt.Errorf("%s%d numbers, but the model was trained on %d: %s", at(e.Place), len(values), len(s.columns), nameSome(s.columns))
		}
		r.values = slices.Grow(values, s.dim)[:s.dim]
		s.number(r.values)
		return nil, r.values, nil
	}
	index, value = s.cut(e.Index, values)
	if index == nil {
		index = []int32{}
	}
	return index, value, nil
}
