package feature

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/record"
)

// Options sets up Fit. The zero value is the default.
type Options struct {
	// MinRows is the number of fitted rows that an n-gram must occur in to
	// become a feature; 0 means 1.
	MinRows int
	// MaxFeatures bounds the n-grams: where more of them occur in MinRows rows,
	// MinRows is raised until no more are left. 0 means no bound.
	MaxFeatures int
	// Fourier is the number of random Fourier features of numeric columns, behind
	// the columns themselves, up to MaxFourier; 0 means none.
	Fourier int
	// EncoderScale is the length of the block of features that the encoder of a table of
	// texts makes, beside blocks of n-grams of length 1: 0 means DefaultEncoderScale, less
	// leaves the block out. Without an encoder it has no effect.
	EncoderScale float64
	// EncoderAlone leaves out the n-grams of a table with an encoder.
	EncoderAlone bool
}

// Fit looks at the given rows of t and returns the features they need. What it
// returns depends on these rows alone, not on others of the table. A row may be given more than once and then counts as often. No rows,
// or rows without a single feature, are an error; a row that t does not have
// panics, as that is a bug in the caller.
//
// It takes time in proportion to the numbers in the rows, and to sort their
// n-grams.
func (t *Table) Fit(rows []int, opts Options) (*Set, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("feature: no rows to fit features on")
	}
	s := &Set{kind: t.kind, table: t.id, fields: t.fields}
	why := "every row is empty"
	switch t.kind {
	case record.Text:
		if opts.EncoderAlone = opts.EncoderAlone && t.encoder != nil; !opts.EncoderAlone {
			t.fitText(s, rows, max(opts.MinRows, 1), opts.MaxFeatures)
		}
		if t.numbers.Columns > 0 {
			s.numeric = t.fitNumberBlock(rows)
			s.dim += s.numeric.dim()
		}
		if t.encoder != nil && (opts.EncoderScale >= 0 || opts.EncoderAlone) {
			s.block = t.fitBlock(rows, max(opts.EncoderScale, 0))
			s.dim += s.block.dim()
		}
		why = "every text is empty"
		if opts.MinRows > 1 {
			why += fmt.Sprintf(", or no n-gram occurs in %d texts", opts.MinRows)
		}
	case record.Numbers:
		t.fitNumbers(s, rows)
		if s.dim > 0 && opts.Fourier > 0 {
			s.fourier = newFourier(s.dim, min(opts.Fourier, MaxFourier))
			s.dim += s.fourier.dim()
		}
	default:
		for _, i := range rows {
			if index, _ := t.sparse.Row(i); len(index) > 0 {
				s.dim = max(s.dim, int(index[len(index)-1])+1)
			}
		}
	}
	if s.dim == 0 {
		return nil, fmt.Errorf("feature: the %d training rows have no features at all: %s", len(rows), why)
	}
	return s, nil
}

// fitText keeps the n-grams of at least minRows rows, more where too many are left,
// in ascending order, with the smoothed inverse document frequency
// 1 + ln((1+n)/(1+df)).
func (t *Table) fitText(s *Set, rows []int, minRows, maxFeatures int) {
	df := make([]int32, len(t.vocabulary.grams))
	for _, i := range rows {
		ids, _ := t.bags.row(i)
		for _, id := range ids {
			df[id]++
		}
	}
	if maxFeatures > 0 {
		minRows = raise(df, minRows, maxFeatures)
	}
	s.minRows = minRows
	for id, n := range df {
		if int(n) >= minRows {
			s.ids = append(s.ids, int32(id))
		}
	}
	sortByName(s.ids, t.vocabulary.grams)
	s.dim = len(s.ids)
	s.grams = make([]string, s.dim)
	s.idf = make([]float32, s.dim)
	for f, id := range s.ids {
		s.grams[f] = t.vocabulary.grams[id]
		s.idf[f] = float32(1 + math.Log(float64(1+len(rows))/float64(1+df[id])))
	}
	s.splitBlocks()
}

// raise returns the least number of rows, from minRows on, that at most
// maxFeatures n-grams occur in; df is the number of rows of each.
func raise(df []int32, minRows, maxFeatures int) int {
	var with []int // n-grams by their number of rows
	left := 0
	for _, n := range df {
		if int(n) < minRows {
			continue
		}
		for len(with) <= int(n) {
			with = append(with, 0)
		}
		with[n]++
		left++
	}
	for left > maxFeatures && minRows < len(with)-1 {
		left -= with[minRows]
		minRows++
	}
	return minRows
}

// sortByName sorts the numbers of n-grams by these. Most n-grams differ within
// their first eight bytes, which compare as one number.
func sortByName(ids []int32, grams []string) {
	type entry struct {
		head uint64
		id   int32
	}
	entries := make([]entry, len(ids))
	for i, id := range ids {
		var head [8]byte
		copy(head[:], grams[id])
		entries[i] = entry{binary.BigEndian.Uint64(head[:]), id}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(grams[a.id], grams[b.id])
	})
	for i, e := range entries {
		ids[i] = e.id
	}
}

// fitNumbers finds mean and standard deviation of each column, in float64 as
// the numbers may be large; a column that never changes becomes 0.
func (t *Table) fitNumbers(s *Set, rows []int) {
	s.dim = t.dense.Columns
	s.columns = t.columns
	s.mean, s.scale = make([]float64, s.dim), make([]float64, s.dim)
	varies := make([]bool, s.dim)
	n := float64(len(rows))
	for _, i := range rows {
		for j, v := range t.dense.Row(i) {
			s.mean[j] += float64(v) / n
			varies[j] = varies[j] || v != t.dense.Row(rows[0])[j]
		}
	}
	squares := make([]float64, s.dim)
	for _, i := range rows {
		for j, v := range t.dense.Row(i) {
			d := float64(v) - s.mean[j]
			squares[j] += d * d
		}
	}
	for j, sum := range squares {
		if varies[j] { // else rounding alone makes the sum differ from 0
			s.scale[j] = 1 / math.Sqrt(sum/n)
		}
	}
}
