package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/softmax"
)

// Format is a form of a model.
type Format string

// The formats.
const (
	Model    Format = "model"    // a model file of this program
	ONNX     Format = "onnx"     // a graph for ONNX Runtime and its like
	NPY      Format = "npy"      // a folder: weight.npy (k x d), bias.npy (1 x k), features.json
	JSON     Format = "json"     // all of it in one object
	CSV      Format = "csv"      // a row for each feature, a column for each class
	FastText Format = "fasttext" // a .vec file: each feature with its weights as a vector
)

// Formats lists them.
func Formats() []Format { return []Format{Model, ONNX, NPY, JSON, CSV, FastText} }

// ErrHierarchy says that a hierarchical softmax has no weights of classes.
var ErrHierarchy = errors.New("a hierarchical softmax, whose outputs are groups of classes; write it with the format model or npy, or train with another loss")

// ErrFields says that other programs could not make the features.
var ErrFields = errors.New("the model has several columns, whose features no other format describes; write it with the format model or csv")

// ErrEncoder says that other programs could not make the features.
var ErrEncoder = errors.New("the model has a sentence encoder, whose features no other format describes; write it with the format model or csv, or train without the encoder")

// Write writes a model to a path, and returns the files that it wrote: for ONNX, npy and
// fastText also the contract, for npy in a folder. Old files go only when the new ones
// are whole. O(d k) time; of the weights of a packed model a row, or a block of 64 outputs, is
// unpacked at a time, but for ONNX, which is made in memory. ErrHierarchy, ErrEncoder and
// ErrFields say what the format cannot hold.
func Write(m *softmax.Model, format Format, path string) (files []string, err error) {
	if err := option.Check("Format", string(format), slices.Contains(Formats(), format), "model, onnx, npy, json, csv or fasttext"); err != nil {
		return nil, err
	}
	if m.Layer.Hierarchy != nil && format != Model && format != NPY {
		return nil, fmt.Errorf("the model is %w", ErrHierarchy)
	}
	if format == Model {
		return []string{path}, m.Save(path)
	}
	if m.Features.EncoderScale() > 0 && format != CSV {
		return nil, ErrEncoder
	}
	if m.Features.Fields().Several() && format != CSV {
		return nil, ErrFields
	}
	c, err := newContract(m)
	if err != nil {
		return nil, err
	}
	add := func(path string, write func(io.Writer) error) error {
		files = append(files, path)
		return atomicfile.Write(path, func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<16)
			if err := write(b); err != nil {
				return err
			}
			return b.Flush()
		})
	}
	beside := func() error {
		return add(strings.TrimSuffix(path, filepath.Ext(path))+".features.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
	}
	switch format {
	case ONNX:
		return files, errors.Join(add(path, func(w io.Writer) error { return writeONNX(w, m, c) }), beside())
	case NPY:
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, err
		}
		return files, errors.Join(
			add(filepath.Join(path, "weight.npy"), func(w io.Writer) error { return writeWeights(w, m.Layer) }),
			add(filepath.Join(path, "bias.npy"), func(w io.Writer) error { return writeBias(w, m.Layer.Bias) }),
			add(filepath.Join(path, "features.json"), func(w io.Writer) error { return json.NewEncoder(w).Encode(c) }))
	case JSON:
		return files, add(path, func(w io.Writer) error { return writeJSON(w, m, c) })
	case CSV:
		return files, add(path, func(w io.Writer) error { return writeCSV(w, m) })
	}
	return files, errors.Join(add(path, func(w io.Writer) error { return writeVec(w, m, c) }), beside())
}

// contract is what a file of another program does not say: how a text or a row becomes the d
// features, and scores become probabilities. Keys are part of docs/model-file.md.
type contract struct {
	Rules       string              `json:"rules"` // where it stands how these are used
	Labels      []string            `json:"labels"`
	Kind        string              `json:"kind"` // text, numbers or sparse
	Dim         int                 `json:"dim"`  // d
	Hashed      bool                `json:"hashed,omitempty"`
	Vocabulary  []string            `json:"vocabulary,omitempty"` // of texts, in the order of the features
	IDF         []float32           `json:"idf,omitempty"`
	Columns     []string            `json:"columns,omitempty"` // of numbers
	Mean        []float64           `json:"mean,omitempty"`
	Scale       []float64           `json:"scale,omitempty"`
	Direction   []float32           `json:"fourier_direction,omitempty"` // D x columns
	Phase       []float32           `json:"fourier_phase,omitempty"`
	Calibration *decide.Calibration `json:"calibration,omitempty"`
	Threshold   []float32           `json:"threshold,omitempty"` // of several labels an example: the probability from which each class is answered; it is 1 / (1 + exp(-score))
	Tree        json.RawMessage     `json:"tree,omitempty"`      // of a hierarchical softmax
}

