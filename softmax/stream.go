package softmax

import (
	"context"
	"fmt"
	"iter"

	"github.com/treeloss/treeloss/matrix"
)

// Stream is examples that memory does not hold: a trainer that runs in epochs has
// them block by block, again in each epoch.
type Stream struct {
	Features    int     // d
	Dense       bool    // whether the rows of blocks are matrix.Dense, else they are matrix.Sparse
	Mixed       bool    // whether blocks may have a Mix
	Rows        int     // of all blocks
	Weight      float64 // sum of the weights; 0: as many as rows
	SquaredNorm float64 // mean of ‖x‖², or an estimate by some of the rows; it scales the rate. 0: 1
	Blocks      int     // in an epoch; 0: 1
	Fingerprint string  // of all examples, for checkpoints

	// Epoch yields the blocks of an epoch, from 0, in the order to train on; the rows
	// of a block are shuffled. A block is done with when the next is asked for. An
	// error ends training.
	Epoch func(ctx context.Context, epoch int) iter.Seq2[Examples, error]
}

// FitStream is Fit for a Stream, by SGD or AdamW. The rate of a Cosine schedule
// falls from block to block. Memory is that of the weights, with momentum, AdamW or
// an average as often again for each, and of the blocks that Epoch makes; it does
// not grow with the rows.
func FitStream(ctx context.Context, s Stream, k int, opts Options) (*Layer, Record, error) {
	if s.Rows < 1 || s.Features < 1 || k < 1 || s.Epoch == nil {
		return nil, Record{}, fmt.Errorf("softmax: a stream of %d examples with %d features and %d classes, want at least one of each: %w", s.Rows, s.Features, k, ErrOptions)
	}
	opts, err := opts.checked(k, s.Features, []float64{opts.Prior})
	if err != nil {
		return nil, Record{}, err
	}
	src := s.source(k)
	switch trainer := opts.Trainer.(type) {
	case SGD:
		return trainSGD[float32](ctx, src, opts, trainer, opts.Prior)
	case AdamW:
		return trainAdamW[float32](ctx, src, opts, trainer, opts.Prior)
	}
	return nil, Record{}, fmt.Errorf("softmax: a stream is trained on by SGD or AdamW, not by %T: %w", opts.Trainer, ErrOptions)
}

// source is where a trainer in epochs has its examples from: all at once from
// memory, or block by block from a Stream.
type source struct {
	form        Examples // examples that are like all others in form; of a stream none
	features    int
	rows        int
	weight      float64 // sum of all
	squaredNorm float64 // mean of ‖x‖²
	blocks      int     // in an epoch
	fingerprint func() string
	epoch       func(ctx context.Context, epoch int) iter.Seq2[Examples, error]
}

// meanWeight is the mean weight of an example.
func (s *source) meanWeight() float64 { return s.weight / float64(s.rows) }

// source returns the examples as the only block of every epoch.
func (ex Examples) source() *source {
	return &source{
		form: ex, features: ex.X.Cols(), rows: ex.X.Rows(), weight: ex.totalWeight(), squaredNorm: ex.meanSquaredNorm(),
		blocks: 1, fingerprint: ex.fingerprint,
		epoch: func(context.Context, int) iter.Seq2[Examples, error] {
			return func(yield func(Examples, error) bool) { yield(ex, nil) }
		},
	}
}

// source checks each block as it comes. Its form is an example set of no rows, which
// tells sparse from dense and whether there are mixes.
func (s Stream) source(k int) *source {
	src := &source{features: s.Features, rows: s.Rows, weight: s.Weight, squaredNorm: s.SquaredNorm, blocks: max(s.Blocks, 1),
		fingerprint: func() string { return s.Fingerprint },
		epoch: func(ctx context.Context, epoch int) iter.Seq2[Examples, error] {
			return func(yield func(Examples, error) bool) {
				for ex, err := range s.Epoch(ctx, epoch) {
					if err == nil {
						err = ex.checkBlock(k, s.Features)
					}
					if !yield(ex, err) || err != nil {
						return
					}
				}
			}
		}}
	src.form.X = &matrix.Sparse{Columns: s.Features, Start: []int{0}}
	if s.Dense {
		src.form.X = &matrix.Dense{Columns: s.Features}
	}
	if s.Mixed {
		src.form.Mix = &matrix.Sparse{Columns: k, Start: []int{0}}
	}
	if src.weight == 0 {
		src.weight = float64(s.Rows)
	}
	if src.squaredNorm == 0 {
		src.squaredNorm = 1
	}
	return src
}

// checkBlock returns an error if a block is none of a stream of d features, or its
// parts do not fit together.
func (ex Examples) checkBlock(k, d int) error {
	if ex.X == nil || ex.X.Cols() != d {
		return fmt.Errorf("softmax: a block of a stream without examples of %d features", d)
	}
	return ex.checkParts(k, false)
}

// rateFactor is the factor of a schedule in a block of an epoch, both from 0. A
// cosine goes on from block to block; the steps of others are those of epochs.
func rateFactor(s Schedule, epoch, epochs, block, blocks int) float64 {
	switch s := s.(type) {
	case nil:
		return 1
	case Cosine:
		return s.Factor(epoch*blocks+block, epochs*blocks)
	}
	return s.Factor(epoch, epochs)
}
