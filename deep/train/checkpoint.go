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

// state is what a checkpoint holds beside the variables, in its metadata. With seed and
// epoch all that is drawn is drawn again, so there is no state of a generator in it.
type state struct {
	About     string  `json:"about"`
	Seed      uint64  `json:"seed"`
	Epoch     int     `json:"epoch"` // whole epochs done: where the data go on
	Step      int     `json:"step"`
	Loss      float64 `json:"loss"`
	Best      *Valid  `json:"best,omitempty"`
	BestEpoch int     `json:"best_epoch"`
}

// ErrCheckpoint says that a folder holds the checkpoint of another run, which New
// does not write over.
var ErrCheckpoint = errors.New("there is a checkpoint already")

// begin takes up the checkpoint if asked to, or sees that there is none. A checkpoint of
// other options, as About says them, is an error: to go on from it would mix two trainings.
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
	f, err := readWhole(path)
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal([]byte(f.Metadata["training"]), &s); err != nil {
		return fmt.Errorf("train: %s is no checkpoint: %w", path, err)
	}
	if s.About != t.opts.About || s.Seed != t.opts.Seed {
		return fmt.Errorf("train: %s is of another training (%s, seed %d; this one is %s, seed %d); give the same options", path, s.About, s.Seed, t.opts.About, t.opts.Seed)
	}
	t.state = s
	if err := restore(t.store, f); err != nil {
		return err
	}
	return t.cutLog()
}

// readWhole reads a file that save wrote; a damaged one is an error by its checksum.
func readWhole(path string) (*safetensors.File, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// save writes the events, the best weights, the line of the log and, last, the
// checkpoint: a run that breaks off in between repeats the epoch and writes the
// same again. Without a folder the best weights stay in memory.
func (t *Trainer) save(p Progress, took time.Duration) error {
	if err := t.writeEvents(p); err != nil {
		return err
	}
	best := t.state.Best != nil && t.state.BestEpoch == t.state.Epoch
	if t.opts.Folder == "" && !best {
		return nil
	}
	// One copy of all variables for both files.
	f, err := t.snapshot()
	if err != nil {
		return err
	}
	if t.opts.Folder == "" {
		t.best = f
		return nil
	}
	if best {
		if err := safetensors.WriteFile(filepath.Join(t.opts.Folder, bestFile), f); err != nil {
			return err
		}
	}
	if err := t.log(p, took); err != nil {
		return err
	}
	return safetensors.WriteFile(filepath.Join(t.opts.Folder, checkpointFile), f)
}

// takeBest puts the best weights into the store, if these are not the last, and all that
// belongs to them: the moving averages of batch norm are those of that epoch, too.
func (t *Trainer) takeBest() (err error) {
	if t.state.Best == nil || t.state.BestEpoch == t.state.Epoch {
		return nil
	}
	f := t.best
	if t.opts.Folder != "" {
		if f, err = readWhole(filepath.Join(t.opts.Folder, bestFile)); err != nil {
			return err
		}
	}
	return restore(t.store, f)
}

// unsigned ends the name of a tensor whose numbers are uint64, kept as int64 of the
// same bits: the random state of GoMLX, which is never trained.
const unsigned = ".uint64"

// snapshot copies the variables, but for metrics, and the state.
func (t *Trainer) snapshot() (*safetensors.File, error) {
	about, err := json.Marshal(t.state)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{"training": string(about)}}
	for v := range t.store.IterVariables() {
		if strings.HasPrefix(v.Path(), "/metrics/") {
			continue
		}
		x, err := tensorOf(v)
		if err != nil {
			return nil, fmt.Errorf("train: variable %s: %w", v.Path(), err)
		}
		f.Tensors = append(f.Tensors, x)
	}
	return f, nil
}

// tensorOf copies a variable of float32, int64 or uint64; the last have names of their
// own, as safetensors here has no such type. Another type is an error.
func tensorOf(v *model.Variable) (safetensors.Tensor, error) {
	value, err := v.Value()
	if err != nil {
		return safetensors.Tensor{}, err
	}
	dims := v.Shape().Dimensions
	switch v.DType() {
	case dtypes.Float32:
		x, err := tensors.CopyFlatData[float32](value)
		return safetensors.New(v.Path(), x, dims...), err
	case dtypes.Int64:
		x, err := tensors.CopyFlatData[int64](value)
		return safetensors.New(v.Path(), x, dims...), err
	case dtypes.Uint64:
		x, err := tensors.CopyFlatData[uint64](value)
		return safetensors.New(v.Path()+unsigned, converted[int64](x), dims...), err
	}
	return safetensors.Tensor{}, fmt.Errorf("type %s, want float32, int64 or uint64", v.DType())
}

// restore puts the variables of a snapshot into a store.
func restore(store *model.Store, f *safetensors.File) error {
	for i := range f.Tensors {
		t := &f.Tensors[i]
		value, err := valueOf(t)
		if err != nil {
			return err
		}
		path, random := strings.CutSuffix(t.Name, unsigned)
		v := store.GetVariable(path)
		if v == nil {
			v = store.VariableWithValue(path, value)
		} else if err := v.SetValue(value); err != nil {
			return fmt.Errorf("train: variable %s: %w", path, err)
		}
		if random {
			v.SetTrainable(false)
		}
	}
	return nil
}

// valueOf is the reverse of tensorOf: a copy, as a tensor of a file shares the memory
// of all.
func valueOf(t *safetensors.Tensor) (*tensors.Tensor, error) {
	if t.DType == safetensors.I64 {
		x, err := t.Int64s()
		switch {
		case err != nil:
			return nil, err
		case strings.HasSuffix(t.Name, unsigned):
			return tensors.FromFlatDataAndDimensions(converted[uint64](x), t.Shape...), nil
		}
		return tensors.FromFlatDataAndDimensions(slices.Clone(x), t.Shape...), nil
	}
	x, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	return tensors.FromFlatDataAndDimensions(slices.Clone(x), t.Shape...), nil
}

// converted returns whole numbers of the same bits.
func converted[To, From int64 | uint64](x []From) []To {
	out := make([]To, len(x))
	for i, n := range x {
		out[i] = To(n)
	}
	return out
}