// newContract takes the features as a model file has them, so that there is one list of what
// they consist of, that of feature.Set.Store.
func newContract(m *softmax.Model) (*contract, error) {
	f := &safetensors.File{Metadata: make(map[string]string)}
	if err := m.Features.Store(f); err != nil {
		return nil, err
	}
	c := &contract{Rules: "docs/model-file.md", Labels: m.Labels, Calibration: m.Training.Calibration}
	if m.Multilabel != nil {
		c.Threshold = m.Multilabel.Threshold
	}
	if err := json.Unmarshal([]byte(f.Metadata["features"]), c); err != nil {
		return nil, err
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		var err error
		switch t.Name {
		case "vocabulary":
			c.Vocabulary = strings.Split(strings.TrimSuffix(string(t.Data), "\n"), "\n")
		case "idf":
			c.IDF, err = t.Float32s()
		case "mean":
			c.Mean, err = t.Float64s()
		case "scale":
			c.Scale, err = t.Float64s()
		case "fourier_direction":
			c.Direction, err = t.Float32s()
		case "fourier_phase":
			c.Phase, err = t.Float32s()
		}
		if err != nil {
			return nil, err
		}
	}
	if m.Layer.Hierarchy != nil {
		var text strings.Builder
		if err := m.Layer.Hierarchy.Tree().WriteJSON(&text); err != nil {
			return nil, err
		}
		c.Tree = json.RawMessage(text.String())
	}
	return c, nil
}

// writeBias writes the bias as a row, to be added to rows of scores.
func writeBias(w io.Writer, bias []float32) error {
	if err := dataset.WriteNPYHeader(w, 1, len(bias)); err != nil {
		return err
	}
	_, err := w.Write(safetensors.New("", bias, len(bias)).Data)
	return err
}

// writeWeights writes W (outputs x d), a block of outputs at a time: weights are kept by
// feature, d x outputs, and turned here, as NumPy's users expect a row for each class.
func writeWeights(w io.Writer, l *softmax.Layer) error {
	k := l.Outputs()
	if err := dataset.WriteNPYHeader(w, k, l.Features); err != nil {
		return err
	}
	const block = 64
	scratch, rows := make([]float32, k), make([]float32, min(block, k)*l.Features)
	for lo := 0; lo < k; lo += block {
		n := min(block, k-lo)
		for f := range l.Features {
			for c, x := range l.Row(f, scratch)[lo : lo+n] {
				rows[c*l.Features+f] = x
			}
		}
		if _, err := w.Write(safetensors.New("", rows[:n*l.Features], n*l.Features).Data); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes the contract with bias and weights: those of each feature, for the
// classes in order. A row at a time, as the text of all is some three times the weights; the
// closing brace of the contract is cut off, to go on behind it.
func writeJSON(w io.Writer, m *softmax.Model, c *contract) error {
	head, err := json.Marshal(c)
	if err != nil {
		return err
	}
	bias, err := json.Marshal(m.Layer.Bias)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\n\"bias\":%s,\n\"weight\":[", head[:len(head)-1], bias); err != nil {
		return err
	}
	scratch := make([]float32, m.Layer.Outputs())
	separator := "\n"
	for f := range m.Layer.Features {
		row, err := json.Marshal(m.Layer.Row(f, scratch))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, row); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}

// writeCSV writes a row for each feature, the bias first:
//
//	feature,lost a card,opening hours
//	bias,0.12,-0.12
//	w:card,1.5,-1.5
//
// Numbers have as many digits as it takes to read the same float32.
func writeCSV(w io.Writer, m *softmax.Model) error {
	out := csv.NewWriter(w)
	record := append([]string{"feature"}, m.Labels...)
	scratch := make([]float32, m.Layer.Outputs())
	line := func(name string, values []float32) error {
		record = append(record[:0], name)
		for _, v := range values {
			record = append(record, number(v))
		}
		return out.Write(record)
	}
	if err := errors.Join(out.Write(record), line("bias", m.Layer.Bias)); err != nil {
		return err
	}
	for f := range m.Layer.Features {
		if err := line(m.Features.Name(f), m.Layer.Row(f, scratch)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeVec writes each feature with its weights, one a class, as fastText writes words
// with their vectors: a space within an n-gram is written as _. The first line has the number
// of lines and of columns. w: and c: before an n-gram tell words from characters.
func writeVec(w io.Writer, m *softmax.Model, c *contract) error {
	if _, err := fmt.Fprintf(w, "%d %d\n", m.Layer.Features, m.Layer.Outputs()); err != nil {
		return err
	}
	scratch := make([]float32, m.Layer.Outputs())
	var line []byte
	for f := range m.Layer.Features {
		name := m.Features.Name(f)
		if m.Features.Kind() == dataset.Text {
			name = c.Vocabulary[f][:1] + ":" + c.Vocabulary[f][1:]
		}
		line = append(line[:0], strings.Join(strings.FieldsFunc(strings.ReplaceAll(name, " ", "_"), func(r rune) bool { return r == '\t' }), "_")...)
		for _, v := range m.Layer.Row(f, scratch) {
			line = append(append(line, ' '), number(v)...)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// number is the shortest text that is read as the same float32.
func number(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
