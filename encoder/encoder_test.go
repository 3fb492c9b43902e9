package encoder

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// words are the vocabulary of the tests; the tokenizer lowers case and cuts at spaces and
// punctuation.
var words = []string{"[PAD]", "[UNK]", "[CLS]", "card", "##s", "my", "where", "is", "lost", ",", "?"}

func tokenizerText(t testing.TB, words []string) []byte {
	t.Helper()
	vocab := map[string]int{}
	for i, w := range words {
		vocab[w] = i
	}
	text, err := json.Marshal(map[string]any{
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "TemplateProcessing"}, // which would add [CLS]
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func numbers(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// parts are the files of a folder.
type parts struct {
	tensors   []safetensors.Tensor
	tokenizer []byte
	config    string
	modules   string
	below     string // folder of weights and tokenizer
}

func (p parts) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, p.below)
	put := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if p.tensors != nil {
		if err := safetensors.WriteFile(filepath.Join(at, weightsFile), &safetensors.File{Tensors: p.tensors}); err != nil {
			t.Fatal(err)
		}
	}
	if p.tokenizer != nil {
		put(filepath.Join(at, tokenizerFile), p.tokenizer)
	}
	if p.config != "" {
		put(filepath.Join(dir, configFile), []byte(p.config))
	}
	if p.modules != "" {
		put(filepath.Join(dir, modulesFile), []byte(p.modules))
	}
	return dir
}

// reference is the vector of tokens by its definition, in float64.
func reference(ids []int, dim int, row func(id int) []float64, weight func(id int) float64, normalize bool) []float64 {
	out := make([]float64, dim)
	for _, id := range ids {
		for j, v := range row(id) {
			out[j] += weight(id) * v / float64(len(ids))
		}
	}
	if normalize {
		var squares float64
		for _, v := range out {
			squares += v * v
		}
		for j := range out {
			if squares > 0 {
				out[j] /= math.Sqrt(squares)
			}
		}
	}
	return out
}

var texts = []struct {
	text string
	ids  []int
}{
	{"Where is my card?", []int{6, 7, 5, 3, 10}},
	{"LOST cards, cards", []int{8, 3, 4, 9, 3, 4}},
	{"xyzzy card", []int{3}}, // unknown tokens are left out
	{"xyzzy", nil},
	{"", nil},
	{"[CLS] card", []int{3}}, // no special token of this tokenizer: [ and ] are unknown
	{strings.Repeat("card ", 600), slices.Repeat([]int{3}, 512)},
	{strings.Repeat("x ", 100) + "lost", []int{8}},
	{strings.Repeat("card ", 511) + "xyzzy lost card", append(slices.Repeat([]int{3}, 511), 8)}, // an unknown one takes no place
}

func checkVectors(t *testing.T, name string, s *Static, row func(int) []float64, weight func(int) float64, normalize bool, tolerance float64) {
	t.Helper()
	got := make([]float32, s.Dim())
	for _, tc := range texts {
		n := s.Encode(tc.text, got)
		want := reference(tc.ids, s.Dim(), row, weight, normalize)
		if n != len(tc.ids) {
			t.Errorf("%s: %.30q: %d tokens, want %d", name, tc.text, n, len(tc.ids))
		}
		for j := range want {
			if math.Abs(float64(got[j])-want[j]) > tolerance {
				t.Fatalf("%s: %.30q: %v at %d, want %v", name, tc.text, got[j], j, want[j])
			}
		}
	}
}

func rowsOf(data []float32, dim int) func(int) []float64 {
	return func(id int) []float64 {
		out := make([]float64, dim)
		for j := range out {
			out[j] = float64(data[id*dim+j])
		}
		return out
	}
}

func one(int) float64 { return 1 }

// All layouts give what an independent float64 computation gives, to 1e-6.
func TestLayouts(t *testing.T) {
	const dim = 24
	n := len(words)
	data := numbers(1, n*dim)
	weight := numbers(2, n)
	tokenizer := tokenizerText(t, words)
	halfs, halved := make([]uint16, len(data)), make([]float32, len(data))
	brain, brained := make([]byte, 2*len(data)), make([]float32, len(data))
	wide := make([]float64, len(data))
	bytes, quantised := make([]byte, len(data)), make([]float32, len(data))
	for i, v := range data {
		halfs[i] = half.Round(v)
		halved[i] = half.Float32(halfs[i])
		top := math.Float32bits(v) >> 16
		brain[2*i], brain[2*i+1] = byte(top), byte(top>>8)
		brained[i] = math.Float32frombits(top << 16)
		wide[i] = float64(v)
		q := int8(max(-127, min(127, 40*v)))
		bytes[i], quantised[i] = byte(q), float32(q)
	}
	places := make([]int64, n)
	for id := range places {
		places[id] = int64(id % 4)
	}
	mapped := func(id int) []float64 { return rowsOf(data, dim)(id % 4) }
	weighted := func(id int) float64 { return float64(weight[id]) }
	static := `[{"idx":0,"name":"0","path":"0_StaticEmbedding","type":"sentence_transformers.models.StaticEmbedding"}`
	for _, tc := range []struct {
		name      string
		parts     parts
		row       func(int) []float64
		weight    func(int) float64
		normalize bool
	}{
		{"model2vec", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data, n, dim)}, config: `{"normalize": true}`}, rowsOf(data, dim), one, true},
		{"not normalised", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data, n, dim)}, config: `{"normalize": false}`}, rowsOf(data, dim), one, false},
		{"no config", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data, n, dim)}}, rowsOf(data, dim), one, false},
		{"weights", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data, n, dim), safetensors.New("weights", weight, n)}, config: `{"normalize": true}`}, rowsOf(data, dim), weighted, true},
		{"mapping", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data[:4*dim], 4, dim), safetensors.New("mapping", places, n), safetensors.New("weights", weight, n)}}, mapped, weighted, false},
		{"half", parts{tensors: []safetensors.Tensor{safetensors.Float16("embeddings", halfs, n, dim)}}, rowsOf(halved, dim), one, false},
		{"bfloat", parts{tensors: []safetensors.Tensor{{Name: "embeddings", DType: safetensors.BF16, Shape: []int{n, dim}, Data: brain}}}, rowsOf(brained, dim), one, false},
		{"double", parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", wide, n, dim)}}, rowsOf(data, dim), one, false},
		{"bytes", parts{tensors: []safetensors.Tensor{{Name: "embeddings", DType: "I8", Shape: []int{n, dim}, Data: bytes}}, config: `{"normalize": true}`}, rowsOf(quantised, dim), one, true},
		{"static embedding", parts{tensors: []safetensors.Tensor{safetensors.New("embedding.weight", data, n, dim)}, below: "0_StaticEmbedding", modules: static + `]`}, rowsOf(data, dim), one, false},
		{"and normalize", parts{tensors: []safetensors.Tensor{safetensors.New("embedding.weight", data, n, dim)}, below: "0_StaticEmbedding",
			modules: static + `,{"idx":1,"name":"1","path":"1_Normalize","type":"sentence_transformers.models.Normalize"}]`}, rowsOf(data, dim), one, true},
		{"no list of modules", parts{tensors: []safetensors.Tensor{safetensors.New("embedding.weight", data, n, dim)}, below: "0_StaticEmbedding"}, rowsOf(data, dim), one, false},
	} {
		tc.parts.tokenizer = tokenizer
		s, err := Open(tc.parts.write(t))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		tolerance := 1e-6
		if tc.name == "bytes" && !tc.normalize {
			tolerance = 1e-4
		}
		checkVectors(t, tc.name, s, tc.row, tc.weight, tc.normalize, tolerance)

		// As a model file has it the vectors are those of the compact one, bit for bit, and
		// near those of the folder.
		c := s.Compact()
		f := &safetensors.File{}
		if err := s.Store(f); err != nil {
			t.Fatal(err)
		}
		back, err := Load(f)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		x, y, z := make([]float32, dim), make([]float32, dim), make([]float32, dim)
		for _, text := range texts {
			s.Encode(text.text, x)
			c.Encode(text.text, y)
			back.Encode(text.text, z)
			if !slices.Equal(y, z) {
				t.Fatalf("%s: %.30q: %v out of a file, %v before", tc.name, text.text, z, y)
			}
			for j := range x {
				if math.Abs(float64(x[j]-y[j])) > 3e-3*max(1, length(x)) {
					t.Fatalf("%s: %.30q: %v compact, %v whole", tc.name, text.text, y[j], x[j])
				}
			}
		}
		if c.Compact() != c {
			t.Errorf("%s: a compact one is made anew", tc.name)
		}
	}
}

