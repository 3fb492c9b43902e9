package encoder

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// New returns an encoder of the text of a tokenizer.json, a row for each of its tokens,
// and a weight for each or nil. It keeps what it is given. Fewer rows or weights than tokens,
// numbers that are not finite, and a tokenizer that is not understood are errors.
func New(tokenizer []byte, rows *matrix.Dense, weight []float32, normalize bool) (*Static, error) {
	s := &Static{rows: rows, weight: weight, normalize: normalize}
	if rows.Columns < 1 || rows.Rows() < 1 {
		return nil, errors.New("no vectors")
	}
	if err := s.setTokenizer(tokenizer); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return s, s.check()
}

// Write writes a folder in the layout of model2vec, which sentence-transformers reads too:
// model.safetensors in float32, tokenizer.json, config.json and modules.json. The folder
// is made if it is not there; files of these names are replaced, each whole or not at all.
func (s *Static) Write(folder string) error {
	if s.compact {
		return errors.New("an encoder out of a model file is not whole, and has no folder")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	f := &safetensors.File{Tensors: []safetensors.Tensor{safetensors.New(embeddings, s.rows.Data, s.Rows(), s.Dim())}}
	if s.weight != nil {
		f.Tensors = append(f.Tensors, safetensors.New(weights, s.weight, len(s.weight)))
	}
	if s.mapping != nil {
		f.Tensors = append(f.Tensors, safetensors.New(mapping, s.mapping, len(s.mapping)))
	}
	if err := safetensors.WriteFile(filepath.Join(folder, weightsFile), f); err != nil {
		return err
	}
	type module struct { // as sentence-transformers writes modules.json
		Index int    `json:"idx"`
		Name  string `json:"name"`
		Path  string `json:"path"`
		Type  string `json:"type"`
	}
	modules := []module{{0, "0", ".", "sentence_transformers.models.StaticEmbedding"}}
	if s.normalize {
		modules = append(modules, module{1, "1", "1_Normalize", "sentence_transformers.models.Normalize"})
	}
	if err := atomicfile.WriteBytes(filepath.Join(folder, tokenizerFile), s.text); err != nil {
		return err
	}
	for name, v := range map[string]any{
		configFile:  map[string]any{"model_type": "model2vec", "normalize": s.normalize, "hidden_dim": s.Dim()},
		modulesFile: modules,
	} {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(folder, name), append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}
