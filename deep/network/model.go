package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/layer"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// The model file is a safetensors file. Its tensors are the variables of the
// network under their paths; the head of k classes is head/dense/weights [d, k]
// and head/dense/biases [k], what was shared folded; and, where the classes have
// vectors, label_vectors [k, dimensions]. Metadata: format, and JSON in about and
// tree; of a network on pictures also network and output ("flat" or
// "hierarchical-softmax"), of a BERT the files of its folder that say what the
// network and its tokenizer are, under their names.
const (
	pictureFormat = "treeloss-network"
	bertFormat    = "treeloss-bert"
	flat          = "flat"
	hierarchical  = "hierarchical-softmax"
)

// ErrFile says that a file is no network that this program can use.
var ErrFile = errors.New("not a usable network file")

// Model is a trained network. It is for one goroutine.
type Model struct {
	About
	Network
	Tree    *labeltree.Tree // over the classes, where one was trained with; else nil
	Vectors *matrix.Dense   // k x dimensions, what is known about the classes as vectors; nil: nothing

	hierarchical bool
	store        *model.Store
}

// About is what a model knows beside its weights.
type About struct {
	Classes  []string          `json:"classes"`
	Length   int               `json:"length,omitempty"` // of texts: tokens of each
	Height   int               `json:"height,omitempty"` // of pictures, in pixels
	Width    int               `json:"width,omitempty"`
	Scale    images.Scale      `json:"scale,omitzero"`
	Training map[string]string `json:"training"` // how it was trained, for the reader
}

// Finish makes a model of what a Task of the head trained: a head that shares
// becomes a plain layer. What does not fit together is an error.
func (n Network) Finish(h Head, about About, store *model.Store) (*Model, error) {
	m := &Model{About: about, Network: n, Tree: h.Tree, hierarchical: h.Sharing == nil, store: store}
	if h.Sharing != nil {
		if err := deep.Fold(store, "/"+train.HeadScope, h.Sharing); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// check returns an error if the parts of a model do not fit together.
func (m *Model) check() error {
	if _, err := m.Features(); err != nil {
		return err
	}
	k := len(m.Classes)
	if k == 0 || m.hierarchical && m.Tree == nil {
		return fmt.Errorf("network: %d classes, a tree that may be missing; want at least 1, and a tree for a hierarchical softmax", k)
	}
	if m.Tree != nil && m.Tree.Classes() != k || m.Vectors != nil && m.Vectors.Rows() != k {
		return fmt.Errorf("network: a tree or vectors of other classes than the %d of the model", k)
	}
	if e := m.Encoder; e != nil && (m.Length < 2 || m.Length > e.MaxTokens()) {
		return fmt.Errorf("network: texts of %d tokens, want 2 to %d", m.Length, e.MaxTokens())
	} else if e == nil && (m.Height < 1 || m.Width < 1) {
		return fmt.Errorf("network: pictures of %d x %d, want at least 1 x 1", m.Height, m.Width)
	}
	return nil
}

// task is the trained network, for use and not for training.
func (m *Model) task() train.Task {
	head := plainHead(len(m.Classes))
	if m.hierarchical {
		head = hierarchicalHead(m.Tree)
	}
	build, _, _ := m.architecture() // checked before
	return train.Task{Features: build, Head: head, Classes: len(m.Classes)}
}

// Images makes batches of pictures as the network wants them. Another side is an
// error.
func (m *Model) Images(p *images.Pictures) (train.Data, error) {
	if p.Side() != m.Width {
		return nil, fmt.Errorf("pictures of side %d, want %d", p.Side(), m.Width)
	}
	return p.Data(m.Scale, images.Options{Augment: images.None})
}

// Texts makes tokens of texts as a BERT wants them, without labels.
func (m *Model) Texts(texts []string) (*bert.Texts, error) {
	return m.Encoder.Texts(texts, nil, m.Length)
}

// Evaluator returns the logits of examples, in batches of that size.
func (m *Model) Evaluator(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEvaluator(b, m.store, m.task(), batch)
}

// Embedder returns the features of examples, in batches of that size.
func (m *Model) Embedder(b compute.Backend, batch int) (*train.Evaluator, error) {
	return train.NewEmbedder(b, m.store, m.task(), batch)
}

// Parameters counts the trained numbers of the network, its head folded.
func (m *Model) Parameters() int { return deep.Parameters(m.store, layer.Mean, layer.Variance) }

// Save writes the model, with a BERT's tokenizer: the old file or the new one is
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
		return fmt.Errorf("network: %w", err)
	}
	// What else a reader needs to build the same graph.
	metadata := map[string]string{"about": string(about)}
	switch {
	case m.Encoder != nil:
		metadata["format"] = bertFormat
		maps.Copy(metadata, m.Encoder.Files())
	case m.hierarchical:
		metadata["format"], metadata["network"], metadata["output"] = pictureFormat, m.Name, hierarchical
	default:
		metadata["format"], metadata["network"], metadata["output"] = pictureFormat, m.Name, flat
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
func IsFile(path string) bool {
	return safetensors.HasFormat(path, pictureFormat) || safetensors.HasFormat(path, bertFormat)
}

// Load reads a model that Save wrote, and checks its checksum before anything else. Any
// other file is an error that wraps ErrFile, a file that cannot be read one that names it.
func Load(path string) (*Model, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Model{store: model.NewStore()}
	if err := m.read(path, f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	return m, nil
}

// read makes a model of the metadata and the tensors of a file.
func (m *Model) read(path string, f *safetensors.File) (err error) {
	if err := f.Verify(); err != nil {
		return err
	}
	switch format := f.Metadata["format"]; format {
	case pictureFormat:
		m.Name, m.hierarchical = f.Metadata["network"], f.Metadata["output"] == hierarchical
	case bertFormat:
		m.Name = BERT
		if m.Encoder, err = bert.FromFiles(f.Metadata); err != nil {
			return err
		}
	default:
		return fmt.Errorf("format %q, want %q or %q", format, pictureFormat, bertFormat)
	}
	if err := json.Unmarshal([]byte(f.Metadata["about"]), &m.About); err != nil {
		return err
	}
	if text := f.Metadata["tree"]; text != "" {
		if m.Tree, err = labeltree.ReadJSON(strings.NewReader(text), path); err != nil {
			return err
		}
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := deep.ImportFrom(m.store, f); err != nil {
		return err
	}
	m.Vectors, err = deep.Vectors(m.store, len(m.Classes))
	return err
}
