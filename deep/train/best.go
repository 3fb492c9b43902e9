package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// rememberBest keeps the variables in memory, for a training without a folder.
func (t *Trainer) rememberBest() error {
	t.best = nil
	for v := range t.store.IterVariables() {
		x, err := tensorOf(v)
		if err != nil {
			return fmt.Errorf("train: variable %s: %w", v.Path(), err)
		}
		t.best = append(t.best, x)
	}
	return nil
}

// takeBest puts the best weights into the store, if these are not the last.
func (t *Trainer) takeBest() error {
	if t.state.Best == nil || t.state.BestEpoch == t.state.Epoch {
		return nil
	}
	f := &safetensors.File{Tensors: t.best}
	if t.opts.Folder != "" {
		var err error
		if f, err = safetensors.ReadFile(filepath.Join(t.opts.Folder, bestFile)); err != nil {
			return err
		}
		if err := f.Verify(); err != nil {
			return fmt.Errorf("train: best weights: %w", err)
		}
	}
	return read(t.store, f)
}

// line is an epoch in the log.
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

func (t *Trainer) log(p Progress, took time.Duration) error {
	f, err := os.OpenFile(filepath.Join(t.opts.Folder, logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	text, err := json.Marshal(line{Epoch: p.Epoch, Step: t.state.Step, Loss: p.Loss, Accuracy: p.Accuracy,
		Rate: t.epochRate(p.Epoch), Valid: p.Valid, PerSecond: p.PerSecond, Seconds: took.Seconds()})
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
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
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	var keep []byte
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) == nil && l.Epoch <= t.state.Epoch && bytes.HasSuffix(text, []byte("\n")) {
			keep = append(keep, text...)
		}
	}
	if len(keep) == len(data) {
		return nil
	}
	if err := atomicfile.WriteBytes(path, keep); err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	return nil
}
