package deep

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// A folded head is a plain layer: in the store, read back from a checkpoint, and
// read back from safetensors. Its predictions are the same, its logits equal
// but for rounding.
func TestFold(t *testing.T) {
	b := backendtest.Open(t)
	const batch, d, k = 50, 6, 12
	x := tensor(randoms(newRand(5), batch*d), batch, d)
	for name, s := range sharings(t, 3, k) {
		t.Run(name, func(t *testing.T) {
			store := model.NewStore()
			shared := flat(t, model.MustCallOnce(b, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
				return Dense(scope.In("head"), x, s)
			}, x))
			w, _, err := Weights(store, "/head", s)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // folding twice is folding once
				if err := Fold(store, "/head", s); err != nil {
					t.Fatal(err)
				}
			}
			again, _, err := Weights(store, "/head", s)
			if err != nil || !slices.Equal(again, w) {
				t.Errorf("weights of the folded layer differ, error %v", err)
			}

			dir := t.TempDir()
			handler, err := checkpoint.Build(store).Dir(filepath.Join(dir, "checkpoint")).Done()
			if err != nil {
				t.Fatal(err)
			}
			if err := handler.Save(); err != nil {
				t.Fatal(err)
			}
			fromCheckpoint := model.NewStore()
			if _, err := checkpoint.Build(fromCheckpoint).Dir(filepath.Join(dir, "checkpoint")).Done(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "model.safetensors")
			if err := Export(store, file, map[string]string{"network": "test"}); err != nil {
				t.Fatal(err)
			}
			fromFile := model.NewStore()
			metadata, err := Import(fromFile, file)
			if err != nil || metadata["network"] != "test" {
				t.Fatalf("metadata %v, error %v", metadata, err)
			}
			for where, store := range map[string]*model.Store{"store": store, "checkpoint": fromCheckpoint, "safetensors": fromFile} {
				plain := flat(t, model.MustCallOnce(b, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
					return layers.Dense(scope.In("head"), x, true, k)
				}, x))
				if diff := apart(plain, shared); !(diff <= 1e-5) {
					t.Errorf("%s: logits differ by %g", where, diff)
				}
				for n := range batch {
					if a, b := best(plain[n*k:(n+1)*k]), best(shared[n*k:(n+1)*k]); a != b {
						t.Errorf("%s: row %d is class %d, was %d", where, n, a, b)
					}
				}
			}
		})
	}
}

func best(x []float32) int { return slices.Index(x, slices.Max(x)) }

// What does not fit is an error that names it.
func TestFoldRefuses(t *testing.T) {
	s := sharings(t, 3, 5)["v-tree"]
	store := model.NewStore()
	if err := Fold(store, "/", s); err == nil {
		t.Error("folded an empty store")
	}
	if err := Export(store, filepath.Join(t.TempDir(), "x"), nil); err == nil {
		t.Error("exported an empty store")
	}
	model.MustCallOnce(backendtest.Open(t), store, func(scope *model.Scope, x *graph.Node) *graph.Node { return Dense(scope, x, s) }, tensor(make([]float32, 4), 2, 2))
	if err := Fold(store, "/", sharing.None{K: 5}); err == nil && s.Rows() != 5 {
		t.Error("folded with another sharing")
	}
	if err := Fold(store, "/", sharing.None{K: 6}); err == nil {
		t.Error("folded with another number of classes")
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Export(store, file, nil); err != nil {
		t.Fatal(err)
	}
	other := model.NewStore()
	other.VariableWithValue("/dense/biases", make([]float32, 3))
	if _, err := Import(other, file); err == nil {
		t.Error("imported another shape")
	}
	if err := os.WriteFile(file, []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(other, file); err == nil {
		t.Error("imported a damaged file")
	}
}

// Vectors of the classes go to the file and back, count for no parameters, and
// are refused where they are of others.
func TestVectorsOfClasses(t *testing.T) {
	store := model.NewStore()
	store.VariableWithValue("/head/weights", [][]float32{{1, 2, 3}})
	store.VariableWithValue("/head/mean", []float32{1})
	want := &matrix.Dense{Columns: 2, Data: []float32{1, 0, 0, 1, -1, 0.5}}
	for range 2 { // put again they are replaced
		if err := PutVectors(store, want); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Export(store, file, nil); err != nil {
		t.Fatal(err)
	}
	loaded := model.NewStore()
	if _, err := Import(loaded, file); err != nil {
		t.Fatal(err)
	}
	got, err := Vectors(loaded, 3)
	if err != nil || got.Columns != 2 || !slices.Equal(got.Data, want.Data) {
		t.Errorf("vectors %+v, error %v", got, err)
	}
	if n := Parameters(loaded, "mean"); n != 3 {
		t.Errorf("%d parameters, want 3", n)
	}
	if _, err := Vectors(loaded, 4); err == nil {
		t.Error("vectors of 3 classes are taken for 4")
	}
	got.Data[0] = float32(math.NaN())
	if err := PutVectors(store, got); err != nil {
		t.Fatal(err)
	}
	if _, err := Vectors(store, 3); err == nil {
		t.Error("NaN is a vector")
	}
	if err := PutVectors(store, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Vectors(store, 3); got != nil || err != nil {
		t.Errorf("vectors %v, error %v after they were taken out", got, err)
	}
}
