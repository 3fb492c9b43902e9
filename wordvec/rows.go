package wordvec

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// inputMatrix reads rows of a fastText model's input matrix, in ascending order.
type inputMatrix struct {
	in   *bufio.Reader
	info Info
	next int // the row that in stands at
}

// row reads row n, which is not before next, and passes over those between.
func (m *inputMatrix) row(n int) ([]float32, error) {
	err := skip(m.in, 4*int64(m.info.Dim)*int64(n-m.next))
	var row []float32
	if err == nil {
		row, err = readRow(m.in, m.info.Dim)
	}
	m.next = n + 1
	return row, truncated(err, fmt.Sprintf("row %d of the %d of its input matrix", n, m.info.Words+m.info.Buckets))
}

// readAllRows keeps the whole input matrix: the rows of the words, which then
// become the words' vectors in place, and those of the n-grams, for Subword.
func (v *Vectors) readAllRows(in *bufio.Reader, ids map[string]int) error {
	m := &inputMatrix{in: in, info: v.info}
	v.words = byRow(ids)
	for i, word := range v.words {
		row, err := m.row(ids[word])
		if err != nil {
			return err
		}
		if i := notFinite(row); i >= 0 {
			return fmt.Errorf("number %d of word %s is %v, want a finite one", i+1, quote(word), row[i])
		}
		v.index[word] = i
		v.rows = append(v.rows, row)
	}
	if v.ngrams == nil {
		return nil
	}
	for n := range v.info.Buckets {
		row, err := m.row(v.info.Words + n)
		if err != nil {
			return err
		}
		if i := notFinite(row); i >= 0 {
			return fmt.Errorf("number %d of n-gram row %d is %v, want a finite one", i+1, n, row[i])
		}
		v.buckets = append(v.buckets, row)
	}
	sum := make([]float64, v.info.Dim)
	var rows []uint32
	for i, word := range v.words {
		rows = v.ngrams.appendRows(rows[:0], word)
		if len(rows) > 0 {
			v.mean(v.rows[i], v.rows[i], rows, sum)
		}
	}
	return nil
}

// mean sets dst to the mean of own, if there is one, and the n-gram rows,
// which it sorts. dst may be own.
func (v *Vectors) mean(dst, own []float32, rows []uint32, sum []float64) {
	clear(sum)
	n := len(rows)
	if own != nil {
		addTo(sum, own)
		n++
	}
	slices.Sort(rows)
	for _, r := range rows {
		addTo(sum, v.buckets[r])
	}
	copy(dst, scaled(sum, n))
}

// job is a vector that adds up while the matrix streams past.
type job struct {
	word string
	sum  []float64 // nil until the first row has come
	n    int
}

// readWantedRows adds up the vectors of the kept words, and of the wanted
// words outside the vocabulary, while the matrix streams past. It holds two
// float32 a number for each of them and no row of the matrix.
func (v *Vectors) readWantedRows(in *bufio.Reader, ids map[string]int, opts Options) error {
	known := byRow(ids)
	missing := missingWords(ids, opts)
	if v.ngrams == nil {
		missing = nil
	}
	jobs := make([]job, 0, len(known)+len(missing))
	type use struct{ row, job int }
	var uses []use
	var grams []uint32
	for i, word := range slices.Concat(known, missing) {
		jobs = append(jobs, job{word: word})
		if i < len(known) {
			uses = append(uses, use{ids[word], i})
		}
		if v.ngrams != nil {
			grams = v.ngrams.appendRows(grams[:0], word)
			for _, g := range grams {
				uses = append(uses, use{v.info.Words + int(g), i})
			}
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.job, b.job)) })

	m := &inputMatrix{in: in, info: v.info}
	var row []float32
	for _, u := range uses {
		j := &jobs[u.job]
		if u.row >= m.next {
			var err error
			if row, err = m.row(u.row); err != nil {
				return err
			}
			if i := notFinite(row); i >= 0 {
				return fmt.Errorf("number %d of row %d, of which the vector of word %s is made, is %v, want a finite one", i+1, u.row, quote(j.word), row[i])
			}
		}
		if j.sum == nil {
			j.sum = make([]float64, v.info.Dim)
		}
		addTo(j.sum, row)
		j.n++
	}

	v.unknown = make(map[string][]float32)
	for i, j := range jobs {
		switch {
		case i < len(known):
			v.index[j.word] = i
			v.words = append(v.words, j.word)
			v.rows = append(v.rows, scaled(j.sum, j.n))
		case j.n > 0:
			v.unknown[j.word] = scaled(j.sum, j.n)
		}
	}
	return nil
}

// missingWords returns the words outside the vocabulary for which the options
// want a vector, sorted: all such Words, and those of Names as Vectors.Names
// asks for them.
func missingWords(ids map[string]int, opts Options) []string {
	has := func(s string) bool { _, ok := ids[s]; return ok }
	set := make(map[string]struct{})
	for _, word := range opts.Words {
		if !has(word) {
			set[word] = struct{}{}
		}
	}
	for _, name := range opts.Names {
		for _, w := range resolve(name, has) {
			if w.Found == "" {
				set[subwordSpelling(w.Text)] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// byRow returns the words in the order of their rows.
func byRow(ids map[string]int) []string {
	return slices.SortedFunc(maps.Keys(ids), func(a, b string) int { return cmp.Compare(ids[a], ids[b]) })
}

// addTo adds a row in double precision: the sum of thousands of n-grams then rounds
// once.
func addTo(sum []float64, row []float32) {
	for j, x := range row {
		sum[j] += float64(x)
	}
}
