package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/layer"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// The model file is a safetensors file. Its tensors are the variables of the
// network under their paths; the head of k classes is head/dense/weights [d, k]
// and head/dense/biases [k], what was shared folded; and, where the classes have
// vectors, label_vectors [k, dimensions]. Metadata: format, network,
// output ("flat" or "hierarchical-softmax"), and JSON in about and tree.
const (
	formatName   = "treeloss-network"
	flat         = "flat"
	hierarchical = "hierarchical-softmax"
)

// ErrFile says that a file is no network that this program can use.
var ErrFile = errors.New("not a usable network file")

// Model is a trained network.
type Model struct {
	About
	Network string
	Tree    *labeltree.Tree // over the classes, where one was trained with; else nil
	Vectors *matrix.Dense   // k x dimensions, what is known about the classes as vectors; nil: nothing

	hierarchical bool
	store        *model.Store
}

// About is what a model knows beside its weights.
type About struct {
	Classes  []string          `json:"classes"`
	Height   int               `json:"height"` // of pictures
	Width    int               `json:"width"`
	Scale    images.Scale      `json:"scale"`
	Training map[string]string `json:"training"` // how it was trained, for the reader
}

// Fold makes a model of what a task trained with the sharing: its head becomes a
// plain layer. tree may be nil.
func Fold(name string, about About, store *model.Store, s sharing.Sharing, tree *labeltree.Tree) (*Model, error) {
	if err := deep.Fold(store, "/"+train.HeadScope, s); err != nil {
		return nil, err
	}
	m := &Model{About: about, Network: name, Tree: tree, store: store}
	return m, m.check()
}

// WithTree makes a model of what a task of Hierarchical trained.
func WithTree(name string, about About, store *model.Store, tree *labeltree.Tree) (*Model, error) {
	m := &Model{About: about, Network: name, Tree: tree, store: store, hierarchical: true}
	return m, m.check()
}

func (m *Model) check() error {
	if err := Check(m.Network); err != nil {
		return err
	}
	if len(m.Classes) == 0 || m.Tree != nil && m.Tree.Classes() != len(m.Classes) || m.hierarchical && m.Tree == nil || m.Height < 1 || m.Width < 1 {
		return fmt.Errorf("network: %d classes, pictures of %d x %d, a tree that may be missing or over others; want these to fit", len(m.Classes), m.Height, m.Width)
	}
	if m.Vectors != nil && m.Vectors.Rows() != len(m.Classes) {
		return fmt.Errorf("network: vectors of %d classes, want %d", m.Vectors.Rows(), len(m.Classes))
	}
	return nil
}

// task is the trained network, for use and not for training.
func (m *Model) task() train.Task {
	head := plainHead(len(m.Classes))
	if m.hierarchical {
		head = hierarchicalHead(m.Tree)
	}
	return train.Task{Features: features(m.Network), Head: head, Classes: len(m.Classes)}
}

// Data makes batches of pictures as the network wants them. Another side is an error.
func (m *Model) Data(p *images.Pictures) (train.Data, error) {
	if p.Side() != m.Width {
		return nil, fmt.Errorf("pictures of side %d, want %d", p.Side(), m.Width)
	}
	return p.Data(m.Scale, images.Options{Augment: images.None})
}

// Evaluator returns the logits of pictures, in batches of that size.
func (m *Model) Evaluator(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEvaluator(b, m.store, m.task(), batch)
}

// Embedder returns the features of pictures, in batches of that size.
func (m *Model) Embedder(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEmbedder(b, m.store, m.task(), batch)
}

// Parameters counts the trained numbers of the network, its head folded.
func (m *Model) Parameters() int { return deep.Parameters(m.store, layer.Mean, layer.Variance) }

// Save writes the model: the old file or the new one is there, whole.
func (m *Model) Save(path string) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := deep.PutVectors(m.store, m.Vectors); err != nil {
		return err
	}
	about, err := json.Marshal(m.About)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	metadata := map[string]string{"format": formatName, "network": m.Network, "output": flat, "about": string(about)}
	if m.hierarchical {
		metadata["output"] = hierarchical
	}
	if m.Tree != nil {
		var b bytes.Buffer
		if err := m.Tree.WriteJSON(&b); err != nil {
			return fmt.Errorf("network: %w", err)
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
	fail := func(err error) (*Model, error) {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return fail(err)
	}
	if f.Metadata["format"] != formatName {
		return fail(fmt.Errorf("format %q, want %q", f.Metadata["format"], formatName))
	}
	m := &Model{Network: f.Metadata["network"], hierarchical: f.Metadata["output"] == hierarchical, store: model.NewStore()}
	if err := json.Unmarshal([]byte(f.Metadata["about"]), &m.About); err != nil {
		return fail(err)
	}
	if text := f.Metadata["tree"]; text != "" {
		if m.Tree, err = labeltree.ReadJSON(bytes.NewReader([]byte(text)), path); err != nil {
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
