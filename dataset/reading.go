package dataset

import "github.com/treeloss/treeloss/internal/input"

// Error is a refusal of a file, with its place. All that Open, OpenAll, NewReader
// and Reader.All refuse is an *Error, and so is what the readers of pictures,
// class weights and names do.
type Error = input.Error

// reading says what a file of examples holds.
var reading = input.Options{Want: "a file of examples", Forms: formats + "; folders of pictures go with a network"}
