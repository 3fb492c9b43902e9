package feature

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// Set is a fitted set of features: it turns records into rows. Immutable; safe
// for concurrent use.
type Set struct {
	kind record.Kind
	dim  int

	// Text
	grams []string  // n-gram of each feature, ascending
	idf   []float32 // weight of each n-gram
	words int       // first feature of the block of words
	block *block    // features of a sentence encoder behind all others; nil: none

	// Text with several fields
	fields  record.Fields
	blocks  []int        // first feature of each block of n-grams but the first
	numeric *numberBlock // features of numbers behind the n-grams; nil: none

	minRows int // that an n-gram had to occur in to become a feature; 0: not known

	table *tableID // the table that s was fitted on; nil: read from a file
	ids   []int32  // number that each n-gram has there

	once  sync.Once
	vocab *vocabulary // the n-grams; see lookup

	// Numbers
	columns []string
	mean    []float64
	scale   []float64 // 1 / standard deviation; 0 for a constant column
	fourier *fourier  // features behind the columns; nil: none
}

// splitBlocks finds where the block of words begins.
func (s *Set) splitBlocks() {
	s.words, _ = slices.BinarySearch(s.grams, string(rune(wordGram)))
	if !s.fields.Several() {
		return
	}
	for f := 1; f < len(s.grams); f++ {
		if blockOf(s.grams[f]) != blockOf(s.grams[f-1]) {
			s.blocks = append(s.blocks, f)
		}
	}
}

// lookup returns where n-grams are found. It is made when first asked for: most sets of
// a search for the best options never see a new text.
func (s *Set) lookup() *vocabulary {
	s.once.Do(func() { s.vocab = newVocabulary(s.grams) })
	return s.vocab
}

// MinRows returns the number of fitted rows that an n-gram had to occur in: 1,
// what Options asked for, or more where there were too many n-grams. It is 0 for
// a set that was read from a file, and for other kinds than texts.
func (s *Set) MinRows() int { return s.minRows }

// Kind returns the kind of the records that s was fitted on.
func (s *Set) Kind() record.Kind { return s.kind }

// Dim returns d, the number of features.
func (s *Set) Dim() int { return s.dim }

// Fourier returns how many of the features are random Fourier features, the last ones.
func (s *Set) Fourier() int { return s.fourier.dim() }

// Columns returns the names of the numeric columns that a record must have, in
// order; nil for other kinds.
func (s *Set) Columns() []string { return slices.Clone(s.columns) }

// Name returns a readable name of feature j: the n-gram, quoted, the number of one of a
// sentence encoder, the numeric column, or the number of a sparse feature, counted from 1. It panics if j is
// not in 0..Dim()-1.
func (s *Set) Name(j int) string {
	switch s.kind {
	case record.Text:
		if n := j - s.EncoderStart(); n >= 0 {
			return "encoder " + strconv.Itoa(n+1)
		}
		if s.fields.Several() {
			return s.fieldName(j)
		}
		gram := s.grams[j]
		if gram[0] == wordGram {
			return "word " + strconv.Quote(gram[1:])
		}
		return "letters " + strconv.Quote(gram[1:])
	case record.Numbers:
		if n := j - len(s.columns); n >= 0 {
			return "Fourier feature " + strconv.Itoa(n+1)
		}
		return s.columns[j]
	}
	return strconv.Itoa(j + 1)
}

// Matrix returns the given rows of t as features of s, Dense for Numbers and
// else Sparse. The table may be another than s was fitted on: n-grams are
// matched by name, and so are numeric columns, of which t may have more. A table
// of another kind, or without one of the columns, is an error. It takes time in
// proportion to the numbers in the rows and the n-grams of t.
func (s *Set) Matrix(t *Table, rows []int) (matrix.Matrix, error) {
	if t.kind != s.kind {
		return nil, fmt.Errorf("feature: records of %v, the features were fitted on %v", t.kind, s.kind)
	}
	switch s.kind {
	case record.Text:
		if s.block != nil && t.encoder != s.block.encoder {
			return nil, fmt.Errorf("feature: the table has no vectors of the encoder that the features were fitted with")
		}
		if !t.fields.Equal(s.fields) {
			return nil, fmt.Errorf("feature: records with other columns of texts, categories and numbers than the features were fitted on")
		}
		return s.texts(t, rows), nil
	case record.Numbers:
		return s.numbers(t, rows)
	}
	out := &matrix.Sparse{Columns: s.dim, Start: make([]int, 1, len(rows)+1)}
	for _, i := range rows {
		out.AppendRow(s.cut(t.sparse.Row(i)))
	}
	return out, nil
}

