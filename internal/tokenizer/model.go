package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// newModel reads a model: its vocabulary, the token for what is not in it ("": none), and
// what turns pieces into numbers. The vocabulary and the token are the caller's to check
// against each other: each model has them in another form.
func newModel(part json.RawMessage) (vocabulary map[string]int32, unknown string, m model, err error) {
	name, err := kind(part)
	if err != nil {
		return nil, "", nil, err
	}
	switch name {
	case "WordPiece":
		return newWordPiece(part)
	case "WordLevel":
		return newWordLevel(part)
	case "BPE":
		return newBPE(part)
	case "Unigram":
		return newUnigram(part)
	}
	return nil, "", nil, fmt.Errorf("%q is not supported", name)
}

// lookup returns the number of a token, -1 if it has none.
func lookup(vocabulary map[string]int32, token string) int32 {
	if id, ok := vocabulary[token]; ok {
		return id
	}
	return -1
}

// wordPiece takes the longest token that a word begins with, then the longest that its
// rest begins with behind a prefix, and so on; a word that cannot be cut so is unknown
// as a whole (Wu et al. 2016, section 4.1).
//
// Two vocabularies instead of one with the prefix put before each rest: nothing is joined
// to look a rest up.
type wordPiece struct {
	start   map[string]int32
	rest    map[string]int32 // tokens that go on, without their prefix
	unknown int32
	most    int // characters of a word; a longer one is unknown
	longest int // bytes of a token
}

func newWordPiece(part json.RawMessage) (map[string]int32, string, model, error) {
	p := struct {
		Type    string
		Unknown string           `json:"unk_token"`
		Prefix  string           `json:"continuing_subword_prefix"`
		Most    int              `json:"max_input_chars_per_word"`
		Vocab   map[string]int32 `json:"vocab"`
	}{Unknown: "[UNK]", Prefix: "##", Most: 100}
	if err := fields(part, "WordPiece", &p); err != nil {
		return nil, "", nil, err
	}
	if p.Unknown == "" {
		return nil, "", nil, errors.New("WordPiece: no unk_token")
	}
	m := &wordPiece{start: p.Vocab, rest: map[string]int32{}, unknown: lookup(p.Vocab, p.Unknown), most: p.Most}
	// In any order: tokens with the prefix differ behind it.
	for token, id := range p.Vocab {
		m.longest = max(m.longest, len(token))
		if token, ok := strings.CutPrefix(token, p.Prefix); ok {
			m.rest[token] = id
		}
	}
	return p.Vocab, p.Unknown, m, nil
}

// encode implements model. A token takes at most longest lookups, from the longest text
// down, and a word of n bytes has at most n tokens; the limit on the characters of a word
// bounds that, and is part of the format.
func (m *wordPiece) encode(dst []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > m.most {
		return append(dst, m.unknown)
	}
	begin := len(dst)
	tokens := m.start
	for word != "" {
		end := min(len(word), m.longest)
		id := int32(-1)
		for ; end > 0; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue // inside a character
			}
			if id = lookup(tokens, word[:end]); id >= 0 {
				break
			}
		}
		if id < 0 {
			return append(dst[:begin], m.unknown)
		}
		dst = append(dst, id)
		word, tokens = word[end:], m.rest
	}
	return dst
}

// wordLevel has a token for a whole piece.
type wordLevel struct {
	vocabulary map[string]int32
	unknown    int32
}

func newWordLevel(part json.RawMessage) (map[string]int32, string, model, error) {
	p := struct {
		Type    string
		Vocab   map[string]int32
		Unknown string `json:"unk_token"`
	}{}
	if err := fields(part, "WordLevel", &p); err != nil {
		return nil, "", nil, err
	}
	return p.Vocab, p.Unknown, &wordLevel{p.Vocab, lookup(p.Vocab, p.Unknown)}, nil
}

func (m *wordLevel) encode(dst []int32, piece string) []int32 {
	id := lookup(m.vocabulary, piece)
	if id < 0 {
		id = m.unknown
	}
	if id < 0 { // no token stands for it
		return dst
	}
	return append(dst, id)
}

// byteTokens returns the numbers of the tokens <0x00> to <0xFF>, in which SentencePiece
// writes the bytes of characters that it has no token for; -1 for one that is not in the
// vocabulary, and for all if use ("byte_fallback") is false.
func byteTokens(vocabulary map[string]int32, use bool) (tokens [256]int32) {
	for b := range tokens {
		tokens[b] = -1
		if use {
			tokens[b] = lookup(vocabulary, fmt.Sprintf("<0x%02X>", b))
		}
	}
	return tokens
}

// appendBytes appends the tokens of the bytes of a text if all have one, else none: half of
// a character would be a token of another.
func appendBytes(dst []int32, text string, tokens *[256]int32) ([]int32, bool) {
	for i := range len(text) {
		if tokens[text[i]] < 0 {
			return dst, false
		}
	}
	for i := range len(text) {
		dst = append(dst, tokens[text[i]])
	}
	return dst, true
}
