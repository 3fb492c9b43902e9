// Package classify runs trained models over examples, whatever kind of model it is:
//
//	file --Load--> softmax.Model --Linear--> Classifier --Open--> Examples --Each--> probabilities
//
// Networks are classifiers, too: package deep/anymodel opens any model file.
package classify

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Classifier is a trained model of any kind.
type Classifier interface {
	About() About

	// Open opens examples of the kind that the model was trained on.
	Open(in Input) (Examples, error)

	// Runners returns up to n Runners, at least 1: as many as may run at the same
	// time. A network, which spreads its work itself, has one; while that runs, nothing
	// that Open returned may.
	Runners(n int) ([]Runner, error)

	// Close frees what the model holds. Its examples are of no use then.
	Close() error
}

// Runner classifies examples in memory, one call at a time; a picture is the bytes of its
// JPEG or PNG file as Example.Text. It calls visit, on the
// goroutine of the caller, with the place of each example, in order, and the
// probabilities of the k classes, which are those of Examples.Each to the last bit and valid until visit
// returns. It returns how many examples there are before the first error: of visit, of
// an example that the model cannot be applied to, or of ctx.
type Runner func(ctx context.Context, block []dataset.Example, visit func(at int, p []float32) error) (int, error)

// Kind is what a model is made of and looks at.
type Kind string

// The kinds of models.
const (
	LinearModel     Kind = "a linear model and no network"
	PictureNetwork  Kind = "a network on pictures"
	LanguageNetwork Kind = "a network on texts"
)

// About is what a model knows beside its weights.
type About struct {
	Kind        Kind
	Like        Like                 // its examples; of pictures without meaning
	Labels      []string             // k names of classes
	Tree        *labeltree.Tree      // over the classes; nil: none
	Vectors     *matrix.Dense        // k x dimensions, of the classes; nil: none
	Temperature float64              // of the probabilities, 1 unless calibrated
	Calibrated  bool                 // by rows that it was not trained on
	Answers     *decide.RiskCoverage // to these rows, by Tree; nil: not counted
	Balanced    bool                 // answers by other class frequencies than those of the training, and of these rows

	// Multilabel has the thresholds of a model of examples that may have several labels,
	// whose probabilities do not sum to 1; nil: each example is of one class.
	Multilabel *softmax.Multilabel
}

// Input names examples and says how to read them.
type Input struct {
	Paths      []string        // files, or "-" alone for Stdin
	Stdin      io.Reader       // what "-" reads
	Live       bool            // Stdin may pause behind an example, whose answer is to come at once
	Options    dataset.Options // what is left open is read as in training
	ClassNames string          // of pictures, in place of those beside them: a file as package images takes it
	Threads    int             // 0: one a CPU; never changes a result
}

// Stream tells whether the input is Stdin.
func (in Input) Stream() bool { return slices.Equal(in.Paths, []string{"-"}) }

// StdinName is how messages call the standard input.
const StdinName = "standard input"

// Name is how messages call the first file.
func (in Input) Name() string {
	if in.Stream() {
		return StdinName
	}
	return in.Paths[0]
}

// Examples are examples on their way through a model.
type Examples interface {
	Describe() string // how they are understood, in a line
	Workers() int     // goroutines that call visit
	BlockSize() int   // the largest block

	// Each classifies the examples block by block. It calls visit with each and the
	// probabilities of the k classes, which sum to 1 (but see About.Multilabel) and are valid until it returns;
	// at is the place in the block, worker from 0 to Workers()-1. Then it calls
	// done with the whole block, in order. After an error of an example done still
	// gets those before it. How the examples are cut into blocks changes no answer.
	//
	// The Place of a picture of a folder has its name in it, and no line.
	Each(ctx context.Context, visit Visit, done func(block []dataset.Example) error) error

	Close() error
}

// Visit is what is done with an example, and its probabilities.
type Visit func(worker, at int, x dataset.Example, p []float32) error

// Records are Examples of a reader of texts or numbers.
type Records struct {
	Reader  *dataset.Reader
	Block   int  // most examples that are read before any is classified
	Live    bool // do not wait for an example while others have no answer
	Threads int

	// Run calls visit with the probabilities of each example of a block, and returns
	// how many there are before the first error.
	Run func(ctx context.Context, block []dataset.Example, visit func(worker, at int, p []float32) error) (int, error)
}

// Describe says how the columns of the examples were chosen.
func (r *Records) Describe() string { return r.Reader.Describe() }

// Workers returns the number of goroutines.
func (r *Records) Workers() int { return r.Threads }

// BlockSize returns Block.
func (r *Records) BlockSize() int { return r.Block }

// Close closes the files.
func (r *Records) Close() error { return r.Reader.Close() }

// Each classifies all records.
func (r *Records) Each(ctx context.Context, visit Visit, done func(block []dataset.Example) error) error {
	var block []dataset.Example
	flush := func() error {
		n, err := r.Run(ctx, block, func(worker, at int, p []float32) error { return visit(worker, at, block[at], p) })
		if failed := done(block[:n]); failed != nil {
			return failed
		}
		block = block[:0]
		return err
	}
	for e, err := range r.Reader.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return cmp.Or(flush(), err)
		}
		if block = append(block, e.Clone()); len(block) == r.Block || r.Live && !r.Reader.Ready() {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
