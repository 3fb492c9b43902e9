package bert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	gomlxtrain "github.com/gomlx/gomlx/ml/train"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// The model file is a safetensors file: the variables of the network under their
// paths, head/dense/weights [width, k] and head/dense/biases [k], what was shared
// folded, and label_vectors [k, dimensions] where the classes have vectors.
// Metadata: format, JSON in about and, where one was trained with, tree; and the
// files of the folder that say what the network and its tokenizer are, under their
// names.
const formatName = "treeloss-bert"

// ErrFile says that a file is no BERT that this program can use.
var ErrFile = errors.New("not a usable BERT model file")

// Model is a trained classifier of texts.
type Model struct {
	About
	Encoder *Encoder
	Tree    *labeltree.Tree // over the classes, where one was trained with; else nil
	Vectors *matrix.Dense   // k x dimensions, what is known about the classes as vectors; nil: nothing
	store   *model.Store
}

// About is what a model knows beside its weights.
type About struct {
	Classes  []string          `json:"classes"`
	Length   int               `json:"length"`   // tokens of a text
	Training map[string]string `json:"training"` // how it was trained, for the reader
}

// Task is the training of the encoder with a head that shares parameters. Give
// Weights as Options.Start, else it starts from draws.
func (e *Encoder) Task(s sharing.Sharing, l loss.Loss) (train.Task, error) {
	fn, err := deep.Loss(l, s.Classes())
	if err != nil {
		return train.Task{}, err
	}
	return e.task(s.Classes(), fn, func(scope *model.Scope, x *graph.Node) *graph.Node { return deep.Dense(scope, x, s) }), nil
}

func (e *Encoder) task(k int, fn gomlxtrain.LossFn, head func(*model.Scope, *graph.Node) *graph.Node) train.Task {
	return train.Task{Features: e.Features, Head: head, Loss: fn, Classes: k}
}

// Fold makes a model of what a Task trained with the sharing: its head becomes a
// plain layer.
func Fold(e *Encoder, about About, store *model.Store, s sharing.Sharing) (*Model, error) {
	if err := deep.Fold(store, "/"+train.HeadScope, s); err != nil {
		return nil, err
	}
	m := &Model{About: about, Encoder: e, store: store}
	return m, m.check()
}

func (m *Model) check() error {
	if len(m.Classes) == 0 || m.Length < 2 || m.Length > m.Encoder.MaxTokens() {
		return fmt.Errorf("bert: %d classes, texts of %d tokens, want at least 1 and 2 to %d", len(m.Classes), m.Length, m.Encoder.MaxTokens())
	}
	if m.Tree != nil && m.Tree.Classes() != len(m.Classes) || m.Vectors != nil && m.Vectors.Rows() != len(m.Classes) {
		return fmt.Errorf("bert: a tree or vectors of other classes than the %d of the model", len(m.Classes))
	}
	return nil
}

func (m *Model) plain() train.Task {
	return m.Encoder.task(len(m.Classes), nil, func(scope *model.Scope, x *graph.Node) *graph.Node {
		return layers.Dense(scope, x, true, len(m.Classes))
	})
}

// Texts makes tokens of texts as the model wants them; labels may be nil.
func (m *Model) Texts(texts []string, labels []int32) (*Texts, error) {
	return m.Encoder.Texts(texts, labels, m.Length)
}

// Evaluator returns the logits of texts, in batches of that size.
func (m *Model) Evaluator(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEvaluator(b, m.store, m.plain(), batch)
}

// Embedder returns the vectors of texts, in batches of that size.
func (m *Model) Embedder(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEmbedder(b, m.store, m.plain(), batch)
}

// Parameters counts the trained numbers of the network, its head folded.
func (m *Model) Parameters() int { return deep.Parameters(m.store) }

// Save writes the model, with its tokenizer: the old file or the new one is
// there, whole.
func (m *Model) Save(path string) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := deep.PutVectors(m.store, m.Vectors); err != nil {
		return err
	}
	about, err := json.Marshal(m.About)
	if err != nil {
		return fmt.Errorf("bert: %w", err)
	}
	metadata := map[string]string{"format": formatName, "about": string(about)}
	for name, text := range m.Encoder.texts {
		metadata[name] = text
	}
	if m.Tree != nil {
		var b bytes.Buffer
		if err := m.Tree.WriteJSON(&b); err != nil {
			return fmt.Errorf("bert: %w", err)
		}
		metadata["tree"] = b.String()
	}
	return deep.Export(m.store, path, metadata)
}

// IsFile tells, from the head of a file, whether Save wrote it, whole or damaged.
func IsFile(path string) bool { return safetensors.HasFormat(path, formatName) }

// Load reads a model that Save wrote. Any other file is an error that wraps
// ErrFile.
func Load(path string) (*Model, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Model, error) { return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err) }
	if err := f.Verify(); err != nil {
		return fail(err)
	}
	if f.Metadata["format"] != formatName {
		return fail(fmt.Errorf("format %q, want %q", f.Metadata["format"], formatName))
	}
	m := &Model{store: model.NewStore()}
	if err := json.Unmarshal([]byte(f.Metadata["about"]), &m.About); err != nil {
		return fail(err)
	}
	texts := map[string]string{}
	for _, name := range []string{configFile, tokenizerFile, settingsFile} {
		if text, ok := f.Metadata[name]; ok {
			texts[name] = text
		}
	}
	if m.Encoder, err = newEncoder(texts); err != nil {
		return fail(err)
	}
	if text := f.Metadata["tree"]; text != "" {
		if m.Tree, err = labeltree.ReadJSON(strings.NewReader(text), path); err != nil {
			return fail(err)
		}
	}
	if err := m.check(); err != nil {
		return fail(err)
	}
	if _, err := deep.Import(m.store, path); err != nil {
		return fail(err)
	}
	if m.Vectors, err = deep.Vectors(m.store, len(m.Classes)); err != nil {
		return fail(err)
	}
	return m, nil
}
