package bert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/internal/tokenizer"
	"github.com/treeloss/treeloss/matrix"
)

// DistillOptions sets up Distill. The zero value is the default.
type DistillOptions struct {
	Tokens int      // of BERT's vocabulary, the first so many; 0: all
	Words  []string // further words, the most frequent first, which get a token of their own
	Dim    int      // numbers of a vector, 0 means DefaultDim; at most those of BERT
	SIF    float64  // a of the weights; 0 means DefaultSIF

	Progress func(done, all int) // called after each batch; nil: not
}

// Defaults of DistillOptions. SIF is that of model2vec.
const (
	DefaultDim = 256
	DefaultSIF = 1e-4
)

// distillBatch is the number of tokens that go through BERT together.
const distillBatch = 256

// Distill makes a static encoder of e: each token goes through BERT alone, between [CLS]
// and [SEP], and its vector is the mean of the last layer's; principal components make
// that shorter. Frequent tokens say little, so token t counts a / (a + p(t)) (smooth
// inverse frequency, Arora, Liang and Ma 2017) with p by Zipf's law, 1 / rank: the rank of
// a word is its place in Words, that of another token its place in the vocabulary, whose
// order is about that of frequency. So does model2vec (Tulkens and van Dongen 2024).
//
// Special and unused tokens are left out, and so are words that the tokenizer cuts, such as
// those with a space; they are returned. It takes a pass of a short text through BERT for
// each token.
func (e *Encoder) Distill(ctx context.Context, b compute.Backend, o DistillOptions) (s *encoder.Static, left []string, err error) {
	o.Dim, o.SIF = cmp.Or(o.Dim, DefaultDim), cmp.Or(o.SIF, DefaultSIF)
	if o.Tokens < 0 || o.Dim < 1 || !(o.SIF > 0) {
		return nil, nil, fmt.Errorf("bert: %d tokens, %d dimensions and a %v, want at least 0, at least 1 and above 0", o.Tokens, o.Dim, o.SIF)
	}
	v, err := e.tokenList(o.Tokens)
	if err != nil {
		return nil, nil, fmt.Errorf("bert: %s: %w", tokenizerFile, err)
	}
	if left, err = v.addWords(e, o.Words); err != nil {
		return nil, nil, fmt.Errorf("bert: %s: %w", tokenizerFile, err)
	}
	rows, err := e.pooled(ctx, b, v.inputs, o.Progress)
	if err != nil {
		return nil, nil, err
	}
	short, err := encoder.PCA(rows, o.Dim)
	if err != nil {
		return nil, nil, fmt.Errorf("bert: %w", err)
	}
	// The unknown token comes first, and has no vector.
	all := matrix.NewDense(1+short.Rows(), short.Columns)
	copy(all.Data[short.Columns:], short.Data)
	text, err := v.file()
	if err != nil {
		return nil, nil, fmt.Errorf("bert: %s: %w", tokenizerFile, err)
	}
	s, err = encoder.New(text, all, v.weights(o.SIF), true)
	return s, left, err
}

// tokenList is the tokens of a static encoder.
type tokenList struct {
	parts  map[string]json.RawMessage // of the tokenizer.json
	model  map[string]json.RawMessage // of its model
	names  []string                   // of tokens, without the unknown one
	inputs [][]int32                  // what goes through BERT for each
	rank   []int                      // from 1
	words  int                        // how many words there are, and tokens beside them
	tokens int
}

// tokenList returns the first n tokens of BERT, all for 0, without special and unused ones.
func (e *Encoder) tokenList(n int) (*tokenList, error) {
	v := &tokenList{}
	var added []struct{ Content string }
	var ids map[string]int32
	var kind string
	err := json.Unmarshal([]byte(e.texts[tokenizerFile]), &v.parts)
	if err == nil {
		err = json.Unmarshal(v.parts["model"], &v.model)
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(v.model["type"], &kind), json.Unmarshal(v.model["vocab"], &ids))
	}
	if err == nil && len(v.parts["added_tokens"]) > 0 {
		err = json.Unmarshal(v.parts["added_tokens"], &added)
	}
	if err != nil {
		return nil, err
	}
	if kind != "WordPiece" {
		return nil, fmt.Errorf("a model of type %q, want WordPiece", kind)
	}
	// Not every file lists the special tokens of BERT as added ones.
	special := map[string]bool{"[PAD]": true, unknownToken: true, "[CLS]": true, "[SEP]": true, "[MASK]": true}
	for _, a := range added {
		special[a.Content] = true
	}
	for name, id := range ids {
		unused := strings.HasPrefix(name, "[unused") && strings.HasSuffix(name, "]")
		if special[name] || unused || name == "" {
			delete(ids, name)
		} else if id < 0 || int(id) >= e.config.VocabSize {
			return nil, fmt.Errorf("token %q has the number %d, and the model has %d", name, id, e.config.VocabSize)
		}
	}
	for name := range ids {
		v.names = append(v.names, name)
	}
	slices.SortFunc(v.names, func(a, b string) int { return cmp.Compare(ids[a], ids[b]) })
	if n > 0 {
		v.names = v.names[:min(n, len(v.names))]
	}
	ends, err := e.Tokens("", e.MaxTokens()) // [CLS] [SEP]
	if err != nil {
		return nil, err
	}
	if len(ends) != 2 || len(v.names) == 0 {
		return nil, fmt.Errorf("%d tokens, and %d around a text, want some and 2", len(v.names), len(ends))
	}
	for i, name := range v.names {
		v.inputs = append(v.inputs, []int32{ends[0], ids[name], ends[1]})
		v.rank = append(v.rank, i+1)
	}
	v.tokens = len(v.names)
	return v, nil
}

