package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/internal/safetensors"
)

// Paths of the embedding tables in a store.
const (
	tokenTable    = "/token_embed/embeddings"
	positionTable = "/pos_embed/embeddings"
	typeTable     = "/token_type_embed/embeddings"
)

// Files of weights in a folder: one, or several that an index names.
const (
	weightsFile = "model.safetensors"
	indexFile   = "model.safetensors.index.json"
)

// weight is a tensor of a checkpoint and the variable that it becomes.
type weight struct {
	name string // in the checkpoint, without prefix
	path string // in the store
	dims []int
}

// weights lists all tensors of the encoder.
func (e *Encoder) weights() []weight {
	c := &e.config
	d := c.HiddenSize
	out := []weight{
		{"embeddings.word_embeddings.weight", tokenTable, []int{c.VocabSize, d}},
		{"embeddings.position_embeddings.weight", positionTable, []int{c.MaxPositionEmbeddings, d}},
		{"embeddings.token_type_embeddings.weight", typeTable, []int{e.types(), d}},
	}
	// A layer is a matrix, of so many columns, or the gain of a norm, and a bias.
	layer := func(name, path string, rows int, columns ...int) {
		weights, biases := path+"/dense/weights", path+"/dense/biases"
		if len(columns) == 0 {
			weights, biases = path+"/layer_normalization/gain", path+"/layer_normalization/offset"
		}
		out = append(out, weight{name + ".weight", weights, append([]int{rows}, columns...)}, weight{name + ".bias", biases, []int{rows}})
	}
	layer("embeddings.LayerNorm", "/embed_norm", d)
	for i := range c.NumHiddenLayers {
		name, path := fmt.Sprintf("encoder.layer.%d.", i), fmt.Sprintf("/layer_%d", i)
		for _, part := range []string{"query", "key", "value"} {
			layer(name+"attention.self."+part, path+"/attn/MultiHeadAttention/"+part, d, d)
		}
		layer(name+"attention.output.dense", path+"/attn/MultiHeadAttention/output", d, d)
		layer(name+"attention.output.LayerNorm", path+"/norm1", d)
		layer(name+"intermediate.dense", path+"/ff1", c.IntermediateSize, d)
		layer(name+"output.dense", path+"/ff2", d, c.IntermediateSize)
		layer(name+"output.LayerNorm", path+"/norm2", d)
	}
	return out
}

// weightFiles returns the safetensors files of the folder.
func (e *Encoder) weightFiles() ([]string, error) {
	single, path := filepath.Join(e.dir, weightsFile), filepath.Join(e.dir, indexFile)
	if _, err := os.Stat(single); err == nil {
		return []string{single}, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("bert: %s has no %s; weights in pytorch_model.bin must be saved anew, with save_pretrained(..., safe_serialization=True): %w", e.dir, weightsFile, err)
	}
	if err != nil {
		return nil, fmt.Errorf("bert: %w", err)
	}
	var index struct {
		Files map[string]string `json:"weight_map"` // by tensor
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("bert: %s: %w", path, err)
	}
	names := slices.Compact(slices.Sorted(maps.Values(index.Files)))
	if len(names) == 0 {
		return nil, fmt.Errorf("bert: %s names no files", path)
	}
	for i, name := range names {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("bert: %s names the file %q, want files of the folder", path, name)
		}
		names[i] = filepath.Join(e.dir, name)
	}
	return names, nil
}

// Weights reads the weights of the folder into a store. Names may begin with
// bert. or whatever else stands before embeddings.word_embeddings.weight; the
// pooler and heads are left out. A tensor that is missing or has another shape
// than config.json says is an error.
func (e *Encoder) Weights(store *model.Store) error {
	files, err := e.weightFiles()
	if err != nil {
		return err
	}
	byName := map[string]*safetensors.Tensor{}
	// Of several names that end so, the first says the prefix of all.
	prefix, found := "", false
	for _, file := range files {
		f, err := safetensors.ReadFile(file)
		if err != nil {
			return fmt.Errorf("bert: %w", err)
		}
		for i := range f.Tensors {
			name := modern(f.Tensors[i].Name)
			byName[name] = &f.Tensors[i]
			if p, ok := strings.CutSuffix(name, "embeddings.word_embeddings.weight"); ok && !found {
				prefix, found = p, true
			}
		}
	}
	if !found {
		return fmt.Errorf("bert: %s has no tensor embeddings.word_embeddings.weight; are these the weights of a BERT?", files[0])
	}
	for _, w := range e.weights() {
		t := byName[prefix+w.name]
		if t == nil {
			return fmt.Errorf("bert: %s has no tensor %s", files[0], prefix+w.name)
		}
		if !slices.Equal(t.Shape, w.dims) {
			return fmt.Errorf("bert: tensor %s has shape %v, config.json says %v", t.Name, t.Shape, w.dims)
		}
		x, err := t.Float32s()
		if err != nil {
			return fmt.Errorf("bert: tensor %s: %w", t.Name, err)
		}
		store.VariableWithValue(w.path, tensors.FromFlatDataAndDimensions(slices.Clone(x), w.dims...))
	}
	return nil
}

// modern returns the name that a tensor has since 2019: the checkpoints of Devlin et
// al. call gain and offset of a norm gamma and beta.
func modern(name string) string {
	name = strings.Replace(name, "LayerNorm.gamma", "LayerNorm.weight", 1)
	return strings.Replace(name, "LayerNorm.beta", "LayerNorm.bias", 1)
}
