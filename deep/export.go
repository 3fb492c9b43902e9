package deep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/internal/safetensors"
)

// notExported are the scopes of a store that are no part of the model.
var notExported = []string{"/optimizers/", "/metrics/", "/#rngState", "/global_step"}

// Export writes the float32 variables of a model to a safetensors file, each
// under its path without the first slash: a folded head is "dense/weights" [d, k]
// and "dense/biases" [k]. Optimiser, metrics and random state stay out. The file
// is replaced whole or not at all.
func Export(store *model.Store, file string, metadata map[string]string) error {
	out := &safetensors.File{Metadata: metadata}
	for v := range store.IterVariables() {
		if v.DType() != dtypes.Float32 || slices.ContainsFunc(notExported, func(s string) bool { return strings.HasPrefix(v.Path(), s) }) {
			continue
		}
		x, dims, err := values(store, v.Path(), -1)
		if err != nil {
			return err
		}
		out.Tensors = append(out.Tensors, safetensors.Float32(strings.TrimPrefix(v.Path(), "/"), x, dims...))
	}
	if len(out.Tensors) == 0 {
		return fmt.Errorf("deep: export to %s: the store has no model; train or load one first", file)
	}
	return safetensors.WriteFile(file, out)
}

// Import puts the tensors of a file that Export wrote into a store, replacing
// variables of the same names. F16 and BF16 are widened; other types than these
// and F32 are errors, and so is a shape other than that of a variable that is
// there already. It returns the metadata of the file.
func Import(store *model.Store, file string) (map[string]string, error) {
	in, err := safetensors.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i := range in.Tensors {
		t := &in.Tensors[i]
		x, err := t.Float32s()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := put(store, "/"+t.Name, slices.Clone(x), t.Shape); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return in.Metadata, nil
}

func put(store *model.Store, path string, x []float32, dims []int) error {
	value := tensors.FromFlatDataAndDimensions(x, dims...)
	v := store.GetVariable(path)
	if v == nil {
		store.VariableWithValue(path, value)
		return nil
	}
	if !slices.Equal(v.Shape().Dimensions, dims) {
		return fmt.Errorf("deep: tensor %s has shape %v, the model wants %v", path, dims, v.Shape().Dimensions)
	}
	return v.SetValue(value)
}
