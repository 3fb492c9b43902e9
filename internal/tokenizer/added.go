package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is an entry of added_tokens: found in the text before the model sees it.
type addedToken struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only with no letter or digit beside it
	LeftStrip  bool   `json:"lstrip"`      // takes the white space before it
	RightStrip bool   `json:"rstrip"`      // and that behind it
	Normalized bool   `json:"normalized"`  // looked for behind the normalizer
}

// added finds added tokens, at each place the longest. There are few of them, and most
// begin with a bracket, so that a table of first bytes spares almost all comparisons.
type added struct {
	tokens []addedToken
	first  [256]bool // the bytes that tokens begin with
}

// setAdded deals the added tokens to those looked for before and behind the normalizer.
func (t *Tokenizer) setAdded(list []addedToken) error {
	for _, a := range list {
		if a.Content == "" {
			return fmt.Errorf("added_tokens: token %d is empty", a.ID)
		}
		to := &t.raw
		if a.Normalized {
			to = &t.clean
			// A token that the normalizer takes away is never there.
			if a.Content = t.normalize(a.Content); a.Content == "" {
				continue
			}
		}
		to.tokens = append(to.tokens, a)
		to.first[a.Content[0]] = true
	}
	return nil
}

// cut calls visit with the parts of a text in their order: the number of an added token,
// or -1 and a text that is not empty; at is the byte where the part begins. A text of n
// bytes takes O(n) and, where a token may begin, a comparison with each.
func (a *added) cut(text string, visit func(part string, id int32, at int)) {
	from := 0
	for i := 0; len(a.tokens) > 0 && i < len(text); i++ {
		if !a.first[text[i]] {
			continue
		}
		best := a.longest(text, from, i)
		if best == nil {
			continue
		}
		start, end := i, i+len(best.Content)
		if best.LeftStrip {
			start = from + len(strings.TrimRightFunc(text[from:start], unicode.IsSpace))
		}
		if best.RightStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > from {
			visit(text[from:start], -1, from)
		}
		visit(text[start:end], int32(best.ID), start)
		from, i = end, end-1
	}
	if from < len(text) {
		visit(text[from:], -1, from)
	}
}

// longest returns the longest token at text[i:], nil if there is none; from is where the
// part before it begins, the characters of which a single word must not touch.
func (a *added) longest(text string, from, i int) *addedToken {
	var best *addedToken
	for n := range a.tokens {
		token := &a.tokens[n]
		if !strings.HasPrefix(text[i:], token.Content) || best != nil && len(token.Content) <= len(best.Content) {
			continue
		}
		if token.SingleWord {
			before, _ := utf8.DecodeLastRuneInString(text[from:i])
			behind, _ := utf8.DecodeRuneInString(text[i+len(token.Content):])
			if i > from && isWord(before) || i+len(token.Content) < len(text) && isWord(behind) {
				continue
			}
		}
		best = token
	}
	return best
}

// isWord tells whether a character is one of \w: a letter, mark, digit or connector (UTS
// #18, annex C), which in Go's own expressions is ASCII alone.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
