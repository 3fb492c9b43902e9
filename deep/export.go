package deep

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// vectorsPath is where a store keeps the vectors of the classes, k x dimensions,
// under the name that softmax's models give them.
const vectorsPath = "/label_vectors"

// PutVectors puts what is known about the classes as vectors into a store, for
// Export; nil takes it out. The network does not use it.
func PutVectors(store *model.Store, vectors *matrix.Dense) error {
	if vectors == nil {
		if store.GetVariable(vectorsPath) == nil {
			return nil
		}
		return store.DeleteVariable(vectorsPath)
	}
	value := tensors.FromFlatDataAndDimensions(slices.Clone(vectors.Data), vectors.Rows(), vectors.Cols())
	if err := Put(store, vectorsPath, value); err != nil {
		return err
	}
	store.GetVariable(vectorsPath).SetTrainable(false)
	return nil
}

// Vectors returns the vectors of k classes that PutVectors put into a store, nil
// if there are none. Others than k, and such as are no numbers, are errors.
func Vectors(store *model.Store, k int) (*matrix.Dense, error) {
	if store.GetVariable(vectorsPath) == nil {
		return nil, nil
	}
	x, dims, err := values(store, vectorsPath)
	if err != nil {
		return nil, err
	}
	if len(dims) != 2 || dims[0] != k {
		return nil, fmt.Errorf("deep: vectors of shape %v for %d classes", dims, k)
	}
	vectors := &matrix.Dense{Columns: dims[1], Data: x}
	return vectors, vectors.Check()
}

// Parameters counts the trained numbers of a model: all float32 variables that
// Export writes but those whose names say that they are not trained.
func Parameters(store *model.Store, untrained ...string) int {
	n := 0
	for v := range exported(store) {
		if v.Path() != vectorsPath && !slices.Contains(untrained, v.Name()) {
			n += v.Shape().Size()
		}
	}
	return n
}

// exported yields the variables that are part of the model: those of float32 but for
// what optimizers, metrics and GoMLX itself keep.
func exported(store *model.Store) iter.Seq[*model.Variable] {
	return func(yield func(*model.Variable) bool) {
		for v := range store.IterVariables() {
			other := slices.ContainsFunc([]string{"/optimizers/", "/metrics/", "/#rngState", "/global_step"},
				func(scope string) bool { return strings.HasPrefix(v.Path(), scope) })
			if v.DType() == dtypes.Float32 && !other && !yield(v) {
				return
			}
		}
	}
}

// Export writes the float32 variables of a model to a safetensors file, each
// under its path without the first slash: a folded head is "dense/weights" [d, k]
// and "dense/biases" [k]. Optimiser, metrics and random state stay out. The file
// is replaced whole or not at all.
func Export(store *model.Store, file string, metadata map[string]string) error {
	out := &safetensors.File{Metadata: metadata}
	for v := range exported(store) {
		x, dims, err := values(store, v.Path())
		if err != nil {
			return err
		}
		out.Tensors = append(out.Tensors, safetensors.New(strings.TrimPrefix(v.Path(), "/"), x, dims...))
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
	if err := ImportFrom(store, in); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return in.Metadata, nil
}

// ImportFrom is Import of a file that was read already. The numbers are copied.
func ImportFrom(store *model.Store, in *safetensors.File) error {
	for i := range in.Tensors {
		t := &in.Tensors[i]
		x, err := t.Float32s()
		if err != nil {
			return err
		}
		if err := Put(store, "/"+t.Name, tensors.FromFlatDataAndDimensions(slices.Clone(x), t.Shape...)); err != nil {
			return err
		}
	}
	return nil
}

// Put puts a value into a store, in place of that of a variable with this path, which
// must have the same shape, or as a new variable.
func Put(store *model.Store, path string, value *tensors.Tensor) error {
	v := store.GetVariable(path)
	if v == nil {
		store.VariableWithValue(path, value)
		return nil
	}
	if !slices.Equal(v.Shape().Dimensions, value.Shape().Dimensions) {
		return fmt.Errorf("deep: tensor %s has shape %v, want %v", path, value.Shape().Dimensions, v.Shape().Dimensions)
	}
	return v.SetValue(value)
}
