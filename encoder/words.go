package encoder

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/treeloss/treeloss/internal/tokenizer"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/wordvec"
)

// MaxWords is the number of words that OpenWords keeps: 30 MB of a model file at 300
// numbers each.
const MaxWords = 50_000

// wordsSIF is a of the weights of words, which Arora, Liang and Ma 2017 found good from
// 1e-4 to 1e-3.
const wordsSIF = 1e-3

// OpenAny opens the folder of a static encoder, see Open, or a file of word vectors, see
// OpenWords.
func OpenAny(ctx context.Context, path string) (*Static, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return OpenWords(ctx, path)
	}
	return Open(path)
}

// OpenWords makes an encoder of a file of word vectors (word2vec, GloVe, fastText; see
// package wordvec): the first MaxWords words, as most files have frequent words first,
// without those that no text is cut into, such as don't or New_York City. A text is cut
// into words and signs; in lower case, if no word of the file has a capital. Its vector
// is the mean of those of its words, each times a / (a + p) (smooth inverse frequency, Arora,
// Liang and Ma 2017) with p by Zipf's law, (1 / rank) / Σ 1 / rank, and of length 1: files of
// vectors have no frequencies, but an order. It reads the file to its end, so that an error
// in it is found. A file without a word that texts are cut into is an error.
func OpenWords(ctx context.Context, path string) (*Static, error) {
	v, err := wordvec.Open(ctx, path, wordvec.Options{First: MaxWords, KeepFirst: true})
	if err != nil {
		return nil, err
	}
	words := v.Words()
	lower := true
	for _, w := range words {
		lower = lower && strings.ToLower(w) == w
	}
	text, err := wordsTokenizer(words, lower)
	if err != nil {
		return nil, err
	}
	all, err := tokenizer.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows, weight := matrix.NewDense(1, v.Dim()), []float32{1} // of the unknown word
	var kept []string
	sum := 0.0
	for rank := range words {
		sum += 1 / float64(rank+1)
	}
	for rank, w := range words {
		// A word that is cut into several, or into another, is never one token of a text.
		if ids := all.Append(nil, w); len(ids) != 1 || int(ids[0]) != rank+1 {
			continue
		}
		x, _ := v.Vector(w)
		kept = append(kept, w)
		rows.Data = append(rows.Data, x...)
		weight = append(weight, float32(wordsSIF/(wordsSIF+1/(float64(rank+1)*sum))))
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: none of the first %d words is a word that texts are cut into", path, len(words))
	}
	if text, err = wordsTokenizer(kept, lower); err != nil {
		return nil, err
	}
	s, err := New(text, rows, weight, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// wordsTokenizer returns a tokenizer.json of words, from 1; 0 is what is none of them.
func wordsTokenizer(words []string, lower bool) ([]byte, error) {
	unknown := "\x00" // no text is cut into it
	vocab := map[string]int{unknown: 0}
	for i, w := range words {
		vocab[w] = i + 1
	}
	var normalizer any
	if lower {
		normalizer = map[string]any{"type": "Lowercase"}
	}
	return json.Marshal(map[string]any{"version": "1.0", "normalizer": normalizer, "pre_tokenizer": map[string]any{"type": "Whitespace"},
		"model": map[string]any{"type": "WordLevel", "unk_token": unknown, "vocab": vocab}})
}
