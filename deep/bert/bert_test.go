package bert

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/safetensors"
)

var (
	tiny  = size{hidden: 24, layers: 2, heads: 3, inner: 40, positions: 20, types: 2}
	plain = []string{"where is my card", "freeze it, please", "what's up?", "Cards", "a very long text that goes on and on and on and does not come to an end before the model is full"}
)

// The vector of a text is that of an independent computation, whatever padding
// and neighbours it has, and whatever stands before the names of the tensors.
func TestForward(t *testing.T) {
	b := backendtest.Open(t)
	for _, prefix := range []string{"", "bert."} {
		dir, weights := folder(t, vocabulary(plain), tiny, prefix)
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		texts, err := e.Texts(plain, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		store := model.NewStore()
		if err := e.Weights(store); err != nil {
			t.Fatal(err)
		}
		embedder, err := train.NewEmbedder(b, store, train.Task{Features: e.Features}, 3)
		if err != nil {
			t.Fatal(err)
		}
		err = embedder.Each(t.Context(), texts, func(i int, got []float32) error {
			want := reference(weights, tiny, texts.tokens[i])
			for j, v := range got {
				if math.Abs(float64(v)-want[j]) > 1e-5 {
					t.Fatalf("text %d: %v at %d, want %v", i, v, j, want[j])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if e.Width() != tiny.hidden || texts.Length() != tiny.positions || texts.Len() != len(plain) || texts.Label(1) != 0 {
			t.Errorf("width %d, length %d of %d texts", e.Width(), texts.Length(), texts.Len())
		}
	}
}

func TestTokens(t *testing.T) {
	dir, _ := folder(t, []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "card", "##s", "my", ","}, tiny, "")
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text string
		most int
		want []int32
	}{
		{"My cards, zzz", 20, []int32{2, 7, 5, 6, 8, 1, 3}},
		{"My cards, zzz", 4, []int32{2, 7, 5, 3}},
		{"", 20, []int32{2, 3}},
	} {
		if got, err := e.Tokens(tc.text, tc.most); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%q: %v, %v, want %v", tc.text, got, err, tc.want)
		}
	}
	for _, length := range []int{1, 21} {
		if _, err := e.Texts([]string{"my card"}, nil, length); err == nil {
			t.Errorf("texts of %d tokens are taken", length)
		}
	}
	if _, err := e.Tokens("my card", 1); err == nil {
		t.Error("one token is enough")
	}
	for _, labels := range [][]int32{{1, 2}, {}} {
		if _, err := e.Texts([]string{"my card"}, labels, 0); err == nil {
			t.Errorf("labels %v are taken", labels)
		}
	}
	e.config.VocabSize = 6
	if _, err := e.Texts([]string{"my card"}, nil, 0); err == nil || !strings.Contains(err.Error(), "token 7") {
		t.Errorf("another vocabulary: %v", err)
	}
}

// A multilingual model keeps case and accents and takes Chinese characters one by
// one, as LaBSE's tokenizer says; one that lowers case drops accents as well.
func TestTokensOfLanguages(t *testing.T) {
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "Café", "cafe", "日", "本", "日本", "Köln", "Привет", "안녕", "مرحبا", "नमस्ते", "!", "…"}
	const text = "Café 日本 Köln Привет 안녕 مرحبا नमस्ते!…"
	for cased, want := range map[bool]string{
		true:  "[CLS] Café 日 本 Köln Привет 안녕 مرحبا नमस्ते ! … [SEP]",
		false: "[CLS] cafe 日 本 [UNK] [UNK] [UNK] مرحبا [UNK] ! … [SEP]",
	} {
		dir, _ := folder(t, words, tiny, "")
		edit(t, filepath.Join(dir, tokenizerFile), map[string]any{"normalizer": map[string]any{
			"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": !cased}})
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := e.Tokens(text, 20)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range tokens {
			got = append(got, words[n])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("cased %v: %q, want %q", cased, got, want)
		}
	}
}

// edit changes fields of a JSON file.
func edit(t *testing.T, path string, change map[string]any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for k, v := range change {
		fields[k] = v
	}
	data, _ = json.Marshal(fields)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, says string
		spoil      func(dir string)
	}{
		{"no config", "no config.json", func(dir string) { os.Remove(filepath.Join(dir, configFile)) }},
		{"no tokenizer", "vocab.txt is not enough", func(dir string) { os.Remove(filepath.Join(dir, tokenizerFile)) }},
		{"no weights", "no model.safetensors", func(dir string) { os.Remove(filepath.Join(dir, weightsFile)) }},
		{"RoBERTa", `model_type "roberta"`, func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"model_type": "roberta"}) }},
		{"positions", "want absolute", func(dir string) {
			edit(t, filepath.Join(dir, configFile), map[string]any{"position_embedding_type": "relative_key"})
		}},
		{"activation", `hidden_act "mish"`, func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"hidden_act": "mish"}) }},
		{"heads", "heads that divide", func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"num_attention_heads": 5}) }},
		{"sizes", "want each from 1", func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"vocab_size": 0}) }},
		{"no JSON", "config.json", func(dir string) { os.WriteFile(filepath.Join(dir, configFile), []byte("x"), 0o600) }},
		{"tokenizer no JSON", "tokenizer.json", func(dir string) { os.WriteFile(filepath.Join(dir, tokenizerFile), []byte("x"), 0o600) }},
		{"empty tokenizer", "without words", func(dir string) { os.WriteFile(filepath.Join(dir, tokenizerFile), []byte("{}"), 0o600) }},
		{"settings", "tokenizer_config.json", func(dir string) { os.WriteFile(filepath.Join(dir, settingsFile), []byte("[]"), 0o600) }},
		{"other shape", "config.json says", func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"intermediate_size": 41}) }},
		{"missing layer", "no tensor encoder.layer.2", func(dir string) { edit(t, filepath.Join(dir, configFile), map[string]any{"num_hidden_layers": 3}) }},
		{"other weights", "no tensor embeddings", func(dir string) {
			safetensors.WriteFile(filepath.Join(dir, weightsFile), &safetensors.File{Tensors: []safetensors.Tensor{safetensors.New("x", []float32{1}, 1)}})
		}},
		{"damaged weights", "model.safetensors", func(dir string) { os.WriteFile(filepath.Join(dir, weightsFile), []byte("x"), 0o600) }},
		{"index", "names the file", func(dir string) {
			os.Remove(filepath.Join(dir, weightsFile))
			os.WriteFile(filepath.Join(dir, indexFile), []byte(`{"weight_map": {"x": "../y"}}`), 0o600)
		}},
		{"empty index", "names no files", func(dir string) {
			os.Remove(filepath.Join(dir, weightsFile))
			os.WriteFile(filepath.Join(dir, indexFile), []byte(`{}`), 0o600)
		}},
		{"index no JSON", "index.json", func(dir string) {
			os.Remove(filepath.Join(dir, weightsFile))
			os.WriteFile(filepath.Join(dir, indexFile), []byte(`x`), 0o600)
		}},
	} {
		dir, _ := folder(t, vocabulary(plain), tiny, "")
		tc.spoil(dir)
		e, err := Open(dir)
		if err == nil {
			err = e.Weights(model.NewStore())
		}
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// Weights in parts, with the names of 2018 and in half precision, are the same.
func TestOtherCheckpoints(t *testing.T) {
	dir, weights := folder(t, vocabulary(plain), tiny, "")
	f, err := safetensors.ReadFile(filepath.Join(dir, weightsFile))
	if err != nil {
		t.Fatal(err)
	}
	parts := []safetensors.File{{}, {}}
	index := map[string]string{}
	for i, x := range f.Tensors {
		x.Name = strings.Replace(strings.Replace(x.Name, "LayerNorm.weight", "LayerNorm.gamma", 1), "LayerNorm.bias", "LayerNorm.beta", 1)
		parts[i%2].Tensors = append(parts[i%2].Tensors, x)
		index[x.Name] = []string{"a.safetensors", "b.safetensors"}[i%2]
	}
	os.Remove(filepath.Join(dir, weightsFile))
	for i, name := range []string{"a.safetensors", "b.safetensors"} {
		if err := safetensors.WriteFile(filepath.Join(dir, name), &parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := json.Marshal(map[string]any{"weight_map": index})
	os.WriteFile(filepath.Join(dir, indexFile), data, 0o600)
	edit(t, filepath.Join(dir, configFile), map[string]any{"hidden_act": "gelu_new", "model_type": "", "torch_dtype": "float16", "layer_norm_eps": 0})
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := model.NewStore()
	if err := e.Weights(store); err != nil {
		t.Fatal(err)
	}
	for _, w := range e.weights() {
		x := tensors.MustCopyFlatData[float32](store.GetVariable(w.path).MustValue())
		for i, v := range x {
			if float64(v) != weights[w.name][i] {
				t.Fatalf("%s is %v at %d, want %v", w.name, v, i, weights[w.name][i])
			}
		}
	}
	// The graph uses each of them and makes none.
	exec := model.MustNewExec(backendtest.Open(t), store, func(scope *model.Scope, tokens, lengths *graph.Node) *graph.Node {
		return e.Features(scope, []*graph.Node{tokens, lengths})
	})
	before := store.NumVariables()
	exec.MustCall([][]int32{{2, 6, 3}}, []int32{3})
	if after := store.NumVariables(); after != before {
		t.Errorf("the graph made %d variables", after-before)
	}
}
