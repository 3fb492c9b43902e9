package train

import (
	"fmt"

	"github.com/treeloss/treeloss/internal/tensorboard"
)

// openEvents begins an event file for what is left to train, if one is wanted.
func (t *Trainer) openEvents() (err error) {
	if t.opts.TensorBoard == "" || t.over() {
		return nil
	}
	if t.events, err = tensorboard.Create(t.opts.TensorBoard, int64(t.state.Step)+1); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// writeEvents adds an epoch to the event file.
func (t *Trainer) writeEvents(p Progress) error {
	if t.events == nil {
		return nil
	}
	values := []tensorboard.Scalar{
		{Tag: "loss/train", Value: p.Loss}, {Tag: "accuracy/train", Value: p.Accuracy},
		{Tag: "rate", Value: t.epochRate(p.Epoch)}, {Tag: "examples_per_second", Value: p.PerSecond},
	}
	if p.Valid != nil {
		values = append(values, tensorboard.Scalar{Tag: "loss/valid", Value: p.Valid.Loss}, tensorboard.Scalar{Tag: "accuracy/valid", Value: p.Valid.Accuracy})
	}
	if err := t.events.Scalars(int64(t.state.Step), values...); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// closeEvents ends the event file.
func (t *Trainer) closeEvents() {
	if t.events != nil {
		t.events.Close() // each epoch is in the file already
	}
}
