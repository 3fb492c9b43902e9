package tokenizer

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// bpe joins the characters of a piece, of all neighbours that a merge names first those
// of the earliest merge, the leftmost first (Sennrich, Haddow and Birch 2016, section 3.2).
// With "byte_fallback" a character that is not in the vocabulary is the tokens of its
// bytes; behind a ByteLevel pre-tokenizer a character stands for a byte, and there are 256.
type bpe struct {
	vocabulary map[string]int32
	merges     map[[2]int32]merged // by the numbers of the two: no text is joined to look one up
	unknown    int32               // -1: what is not in the vocabulary is left out
	fuse       bool                // unknown neighbours are one token
	whole      bool                // a piece that is a token needs no merges
	prefix     string
	suffix     string
	bytes      [256]int32 // byteTokens
}

// merged is what a merge makes, and its place in the list.
type merged struct{ rank, token int32 }

// newBPE reads a model BPE. The fields that may be null keep their zero value then, which
// means the same: no dropout, no unknown token, no prefix, no suffix.
func newBPE(part json.RawMessage) (map[string]int32, string, model, error) {
	var p struct {
		Type         string
		Dropout      float64
		Unknown      string `json:"unk_token"`
		Prefix       string `json:"continuing_subword_prefix"` // of characters inside a word
		Suffix       string `json:"end_of_word_suffix"`        // of its last one
		Fuse         bool   `json:"fuse_unk"`
		ByteFallback bool   `json:"byte_fallback"`
		Whole        bool   `json:"ignore_merges"`
		Vocab        map[string]int32
		Merges       []json.RawMessage
	}
	if err := fields(part, "BPE", &p); err != nil {
		return nil, "", nil, err
	}
	if p.Dropout != 0 {
		return nil, "", nil, fmt.Errorf("BPE: dropout %v, want none: the tokens of a text would be random", p.Dropout)
	}
	m := &bpe{vocabulary: p.Vocab, merges: make(map[[2]int32]merged, len(p.Merges)), unknown: -1, fuse: p.Fuse, whole: p.Whole,
		prefix: p.Prefix, suffix: p.Suffix, bytes: byteTokens(p.Vocab, p.ByteFallback)}
	if p.Unknown != "" {
		m.unknown = lookup(p.Vocab, p.Unknown)
	}
	for rank, raw := range p.Merges {
		a, b, err := mergeOf(raw)
		if err != nil {
			return nil, "", nil, fmt.Errorf("BPE: merge %d: %w", rank, err)
		}
		// Inside of what is joined the prefix goes: "##" before "b" in the merge of "a" and
		// "##b" makes "ab".
		pair := [2]int32{lookup(p.Vocab, a), lookup(p.Vocab, b)}
		token := lookup(p.Vocab, a+strings.TrimPrefix(b, m.prefix))
		if pair[0] < 0 || pair[1] < 0 || token < 0 {
			return nil, "", nil, fmt.Errorf("BPE: merge %d, %.40q and %.40q: they or what they make is not in the vocabulary", rank, a, b)
		}
		if _, twice := m.merges[pair]; !twice { // a merge that is listed twice has its first rank
			m.merges[pair] = merged{int32(rank), token}
		}
	}
	return p.Vocab, p.Unknown, m, nil
}

// mergeOf reads a merge: "a b", as files up to 2024 have it, or ["a", "b"], the form of
// later ones, in which a token may have a space.
func mergeOf(raw json.RawMessage) (a, b string, err error) {
	var pair []string
	var line string
	if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 {
		return pair[0], pair[1], nil
	}
	if json.Unmarshal(raw, &line) == nil {
		if a, b, ok := strings.Cut(line, " "); ok && !strings.Contains(b, " ") {
			return a, b, nil
		}
	}
	return "", "", errors.New("want two tokens")
}

// encode implements model in O(n log n) for n characters.
func (m *bpe) encode(dst []int32, piece string) []int32 {
	if m.whole {
		if id := lookup(m.vocabulary, piece); id >= 0 {
			return append(dst, id)
		}
	}
	begin := len(dst)
	dst = m.characters(dst, piece)
	return dst[:begin+m.merge(dst[begin:])]
}

// pairAt is a pair of neighbours that a merge joins. It is out of date once one of them
// has become part of another token.
type pairAt struct {
	merged
	at          int // of the first
	left, right int32
}

// pairs is a heap: the earliest merge first, and of that the leftmost place.
type pairs []pairAt

func (p pairs) Len() int      { return len(p) }
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pairAt)) }
func (p pairs) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].rank, p[j].rank), cmp.Compare(p[i].at, p[j].at)) < 0
}

func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// merge joins symbols in place, in O(n log n), and returns how many are left.
//
// Symbols are a linked list, so that a merge moves none; the heap has every pair that can
// be joined, and pairs out of date, at most two for each merge done. A pair is out of date
// if its symbols are no longer those it was made of, and is passed over when it comes up,
// which is cheaper than to look for it in the heap.
func (m *bpe) merge(symbols []int32) int {
	n := len(symbols)
	if n < 2 {
		return n
	}
	const gone = -1
	next, before := make([]int, n), make([]int, n) // neighbours that are not gone; n and -1: none
	var waiting pairs
	add := func(at int) {
		if at < 0 || next[at] == n {
			return
		}
		left, right := symbols[at], symbols[next[at]]
		if to, ok := m.merges[[2]int32{left, right}]; ok {
			heap.Push(&waiting, pairAt{to, at, left, right})
		}
	}
	for i := range symbols {
		next[i], before[i] = i+1, i-1
	}
	for i := range symbols {
		add(i)
	}
	for len(waiting) > 0 {
		p := heap.Pop(&waiting).(pairAt)
		right := next[p.at]
		if symbols[p.at] != p.left || right == n || symbols[right] != p.right {
			continue
		}
		symbols[p.at], symbols[right] = p.token, gone
		next[p.at] = next[right]
		if next[p.at] < n {
			before[next[p.at]] = p.at
		}
		add(before[p.at])
		add(p.at)
	}
	kept := 0
	for _, id := range symbols {
		if id != gone {
			symbols[kept] = id
			kept++
		}
	}
	return kept
}

// characters appends the tokens of the characters of a piece: the token of a character
// (with the prefix unless it is the first, with the suffix if it is the last), else those
// of its bytes, which have neither, else the unknown one.
func (m *bpe) characters(dst []int32, piece string) []int32 {
	unknown := false // the last character was
	for i, r := range piece {
		plain := string(r)
		token := plain
		if i > 0 {
			token = m.prefix + token
		}
		if i+len(plain) == len(piece) {
			token += m.suffix
		}
		id := lookup(m.vocabulary, token)
		if id >= 0 {
			dst, unknown = append(dst, id), false
			continue
		}
		var ok bool
		if dst, ok = appendBytes(dst, plain, &m.bytes); ok {
			unknown = false
			continue
		}
		if m.unknown >= 0 && !(m.fuse && unknown) {
			dst = append(dst, m.unknown)
		}
		unknown = true
	}
	return dst
}