// What is written is read again, to the bit.
func TestWrite(t *testing.T) {
	for _, normalize := range []bool{false, true} {
		s, err := Open(parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", numbers(1, len(words)*4), len(words), 4),
			safetensors.New("weights", numbers(2, len(words)), len(words))}, tokenizer: tokenizerText(t, words)}.write(t))
		if err != nil {
			t.Fatal(err)
		}
		s.normalize = normalize
		dir := filepath.Join(t.TempDir(), "new")
		if err := s.Write(dir); err != nil {
			t.Fatal(err)
		}
		back, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		x, y := s.Matrix([]string{"my lost card"}), back.Matrix([]string{"my lost card"})
		if !slices.Equal(x.Data, y.Data) || back.Normalized() != normalize || !back.Weighted() || back.Tokens() != len(words) || back.Rows() != len(words) {
			t.Errorf("normalize %v: %v, want %v", normalize, y.Data, x.Data)
		}
		if err := s.Compact().Write(dir); err == nil {
			t.Error("half an encoder is written")
		}
	}
}

func TestNearest(t *testing.T) {
	rows := make([]float32, len(words)*2)
	copy(rows[3*2:], []float32{1, 0, 1, 0.1, 0, 1, 0, 0, -1, 0}) // card, ##s, my, where, is
	s, err := Open(parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", rows, len(words), 2)}, tokenizer: tokenizerText(t, words)}.write(t))
	if err != nil {
		t.Fatal(err)
	}
	near, err := s.Nearest("card", 3)
	if err != nil || near[0].Token != "card" || near[1].Token != "##s" || math.Abs(near[1].Cosine-1/math.Sqrt(1.01)) > 1e-6 {
		t.Errorf("%v, %v", near, err)
	}
	for _, text := range []string{"xyzzy", "", "where"} {
		if _, err := s.Nearest(text, 3); err == nil {
			t.Errorf("%q has near tokens", text)
		}
	}
}

// Damaged and hostile folders end in one error that names the file.
func TestRefusals(t *testing.T) {
	const dim = 3
	n := len(words)
	data := numbers(1, n*dim)
	good := func() parts {
		return parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", data, n, dim)}, tokenizer: tokenizerText(t, words)}
	}
	with := func(at int, v float32) []float32 {
		out := slices.Clone(data)
		out[at] = v
		return out
	}
	for _, tc := range []struct {
		name, says string
		change     func(p *parts)
		spoil      func(dir string)
	}{
		{"no weights", "no model.safetensors", func(p *parts) { p.tensors = nil }, nil},
		{"no tokenizer", "no tokenizer.json", func(p *parts) { p.tokenizer = nil }, nil},
		{"NaN", `row 3 of the embeddings (token "card") has NaN`, func(p *parts) {
			p.tensors[0] = safetensors.New("embeddings", with(3*dim+1, float32(math.NaN())), n, dim)
		}, nil},
		{"infinite", "has +Inf", func(p *parts) {
			p.tensors[0] = safetensors.New("embeddings", with(0, float32(math.Inf(1))), n, dim)
		}, nil},
		{"one dimension", "want tokens x dimensions", func(p *parts) { p.tensors[0] = safetensors.New("embeddings", data, n*dim) }, nil},
		{"no dimensions", "want tokens x dimensions", func(p *parts) { p.tensors[0] = safetensors.New("embeddings", []float32{}, n, 0) }, nil},
		{"too few rows", "the tokenizer has 11", func(p *parts) { p.tensors[0] = safetensors.New("embeddings", data[:6], 2, dim) }, nil},
		{"other tensors", `no tensor "embeddings"`, func(p *parts) { p.tensors[0].Name = "bert.embeddings.word_embeddings.weight" }, nil},
		{"texts as numbers", "want F32", func(p *parts) { p.tensors[0] = safetensors.New("embeddings", make([]int32, n*dim), n, dim) }, nil},
		{"short mapping", `tensor "mapping" has 2 tokens`, func(p *parts) {
			p.tensors = append(p.tensors, safetensors.New("mapping", []int64{0, 1}, 2))
		}, nil},
		{"wild mapping", "want a row from 0 to 10", func(p *parts) {
			p.tensors = append(p.tensors, safetensors.New("mapping", slices.Repeat([]int32{11}, n), n))
		}, nil},
		{"negative mapping", "want a row from 0 to 10", func(p *parts) {
			p.tensors = append(p.tensors, safetensors.New("mapping", slices.Repeat([]int64{-1}, n), n))
		}, nil},
		{"short weights", `tensor "weights" has 1 tokens`, func(p *parts) { p.tensors = append(p.tensors, safetensors.New("weights", []float32{1}, 1)) }, nil},
		{"weight NaN", "the weight of token 0 is NaN", func(p *parts) {
			p.tensors = append(p.tensors, safetensors.New("weights", slices.Repeat([]float32{float32(math.NaN())}, n), n))
		}, nil},
		{"normalizer", `normalizer: "Nmt" is not supported`, func(p *parts) {
			p.tokenizer = []byte(strings.Replace(string(p.tokenizer), `"type":"BertNormalizer"`, `"type":"Nmt"`, 1))
		}, nil},
		{"tokenizer no JSON", "tokenizer.json", func(p *parts) { p.tokenizer = []byte("{") }, nil},
		{"config no JSON", "config.json", func(p *parts) { p.config = "{" }, nil},
		{"modules no JSON", "modules.json", func(p *parts) { p.modules = "{" }, nil},
		{"no modules", "no modules", func(p *parts) { p.modules = "[]" }, nil},
		{"transformer", "no static encoder", func(p *parts) { p.modules = `[{"path":"","type":"sentence_transformers.models.Transformer"}]` }, nil},
		{"dense", `module "x.Dense" is not supported`, func(p *parts) {
			p.modules = `[{"path":"","type":"x.StaticEmbedding"},{"path":"2_Dense","type":"x.Dense"}]`
		}, nil},
		{"elsewhere", "not within the folder", func(p *parts) { p.modules = `[{"path":"../../etc","type":"x.StaticEmbedding"}]` }, nil},
		{"truncated", "model.safetensors", nil, func(dir string) {
			path := filepath.Join(dir, weightsFile)
			whole, _ := os.ReadFile(path)
			os.WriteFile(path, whole[:len(whole)-5], 0o600)
		}},
		{"lying header", "model.safetensors", nil, func(dir string) {
			path := filepath.Join(dir, weightsFile)
			whole, _ := os.ReadFile(path)
			os.WriteFile(path, []byte(strings.Replace(string(whole), "[11,3]", "[99,3]", 1)), 0o600)
		}},
		{"empty file", "model.safetensors", nil, func(dir string) { os.WriteFile(filepath.Join(dir, weightsFile), nil, 0o600) }},
	} {
		p := good()
		if tc.change != nil {
			tc.change(&p)
		}
		dir := p.write(t)
		if tc.spoil != nil {
			tc.spoil(dir)
		}
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "encoder_test.go"} {
		if _, err := Open(path); err == nil {
			t.Errorf("%s is opened", path)
		}
	}
	// So do damaged parts of a model file.
	s, err := Open(good().write(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []func(f *safetensors.File){
		func(f *safetensors.File) { f.Metadata[metadataKey] = "x" },
		func(f *safetensors.File) { f.Metadata[metadataKey] = `{"dim":7}` },
		func(f *safetensors.File) { f.Metadata[metadataKey] = `{"dim":3,"exponent":1000}` },
		func(f *safetensors.File) { f.Tensors = f.Tensors[1:] },
		func(f *safetensors.File) {
			f.Tensors[1] = safetensors.New(mappingTensor, slices.Repeat([]int32{-2}, n), n)
		},
		func(f *safetensors.File) { f.Tensors[2] = safetensors.New(tokenizerTensor, []byte("x"), 1) },
		func(f *safetensors.File) {
			f.Tensors[0] = safetensors.Float16(rowsTensor, []uint16{0x7c00, 0, 0}, 1, 3)
		},
		func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(weightTensor, []float32{1}, 1))
		},
	} {
		f := &safetensors.File{}
		if err := s.Store(f); err != nil {
			t.Fatal(err)
		}
		spoil(f)
		if _, err := Load(f); err == nil {
			t.Error("a damaged encoder is loaded")
		}
	}
}

// A text of a megabyte costs what its first tokens do.
func TestLongText(t *testing.T) {
	s, err := Open(parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", numbers(1, len(words)*2), len(words), 2)}, tokenizer: tokenizerText(t, words)}.write(t))
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float32, 2), make([]float32, 2)
	long := strings.Repeat("lost cards ", 100_000)
	if n := s.Encode(long, x); n != MaxTokens {
		t.Errorf("%d tokens", n)
	}
	s.Encode(long[:11*MaxTokens], y)
	if !slices.Equal(x, y) {
		t.Errorf("%v, want %v", x, y)
	}
}

func BenchmarkEncode(b *testing.B) {
	list := slices.Clone(words)
	rng := rand.New(rand.NewPCG(1, 1))
	for len(list) < 30_000 {
		w := make([]byte, 3+rng.IntN(6))
		for i := range w {
			w[i] = byte('a' + rng.IntN(26))
		}
		list = append(list, string(w))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	s, err := Open(parts{tensors: []safetensors.Tensor{safetensors.New("embeddings", numbers(1, len(list)*256), len(list), 256)}, tokenizer: tokenizerText(b, list), config: `{"normalize":true}`}.write(b))
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float32, 256)
	for _, n := range []int{10, 100} {
		text := strings.Join(list[1000:1000+n], " ")
		b.Run("words="+map[int]string{10: "10", 100: "100"}[n], func(b *testing.B) {
			for b.Loop() {
				s.Encode(text, out)
			}
		})
	}
}
