package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind says what an example holds beside its label.
type Kind int

// The kinds of examples.
const (
	Text    Kind = iota // Example.Text
	Numbers             // Example.Values, one for each numeric column
	Sparse              // Example.Values at the feature numbers Example.Index
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Numbers:
		return "numeric columns"
	case Sparse:
		return "sparse features"
	}
	return "unknown"
}

// Place is where an example stands.
type Place struct {
	File string // path or stream name as the caller gave it
	Line int    // line on which the record starts, from 1; for .npy the row, from 1; 0: the whole file
}

// String returns file:line, or the file alone.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Share is the part of an example that belongs to a class.
type Share struct {
	Label string
	Share float64 // above 0, at most 1
}

// Fields names the columns of texts that come with others: further texts, categories,
// which are one of some values each, and numbers. The zero value is a text alone.
type Fields struct {
	Texts      []string `json:"texts,omitempty"` // the first is Example.Text; none: there is no text
	Categories []string `json:"categories,omitempty"`
	Numbers    []string `json:"numbers,omitempty"`
}

// Several tells whether there is more than one text.
func (f Fields) Several() bool {
	return len(f.Texts) > 1 || len(f.Categories) > 0 || len(f.Numbers) > 0
}

// Further returns how many entries Example.Fields has: the texts behind the first, and
// the categories.
func (f Fields) Further() int { return max(0, len(f.Texts)-1) + len(f.Categories) }

// Describe names the columns, such as "the texts title, body, the category brand and
// the number price".
func (f Fields) Describe() string {
	var parts []string
	for _, p := range []struct {
		one, more string
		names     []string
	}{{"text", "texts", f.Texts}, {"category", "categories", f.Categories}, {"number", "numbers", f.Numbers}} {
		switch n := len(p.names); {
		case n == 1:
			parts = append(parts, "the "+p.one+" "+p.names[0])
		case n > 8:
			parts = append(parts, fmt.Sprintf("the %s %s and %d more", p.more, strings.Join(p.names[:8], ", "), n-8))
		case n > 1:
			parts = append(parts, "the "+p.more+" "+strings.Join(p.names, ", "))
		}
	}
	if n := len(parts); n > 1 {
		parts = append(parts[:n-2], parts[n-2]+" and "+parts[n-1])
	}
	if len(parts) == 0 {
		return "a text alone"
	}
	return strings.Join(parts, ", ")
}

// Equal tells whether the columns are the same, in the same order.
func (f Fields) Equal(g Fields) bool {
	return slices.Equal(f.Texts, g.Texts) && slices.Equal(f.Categories, g.Categories) && slices.Equal(f.Numbers, g.Numbers)
}

// Example is one row. Its strings may be kept; Values, Fields, Index, Mix and Labels are used
// again for the next example: Clone copies them.
type Example struct {
	Text   string    // Kind Text; may be empty, is not trimmed
	Fields []string  // Text with Fields: the further texts, then the categories; "" is missing; nil: all are
	Values []float64 // Numbers: one a column; Sparse: one an entry of Index; all finite. Text with Fields: one a column of numbers, NaN where it is missing; nil: all are
	Index  []int32   // Sparse: feature numbers from 0, ascending; nil otherwise
	Label  string    // without outer white space; "" only if Options.Unlabelled or Multilabel
	Weight float64   // finite and >= 0; 1 unless Options.Weight names a column

	ID string // of the column that Options.ID names

	// Mix is the target as a distribution over classes, where a JSONL row gives
	// one ("labels": {"cat": 3, "dog": 1}); nil where it gives a plain label. It
	// is sorted by label and sums to 1 within 1e-6, classes without a share left
	// out. Label is then the class with the largest share, of equals the first
	// in the order of bytes. Weight holds for the row as a whole.
	Mix []Share

	// Labels has all labels of an example that may have any number of them, none
	// included (Options.Multilabel): in the order of their bytes, each once. Label is
	// then the first of them, "" if there is none. nil where an example has one label.
	Labels []string

	Place Place // for the messages of later stages
}

// Clone returns a copy that shares no memory with the Reader.
func (e Example) Clone() Example {
	e.Values, e.Fields, e.Index = slices.Clone(e.Values), slices.Clone(e.Fields), slices.Clone(e.Index)
	e.Mix, e.Labels = slices.Clone(e.Mix), slices.Clone(e.Labels)
	return e
}
