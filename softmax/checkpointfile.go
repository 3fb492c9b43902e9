package softmax

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/safetensors"
)

// A checkpoint file is a safetensors file: the arrays under "state.", the best
// layer as "best.weight" (d x outputs) and "best.bias", and in the metadata
// "format", "format_version", "fingerprint" and "progress" (JSON).
const (
	checkpointFormat  = "treeloss-checkpoint"
	checkpointVersion = "1"

	statePrefix = "state."
	bestWeight  = "best.weight"
	bestBias    = "best.bias"
)

// ErrCheckpoint says that a file is no checkpoint that this program can use.
var ErrCheckpoint = errors.New("not a usable checkpoint")

// checkpointProgress is the part of a Checkpoint that is no array.
type checkpointProgress struct {
	*Checkpoint
	Classes int `json:"classes,omitempty"` // of the best layer
}

// SaveCheckpoint writes c to path: the old file or the new one is there, whole,
// whatever happens in between. The fingerprint is the caller's own note of the
// data and options that c belongs to; LoadCheckpoint hands it back.
func SaveCheckpoint(path, fingerprint string, c *Checkpoint) error {
	about := checkpointProgress{Checkpoint: c}
	f := &safetensors.File{}
	for _, name := range slices.Sorted(maps.Keys(c.Arrays)) {
		a := c.Arrays[name]
		f.Tensors = append(f.Tensors, safetensors.New(statePrefix+name, a, len(a)))
	}
	if b := c.Best; b != nil {
		about.Classes = b.Classes
		f.Tensors = append(f.Tensors,
			safetensors.New(bestWeight, b.Weight, b.Features, len(b.Bias)),
			safetensors.New(bestBias, b.Bias, len(b.Bias)))
	}
	text, err := json.Marshal(about)
	if err != nil {
		return fmt.Errorf("softmax: checkpoint: %w", err)
	}
	f.Metadata = map[string]string{
		"format":         checkpointFormat,
		"format_version": checkpointVersion,
		"fingerprint":    fingerprint,
		"progress":       string(text),
	}
	return safetensors.WriteFile(path, f)
}

// LoadCheckpoint reads what SaveCheckpoint wrote, and its fingerprint. A file
// that is truncated, altered, of another version or kind is an error that
// wraps ErrCheckpoint; one that cannot be read is an error of the system.
func LoadCheckpoint(path string) (c *Checkpoint, fingerprint string, err error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		if system := (*fs.PathError)(nil); errors.As(err, &system) {
			return nil, "", err
		}
		return nil, "", fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	if c, err = checkpointOf(f); err != nil {
		return nil, "", fmt.Errorf("%s: %w: %w", path, ErrCheckpoint, err)
	}
	return c, f.Metadata["fingerprint"], nil
}

// checkpointOf takes a file apart. It refuses tensors that it does not know, as they
// might be a part of the state that this program would lose.
func checkpointOf(f *safetensors.File) (*Checkpoint, error) {
	if format, version := f.Metadata["format"], f.Metadata["format_version"]; format != checkpointFormat || version != checkpointVersion {
		return nil, fmt.Errorf("format %q, version %q, want %q, version %q", format, version, checkpointFormat, checkpointVersion)
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	c := &Checkpoint{Arrays: make(map[string][]float32)}
	about := checkpointProgress{Checkpoint: c}
	if err := json.Unmarshal([]byte(f.Metadata["progress"]), &about); err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	for n := range f.Tensors {
		t := &f.Tensors[n]
		x, err := t.Float32s()
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutPrefix(t.Name, statePrefix); ok {
			c.Arrays[name] = x
			continue
		}
		if c.Best == nil {
			c.Best = &Layer{Classes: about.Classes}
		}
		switch {
		case t.Name == bestWeight && len(t.Shape) == 2:
			c.Best.Weight, c.Best.Features = x, t.Shape[0]
		case t.Name == bestBias:
			c.Best.Bias = x
		default:
			return nil, fmt.Errorf("a tensor %q of shape %v that no checkpoint has", t.Name, t.Shape)
		}
	}
	return c, nil
}
