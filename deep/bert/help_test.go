package bert

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/internal/safetensors"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// size is that of a tiny BERT.
type size struct{ vocabulary, hidden, layers, heads, inner, positions, types int }

// vocabulary has the special tokens, letters, their continuations and words.
func vocabulary(texts []string) []string {
	out := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := 'a'; c <= 'z'; c++ {
		out = append(out, string(c), "##"+string(c))
	}
	count := map[string]int{}
	for _, text := range texts {
		for _, w := range strings.Fields(strings.ToLower(text)) {
			if count[w]++; count[w] == 3 && len(w) > 1 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
				out = append(out, w)
			}
		}
	}
	return append(out, "##s", "##ing", ",", "?", "'")[:len(out)+5]
}

// folder writes a random BERT in the layout of Hugging Face.
func folder(t testing.TB, words []string, s size, prefix string) (dir string, weights map[string][]float64) {
	t.Helper()
	dir = t.TempDir()
	ids := map[string]int{}
	for _, w := range words {
		if _, twice := ids[w]; !twice {
			ids[w] = len(ids)
		}
	}
	s.vocabulary = len(ids)
	special := func(name string) map[string]any {
		return map[string]any{"id": ids[name], "content": name, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}
	}
	write := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(configFile, map[string]any{"architectures": []string{"BertModel"}, "model_type": "bert", "hidden_size": s.hidden,
		"num_hidden_layers": s.layers, "num_attention_heads": s.heads, "intermediate_size": s.inner, "max_position_embeddings": s.positions,
		"vocab_size": s.vocabulary, "type_vocab_size": s.types, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "torch_dtype": "float32", "pad_token_id": 0})
	item := func(kind, id string) map[string]any {
		return map[string]any{kind: map[string]any{"id": id, "type_id": 0}}
	}
	token := func(name string) map[string]any {
		return map[string]any{"id": name, "ids": []int{ids[name]}, "tokens": []string{name}}
	}
	write(tokenizerFile, map[string]any{"version": "1.0",
		"added_tokens":  []any{special("[PAD]"), special("[UNK]"), special("[CLS]"), special("[SEP]"), special("[MASK]")},
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "TemplateProcessing", "single": []any{item("SpecialToken", "[CLS]"), item("Sequence", "A"), item("SpecialToken", "[SEP]")},
			"special_tokens": map[string]any{"[CLS]": token("[CLS]"), "[SEP]": token("[SEP]")}},
		"decoder": map[string]any{"type": "WordPiece", "prefix": "##"},
		"model":   map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids}})
	write(settingsFile, map[string]any{"do_lower_case": true, "cls_token": "[CLS]", "sep_token": map[string]any{"content": "[SEP]"}, "unk_token": "[UNK]", "pad_token": "[PAD]"})

	e := &Encoder{}
	e.config.HiddenSize, e.config.NumHiddenLayers, e.config.IntermediateSize = s.hidden, s.layers, s.inner
	e.config.MaxPositionEmbeddings, e.config.VocabSize, e.config.Extra = s.positions, s.vocabulary, map[string]any{"type_vocab_size": float64(s.types)}
	rng := rand.New(rand.NewPCG(7, 11))
	weights = map[string][]float64{}
	var out []safetensors.Tensor
	for _, w := range e.weights() {
		n := 1
		for _, d := range w.dims {
			n *= d
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(0.15 * rng.NormFloat64())
			if strings.HasSuffix(w.name, "LayerNorm.weight") {
				x[i] += 1
			}
			weights[w.name] = append(weights[w.name], float64(x[i]))
		}
		out = append(out, safetensors.New(prefix+w.name, x, w.dims...))
	}
	out = append(out, safetensors.New(prefix+"pooler.dense.bias", make([]float32, s.hidden), s.hidden),
		safetensors.New(prefix+"embeddings.position_ids", make([]int64, s.positions), 1, s.positions))
	if err := safetensors.WriteFile(filepath.Join(dir, weightsFile), &safetensors.File{Tensors: out}); err != nil {
		t.Fatal(err)
	}
	return dir, weights
}

