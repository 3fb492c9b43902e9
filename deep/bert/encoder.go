package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-huggingface/models/transformer"
	"github.com/gomlx/go-huggingface/tokenizers/api"
	"github.com/gomlx/go-huggingface/tokenizers/hftokenizer"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Files of a folder.
const (
	configFile    = "config.json"
	tokenizerFile = "tokenizer.json"
	settingsFile  = "tokenizer_config.json" // may be missing
)

// Encoder is BERT up to the vector of a text. It has the configuration and the
// tokenizer; the weights are in a store. It is immutable and safe for concurrent use.
type Encoder struct {
	dir       string // of the weights; "" for an encoder out of a model file
	config    transformer.Config
	tokenizer *hftokenizer.Tokenizer
	texts     map[string]string // the files above by name
}

// fileNames are the files that an Encoder is made of.
func fileNames() []string { return []string{configFile, tokenizerFile, settingsFile} }

// Open reads configuration and tokenizer of a folder. It must be a BERT with
// learned absolute positions; another architecture, such as RoBERTa, and a folder
// that lacks a file are errors that say so. Weights are read by Weights.
func Open(dir string) (*Encoder, error) {
	texts := map[string]string{}
	for _, name := range fileNames() {
		data, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == settingsFile:
			continue
		case errors.Is(err, fs.ErrNotExist) && name == tokenizerFile:
			return nil, fmt.Errorf("bert: %s has no %s; a vocab.txt is not enough: save the tokenizer with save_pretrained of a fast tokenizer", dir, name)
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("bert: %s has no %s; want a folder with %s, %s and model.safetensors: %w", dir, name, configFile, tokenizerFile, err)
		case err != nil:
			return nil, fmt.Errorf("bert: %w", err)
		}
		texts[name] = string(data)
	}
	e, err := FromFiles(texts)
	if err != nil {
		return nil, fmt.Errorf("bert: %s: %w", dir, err)
	}
	e.dir = dir
	if _, err := e.weightFiles(); err != nil {
		return nil, err
	}
	return e, nil
}

// FromFiles returns the encoder of configuration and tokenizer by the names of
// their files, as Files gave them; other names are left out. It has no weights to read.
func FromFiles(texts map[string]string) (*Encoder, error) {
	e := &Encoder{texts: map[string]string{}}
	for _, name := range fileNames() {
		if text, ok := texts[name]; ok {
			e.texts[name] = text
		}
	}
	if err := json.Unmarshal([]byte(texts[configFile]), &e.config); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	// Weights are float32 here, whatever they are in the file.
	e.config.ModelType, e.config.TorchDtype, e.config.DType = "bert", "float32", "float32"
	settings := &api.Config{}
	if text, ok := texts[settingsFile]; ok {
		if err := json.Unmarshal([]byte(text), &looseConfig{settings}); err != nil {
			return nil, fmt.Errorf("%s: %w", settingsFile, err)
		}
	}
	var err error
	if e.tokenizer, err = newTokenizer(settings, texts[tokenizerFile]); err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	return e, nil
}

// looseConfig takes of a tokenizer's settings the names of the special tokens,
// which are strings or objects with a content, and leaves the rest.
type looseConfig struct{ config *api.Config }

// UnmarshalJSON takes any object; a token of another form is left out.
func (c *looseConfig) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, to := range map[string]*string{"cls_token": &c.config.ClsToken, "sep_token": &c.config.SepToken,
		"unk_token": &c.config.UnkToken, "pad_token": &c.config.PadToken, "mask_token": &c.config.MaskToken} {
		var token struct {
			Content string `json:"content"`
		}
		if json.Unmarshal(fields[name], to) != nil && json.Unmarshal(fields[name], &token) == nil {
			*to = token.Content
		}
	}
	return nil
}

// newTokenizer reads a tokenizer.json. The library panics on some that are not one.
func newTokenizer(settings *api.Config, text string) (t *hftokenizer.Tokenizer, err error) {
	defer func() { // of files that are not what they should be
		if r := recover(); r != nil {
			t, err = nil, fmt.Errorf("not a tokenizer: %v", r)
		}
	}()
	if t, err = hftokenizer.NewFromContent(settings, []byte(text)); err != nil {
		return nil, err
	}
	if t.VocabSize() == 0 {
		return nil, errors.New("a tokenizer without words")
	}
	return t, nil
}