// numbers returns rows of numeric columns, standardised; columns are found by name.
func (s *Set) numbers(t *Table, rows []int) (*matrix.Dense, error) {
	place := make([]int, len(s.columns)) // of each feature among the columns of t
	for j, name := range s.columns {
		place[j] = j
		if j >= len(t.columns) || t.columns[j] != name { // in the same order, names may be equal
			place[j] = slices.Index(t.columns, name)
		}
		if place[j] < 0 && len(rows) > 0 {
			return nil, fmt.Errorf("feature: no column %q among %s, the features were fitted on it", name, nameSome(t.columns))
		}
	}
	out := matrix.NewDense(len(rows), s.dim)
	for n, i := range rows {
		x, row := t.dense.Row(i), out.Row(n)
		for j, at := range place {
			row[j] = x[at]
		}
		s.number(row)
	}
	return out, nil
}

// cut drops the sparse features beyond those of the training rows.
func (s *Set) cut(index []int32, value []float32) ([]int32, []float32) {
	n, _ := slices.BinarySearch(index, int32(s.dim))
	return index[:n], value[:n]
}

// maxDeviations bounds standardised numbers. Of n training rows none is
// farther than sqrt(n) from the mean, so only a new record can come to it: one
// with a number that the training rows are no guide to.
const maxDeviations = 1e6

// number makes a row of the columns, its first numbers: in standard deviations from
// the mean, and the Fourier features of these behind them.
func (s *Set) number(row []float32) {
	p := len(s.columns)
	for j, v := range row[:p] {
		z := (float64(v) - s.mean[j]) * s.scale[j]
		row[j] = float32(min(max(z, -maxDeviations), maxDeviations))
	}
	if s.fourier != nil {
		s.fourier.apply(row[p:], row[:p])
	}
}

// Match returns, for each feature of s, the feature of other that means the
// same, or -1. Sets of different kinds have nothing in common: that is an
// error. Numeric columns match by name, although they may be scaled otherwise; Fourier
// features match where the columns are the same in the same order, those of a sentence
// encoder where it is the same.
func (s *Set) Match(other *Set) ([]int32, error) {
	if s.kind != other.kind {
		return nil, fmt.Errorf("feature: features of %v cannot go on from features of %v", s.kind, other.kind)
	}
	var find func(f int) int32 // the feature of other that means what f does
	switch s.kind {
	case record.Text:
		vocabulary := other.lookup()
		same := s.block.sameAs(other.block)
		find = func(f int) int32 {
			switch n := f - s.EncoderStart(); {
			case f < len(s.grams):
				// The mark of a field is its number.
				if s.grams[f][0] >= 0x80 && !s.fields.Equal(other.fields) {
					return -1
				}
				return vocabulary.find([]byte(s.grams[f]))
			case n < 0:
				return s.sameNumbers(f-len(s.grams), other)
			case same:
				return int32(other.EncoderStart() + n)
			}
			return -1
		}
	case record.Numbers:
		column := make(map[string]int32, len(other.columns))
		for j, name := range other.columns {
			column[name] = int32(j) + 1
		}
		same := s.fourier.dim() == other.fourier.dim() && slices.Equal(s.columns, other.columns)
		find = func(f int) int32 {
			switch {
			case f < len(s.columns):
				return column[s.columns[f]] - 1
			case same:
				return int32(f)
			}
			return -1
		}
	default:
		find = func(f int) int32 {
			if f >= other.dim {
				return -1
			}
			return int32(f)
		}
	}
	out := make([]int32, s.dim)
	for f := range out {
		out[f] = find(f)
	}
	return out, nil
}