// addWords adds words, and returns those that the tokenizer would cut.
func (v *tokenList) addWords(e *Encoder, words []string) (left []string, err error) {
	place := map[string]int{}
	for i, name := range v.names {
		place[name] = i
	}
	known := len(v.names)
	for i, word := range words {
		if at, twice := place[word]; twice {
			if at < known { // BERT has it: the word's rank is the better guess
				v.rank[at] = min(v.rank[at], i+1)
			}
			continue
		}
		input, err := e.Tokens(word, min(DefaultLength, e.MaxTokens()))
		if err != nil {
			return nil, fmt.Errorf("word %q: %w", word, err)
		}
		place[word] = len(v.names)
		v.names, v.inputs, v.rank = append(v.names, word), append(v.inputs, input), append(v.rank, i+1)
	}
	v.words = len(words)
	text, err := v.file()
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.Parse(text)
	if err != nil {
		return nil, err
	}
	kept := known
	for i := known; i < len(v.names); i++ {
		if ids := t.Append(nil, v.names[i]); len(ids) != 1 || int(ids[0]) != i+1 {
			left = append(left, v.names[i])
			continue
		}
		v.names[kept], v.inputs[kept], v.rank[kept] = v.names[i], v.inputs[i], v.rank[i]
		kept++
	}
	v.names, v.inputs, v.rank = v.names[:kept], v.inputs[:kept], v.rank[:kept]
	return left, nil
}

// unknownToken stands for what is not in the vocabulary, with the number 0.
const unknownToken = "[UNK]"

// file returns the tokenizer.json of the vocabulary: BERT's, without special tokens.
func (v *tokenList) file() ([]byte, error) {
	ids := map[string]int{unknownToken: 0}
	for i, name := range v.names {
		ids[name] = i + 1
	}
	model := map[string]any{"type": "WordPiece", "unk_token": unknownToken, "vocab": ids}
	for _, key := range []string{"continuing_subword_prefix", "max_input_chars_per_word"} {
		if part, ok := v.model[key]; ok {
			model[key] = part
		}
	}
	return json.Marshal(map[string]any{"version": "1.0", "added_tokens": []any{}, "normalizer": v.parts["normalizer"],
		"pre_tokenizer": v.parts["pre_tokenizer"], "post_processor": nil, "decoder": nil, "truncation": nil, "padding": nil, "model": model})
}

// weights returns a / (a + p) of each token, 1 of the unknown one; p is 1 / rank over the
// sum of that over all ranks.
func (v *tokenList) weights(a float64) []float32 {
	harmonic := func(n int) (sum float64) {
		for i := range n {
			sum += 1 / float64(i+1)
		}
		return sum
	}
	sum := harmonic(max(v.words, v.tokens))
	out := []float32{1}
	for _, rank := range v.rank {
		out = append(out, float32(a/(a+1/(float64(rank)*sum))))
	}
	return out
}

// pooled returns the vectors of texts of tokens, those of one length together.
func (e *Encoder) pooled(ctx context.Context, b compute.Backend, inputs [][]int32, progress func(done, all int)) (*matrix.Dense, error) {
	store := model.NewStore()
	if err := e.Weights(store); err != nil {
		return nil, err
	}
	byLength := map[int][]int{}
	for i, x := range inputs {
		byLength[len(x)] = append(byLength[len(x)], i)
	}
	out := matrix.NewDense(len(inputs), e.Width())
	done := 0
	for length := range e.MaxTokens() + 1 {
		rows := byLength[length]
		if len(rows) == 0 {
			continue
		}
		texts := &Texts{length: length}
		for _, i := range rows {
			texts.tokens = append(texts.tokens, inputs[i])
		}
		embedder, err := train.NewEmbedder(b, store, train.Task{Features: e.Features}, distillBatch)
		if err != nil {
			return nil, err
		}
		err = embedder.Each(ctx, texts, func(n int, x []float32) error {
			copy(out.Row(rows[n]), x)
			if done++; progress != nil && (done%distillBatch == 0 || done == len(inputs)) {
				progress(done, len(inputs))
			}
			return nil
		})
		embedder.Close()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
