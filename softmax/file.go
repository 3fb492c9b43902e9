package softmax

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/modelfile"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/loss"
)

// The model file is a safetensors file. Tensors: "weight" (outputs x d) or, of many
// weights, others in its place (packed.go has their names), "bias" (outputs), those of
// the features, "class_totals" (k), what the training examples of each class weigh, and,
// where the classes have vectors, "label_vectors" (k x dimensions); of a
// model of several labels an example "threshold" and "label_examples" (k each).
// Metadata, JSON where not a plain word:
//
//	format          "treeloss-model"
//	format_version  "2"
//	output          "flat", "hierarchical-softmax" or "sigmoid", of several labels
//	labels          the class names
//	features        see package feature
//	tree            see package labeltree, if there is one
//	training        Training
//	checksum        see package safetensors
//	crc32c          the same
const (
	formatName    = "treeloss-model"
	formatVersion = "2"

	flatOutput         = "flat"
	hierarchicalOutput = "hierarchical-softmax"
	sigmoidOutput      = "sigmoid"

	weightTensor = "weight"
	biasTensor   = "bias"

	thresholdTensor = "threshold"
	countTensor     = "label_examples"
)

var format = modelfile.Format{Name: formatName, Version: formatVersion}

// ErrModelFile says that a file is no model that this program can use.
var ErrModelFile = modelfile.ErrModelFile

// IsFile tells, from the head of a file, whether Save wrote it, whole or damaged.
func IsFile(path string) bool { return safetensors.HasFormat(path, formatName) }

// Save writes the model to path: the old file or the new one is there, whole,
// whatever happens in between. The same model gives the same bytes.
func (m *Model) Save(path string) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	err = safetensors.WriteFile(path, f)
	runtime.KeepAlive(m) // its packed weights may be a file in memory
	return err
}

// Write writes to w the bytes that Save would write to a file.
func (m *Model) Write(w io.Writer) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	err = safetensors.Write(w, f)
	runtime.KeepAlive(m)
	return err
}

// file returns the model as it is written, packed if that pays. Its tensors share memory
// with the model where they can.
func (m *Model) file() (*safetensors.File, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	f := format.New()
	f.Metadata["output"] = flatOutput
	if m.Layer.Hierarchy != nil {
		f.Metadata["output"] = hierarchicalOutput
	}
	if several := m.Multilabel; several != nil {
		f.Metadata["output"] = sigmoidOutput
		f.Tensors = append(f.Tensors, safetensors.New(thresholdTensor, several.Threshold, len(m.Labels)), safetensors.New(countTensor, several.Count, len(m.Labels)))
	}
	d, k := m.Layer.Features, m.Layer.Outputs()
	f.Tensors = append(f.Tensors, safetensors.New(biasTensor, m.Layer.Bias, k))
	if l := pack(m.Layer, runtime.GOMAXPROCS(0)); l.packed != nil {
		f.Tensors = append(f.Tensors, l.packed.tensors()...)
	} else {
		f.Tensors = append(f.Tensors, safetensors.New(weightTensor, kernel.Transposed(l.Weight, d, k), k, d))
	}
	parts := modelfile.Parts{Features: m.Features, Tree: m.Tree, Vectors: m.Vectors, Totals: m.ClassTotals}
	if m.Layer.Hierarchy != nil {
		parts.Tree = m.Layer.Hierarchy.Tree()
	}
	return f, parts.Store(f, map[string]any{"labels": m.Labels, "training": m.Training})
}

// Load opens a model file. Packed weights are read when they are first needed: where
// the system can, the file is mapped into memory for as long as the model is in use, and
// is not to be written to in that time (Save replaces it, which does no harm). A file that is truncated, altered, of a newer
// format or of another program is an error that wraps ErrModelFile and names
// the path, what was found and what was expected. A file that cannot be read is
// an error of the system, such as fs.ErrNotExist.
func Load(path string) (*Model, error) { return modelfile.Open(path, fromFile) }

// Read reads what Write or Save wrote, to the end of r, which it keeps in memory
// meanwhile: put an io.LimitReader around a stream that is not trusted. Errors are
// those of Load, and those of r.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("softmax: read a model: %w", err)
	}
	f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModelFile, err)
	}
	m, err := fromFile(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModelFile, err)
	}
	return m, nil
}

// fromFile makes a model of a file of any origin: what it returns has passed Check, and
// no bytes make it panic.
func fromFile(f *safetensors.File) (*Model, error) {
	if err := format.Check(f); err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, fmt.Errorf("%w; copy it again, or train it", err)
	}
	// Weights are copied below, or, packed ones, stay where they are and hold on to the
	// file. All else is small, and copied.
	for n := range f.Tensors {
		if t := &f.Tensors[n]; !strings.HasPrefix(t.Name, weightTensor) {
			t.Data = bytes.Clone(t.Data)
		}
	}
	m := &Model{Layer: &Layer{}}
	parts, err := modelfile.Load(f, map[string]any{"labels": &m.Labels, "training": &m.Training})
	if err != nil {
		return nil, err
	}
	m.Features, m.Tree, m.Vectors, m.ClassTotals = parts.Features, parts.Tree, parts.Vectors, parts.Totals
	l := m.Layer
	l.Classes, l.Features = len(m.Labels), m.Features.Dim()
	switch output := f.Metadata["output"]; {
	case output == hierarchicalOutput && m.Tree != nil:
		if l.Hierarchy, err = loss.NewHierarchicalSoftmax(m.Tree); err != nil {
			return nil, err
		}
		if m.Tree.Classes() != l.Classes {
			return nil, fmt.Errorf("a tree of %d classes for %d labels", m.Tree.Classes(), l.Classes)
		}
	case output == sigmoidOutput:
		l.Sigmoid, m.Multilabel = true, &Multilabel{Examples: m.Training.Examples}
		if m.Multilabel.Threshold, err = tensor(f, thresholdTensor, (*safetensors.Tensor).Float32s, l.Classes); err != nil {
			return nil, err
		}
		if m.Multilabel.Count, err = tensor(f, countTensor, (*safetensors.Tensor).Int32s, l.Classes); err != nil {
			return nil, err
		}
	case output != flatOutput:
		return nil, fmt.Errorf("output %q, want %q, %q, or %q with a tree", output, flatOutput, sigmoidOutput, hierarchicalOutput)
	}
	outputs := l.Classes
	if l.Hierarchy != nil {
		outputs = l.Hierarchy.Scores()
	}
	if l.Bias, err = tensor(f, biasTensor, (*safetensors.Tensor).Float32s, outputs); err != nil {
		return nil, err
	}
	if l.packed, err = loadPacked(f, l.Features, outputs); err != nil {
		return nil, err
	}
	if l.packed == nil {
		rows, err := tensor(f, weightTensor, (*safetensors.Tensor).Float32s, outputs, l.Features)
		if err != nil {
			return nil, err
		}
		l.Weight = kernel.Transposed(rows, outputs, l.Features)
	}
	runtime.KeepAlive(f) // whose memory some of the above was
	return m, m.Check()
}
