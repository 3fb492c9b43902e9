package train

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/tensorboard"
)

// line is an epoch in the log. Losses are in nats, the rate is that at the start of the
// epoch, seconds are those of the epoch with its evaluation.
type line struct {
	Epoch     int     `json:"epoch"`
	Step      int     `json:"step"`
	Loss      float64 `json:"loss"`
	Accuracy  float64 `json:"accuracy"`
	Rate      float64 `json:"rate"`
	Valid     *Valid  `json:"valid,omitempty"`
	PerSecond float64 `json:"examples_per_second"`
	Seconds   float64 `json:"seconds"`
}

// log adds an epoch to the log of the folder, as JSON lines: a file that is appended to loses
// no earlier line however the run ends.
func (t *Trainer) log(p Progress, took time.Duration) error {
	text, err := json.Marshal(line{Epoch: p.Epoch, Step: t.state.Step, Loss: p.Loss, Accuracy: p.Accuracy,
		Rate: t.epochRate(p.Epoch), Valid: p.Valid, PerSecond: p.PerSecond, Seconds: took.Seconds()})
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(t.opts.Folder, logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err = cmp.Or(err, f.Close()); err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	return nil
}

// cutLog drops lines of the log that are not of epochs of the checkpoint: one
// that broke off, or what a run wrote that is to be repeated.
func (t *Trainer) cutLog() error {
	path := filepath.Join(t.opts.Folder, logFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var keep []byte
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) == nil && l.Epoch <= t.state.Epoch && bytes.HasSuffix(text, []byte("\n")) {
			keep = append(keep, text...)
		}
	}
	if err == nil && len(keep) < len(data) {
		err = atomicfile.WriteBytes(path, keep)
	}
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	return nil
}

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
	if v := p.Valid; v != nil {
		values = append(values, tensorboard.Scalar{Tag: "loss/valid", Value: v.Loss}, tensorboard.Scalar{Tag: "accuracy/valid", Value: v.Accuracy})
	}
	if err := t.events.Scalars(int64(t.state.Step), values...); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}
