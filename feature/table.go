package feature

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// Table collects raw records of one kind. Memory grows with the number of
// distinct n-grams and with the number of different n-grams in each text, not
// with the length of what is read. Adding is for one goroutine; Fit and
// Set.Matrix only read, so any number of them may run at once.
type Table struct {
	kind    record.Kind
	id      *tableID
	columns []string // Numbers: the names of the columns; nil until known

	dense  matrix.Dense  // Numbers: as read
	sparse matrix.Sparse // Sparse: as read
	values []float32     // of one record

	// Text
	bags       bags
	vocabulary *vocabulary // of the n-grams by number; nil for other kinds
	counter    recordCounter
	fields     record.Fields // zero: a text alone
	numbers    matrix.Dense  // rows x fields.Numbers, as read; see noRecord

	encoder *encoder.Static // of a vector of each text; nil: none
	vectors matrix.Dense    // rows x its Dim
}

// tableID tells tables apart without keeping them in memory. It has a size, as
// pointers to empty structs may be equal.
type tableID struct{ _ byte }

// NewTable returns an empty table for records of a kind. columns names the
// numeric columns of Numbers; nil takes as many as the first record has and
// calls them "1", "2" and so on. Other kinds have none.
func NewTable(kind record.Kind, columns []string) *Table {
	t := &Table{kind: kind, id: new(tableID)}
	switch kind {
	case record.Text:
		t.vocabulary = newVocabulary(nil)
		t.counter.set(record.Fields{}, t.vocabulary.findOrAdd)
	case record.Numbers:
		t.columns = slices.Clone(columns)
		t.dense.Columns = len(columns)
	}
	return t
}

// Columns returns the names of the numeric columns, nil for other kinds.
func (t *Table) Columns() []string { return slices.Clone(t.columns) }

// Check returns the error of Add for a record that is of another kind, or has numbers
// that do not fit.
func (t *Table) Check(e record.Example) error {
	values, err := checkRecord(t.kind, t.fields, e, t.values[:0])
	t.values = values[:0]
	return err
}

// Kind returns the kind of the records.
func (t *Table) Kind() record.Kind { return t.kind }

// Rows returns the number of records so far.
func (t *Table) Rows() int {
	switch t.kind {
	case record.Text:
		return t.bags.rows()
	case record.Numbers:
		return t.dense.Rows()
	}
	return t.sparse.Rows()
}

// Values returns how many numbers the given rows hold: of texts the n-grams that
// differ within each.
func (t *Table) Values(rows []int) int {
	sum := 0
	for _, i := range rows {
		switch t.kind {
		case record.Text:
			ids, _ := t.bags.row(i)
			sum += len(ids) + t.vectors.Columns + t.numbers.Columns
		case record.Numbers:
			sum += t.dense.Columns
		default:
			index, _ := t.sparse.Row(i)
			sum += len(index)
		}
	}
	return sum
}

// Key returns a number that is the same for rows that hold the same: for texts the same
// n-grams, each as often, first met in the same order. Different rows have different ones,
// but for a chance of one in 2^64 for each pair.
func (t *Table) Key(row int) uint64 {
	h := fnv.New64a()
	var b [8]byte
	write := func(index int32, value uint32) {
		binary.LittleEndian.PutUint32(b[:4], uint32(index))
		binary.LittleEndian.PutUint32(b[4:], value)
		h.Write(b[:])
	}
	switch t.kind {
	case record.Text:
		ids, counts := t.bags.row(row)
		for n, id := range ids {
			write(id, counts[n])
		}
		if t.numbers.Columns > 0 {
			for j, v := range t.numbers.Row(row) {
				write(int32(-1-j), math.Float32bits(v))
			}
		}
	case record.Numbers:
		for j, v := range t.dense.Row(row) {
			write(int32(j), math.Float32bits(v))
		}
	default:
		index, value := t.sparse.Row(row)
		for n, j := range index {
			write(j, math.Float32bits(value[n]))
		}
	}
	return h.Sum64()
}

// Bytes returns about how much memory the table takes: the numbers of its rows, and
// the n-grams, each kept once with its number. Rows as features of a Set take about as
// much as those of the table.
func (t *Table) Bytes() (rows, grams int64) {
	switch t.kind {
	case record.Text:
		// Vectors have an index beside each number once they are features.
		return int64(8*(len(t.bags.id)+len(t.bags.start)+len(t.vectors.Data)+len(t.numbers.Data)) + cap(t.bags.id)), gramBytes * int64(len(t.vocabulary.grams))
	case record.Numbers:
		return 4 * int64(len(t.dense.Data)), 0
	}
	return int64(8 * (len(t.sparse.Value) + len(t.sparse.Start))), 0
}

// gramBytes is about what an n-gram takes: a string and its text, 16 bytes each, half a
// string more as the list of them grows, and up to 16 bytes of slots.
const gramBytes = 56

