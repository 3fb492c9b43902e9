package encoder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/internal/tokenizer"
	"github.com/treeloss/treeloss/matrix"
)

// Names of files and tensors of a folder.
const (
	weightsFile   = "model.safetensors"
	tokenizerFile = "tokenizer.json"
	configFile    = "config.json"
	modulesFile   = "modules.json"

	embeddings = "embeddings"       // of model2vec
	embedding  = "embedding.weight" // of StaticEmbedding
	weights    = "weights"
	mapping    = "mapping"
)

// ErrNotStatic says that a folder has no static encoder.
var ErrNotStatic = errors.New("no static encoder; of a BERT treeloss encoder distill makes one")

// Open reads a static encoder from a folder; see the package for its layout. Tensors are
// F32, F16, BF16, F64 or, embeddings only, I8. A file that is missing or damaged, shapes
// that do not fit, numbers that are not finite, and a tokenizer or module that is not
// understood are errors that name the file. It takes as much memory as the tensors have
// in float32.
func Open(folder string) (*Static, error) {
	if info, err := os.Stat(folder); err != nil {
		return nil, input.Missing(folder, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; want a folder with %s and %s", folder, weightsFile, tokenizerFile)
	}
	s := &Static{}
	dir, err := s.readModules(folder)
	if err != nil {
		return nil, err
	}
	if err := s.readConfig(filepath.Join(folder, configFile)); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, weightsFile)
	file, err := safetensors.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no %s; want a folder with %s and %s", folder, weightsFile, weightsFile, tokenizerFile)
	}
	if err != nil {
		return nil, err
	}
	if err := s.setRows(file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.readTokenizer(filepath.Join(dir, tokenizerFile)); err != nil {
		return nil, err
	}
	if err := s.setTokens(file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// readModules finds the folder of the embeddings, and whether vectors have length 1. A module
// that is not known would change the vectors, and is an error.
func (s *Static) readModules(folder string) (dir string, err error) {
	path := filepath.Join(folder, modulesFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Some folders have the module and no list of modules.
		if nested := filepath.Join(folder, "0_StaticEmbedding"); isDir(nested) {
			return nested, nil
		}
		return folder, nil
	}
	if err != nil {
		return "", err
	}
	var modules []struct {
		Path string
		Type string
	}
	if err := json.Unmarshal(data, &modules); err != nil {
		return "", fmt.Errorf("%s: %w", path, input.JSON(err))
	}
	for i, m := range modules {
		name := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		switch {
		case i == 0 && name == "StaticEmbedding":
			// A downloaded folder must not read other files of this machine.
			if !filepath.IsLocal(filepath.FromSlash(m.Path)) && m.Path != "" {
				return "", fmt.Errorf("%s: path %q is not within the folder", path, m.Path)
			}
			dir = filepath.Join(folder, filepath.FromSlash(m.Path))
		case i == 0 && name == "Transformer":
			return "", fmt.Errorf("%s: the folder has a transformer and %w", path, ErrNotStatic)
		case i > 0 && name == "Normalize":
			s.normalize = true
		default:
			return "", fmt.Errorf("%s: module %q is not supported; want StaticEmbedding, and Normalize behind it", path, m.Type)
		}
	}
	if dir == "" {
		return "", fmt.Errorf("%s: no modules; want StaticEmbedding", path)
	}
	return dir, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readConfig reads config.json, of which only "normalize" counts: where it is there, it counts
// more than modules.json.
func (s *Static) readConfig(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var c struct{ Normalize *bool }
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%s: %w", path, input.JSON(err))
	}
	if c.Normalize != nil {
		s.normalize = *c.Normalize
	}
	return nil
}

// readTokenizer reads tokenizer.json.
func (s *Static) readTokenizer(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no %s; a vocab.txt is not enough: save the tokenizer with save_pretrained of a fast tokenizer", filepath.Dir(path), tokenizerFile)
	}
	if err != nil {
		return err
	}
	if err := s.setTokenizer(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// setTokenizer keeps the text of a tokenizer.json as well, to be written as it came.
func (s *Static) setTokenizer(text []byte) (err error) {
	s.text = text
	s.tokenizer, err = tokenizer.Parse(text)
	return err
}

// find returns a tensor, nil if it is not there.
func find(f *safetensors.File, name string) *safetensors.Tensor {
	for i := range f.Tensors {
		if f.Tensors[i].Name == name {
			return &f.Tensors[i]
		}
	}
	return nil
}

// setRows takes the embeddings of a file.
func (s *Static) setRows(f *safetensors.File) error {
	t := find(f, embeddings)
	if t == nil {
		t = find(f, embedding)
	}
	if t == nil {
		_, err := f.Tensor(embeddings) // lists those that are there
		return fmt.Errorf("%w: %w", err, ErrNotStatic)
	}
	if len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[1] < 1 {
		return fmt.Errorf("tensor %q has the shape %v, want tokens x dimensions", t.Name, t.Shape)
	}
	data, err := floats(t)
	if err != nil {
		return err
	}
	s.rows = &matrix.Dense{Columns: t.Shape[1], Data: data}
	return nil
}

// floats returns the numbers of a tensor of some type, in float32; those of F64 are rounded.
func floats(t *safetensors.Tensor) ([]float32, error) {
	switch t.DType {
	case safetensors.F64:
		wide, err := t.Float64s()
		out := make([]float32, len(wide))
		for i, v := range wide {
			out[i] = float32(v)
		}
		return out, err
	case "I8": // as model2vec quantises: the numbers as they are
		out := make([]float32, len(t.Data))
		for i, b := range t.Data {
			out[i] = float32(int8(b))
		}
		return out, nil
	}
	return t.Float32s()
}

// setTokens takes weights and mapping of a file, which are optional.
func (s *Static) setTokens(f *safetensors.File) (err error) {
	if t := find(f, weights); t != nil {
		if s.weight, err = floats(t); err != nil {
			return err
		}
	}
	t := find(f, mapping)
	if t == nil {
		return nil
	}
	if t.DType == safetensors.I64 {
		wide, err := t.Int64s()
		if err != nil {
			return err
		}
		s.mapping = make([]int32, len(wide))
		for i, v := range wide {
			if v < 0 || v > math.MaxInt32 {
				return fmt.Errorf("tensor %q has %d for token %d, want a row from 0 to %d", mapping, v, i, s.rows.Rows()-1)
			}
			s.mapping[i] = int32(v)
		}
		return nil
	}
	s.mapping, err = t.Int32s()
	return err
}

// check returns an error unless tokenizer, rows, weights and mapping fit together and all
// numbers are finite.
func (s *Static) check() error {
	n, r := s.tokenizer.Size(), s.rows.Rows()
	switch {
	case s.mapping == nil && r < n:
		return fmt.Errorf("embeddings of %d tokens, and the tokenizer has %d; take the tokenizer that belongs to them", r, n)
	case s.mapping != nil && len(s.mapping) < n:
		return fmt.Errorf("tensor %q has %d tokens, and the tokenizer has %d", mapping, len(s.mapping), n)
	case s.weight != nil && len(s.weight) < n:
		return fmt.Errorf("tensor %q has %d tokens, and the tokenizer has %d", weights, len(s.weight), n)
	}
	least := int32(0)
	if s.compact { // a token without a row is Compact's doing, in a folder a mistake
		least = -1
	}
	for id, row := range s.mapping {
		if row < least || int(row) >= r {
			return fmt.Errorf("tensor %q has %d for token %d, want a row from 0 to %d", mapping, row, id, r-1)
		}
	}
	bad := func(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }
	if i := slices.IndexFunc(s.weight, bad); i >= 0 {
		return fmt.Errorf("the weight of token %d is %v, want a finite number", i, s.weight[i])
	}
	if i := slices.IndexFunc(s.rows.Data, bad); i >= 0 {
		row := i / s.Dim()
		return fmt.Errorf("row %d of the embeddings%s has %v, want finite numbers", row, s.ofToken(row), s.rows.Data[i])
	}
	return nil
}

// ofToken names the first token of a row, for messages.
func (s *Static) ofToken(row int) string {
	for id := range s.tokenizer.Size() {
		if len(s.mapping) > 0 && int(s.mapping[id]) == row || s.mapping == nil && id == row {
			return fmt.Sprintf(" (token %.40q)", s.Token(id))
		}
	}
	return ""
}