// NewFolder writes a small random BERT that knows the words of some texts, for the
// tests of its models, with the weights by name.
func NewFolder(t testing.TB, texts []string) (dir string, weights map[string][]float64) {
	return folder(t, vocabulary(texts), size{hidden: 48, layers: 2, heads: 4, inner: 96, positions: 32, types: 2}, "bert.")
}

// Clinc is clinc, for the tests of models.
var Clinc = clinc

// Paths returns the path in a store of each weight.
func (e *Encoder) Paths() map[string]string {
	out := map[string]string{}
	for _, w := range e.weights() {
		out[w.name] = w.path
	}
	return out
}

// reference computes the vector of one text in float64, from the definition of
// BERT (Devlin et al. 2019) and nothing of GoMLX.
func reference(w map[string][]float64, s size, tokens []int32) []float64 {
	d := s.hidden
	norm := func(x []float64, name string) []float64 {
		var mean, variance float64
		for _, v := range x {
			mean += v / float64(d)
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(d)
		}
		out := make([]float64, d)
		for i, v := range x {
			out[i] = (v-mean)/math.Sqrt(variance+1e-12)*w[name+".weight"][i] + w[name+".bias"][i]
		}
		return out
	}
	dense := func(x []float64, name string) []float64 {
		out := slices.Clone(w[name+".bias"])
		for i := range out {
			for j, v := range x {
				out[i] += w[name+".weight"][i*len(x)+j] * v
			}
		}
		return out
	}
	add := func(x, y []float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = x[i] + y[i]
		}
		return out
	}
	row := func(name string, i int) []float64 { return w[name][i*d : (i+1)*d] }
	x := make([][]float64, len(tokens))
	for t, id := range tokens {
		e := add(row("embeddings.word_embeddings.weight", int(id)), row("embeddings.position_embeddings.weight", t))
		x[t] = norm(add(e, row("embeddings.token_type_embeddings.weight", 0)), "embeddings.LayerNorm")
	}
	for l := range s.layers {
		layer := fmt.Sprintf("encoder.layer.%d.", l)
		q, k, v := make([][]float64, len(x)), make([][]float64, len(x)), make([][]float64, len(x))
		for t := range x {
			q[t], k[t], v[t] = dense(x[t], layer+"attention.self.query"), dense(x[t], layer+"attention.self.key"), dense(x[t], layer+"attention.self.value")
		}
		size := d / s.heads
		next := make([][]float64, len(x))
		for t := range x {
			mixed := make([]float64, d)
			for h := range s.heads {
				from, to := h*size, (h+1)*size
				share := make([]float64, len(x))
				var sum float64
				for u := range x {
					var dot float64
					for i := from; i < to; i++ {
						dot += q[t][i] * k[u][i]
					}
					share[u] = math.Exp(dot / math.Sqrt(float64(size)))
					sum += share[u]
				}
				for u := range x {
					for i := from; i < to; i++ {
						mixed[i] += share[u] / sum * v[u][i]
					}
				}
			}
			y := norm(add(dense(mixed, layer+"attention.output.dense"), x[t]), layer+"attention.output.LayerNorm")
			inner := dense(y, layer+"intermediate.dense")
			for i, v := range inner {
				inner[i] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
			next[t] = norm(add(dense(inner, layer+"output.dense"), y), layer+"output.LayerNorm")
		}
		x = next
	}
	mean := make([]float64, d)
	for _, v := range x {
		for i := range v {
			mean[i] += v[i] / float64(len(x))
		}
	}
	return mean
}

// clinc returns texts of some classes of clinc150, in turn.
func clinc(t testing.TB, n, classes int) (texts []string, labels []int32, names []string) {
	t.Helper()
	f, err := os.Open("../../../shared/data/clinc150/train.csv")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the real data of ../shared is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	byClass := map[string][]string{}
	for _, row := range rows[1:] {
		if !slices.Contains(names, row[1]) {
			if len(names) == classes {
				continue
			}
			names = append(names, row[1])
		}
		byClass[row[1]] = append(byClass[row[1]], row[0])
	}
	for i := range n {
		c := i % classes
		texts, labels = append(texts, byClass[names[c]][i/classes]), append(labels, int32(c))
	}
	return texts, labels, names
}
