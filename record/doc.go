// Package record has what one example is: a text, or numbers, with its label, its weight
// and the place where it was found.
//
// It stands below the readers of files in package dataset, which calls these types by the
// same names, so that a program which only loads a model and predicts links none of them.
package record
