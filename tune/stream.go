package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/softmax"
)

// On streams SGD sees about so many examples if the number of epochs is not given: one
// epoch of ten million, ten of a million.
const (
	streamExamples  = 1e7
	maxStreamEpochs = 10
)

// fitStream trains on a stream by SGD or AdamW. Features are fitted on the rows, which
// are a sample of it, less those held out, which calibrate the probabilities. Of several
// methods it takes the first: with so many examples class information does not pay.
func fitStream(ctx context.Context, d *corpus.Data, rows []int, methods []Method, opts Options) (*Result, error) {
	m := methods[0]
	if m.Loss == SquaredHinge || m.Loss == CrossEntropyHinge {
		return nil, streamNeedsMemory(d, "loss "+string(m.Loss), "another loss with Options.Loss")
	}
	var held, sample []int
	for _, row := range rows {
		if row < d.Stream.Held {
			held = append(held, row)
		} else {
			sample = append(sample, row)
		}
	}
	sgd, _ := opts.Trainer.(softmax.SGD)
	switch opts.Trainer.(type) {
	case nil, softmax.SGD:
		if sgd.Epochs == 0 {
			sgd.Epochs = streamEpochs(d.Stream.Rows())
		}
		if sgd.Schedule == nil {
			sgd.Schedule = softmax.Cosine{}
		}
		opts.Trainer = sgd
	case softmax.AdamW:
	default:
		return nil, streamNeedsMemory(d, "training to convergence", "sgd or adamw with Options.Trainer")
	}
	r, f, o, err := prepareFinal(d, sample, m, opts.onlyPrior(m), opts)
	if err != nil {
		return nil, err
	}
	stream := d.Epochs(f, opts.Seed, opts.Threads)
	f.Examples = softmax.Examples{} // the stream has them
	r.Reason = "a stream"
	if len(methods) > 1 {
		r.Reason = "a stream: class information is used if Options.Sharing names it"
	}
	r.Layer, r.Record, err = softmax.FitStream(ctx, stream, len(d.Classes.Labels), o)
	if err != nil || len(held) == 0 {
		if r.Layer == nil {
			return nil, err
		}
		return r, err
	}
	return r, measure(d, held, r, opts)
}

// measure counts the right answers to held-out rows and calibrates a result by them.
func measure(d *corpus.Data, held []int, r *Result, opts Options) error {
	held = every(held, (len(held)*len(d.Classes.Labels)+maxHeldOutScores-1)/maxHeldOutScores)
	h := &heldOut{d: d, opts: opts, parts: []heldOutPart{{test: held}}}
	h.setTruth()
	x, err := r.Features.Matrix(d.Table, held)
	if err != nil {
		return err
	}
	a := &attempt{method: r.Method, prior: r.Prior, scores: classScores(r.Layer, x, opts.Threads)}
	if err := h.judge(a); err != nil {
		return err
	}
	calibration, err := h.calibrate(a, r, 0)
	if err != nil {
		return err
	}
	r.calibration, r.HeldOut, r.Candidates = &calibration, len(held), candidates([]*attempt{a})
	return nil
}

// streamEpochs is the number of epochs on so many examples if none is given.
func streamEpochs(rows int) int {
	return int(min(max(math.Round(streamExamples/float64(rows)), 1), maxStreamEpochs))
}

// streamNeedsMemory says what is not done on a stream.
func streamNeedsMemory(d *corpus.Data, what, other string) error {
	return fmt.Errorf("%s needs all examples in memory, and the %d here do not fit the budget of %s: raise it with Options.Memory, or give %s: %w",
		what, d.Stream.Rows(), memory.Text(memory.Budget(d.Memory)), other, corpus.ErrMemory)
}