// check refuses what is no BERT, and sizes that no BERT has.
func (e *Encoder) check() error {
	c := &e.config
	// Early checkpoints name the architecture and no model_type.
	isBERT := c.ModelType == "bert" || c.ModelType == "" && len(c.Architectures) > 0 && strings.HasPrefix(c.Architectures[0], "Bert")
	if !isBERT {
		return fmt.Errorf("model_type %q, want bert: RoBERTa, DistilBERT and others are not supported", c.ModelType)
	}
	if kind, ok := c.Extra["position_embedding_type"].(string); ok && kind != "absolute" {
		return fmt.Errorf("position_embedding_type %q, want absolute", kind)
	}
	switch c.HiddenAct {
	case "gelu", "relu", "gelu_pytorch_tanh":
	case "":
		c.HiddenAct = "gelu"
	case "gelu_new":
		c.HiddenAct = "gelu_pytorch_tanh" // the same function
	default:
		return fmt.Errorf("hidden_act %q, want gelu, gelu_new or relu", c.HiddenAct)
	}
	c.HiddenActivation = c.HiddenAct
	if c.LayerNormEps == 0 {
		c.LayerNormEps = 1e-12
	}
	// Sizes of a file that is damaged must not make us allocate that much.
	const most = 1 << 24
	for _, n := range []int{c.HiddenSize, c.NumHiddenLayers, c.NumAttentionHeads, c.IntermediateSize, c.MaxPositionEmbeddings, c.VocabSize, e.types()} {
		if n < 1 || n > most {
			return fmt.Errorf("hidden_size %d, num_hidden_layers %d, num_attention_heads %d, intermediate_size %d, max_position_embeddings %d, vocab_size %d, type_vocab_size %d; want each from 1 to %d",
				c.HiddenSize, c.NumHiddenLayers, c.NumAttentionHeads, c.IntermediateSize, c.MaxPositionEmbeddings, c.VocabSize, e.types(), most)
		}
	}
	if c.HiddenSize%c.NumAttentionHeads != 0 || c.NumHiddenLayers > 1000 || !(c.LayerNormEps > 0) {
		return fmt.Errorf("hidden_size %d, num_attention_heads %d, num_hidden_layers %d, layer_norm_eps %v; want heads that divide the size, at most 1000 layers and a number above 0",
			c.HiddenSize, c.NumAttentionHeads, c.NumHiddenLayers, c.LayerNormEps)
	}
	return nil
}

// Files returns the contents of configuration and tokenizer by the names of their
// files.
func (e *Encoder) Files() map[string]string { return maps.Clone(e.texts) }

// types returns the number of token types, of which only the first is used.
func (e *Encoder) types() int {
	if n, ok := e.config.Extra["type_vocab_size"].(float64); ok {
		return int(n)
	}
	return 2
}

// Width returns the length of a text's vector.
func (e *Encoder) Width() int { return e.config.HiddenSize }

// MaxTokens returns the most tokens of a text.
func (e *Encoder) MaxTokens() int { return e.config.MaxPositionEmbeddings }

// Tokens returns the numbers of the tokens of a text, at most that many: of a
// longer one the first, and the last, which is [SEP].
func (e *Encoder) Tokens(text string, most int) (tokens []int32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("bert: the tokenizer fails: %v", r)
		}
	}()
	// The tokenizer adds [CLS] and [SEP] itself, as its post-processor says.
	ids := e.tokenizer.Encode(text)
	if most < 2 || len(ids) == 0 {
		return nil, fmt.Errorf("bert: %d tokens and at most %d, want at least 1 and 2", len(ids), most)
	}
	if len(ids) > most {
		ids = append(ids[:most-1:most-1], ids[len(ids)-1])
	}
	tokens = make([]int32, len(ids))
	for i, id := range ids {
		if id < 0 || id >= e.config.VocabSize {
			return nil, fmt.Errorf("bert: the tokenizer has token %d, the model %d; take the tokenizer that belongs to it", id, e.config.VocabSize)
		}
		tokens[i] = int32(id)
	}
	return tokens, nil
}

// Freezes tells whether the three embedding tables stay as they are in training
// on a backend: on ONNX Runtime, which adds up gradients of rows that repeat
// wrongly.
func Freezes(b compute.Backend) bool { return strings.HasPrefix(b.Name(), "onnx") }

// Features builds the vectors of texts, [batch, width], from their tokens [batch,
// length] and numbers of tokens [batch], both int32. See Freezes.
func (e *Encoder) Features(scope *model.Scope, inputs []*graph.Node) *graph.Node {
	m := &transformer.Model{Config: e.config, PoolingConfig: &transformer.PoolingConfig{PoolingModeMeanTokens: true}}
	x := m.SentenceEmbeddingGraph(scope, inputs[0], inputs[1])
	if Freezes(inputs[0].Graph().Backend()) {
		for _, path := range []string{tokenTable, positionTable, typeTable} {
			if v := scope.Store().GetVariable(path); v != nil {
				v.SetTrainable(false)
			}
		}
	}
	return x
}
