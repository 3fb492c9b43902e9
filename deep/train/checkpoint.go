package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/internal/safetensors"
)

// Files of a training folder.
const (
	checkpointFile = "checkpoint.safetensors" // all variables after the last whole epoch
	bestFile       = "best.safetensors"       // those after the best one
	logFile        = "log.jsonl"              // a line an epoch
)

// state is what a checkpoint holds beside the variables.
type state struct {
	About     string  `json:"about"`
	Seed      uint64  `json:"seed"`
	Epoch     int     `json:"epoch"` // whole epochs done: where the data go on
	Step      int     `json:"step"`
	Loss      float64 `json:"loss"`
	Best      *Valid  `json:"best,omitempty"`
	BestEpoch int     `json:"best_epoch"`

	keep bool // the last epoch is the best, and not kept yet
}

func (s state) bestOrLast() int {
	if s.Best == nil {
		return s.Epoch
	}
	return s.BestEpoch
}

// ErrCheckpoint says that a folder holds the checkpoint of another run, which New
// does not write over.
var ErrCheckpoint = errors.New("there is a checkpoint already")

// begin takes up the checkpoint if asked to, or sees that there is none.
func (t *Trainer) begin() error {
	t.state = state{About: t.opts.About, Seed: t.opts.Seed}
	if t.opts.Folder == "" {
		return nil
	}
	path := filepath.Join(t.opts.Folder, checkpointFile)
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !t.opts.Resume:
		return os.MkdirAll(t.opts.Folder, 0o777)
	case err != nil && t.opts.Resume:
		return fmt.Errorf("train: nothing to resume: %w", err)
	case err != nil:
		return fmt.Errorf("train: %w", err)
	case !t.opts.Resume:
		return fmt.Errorf("train: %w: %s; resume it, or remove it or choose another folder to start anew", ErrCheckpoint, path)
	}
	s, err := load(t.store, path)
	if err != nil {
		return err
	}
	if s.About != t.opts.About || s.Seed != t.opts.Seed {
		return fmt.Errorf("train: %s is of another training (%s, seed %d; this one is %s, seed %d); give the same options", path, s.About, s.Seed, t.opts.About, t.opts.Seed)
	}
	t.state = s
	return t.cutLog()
}

// save writes the events, the best weights, the line of the log and, last, the
// checkpoint: a run that breaks off in between repeats the epoch and writes the
// same again.
func (t *Trainer) save(p Progress, took time.Duration) error {
	if err := t.writeEvents(p); err != nil {
		return err
	}
	if t.opts.Folder == "" {
		if t.state.keep {
			t.state.keep = false
			return t.rememberBest()
		}
		return nil
	}
	if t.state.keep {
		t.state.keep = false
		if err := save(t.store, filepath.Join(t.opts.Folder, bestFile), t.state); err != nil {
			return err
		}
	}
	if err := t.log(p, took); err != nil {
		return err
	}
	return save(t.store, filepath.Join(t.opts.Folder, checkpointFile), t.state)
}

// save writes the variables of a store, but for metrics, and a state.
func save(store *model.Store, path string, s state) error {
	about, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{"training": string(about)}}
	for v := range store.IterVariables() {
		if strings.HasPrefix(v.Path(), "/metrics/") {
			continue
		}
		x, err := tensorOf(v)
		if err != nil {
			return fmt.Errorf("train: variable %s: %w", v.Path(), err)
		}
		f.Tensors = append(f.Tensors, x)
	}
	return safetensors.WriteFile(path, f)
}

func tensorOf(v *model.Variable) (safetensors.Tensor, error) {
	value, err := v.Value()
	if err != nil {
		return safetensors.Tensor{}, err
	}
	dims := v.Shape().Dimensions
	switch v.DType() {
	case dtypes.Float32:
		x, err := tensors.CopyFlatData[float32](value)
		return safetensors.Float32(v.Path(), x, dims...), err
	case dtypes.Int64:
		x, err := tensors.CopyFlatData[int64](value)
		return safetensors.Int64(v.Path(), x, dims...), err
	case dtypes.Uint64: // the random state, as bytes
		x, err := tensors.CopyFlatData[uint64](value)
		out := make([]int64, len(x))
		for i, n := range x {
			out[i] = int64(n)
		}
		return safetensors.Int64(v.Path()+unsigned, out, dims...), err
	}
	return safetensors.Tensor{}, fmt.Errorf("type %s, want float32, int64 or uint64", v.DType())
}

// unsigned ends the name of a tensor whose numbers are uint64.
const unsigned = ".uint64"

// load reads what save wrote into an empty store. The state of a file without
// one is an error, as is a damaged file.
func load(store *model.Store, path string) (state, error) {
	var s state
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := f.Verify(); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal([]byte(f.Metadata["training"]), &s); err != nil {
		return s, fmt.Errorf("train: %s is no checkpoint: %w", path, err)
	}
	return s, read(store, f)
}

// read puts tensors into a store. What is no weight is never trained.
func read(store *model.Store, f *safetensors.File) error {
	for i := range f.Tensors {
		t := &f.Tensors[i]
		var value *tensors.Tensor
		if t.DType == safetensors.I64 {
			x, err := t.Int64s()
			if err != nil {
				return err
			}
			if name, ok := strings.CutSuffix(t.Name, unsigned); ok {
				out := make([]uint64, len(x))
				for i, n := range x {
					out[i] = uint64(n)
				}
				store.VariableWithValue(name, tensors.FromFlatDataAndDimensions(out, t.Shape...)).SetTrainable(false)
				continue
			}
			value = tensors.FromFlatDataAndDimensions(slices.Clone(x), t.Shape...)
		} else {
			x, err := t.Float32s()
			if err != nil {
				return err
			}
			value = tensors.FromFlatDataAndDimensions(slices.Clone(x), t.Shape...)
		}
		if v := store.GetVariable(t.Name); v != nil {
			if err := v.SetValue(value); err != nil {
				return fmt.Errorf("train: variable %s: %w", t.Name, err)
			}
			continue
		}
		store.VariableWithValue(t.Name, value)
	}
	return nil
}
