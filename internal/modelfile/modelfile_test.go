package modelfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

var testFormat = Format{Name: "test-model", Version: "3"}

// write saves what a file of the test format holds after change.
func write(t *testing.T, parts Parts, change func(*safetensors.File)) string {
	t.Helper()
	f := testFormat.New()
	if err := parts.Store(f, map[string]any{"labels": []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := safetensors.WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
	return path
}

// read loads the parts and the labels of a file of the test format.
func read(path string) (parts Parts, labels []string, err error) {
	_, err = Open(path, func(f *safetensors.File) (*safetensors.File, error) {
		if err := testFormat.Check(f); err != nil {
			return nil, err
		}
		var err error
		parts, err = Load(f, map[string]any{"labels": &labels})
		return f, err
	})
	return parts, labels, err
}

// someFeatures are those of two texts.
func someFeatures(t *testing.T) *feature.Set {
	table := feature.NewTable(record.Text, nil)
	table.AddText("a card")
	table.AddText("a transfer")
	set, err := table.Fit([]int{0, 1}, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestPartsComeBack(t *testing.T) {
	features := someFeatures(t)
	tree, err := labeltree.Read(strings.NewReader("(a:1,b:1);"), "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Parts{
		{Features: features},
		{Features: features, Tree: tree, Vectors: &matrix.Dense{Columns: 3, Data: []float32{1, 2, 3, 4, 5, 6}}, Totals: []float32{10, 0.5}},
	} {
		got, labels, err := read(write(t, want, nil))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(labels, []string{"a", "b"}) || got.Features.Dim() != features.Dim() || !reflect.DeepEqual(got.Vectors, want.Vectors) || !reflect.DeepEqual(got.Totals, want.Totals) || (got.Tree == nil) != (want.Tree == nil) {
			t.Errorf("labels %q and parts %+v came back of %+v", labels, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	plain := Parts{Features: someFeatures(t)}
	for _, tc := range []struct {
		want   string
		change func(*safetensors.File)
	}{
		{"another program", func(f *safetensors.File) { f.Metadata["format"] = "x" }},
		{`version "4"`, func(f *safetensors.File) { f.Metadata["format_version"] = "4" }},
		{"labels", func(f *safetensors.File) { f.Metadata["labels"] = "{" }},
		{"labels", func(f *safetensors.File) { delete(f.Metadata, "labels") }},
		{"tree", func(f *safetensors.File) { f.Metadata["tree"] = "[]" }},
		{VectorTensor, func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(VectorTensor, make([]float32, 6), 6))
		}},
		{VectorTensor, func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(VectorTensor, make([]int32, 6), 2, 3))
		}},
		{"class 1 weigh -1", func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(TotalsTensor, []float32{1, -1}, 2))
		}},
	} {
		path := write(t, plain, tc.change)
		_, _, err := read(path)
		if !errors.Is(err, ErrModelFile) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want one of %s with %q", err, path, tc.want)
		}
	}
	if _, _, err := read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrModelFile) {
		t.Errorf("no file: error %v", err)
	}
	text := filepath.Join(t.TempDir(), "text.csv")
	if err := os.WriteFile(text, []byte("text,label\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(text); !errors.Is(err, ErrModelFile) {
		t.Errorf("a table: error %v", err)
	}
}
