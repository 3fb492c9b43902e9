package feature

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// Of records with several fields, the n-grams of the first text are as of a text alone;
// those of another text, and a category, begin with a character of their field, so that a
// word in a title and in a body are two features. Each field has blocks of its own of
// length 1. Numbers follow the n-grams.
const (
	firstField    = '\ue000' // of the field behind the first text; a private character, which sorts behind 'w'
	mostFields    = 0x1000
	categoryBlock = '=' // stands where 'c' and 'w' do in an n-gram
)

// fieldMark returns what n-grams of further field n, from 0, begin with.
func fieldMark(n int) string { return string(rune(firstField + n)) }

// blockOf returns the bytes of an n-gram that name its block: the mark, if it has one, and
// a byte.
func blockOf(gram string) string {
	if gram[0] < 0x80 {
		return gram[:1]
	}
	return gram[:min(4, len(gram))]
}

// recordCounter counts the n-grams of all fields of a record.
type recordCounter struct {
	counter                    // of the first text
	find    func([]byte) int32 // the number of an n-gram with its mark
	texts   []counter          // of the further ones
	fields  record.Fields
	gram    []byte
	ids     []int32
	counts  []uint32
}

// set sets the fields of what is counted, and what finds an n-gram.
func (c *recordCounter) set(fields record.Fields, find func(gram []byte) int32) {
	c.counter.find, c.find, c.fields = find, find, fields
	c.texts = make([]counter, max(0, len(fields.Texts)-1))
	for n := range c.texts {
		mark := fieldMark(n)
		c.texts[n].find = func(gram []byte) int32 {
			c.gram = append(append(c.gram[:0], mark...), gram...)
			return find(c.gram)
		}
	}
}

// countRecord returns the numbers of the n-grams of a record and how often each occurs, as
// count does for a text.
func (c *recordCounter) countRecord(e record.Example) (ids []int32, counts []uint32) {
	ids, counts = c.count(e.Text)
	if len(e.Fields) == 0 {
		return ids, counts
	}
	c.ids, c.counts = append(c.ids[:0], ids...), append(c.counts[:0], counts...)
	for n, text := range e.Fields {
		if n < len(c.texts) {
			ids, counts := c.texts[n].count(text)
			c.ids, c.counts = append(c.ids, ids...), append(c.counts, counts...)
			continue
		}
		value := strings.Join(strings.Fields(text), " ") // no n-gram has a line end
		if value == "" {
			continue
		}
		value = value[:min(len(value), maxWordBytes)]
		c.gram = append(append(append(c.gram[:0], fieldMark(n)...), categoryBlock), strings.ToValidUTF8(value, "")...)
		if id := c.find(c.gram); id >= 0 {
			c.ids, c.counts = append(c.ids, id), append(c.counts, 1)
		}
	}
	return c.ids, c.counts
}

// SetFields makes an empty table of texts one of records with several fields.
func (t *Table) SetFields(f record.Fields) error {
	if t.vocabulary == nil || t.Rows() > 0 {
		return fmt.Errorf("feature: several columns are for an empty table of texts; this one has %d rows of %v", t.Rows(), t.kind)
	}
	if n := f.Further(); n > mostFields {
		return fmt.Errorf("feature: %d columns of texts and categories, want at most %d", n+1, mostFields)
	}
	t.fields = f
	t.counter.set(f, t.vocabulary.findOrAdd)
	t.numbers.Columns = len(f.Numbers)
	return nil
}

// Fields returns the columns of a table of texts with others, zero for other tables.
func (t *Table) Fields() record.Fields { return t.fields }

// noRecord stands for the numbers of a text that was added without its record, such as
// the name of a class: the number is neither there nor missing.
var noRecord = float32(math.Inf(1))

// addNumbers keeps the numbers of a record, NaN where they are missing.
func (t *Table) addNumbers(values []float32) {
	for n := range t.numbers.Columns {
		v := float32(math.NaN())
		if n < len(values) {
			v = values[n]
		}
		t.numbers.Data = append(t.numbers.Data, v)
	}
}

// Missing returns in how many of the given rows each column of numbers has none.
func (t *Table) Missing(rows []int) []int {
	out := make([]int, t.numbers.Columns)
	for _, i := range rows {
		for j, v := range t.numbers.Row(i) {
			if v != v {
				out[j]++
			}
		}
	}
	return out
}

// numberBlock is the features of the numbers beside texts: each column in standard
// deviations from its mean, 0 where it is missing, and behind all of them a 1 for each
// column that was missing in a fitted row and is missing.
type numberBlock struct {
	mean, scale []float64 // of each column, as of Set
	missing     []int32   // the columns with a feature for that, ascending
}

// dim returns the number of features, 0 without a block.
func (b *numberBlock) dim() int {
	if b == nil {
		return 0
	}
	return len(b.mean) + len(b.missing)
}

