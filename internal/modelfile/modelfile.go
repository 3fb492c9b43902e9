// Package modelfile is what the files of all models over text or numbers have in common,
// whatever their weights: the format, features, labels, a tree, vectors of the classes.
package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// ErrModelFile says that a file is no model that this program can use.
var ErrModelFile = errors.New("not a usable model file")

// VectorTensor is the name of the vectors of the classes (k x dimensions).
const VectorTensor = "label_vectors"

// TotalsTensor is the name of what the training examples of each class weigh together (k).
const TotalsTensor = "class_totals"

// A Format is a kind of model file and its version.
type Format struct{ Name, Version string }

// New returns a file of the format without tensors.
func (f Format) New() *safetensors.File {
	return &safetensors.File{Metadata: map[string]string{"format": f.Name, "format_version": f.Version}}
}

// Check returns an error unless a file is of the format.
func (f Format) Check(file *safetensors.File) error {
	switch name, version := file.Metadata["format"], file.Metadata["format_version"]; {
	case name != f.Name:
		return fmt.Errorf("a safetensors file of another program (format %q, want %q); give a model that treeloss train wrote", name, f.Name)
	case version != f.Version:
		return fmt.Errorf("model format version %q, this program reads %q; use the program version that wrote it, or a newer one", version, f.Version)
	}
	return nil
}

// Open maps a file into memory and makes a model of it. An error names the path and wraps
// ErrModelFile, but for errors of the system, such as fs.ErrNotExist, which stay as they are.
func Open[M any](path string, parse func(*safetensors.File) (M, error)) (M, error) {
	var none M
	f, err := safetensors.Map(path)
	if err != nil {
		if system := (*fs.PathError)(nil); errors.As(err, &system) {
			return none, err
		}
		return none, fmt.Errorf("%w: %w", err, ErrModelFile)
	}
	m, err := parse(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w: %w", path, ErrModelFile, err)
	}
	return m, nil
}

// Parts are what stands beside the weights.
type Parts struct {
	Features *feature.Set
	Tree     *labeltree.Tree // nil: none
	Vectors  *matrix.Dense   // of the classes, a row each; nil: none
	Totals   []float32       // what the training examples of each class weigh together; nil: not known
}

// Store adds the parts to a file, and values as JSON under their keys in its metadata.
// The tensors of the file share memory with the parts.
func (p Parts) Store(f *safetensors.File, values map[string]any) error {
	if v := p.Vectors; v != nil {
		f.Tensors = append(f.Tensors, safetensors.New(VectorTensor, v.Data, v.Rows(), v.Columns))
	}
	if p.Totals != nil {
		f.Tensors = append(f.Tensors, safetensors.New(TotalsTensor, p.Totals, len(p.Totals)))
	}
	if err := p.Features.Store(f); err != nil {
		return err
	}
	for key, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("metadata %q of a model: %w", key, err)
		}
		f.Metadata[key] = string(text)
	}
	if p.Tree == nil {
		return nil
	}
	var text strings.Builder
	if err := p.Tree.WriteJSON(&text); err != nil {
		return fmt.Errorf("tree of a model: %w", err)
	}
	f.Metadata["tree"] = text.String()
	return nil
}

// Load returns the parts that Store put into a file, and puts its values where those of
// the map point to. Nothing that it returns is in the memory of the file but tensors of
// the features.
func Load(f *safetensors.File, values map[string]any) (p Parts, err error) {
	for key, to := range values {
		if err := json.Unmarshal([]byte(f.Metadata[key]), to); err != nil {
			return p, fmt.Errorf("%s: %w", key, err)
		}
	}
	if p.Features, err = feature.Load(f); err != nil {
		return p, err
	}
	if text, ok := f.Metadata["tree"]; ok {
		if p.Tree, err = labeltree.ReadJSON(strings.NewReader(text), "tree"); err != nil {
			return p, err
		}
	}
	for _, t := range f.Tensors {
		if t.Name != VectorTensor && t.Name != TotalsTensor {
			continue
		}
		values, err := t.Float32s()
		if err != nil {
			return p, err
		}
		if values = slices.Clone(values); t.Name == TotalsTensor {
			p.Totals = values
			continue
		}
		if len(t.Shape) != 2 {
			return p, fmt.Errorf("tensor %q has shape %v, want a row of numbers for each class", VectorTensor, t.Shape)
		}
		p.Vectors = &matrix.Dense{Columns: t.Shape[1], Data: values}
		if err := p.Vectors.Check(); err != nil {
			return p, err
		}
	}
	return p, checkTotals(p.Totals)
}

// checkTotals returns an error for what no examples can weigh.
func checkTotals(totals []float32) error {
	for c, total := range totals {
		if !(total >= 0 && total <= math.MaxFloat32) {
			return fmt.Errorf("the examples of class %d weigh %v, want a number of at least 0", c, total)
		}
	}
	return nil
}
