package deep

import (
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/sharing"
)

// Weights returns W = A V, k x d row-major, and b of the layer that Dense built
// in the scope with this path ("/" for the root), or that Fold has folded. A scope
// without such a layer, of other shapes or types than s makes, is an error.
func Weights(store *model.Store, path string, s sharing.Sharing) (w, b []float32, err error) {
	path = model.JoinPath(path, denseScope)
	b, shape, err := values(store, model.JoinPath(path, biasesName))
	if err != nil {
		return nil, nil, err
	}
	k := s.Classes()
	if len(b) != k {
		return nil, nil, fmt.Errorf("deep: biases in %s have shape %v, want [%d]", path, shape, k)
	}
	if store.GetVariable(model.JoinPath(path, sharedName)) == nil {
		turned, d, err := values(store, model.JoinPath(path, weightsName))
		if err != nil {
			return nil, nil, err
		}
		if len(d) != 2 || d[1] != k {
			return nil, nil, fmt.Errorf("deep: weights in %s have shape %v, want [features, %d]", path, d, k)
		}
		return kernel.Transposed(turned, d[0], d[1]), b, nil
	}
	v, d, err := values(store, model.JoinPath(path, sharedName))
	if err != nil {
		return nil, nil, err
	}
	if len(d) != 2 || d[0] != s.Rows() {
		return nil, nil, fmt.Errorf("deep: shared weights in %s have shape %v, want %d rows; take the sharing that trained them", path, d, s.Rows())
	}
	w = make([]float32, k*d[1])
	sharing.NewOperator[float32](s).Expand(w, v, d[1])
	return w, b, nil
}

// Fold makes a plain dense layer of what Dense trained in the scope with this
// path: its V is replaced by the weights W = A V, so that
// layers.Dense(scope, x, true, k) finds its own and gives the same logits. A layer
// that is folded already stays as it is.
func Fold(store *model.Store, path string, s sharing.Sharing) error {
	w, _, err := Weights(store, path, s)
	if err != nil {
		return err
	}
	shared := model.JoinPath(path, denseScope, sharedName)
	if store.GetVariable(shared) == nil {
		return nil
	}
	k := s.Classes()
	d := len(w) / k
	store.VariableWithValue(model.JoinPath(path, denseScope, weightsName), tensors.FromFlatDataAndDimensions(kernel.Transposed(w, k, d), d, k))
	if err := store.DeleteVariable(shared); err != nil {
		return fmt.Errorf("deep: fold: %w", err)
	}
	return nil
}

// values returns a copy of the numbers of a float32 variable, and its shape.
func values(store *model.Store, path string) (x []float32, shape []int, err error) {
	v := store.GetVariable(path)
	if v == nil {
		return nil, nil, fmt.Errorf("deep: no variable %s; build the model with deep.Dense and train or load it first", path)
	}
	t, err := v.Value()
	if err == nil {
		x, err = tensors.CopyFlatData[float32](t)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("deep: variable %s: %w", path, err)
	}
	return x, v.Shape().Dimensions, nil
}
