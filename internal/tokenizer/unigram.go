package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// unigram cuts a piece into the tokens whose log probabilities have the largest sum
// (Kudo 2018, section 3.2), found by dynamic programming over its bytes (Viterbi):
//
//	best(0) = 0,  best(j) = max over tokens piece[i:j] of best(i) + score(token)
//
// The trie is one map of edges: nodes have few children, so that tables of 256 would be
// mostly empty.
type unigram struct {
	trie    map[uint64]int32 // node << 8 | byte -> node; the root is 0
	token   []int32          // of each node, -1 for none
	score   []float64        // of each token, in nats
	unknown int32            // -1: there is none, and what is unknown is left out
	penalty float64          // score of an unknown character
	bytes   [256]int32       // byteTokens
}

// newUnigram reads a model Unigram, whose vocabulary is a list: the place of a token in it
// is its number.
func newUnigram(part json.RawMessage) (map[string]int32, string, model, error) {
	var p struct {
		Type         string
		UnknownID    *int `json:"unk_id"`
		Vocab        [][]any
		ByteFallback bool `json:"byte_fallback"`
	}
	if err := fields(part, "Unigram", &p); err != nil {
		return nil, "", nil, err
	}
	m := &unigram{trie: map[uint64]int32{}, token: []int32{-1}, score: make([]float64, len(p.Vocab)), unknown: -1}
	vocabulary := make(map[string]int32, len(p.Vocab))
	least := math.Inf(1)
	for id, pair := range p.Vocab {
		if len(pair) != 2 {
			return nil, "", nil, fmt.Errorf("model Unigram: token %d has %d parts, want a text and a score", id, len(pair))
		}
		token, isText := pair[0].(string)
		score, isNumber := pair[1].(float64)
		if !isText || !isNumber {
			return nil, "", nil, fmt.Errorf("model Unigram: token %d is not a text and a score", id)
		}
		vocabulary[token] = int32(id)
		m.score[id] = score
		least = min(least, score)
		m.add(token, int32(id))
	}
	m.penalty = least - 10 // kUnkPenalty of SentencePiece
	m.bytes = byteTokens(vocabulary, p.ByteFallback)
	if p.UnknownID == nil {
		return vocabulary, "", m, nil
	}
	if *p.UnknownID < 0 || *p.UnknownID >= len(p.Vocab) {
		return nil, "", nil, errors.New("model Unigram: unk_id is not in the vocabulary")
	}
	m.unknown = int32(*p.UnknownID)
	return vocabulary, p.Vocab[m.unknown][0].(string), m, nil
}

// add puts a token into the trie.
func (m *unigram) add(token string, id int32) {
	node := int32(0)
	for i := range len(token) {
		key := uint64(node)<<8 | uint64(token[i])
		next, ok := m.trie[key]
		if !ok {
			next = int32(len(m.token))
			m.trie[key] = next
			m.token = append(m.token, -1)
		}
		node = next
	}
	m.token[node] = id
}

// unigramNode is the best way to cut a text up to some byte, as its last step.
type unigramNode struct {
	from  int // where its last token begins; -1: no way
	token int32
	score float64
}

// encode implements model in O(n·l) for n bytes and tokens of at most l. Of two ways with
// the same score the one whose last token begins first wins, as in SentencePiece.
func (m *unigram) encode(dst []int32, piece string) []int32 {
	var some [64]unigramNode
	best := append(some[:0], make([]unigramNode, len(piece)+1)...)
	for i := range best {
		best[i].from = -1
	}
	reach := func(to, from int, token int32, score float64) {
		if b := &best[to]; b.from < 0 || score > b.score {
			*b = unigramNode{from, token, score}
		}
	}
	size := 0
	for at := 0; at < len(piece); at += size {
		_, size = utf8.DecodeRuneInString(piece[at:])
		single := false // a token is this character
		node := int32(0)
		for i := at; i < len(piece); i++ {
			next, ok := m.trie[uint64(node)<<8|uint64(piece[i])]
			if !ok {
				break
			}
			node = next
			if token := m.token[node]; token >= 0 {
				reach(i+1, at, token, best[at].score+m.score[token])
				single = single || i+1-at == size
			}
		}
		// Without a token of its own a character is unknown, so that there is always a way.
		if !single {
			reach(at+size, at, m.unknown, best[at].score+m.penalty)
		}
	}
	// Back from the end, so that tokens come in reverse. Unknown neighbours are one token, as
	// long as they are not bytes.
	begin := len(dst)
	for to := len(piece); to > 0; {
		b := best[to]
		if b.token != m.unknown {
			dst = append(dst, b.token)
			to = b.from
			continue
		}
		from := b.from
		for from > 0 && best[from].token == m.unknown {
			from = best[from].from
		}
		dst = m.unknownText(dst, piece[from:to])
		to = from
	}
	slices.Reverse(dst[begin:])
	return dst
}

// unknownText appends the tokens of the bytes of a text, in reverse, or the unknown one.
func (m *unigram) unknownText(dst []int32, text string) []int32 {
	begin := len(dst)
	if dst, ok := appendBytes(dst, text, &m.bytes); ok {
		slices.Reverse(dst[begin:])
		return dst
	}
	if m.unknown >= 0 {
		dst = append(dst, m.unknown)
	}
	return dst
}