// Distinct returns the number of n-grams of a table of texts, with the numbers of an
// encoder, else the number of
// columns so far: the most features that Fit can find.
func (t *Table) Distinct() int {
	switch t.kind {
	case record.Text:
		return len(t.vocabulary.grams) + t.vectors.Columns + 2*t.numbers.Columns
	case record.Numbers:
		return t.dense.Columns
	}
	return t.sparse.Columns
}

// Add appends a record. A record of another kind, another number of numeric
// columns, sparse features that do not ascend from 0, and a number that does
// not fit a 32-bit float are errors that name the record's place, and then
// nothing is added.
func (t *Table) Add(e record.Example) error {
	values, err := checkRecord(t.kind, t.fields, e, t.values[:0])
	if err != nil {
		return err
	}
	t.values = values
	switch t.kind {
	case record.Text:
		t.bags.add(t.counter.countRecord(e))
		t.addNumbers(values)
		if t.encoder != nil {
			t.addVector(e.Text)
		}
	case record.Numbers:
		if len(values) == 0 {
			return fmt.Errorf("%sno numbers, want at least one", at(e.Place))
		}
		if t.columns == nil {
			t.dense.Columns = len(values)
			for j := range values {
				t.columns = append(t.columns, strconv.Itoa(j+1))
			}
		}
		if len(values) != t.dense.Columns {
			return fmt.Errorf("%s%d numbers, want %d, one for each of the columns %s", at(e.Place), len(values), t.dense.Columns, nameSome(t.columns))
		}
		t.dense.Data = append(t.dense.Data, values...)
	default:
		t.sparse.AppendRow(e.Index, values)
		if n := len(e.Index); n > 0 {
			t.sparse.Columns = max(t.sparse.Columns, int(e.Index[n-1])+1)
		}
	}
	return nil
}

// AddText appends a text to a table of texts, as the first of its fields, without the others. On a table of another kind it
// panics: that is a bug in the caller.
func (t *Table) AddText(text string) {
	if t.kind != record.Text {
		panic(fmt.Sprintf("feature: AddText on a table of %v", t.kind))
	}
	t.bags.add(t.counter.count(text))
	for range t.numbers.Columns {
		t.numbers.Data = append(t.numbers.Data, noRecord)
	}
	if t.encoder != nil {
		t.addVector(text)
	}
}

// checkRecord appends the numbers of a record to values, or returns an error if
// the record is not of the kind or has a number that does not fit.
func checkRecord(kind record.Kind, fields record.Fields, e record.Example, values []float32) ([]float32, error) {
	came := kind // an empty record is of any kind
	switch {
	case len(e.Index) > 0:
		came = record.Sparse
	case len(e.Values) > 0 && !(kind == record.Text && len(fields.Numbers) > 0):
		came = record.Numbers
	case e.Text != "":
		came = record.Text
	}
	if came != kind {
		return nil, fmt.Errorf("%sa record of %v, want one of %v like the others", at(e.Place), came, kind)
	}
	if kind == record.Sparse {
		if len(e.Index) != len(e.Values) {
			return nil, fmt.Errorf("%s%d feature numbers and %d values, want as many", at(e.Place), len(e.Index), len(e.Values))
		}
		last := int32(-1)
		for _, j := range e.Index {
			if j <= last || j == math.MaxInt32 {
				return nil, fmt.Errorf("%sfeature %d after %d, want ascending feature numbers from 0 to %d", at(e.Place), j, last, math.MaxInt32-1)
			}
			last = j
		}
	}
	if kind == record.Text {
		if n, want := len(e.Fields), fields.Further(); n > 0 && n != want {
			return nil, fmt.Errorf("%s%d texts and categories beside the first text, want %d", at(e.Place), n, want)
		}
		if n, want := len(e.Values), len(fields.Numbers); n > 0 && n != want {
			return nil, fmt.Errorf("%s%d numbers beside the text, want %d", at(e.Place), n, want)
		}
	}
	for n, v := range e.Values {
		f := float32(v)
		if math.IsNaN(v) && kind == record.Text { // missing
			values = append(values, f)
			continue
		}
		if math.IsNaN(v) || math.IsInf(float64(f), 0) {
			return nil, fmt.Errorf("%snumber %d is %v, want one that fits a 32-bit float: at most 3.4e38 in size", at(e.Place), n+1, v)
		}
		values = append(values, f)
	}
	return values, nil
}

// at returns where a record stands, to begin an error with; a record that was
// not read from a file has no place.
func at(p record.Place) string {
	if p == (record.Place{}) {
		return ""
	}
	return p.String() + ": "
}

// nameSome lists at most five names.
func nameSome(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%q, %q ... %q", names[0], names[1], names[len(names)-1])
	}
	return fmt.Sprintf("%q", names)
}
