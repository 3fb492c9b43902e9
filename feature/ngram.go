package feature

import (
	"unicode"
	"unicode/utf8"
)

// An n-gram is a string whose first byte tells its block: 'c' for characters
// within a word, 'w' for one or two words.
const (
	charGram = 'c'
	wordGram = 'w'
)

const (
	minChars = 2 // characters in the shortest character n-gram
	maxChars = 5 // and in the longest
)

// maxWordBytes bounds the words of word n-grams. Longer runs of letters are
// data in disguise or a script without spaces: they would fill the vocabulary
// with copies of the text, and their characters say the same.
const maxWordBytes = 256

// analyzer cuts texts into n-grams. It keeps its buffers between calls.
//
// A chunk is what stands between white space, in lower case. A character n-gram
// is 2 to 5 neighbouring characters of a chunk with one space put before it and
// one behind, so that beginnings and ends of words count. The words of word
// n-grams are the runs of letters, marks, digits, underscores and symbols in
// chunks, split at punctuation (and at ASCII symbols); a pair of words may span
// two chunks.
type analyzer struct {
	lower  []byte
	padded []byte
	pair   []byte // 'w' and the word before, if there is one
	gram   []byte
}

// start begins a text and returns it in lower case.
func (a *analyzer) start(text string) []byte {
	a.lower = appendLower(a.lower[:0], text)
	a.pair = a.pair[:0]
	return a.lower
}

// nextChunk returns the first chunk of a text in lower case and what follows
// it; an empty chunk says that there is none.
func nextChunk(text []byte) (chunk, rest []byte) {
	start := 0
	for start < len(text) {
		r, size := decode(text[start:])
		if !isSpace(r) {
			break
		}
		start += size
	}
	end := start
	for end < len(text) {
		r, size := decode(text[end:])
		if isSpace(r) {
			break
		}
		end += size
	}
	return text[start:end], text[end:]
}

// characters calls emit with each character n-gram of a chunk, repeats
// included. The bytes are valid only during the call.
func (a *analyzer) characters(chunk []byte, emit func(gram []byte)) {
	a.padded = append(append(append(a.padded[:0], charGram, ' '), chunk...), ' ')
	for at := 1; at < len(a.padded); {
		// The byte before belongs to a character that is done with: the block's
		// byte takes its place, and the n-gram stands there without a copy.
		a.padded[at-1] = charGram
		end, next := at, at
		for n := 1; n <= maxChars && end < len(a.padded); n++ {
			_, size := decode(a.padded[end:])
			end += size
			if n == 1 {
				next = end
			}
			if n >= minChars {
				emit(a.padded[at-1 : end])
			}
		}
		at = next
	}
}

// words calls emit with each word of a chunk and its pair with the word before,
// which may stand in an earlier chunk of the text. The bytes are valid only
// during the call.
func (a *analyzer) words(chunk []byte, emit func(gram []byte)) {
	for len(chunk) > 0 {
		end, next := 0, 0
		for next < len(chunk) {
			r, size := decode(chunk[next:])
			next += size
			if !wordRune(r) {
				break
			}
			end = next
		}
		word := chunk[:end]
		chunk = chunk[next:]
		switch {
		case len(word) == 0:
			continue
		case len(word) > maxWordBytes:
			a.pair = a.pair[:0]
			continue
		}
		a.gram = append(append(a.gram[:0], wordGram), word...)
		emit(a.gram)
		if len(a.pair) > 0 {
			a.pair = append(append(a.pair, ' '), word...)
			emit(a.pair)
		}
		a.pair = append(a.pair[:0], a.gram...)
	}
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return !unicode.IsPunct(r) && !unicode.IsSpace(r) && !unicode.IsControl(r)
}

func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	return unicode.IsSpace(r)
}

// decode is utf8.DecodeRune with a short way for ASCII. b must not be empty.
func decode(b []byte) (r rune, size int) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1
	}
	return utf8.DecodeRune(b)
}

// appendLower appends text in lower case; invalid bytes become U+FFFD.
func appendLower(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return appendLowerRunes(dst, text[i:])
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func appendLowerRunes(dst []byte, text string) []byte {
	for _, r := range text {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}