// fitNumberBlock finds mean and deviation of each column over the rows where it is there.
func (t *Table) fitNumberBlock(rows []int) *numberBlock {
	p := t.numbers.Columns
	b := &numberBlock{mean: make([]float64, p), scale: make([]float64, p)}
	for j := range p {
		var sum, squares, n, first float64
		gap, varies := false, false
		each := func(visit func(v float64)) {
			for _, i := range rows {
				switch v := t.numbers.Row(i)[j]; {
				case v != v:
					gap = true
				case v != noRecord:
					visit(float64(v))
				}
			}
		}
		each(func(v float64) {
			if n == 0 {
				first = v
			}
			sum, n, varies = sum+v, n+1, varies || v != first
		})
		b.mean[j] = sum / max(n, 1)
		each(func(v float64) { squares += (v - b.mean[j]) * (v - b.mean[j]) })
		if varies { // else rounding alone makes the sum differ from 0
			b.scale[j] = 1 / math.Sqrt(squares/n)
		}
		if gap {
			b.missing = append(b.missing, int32(j))
		}
	}
	return b
}

// append appends the features of the numbers of a record to a row whose features are below
// first; nil values are those of a text alone.
func (b *numberBlock) append(index []int32, value []float32, first int, values []float32) ([]int32, []float32) {
	add := func(f int, v float32) {
		if v != 0 {
			index, value = append(index, int32(first+f)), append(value, v)
		}
	}
	for j, v := range values {
		if v == v && v != noRecord {
			z := (float64(v) - b.mean[j]) * b.scale[j]
			add(j, float32(min(max(z, -maxDeviations), maxDeviations)))
		}
	}
	for n, j := range b.missing {
		if int(j) < len(values) && values[j] != values[j] {
			add(len(b.mean)+n, 1)
		}
	}
	return index, value
}

// Fields returns the columns that a record must have, zero for those of a text alone.
func (s *Set) Fields() record.Fields { return s.fields }

// fieldName returns a readable name of feature j of a set with several fields.
func (s *Set) fieldName(j int) string {
	if n := j - len(s.grams); n >= 0 {
		if p := len(s.fields.Numbers); n >= p {
			return s.fields.Numbers[s.numeric.missing[n-p]] + " is missing"
		}
		return s.fields.Numbers[n]
	}
	gram, field := s.grams[j], 0
	if gram[0] >= 0x80 {
		field, gram = 1+int([]rune(gram)[0]-firstField), gram[len(fieldMark(0)):]
	}
	text := strconv.Quote(gram[1:])
	switch texts := s.fields.Texts; {
	case gram[0] == categoryBlock:
		return s.fields.Categories[field-1-max(0, len(texts)-1)] + " = " + text
	case gram[0] == wordGram:
		return texts[field] + ": word " + text
	default:
		return texts[field] + ": letters " + text
	}
}

// checkFieldGram refuses an n-gram of a field that the set does not have.
func checkFieldGram(gram string, f record.Fields) error {
	mark := []rune(gram)[0]
	n := int(mark - firstField)
	if mark < firstField || n >= f.Further() || len(gram) < 5 {
		return fmt.Errorf("one of the %d columns of the model", f.Further()+1)
	}
	text := n < len(f.Texts)-1
	if kind := gram[3]; text && kind != charGram && kind != wordGram || !text && kind != categoryBlock {
		return fmt.Errorf("an n-gram of a text, or a category, as its column is")
	}
	return nil
}

// Names of what a numberBlock keeps in a model file.
const (
	numberMeanTensor    = "number_mean"    // F64, one a column
	numberScaleTensor   = "number_scale"   // F64, one a column
	numberMissingTensor = "number_missing" // I32, the columns with a feature for what is missing
)

func (b *numberBlock) store(f *safetensors.File) {
	f.Tensors = append(f.Tensors,
		safetensors.New(numberMeanTensor, b.mean, len(b.mean)),
		safetensors.New(numberScaleTensor, b.scale, len(b.scale)),
		safetensors.New(numberMissingTensor, b.missing, len(b.missing)))
}

// loadNumberBlock reads the block of p columns.
func loadNumberBlock(f *safetensors.File, p int) (*numberBlock, error) {
	mean, scale, err := loadScaling(f, numberMeanTensor, numberScaleTensor, p)
	if err != nil {
		return nil, err
	}
	b := &numberBlock{mean: mean, scale: scale}
	t, err := f.Tensor(numberMissingTensor)
	if err != nil {
		return nil, err
	}
	if b.missing, err = t.Int32s(); err != nil {
		return nil, err
	}
	for n, j := range b.missing {
		if j < 0 || int(j) >= p || n > 0 && j <= b.missing[n-1] {
			return nil, fmt.Errorf("feature: tensor %q: column %d, want ascending ones below %d", numberMissingTensor, j, p)
		}
	}
	return b, nil
}

// sameNumbers returns, for each number feature of s, that of other which means the same, -1
// for none, by the names of the columns.
func (s *Set) sameNumbers(n int, other *Set) int32 {
	if other.numeric == nil {
		return -1
	}
	p := len(s.fields.Numbers)
	j := n
	if n >= p {
		j = int(s.numeric.missing[n-p])
	}
	at := slices.Index(other.fields.Numbers, s.fields.Numbers[j])
	if at >= 0 && n >= p {
		if at = slices.Index(other.numeric.missing, int32(at)); at >= 0 {
			at += len(other.fields.Numbers)
		}
	}
	if at < 0 {
		return -1
	}
	return int32(len(other.grams) + at)
}

// numbersOf returns row i of the numbers beside texts, nil if there are none.
func numbersOf(m *matrix.Dense, i int) []float32 {
	if m.Columns == 0 {
		return nil
	}
	return m.Row(i)
}
