package dataset

import (
	"slices"
	"strconv"
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
	Line int    // line on which the record starts, from 1; for .npy the row, from 1
}

// String returns file:line.
func (p Place) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// Example is one row. Its strings may be kept; Values and Index are used again
// for the next example: Clone copies them.
type Example struct {
	Text   string    // Kind Text; may be empty, is not trimmed
	Values []float64 // Numbers: one a column; Sparse: one an entry of Index; all finite
	Index  []int32   // Sparse: feature numbers from 0, ascending; nil otherwise
	Label  string    // without outer white space; "" only if Options.Unlabelled
	Weight float64   // finite and >= 0; 1 unless Options.Weight names a column
	Place  Place     // for the messages of later stages
}

// Clone returns a copy that shares no memory with the Reader.
func (e Example) Clone() Example {
	e.Values, e.Index = slices.Clone(e.Values), slices.Clone(e.Index)
	return e
}
