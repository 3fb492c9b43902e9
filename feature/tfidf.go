package feature

import (
	"math"
	"slices"

	"github.com/treeloss/treeloss/matrix"
)

// texts returns rows of a table of texts as features of s.
func (s *Set) texts(t *Table, rows []int) *matrix.Sparse {
	features := s.featuresOf(t)
	values := 0
	for _, i := range rows {
		ids, _ := t.bags.row(i)
		for _, id := range ids {
			if features[id] >= 0 {
				values++
			}
		}
	}
	values += (s.block.dim() + s.numeric.dim()) * len(rows)
	out := &matrix.Sparse{
		Columns: s.dim,
		Start:   make([]int, 1, len(rows)+1),
		Index:   make([]int32, 0, values),
		Value:   make([]float32, 0, values),
	}
	var row textRow
	for _, i := range rows {
		row.reset()
		ids, count := t.bags.row(i)
		for n, id := range ids {
			if f := features[id]; f >= 0 {
				row.add(f, count[n])
			}
		}
		var vector []float32
		if s.block != nil {
			vector = t.vectors.Row(i)
		}
		out.AppendRow(row.finish(s, numbersOf(&t.numbers, i), vector))
	}
	return out
}

// featuresOf returns the feature of each n-gram of t, -1 for those that s does
// not have.
func (s *Set) featuresOf(t *Table) []int32 {
	features := make([]int32, len(t.vocabulary.grams))
	if s.table == t.id {
		for id := range features {
			features[id] = -1
		}
		for f, id := range s.ids {
			features[id] = int32(f)
		}
		return features
	}
	vocabulary := s.lookup()
	for id, gram := range t.vocabulary.grams {
		features[id] = vocabulary.find([]byte(gram))
	}
	return features
}

// textRow turns the n-gram counts of one text into a row of features.
type textRow struct {
	entries []uint64 // feature << 32 | count, so that sorting is by feature
	spare   []uint64 // for sorting
	index   []int32
	value   []float32
}

// reset begins a row.
func (r *textRow) reset() { r.entries = r.entries[:0] }

// add adds a feature with its count; each comes once, in any order.
func (r *textRow) add(feature int32, count uint32) {
	r.entries = append(r.entries, uint64(feature)<<32|uint64(count))
}

// finish returns the row: tf-idf, behind it the features of the numbers beside a text, and
// those of a vector of the text, if the set has a sentence encoder. It is valid until the next call.
func (r *textRow) finish(s *Set, numbers, vector []float32) (index []int32, value []float32) {
	r.tfidf(s)
	if s.numeric != nil {
		r.index, r.value = s.numeric.append(r.index, r.value, len(s.grams), numbers)
	}
	if s.block != nil {
		r.index, r.value = s.block.append(r.index, r.value, s.EncoderStart(), vector)
	}
	return r.index, r.value
}

// tfidf sets the row: (1 + ln count) * idf, each block, two of a text and one of a category, scaled to
// length 1.
func (r *textRow) tfidf(s *Set) {
	r.sort(len(s.grams))
	r.index, r.value = r.index[:0], r.value[:0]
	split := 0
	for _, e := range r.entries {
		f, count := int32(e>>32), uint32(e)
		tf := float32(1)
		if count > 1 {
			tf += float32(math.Log(float64(count)))
		}
		if int(f) < s.words {
			split++
		}
		r.index, r.value = append(r.index, f), append(r.value, tf*s.idf[f])
	}
	if s.fields.Several() {
		from, next := 0, 0
		for n, f := range r.index {
			if next < len(s.blocks) && int(f) >= s.blocks[next] {
				unit(r.value[from:n])
				from = n
				for next < len(s.blocks) && int(f) >= s.blocks[next] {
					next++
				}
			}
		}
		unit(r.value[from:])
		return
	}
	unit(r.value[:split])
	unit(r.value[split:])
}

// sort sorts the entries, whose features are below dim: where they are many by a byte of
// the feature after the other, in half of the time that comparisons take.
func (r *textRow) sort(dim int) {
	const few = 32
	if len(r.entries) <= few {
		slices.Sort(r.entries)
		return
	}
	r.spare = slices.Grow(r.spare[:0], len(r.entries))[:len(r.entries)]
	for shift := 32; dim > 0; shift, dim = shift+8, dim>>8 {
		var at [256]int32 // where the next entry with each byte goes
		for _, e := range r.entries {
			at[byte(e>>shift)]++
		}
		sum := int32(0)
		for b, n := range at {
			at[b], sum = sum, sum+n
		}
		for _, e := range r.entries {
			b := byte(e >> shift)
			r.spare[at[b]] = e
			at[b]++
		}
		r.entries, r.spare = r.spare, r.entries
	}
}

// unit scales x to length 1.
func unit(x []float32) {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range x {
		x[i] *= scale
	}
}
