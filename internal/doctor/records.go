package doctor

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// Records keeps of each row what a feature.Table forgets: where it stands and a
// fingerprint of its content, some 60 bytes a row. Add every example in the
// order of the table's rows. The zero value is empty.
type Records struct {
	place  []dataset.Place
	label  []string
	group  []int32 // rows with the same content have the same one; -1: blank
	number map[fingerprint]int32
	first  []int32          // first row of each group
	text   map[int32]string // how the content of a group with two labels reads
	hidden map[rune]map[string]int
}

// fingerprint is half of a SHA-256: two of 10^9 contents have the same one with a probability of
// 10^-21.
type fingerprint [16]byte

// Read reads all examples, once, into a corpus and into records of the same rows. memory
// is the corpus's budget in bytes.
func Read(r *dataset.Reader, memory int64) (*corpus.Corpus, *Records, error) {
	examples, records := corpus.For(r), new(Records)
	examples.Memory = memory
	for e, err := range r.All() {
		if err != nil {
			return nil, nil, err
		}
		if err := examples.Add(e); err != nil {
			return nil, nil, err
		}
		records.Add(e)
	}
	return examples, records, nil
}

// Rows returns the number of examples so far.
func (r *Records) Rows() int { return len(r.place) }

// Add takes note of an example. Texts that differ only in case and white space
// count as the same; numbers must be equal.
func (r *Records) Add(e dataset.Example) {
	if r.number == nil {
		r.number = make(map[fingerprint]int32)
		r.text = make(map[int32]string)
		r.hidden = make(map[rune]map[string]int)
	}
	row := int32(len(r.place))
	r.place = append(r.place, e.Place)
	r.label = append(r.label, e.Label)
	for _, c := range hiddenRunes(e.Text) {
		if r.hidden[c] == nil {
			r.hidden[c] = make(map[string]int)
		}
		r.hidden[c][e.Label]++
	}
	content := normalized(e)
	if content == "" {
		r.group = append(r.group, -1)
		return
	}
	sum := sha256.Sum256([]byte(content))
	key := fingerprint(sum[:len(fingerprint{})])
	g, known := r.number[key]
	if !known {
		g = int32(len(r.first))
		r.number[key] = g
		r.first = append(r.first, row)
	} else if r.label[r.first[g]] != e.Label {
		if _, kept := r.text[g]; !kept {
			r.text[g] = excerpt(e)
		}
	}
	r.group = append(r.group, g)
}

// normalized returns the content of an example as a key, "" for a blank one: a text in lower
// case with single spaces, or the bits of its numbers, with their places if they are sparse.
func normalized(e dataset.Example) string {
	if len(e.Values) == 0 {
		return strings.Join(strings.Fields(strings.ToLower(e.Text)), " ")
	}
	b := make([]byte, 0, 12*len(e.Values))
	for n, v := range e.Values {
		if e.Index != nil {
			b = binary.LittleEndian.AppendUint32(b, uint32(e.Index[n]))
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
	}
	return string(b)
}

// excerpt returns what a report shows of an example.
func excerpt(e dataset.Example) string {
	if len(e.Values) > 0 {
		return fmt.Sprintf("%d numbers beginning with %v", len(e.Values), e.Values[0])
	}
	return clipped(strings.Join(strings.Fields(e.Text), " "))
}

// hiddenRunes returns the characters of a text that a reader does not see:
// format characters and variation selectors, each once, ascending.
func hiddenRunes(text string) []rune {
	var found []rune
	for _, c := range text {
		if c >= utf8.RuneSelf && unicode.In(c, unicode.Variation_Selector, unicode.Cf) {
			found = append(found, c)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Repeats says which rows are there more than once.
type Repeats struct {
	Blank    int        `json:"blank"`         // rows without any content
	Rows     int        `json:"repeated"`      // rows whose content stands in an earlier row too
	Contents int        `json:"with_labels"`   // contents that stand with two labels or more
	Between  int        `json:"rows_affected"` // rows with such a content
	Examples []Conflict `json:"examples"`      // of contents with two labels or more, at most 5
}

// Conflict is a content that stands with several labels.
type Conflict struct {
	Text   string       `json:"text"`
	Places []Occurrence `json:"places"` // the first row of each label
}

// Occurrence is a row.
type Occurrence struct {
	Row   int    `json:"row"`            // from 1
	File  string `json:"file,omitempty"` // "" if the row was read from nowhere
	Line  int    `json:"line,omitempty"`
	Label string `json:"label"`
}

// maxExamples bounds the lists of a report.
const maxExamples = 5

// repeats groups the rows by content. O(rows).
func (r *Records) repeats() *Repeats {
	out := &Repeats{Examples: []Conflict{}}
	size := make([]int, len(r.first))
	for _, g := range r.group {
		if g < 0 {
			out.Blank++
		} else {
			size[g]++
		}
	}
	for _, n := range size {
		out.Rows += n - 1
	}
	conflicts := slices.Sorted(maps.Keys(r.text))
	out.Contents = len(conflicts)
	for _, g := range conflicts {
		out.Between += size[g]
	}
	at := make(map[int32]int)
	for _, g := range conflicts[:min(maxExamples, len(conflicts))] {
		at[g] = len(out.Examples)
		out.Examples = append(out.Examples, Conflict{Text: r.text[g]})
	}
	for row, g := range r.group {
		n, wanted := at[g]
		if !wanted {
			continue
		}
		c := &out.Examples[n]
		if !slices.ContainsFunc(c.Places, func(o Occurrence) bool { return o.Label == r.label[row] }) {
			c.Places = append(c.Places, Occurrence{Row: row + 1, File: r.place[row].File, Line: r.place[row].Line, Label: r.label[row]})
		}
	}
	return out
}

// Hidden is a character that no reader sees and that stands mostly in the texts
// of one class: what is left of a label that was cut out, say. A model will use
// it, and its score on such rows is flattered.
type Hidden struct {
	Character string  `json:"character"` // such as U+FE0F
	Rows      int     `json:"rows"`      // that hold it
	Label     string  `json:"label"`     // which most of these have
	Share     float64 `json:"share"`     // of them with this label
	Usual     float64 `json:"usual"`     // share of all rows with this label
}

// Limits from which a hidden character is worth a line: it stands in enough
// rows, and one class has half of them and twice its due.
const (
	hiddenRows  = 20
	hiddenShare = 0.5
	hiddenTimes = 2
)

// leaks returns the hidden characters that tell the class, the most frequent
// first.
func (r *Records) leaks() []Hidden {
	out := []Hidden{}
	count := make(map[string]int)
	for _, label := range r.label {
		count[label]++
	}
	for c, labels := range r.hidden {
		h := Hidden{Character: fmt.Sprintf("%U", c)}
		most := 0
		for _, label := range slices.Sorted(maps.Keys(labels)) {
			h.Rows += labels[label]
			if labels[label] > most {
				most, h.Label = labels[label], label
			}
		}
		h.Share = float64(most) / float64(h.Rows)
		h.Usual = float64(count[h.Label]) / float64(len(r.label))
		if h.Rows >= hiddenRows && h.Share >= hiddenShare && h.Share >= hiddenTimes*h.Usual {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Hidden) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Character, b.Character))
	})
	return out
}
