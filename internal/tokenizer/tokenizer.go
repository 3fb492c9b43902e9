package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// Tokenizer is a tokenizer.json. It is immutable and safe for concurrent use.
type Tokenizer struct {
	tokens  []string // by number; "" for a number that no token has
	unknown int      // number of the unknown token, -1: none
	raw     added    // added tokens that are looked for in the text as it is
	clean   added    // those that are looked for behind the normalizer

	normalize normalizer
	split     splitter
	model     model
}

// model turns a piece of text into token numbers.
type model interface {
	// encode appends the tokens of a piece, which is not empty and valid UTF-8.
	encode(dst []int32, piece string) []int32
}

// normalizer changes a text. splitter cuts the pieces of a text into smaller ones, which
// may be empty; first tells that the text begins with them, and not behind an added token.
// Functions and not interfaces: no part has a second method or state that changes.
type (
	normalizer func(text string) string
	splitter   func(pieces []string, first bool) []string
)

// maxTokens bounds the numbers of tokens; the largest vocabularies have a million. Without
// it one number of a damaged file could ask for all memory.
const maxTokens = 1 << 24

// file is the part of a tokenizer.json that is used.
type file struct {
	Added        []addedToken    `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        json.RawMessage `json:"model"`
}

// Parse reads the bytes of a tokenizer.json. What is not understood is an error that
// names the part. It takes time and memory in proportion to the text.
func Parse(text []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, input.JSON(err)
	}
	if blank(f.Model) {
		return nil, errors.New(`no "model"; want the tokenizer.json of a fast tokenizer`)
	}
	t := &Tokenizer{unknown: -1}
	var err error
	if t.normalize, err = newNormalizer(f.Normalizer); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.split, err = newSplitter(f.PreTokenizer); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	vocabulary, unknown, m, err := newModel(f.Model)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	t.model = m
	if err := t.setTokens(vocabulary, f.Added); err != nil {
		return nil, err
	}
	if unknown != "" {
		id, ok := vocabulary[unknown]
		if !ok {
			return nil, fmt.Errorf("model: the unknown token %q is not in the vocabulary", unknown)
		}
		t.unknown = int(id)
	}
	return t, t.setAdded(f.Added)
}

// setTokens lists the tokens of a vocabulary and the added ones by their numbers.
func (t *Tokenizer) setTokens(vocabulary map[string]int32, extra []addedToken) error {
	set := func(token string, id int64) error {
		if id < 0 || id >= maxTokens {
			return fmt.Errorf("token %.60q has the number %d, want 0 to %d", token, id, maxTokens-1)
		}
		if n := int(id) + 1; n > len(t.tokens) {
			t.tokens = append(t.tokens, make([]string, n-len(t.tokens))...)
		}
		t.tokens[id] = token
		return nil
	}
	for token, id := range vocabulary { // in any order: each has a place of its own
		if err := set(token, int64(id)); err != nil {
			return err
		}
	}
	for _, a := range extra {
		if _, twice := vocabulary[a.Content]; twice {
			continue
		}
		if err := set(a.Content, a.ID); err != nil {
			return err
		}
	}
	if len(t.tokens) == 0 {
		return errors.New("no tokens; want a vocabulary")
	}
	return nil
}

// Size is the number of tokens, added ones and gaps in their numbers included: all are
// below it.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Token returns the token of a number from 0 to Size()-1, "" for one that no token has.
func (t *Tokenizer) Token(id int) string { return t.tokens[id] }

// Unknown returns the number of the token for what is not in the vocabulary, -1 if there
// is none: then nothing stands for that.
func (t *Tokenizer) Unknown() int { return t.unknown }

// Append appends the numbers of the tokens of a text to dst, unknown ones included, in the
// order of the text; it keeps neither. Safe for concurrent use with separate dst. Bytes
// that are not UTF-8 count as U+FFFD. It takes time in proportion to the text; with BPE
// words of n characters take n log n.
func (t *Tokenizer) Append(dst []int32, text string) []int32 {
	if !utf8.ValidString(text) {
		text = string(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD")))
	}
	t.raw.cut(text, func(part string, id int32, at int) {
		if id >= 0 {
			dst = append(dst, id)
			return
		}
		t.clean.cut(t.normalize(part), func(part string, id int32, within int) {
			if id >= 0 {
				dst = append(dst, id)
				return
			}
			dst = t.plain(dst, part, at == 0 && within == 0)
		})
	})
	return dst
}

// plain appends the tokens of a normalised text without added tokens.
func (t *Tokenizer) plain(dst []int32, text string, first bool) []int32 {
	var some [16]string // most texts have few words
	for _, piece := range t.split(append(some[:0], text), first) {
		if piece != "" {
			dst = t.model.encode(dst, piece)
		}
	}
	return dst
}

// blank tells whether a part is not there, which null says too.
func blank(part json.RawMessage) bool { return len(part) == 0 || string(part) == "null" }

// kind returns the type of a part.
func kind(part json.RawMessage) (string, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(part, &head); err != nil {
		return "", input.JSON(err)
	}
	if head.Type == nil {
		return "", errors.New(`no "type"`)
	}
	return *head.Type, nil
}

// fields reads a part into a struct, which must have all of its fields: one that is not
// known may change the tokens. The fields of the struct are filled when it returns, so that
// a closure may capture the struct before.
func fields(part json.RawMessage, name string, to any) error {
	d := json.NewDecoder(bytes.NewReader(part))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%s: %w", name, input.JSON(err))
	}
	return nil
}
