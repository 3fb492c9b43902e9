package network

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

var labels = []string{"cat", "dog", "truck"}

func tree(t *testing.T) *labeltree.Tree {
	t.Helper()
	tree, err := labeltree.FromParents(map[string]string{"cat": "animal", "dog": "animal", "animal": "thing", "truck": "thing"}, labels)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func pictures(t *testing.T) (*images.Set, images.Scale) {
	t.Helper()
	data := &dataset.Images{Height: 8, Width: 8, Classes: labels}
	for i := range 6 {
		data.Label = append(data.Label, int32(i%3))
		for p := range 8 * 8 * 3 {
			data.Pixels = append(data.Pixels, byte(i%3*80+p*p%70))
		}
	}
	scale := images.Measure(data)
	set, err := images.New(data, scale, images.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set, scale
}

func logits(t *testing.T, m *Model, b compute.Backend, set *images.Set) [][]float32 {
	t.Helper()
	e, err := m.Evaluator(b, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var out [][]float32
	if err := e.Each(context.Background(), set, func(_ int, x []float32) error {
		out = append(out, slices.Clone(x))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// A network trained with either head says the same before and after its file,
// and what the trainer measured.
func TestModelFile(t *testing.T) {
	b := backendtest.Open(t)
	set, scale := pictures(t)
	s := sharing.NewTree(tree(t))
	about := About{Classes: labels, Height: 8, Width: 8, Scale: scale, Training: map[string]string{"seed": "1"}}
	for _, hier := range []bool{false, true} {
		net, head := Network{Name: ResNet20}, Head{Sharing: s, Tree: tree(t)}
		if hier {
			head.Sharing = nil
		}
		tk, err := net.Task(head, loss.CrossEntropy{})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := train.New(b, tk, set, set, train.Options{Epochs: 1, Batch: 3, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		result, err := tr.Run(context.Background())
		tr.Close()
		if err != nil {
			t.Fatal(err)
		}
		m, err := net.Finish(head, about, tr.Store())
		if err != nil {
			t.Fatal(err)
		}
		m.Vectors = &matrix.Dense{Columns: 1, Data: []float32{1, 2}}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := m.Save(path); err == nil {
			t.Error("vectors of 2 of 3 classes are saved")
		}
		m.Vectors = &matrix.Dense{Columns: 2, Data: []float32{1, 0, 0, 1, -1, 0.5}}
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !IsFile(path) || !slices.Equal(loaded.Classes, labels) || loaded.Scale != scale || loaded.Training["seed"] != "1" || loaded.Tree.Len() != 5 {
			t.Errorf("loaded %+v", loaded.About)
		}
		if n := 269_072 + 65*(3+map[bool]int{true: 1}[hier]); m.Parameters() != n || loaded.Parameters() != n {
			t.Errorf("%d parameters, %d after loading, want %d", m.Parameters(), loaded.Parameters(), n)
		}
		if !reflect.DeepEqual(loaded.Vectors, m.Vectors) {
			t.Errorf("vectors %v after loading", loaded.Vectors)
		}
		want := logits(t, m, b, set)
		if got := logits(t, loaded, b, set); !equal(got, want) {
			t.Errorf("logits %v after loading, %v before", got, want)
		}
		right := 0.0
		for i, x := range want {
			if slices.Index(x, slices.Max(x)) == set.Label(i) {
				right++
			}
		}
		if acc := right / 6; math.Abs(acc-result.Best.Accuracy) > 1e-9 {
			t.Errorf("accuracy %v, the trainer said %v", acc, result.Best.Accuracy)
		}
		e, err := loaded.Embedder(b, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		width, err := net.Features()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Each(context.Background(), set, func(_ int, x []float32) error {
			if len(x) != width {
				return errors.New("another width")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func equal(a, b [][]float32) bool {
	return slices.EqualFunc(a, b, func(a, b []float32) bool { return slices.Equal(a, b) })
}

func TestRefusals(t *testing.T) {
	plain := Head{Sharing: sharing.None{K: 2}}
	if _, err := (Network{Name: "resnet21"}).Features(); err == nil {
		t.Error("resnet21 is known")
	}
	if _, err := (Network{Name: "resnet21"}).Task(plain, loss.CrossEntropy{}); err == nil {
		t.Error("a task of an unknown network")
	}
	if _, err := (Network{Name: ResNet20}).Task(plain, loss.CrossEntropy{Smoothing: 2}); err == nil {
		t.Error("a loss that makes no sense")
	}
	if _, err := Pretrained(ResNet20, "x"); err == nil {
		t.Error("weights for resnet20")
	}
	if w, err := (Network{Name: ResNet50}).Features(); w != 2048 || err != nil {
		t.Errorf("width %d, error %v", w, err)
	}
	start, err := Pretrained(ResNet50, "none")
	if err != nil {
		t.Fatal(err)
	}
	set, _ := pictures(t)
	tk, err := Network{Name: ResNet50}.Task(Head{Sharing: sharing.None{K: 3}}, loss.CrossEntropy{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := train.New(backendtest.Open(t), tk, set, nil, train.Options{Start: start}); err == nil {
		t.Error("trains from a file that is not there")
	}
	path := filepath.Join(t.TempDir(), "x")
	if _, err := Load(path); err == nil || IsFile(path) {
		t.Error("no file")
	}
	if err := os.WriteFile(path, []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrFile) {
		t.Errorf("another file: %v", err)
	}
}
