package dataset

import "github.com/treeloss/treeloss/record"

// What is read has its types in package record, so that a program which only predicts
// links no reader of files.
type (
	Kind    = record.Kind
	Place   = record.Place
	Share   = record.Share
	Fields  = record.Fields
	Example = record.Example
)

// The kinds of examples.
const (
	Text    = record.Text
	Numbers = record.Numbers
	Sparse  = record.Sparse
)
