package feature

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// An n-gram is a string whose first byte tells its block: 'c' for characters
// within a word, 'w' for one or two words.
const (
	charGram = 'c'
	wordGram = 'w'
)

const (
	minChars = 2 // characters in the shortest character n-gram
	maxChars = 4 // and in the longest

	// Scripts without spaces: characters in the longest n-gram of a run. A Chinese
	// word is mostly one or two characters, a Thai one three and more.
	maxHan   = 2
	maxOther = 3
)

// maxWordBytes bounds the words of word n-grams. Longer runs of letters are
// data in disguise: they would fill the vocabulary with copies of the text, and
// their characters say the same.
const maxWordBytes = 256

// analyzer cuts texts into n-grams. It keeps its buffers between calls.
//
// A text is first brought to one form: Unicode's NFKC, then lower case. A chunk
// is what stands between white space, or a run of characters of a script that is
// written without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar).
//
// A character n-gram is 2 to 4 neighbouring characters of a chunk with one space
// put before it and one behind, so that beginnings and ends of words count. The
// words of word n-grams are the runs of letters, marks, digits, underscores and
// symbols in chunks, split at punctuation (and at ASCII symbols); a pair of words
// may span two chunks. A word of one letter or digit is left out.
//
// Runs of a script without spaces have no words to find. Their n-grams of 1 to 2
// characters (Han and Kana) or 1 to 3 (the others; a character with its marks
// counts as one) are both character and word n-grams, so that neither block of
// features is left to the few Latin words in such a text.
type analyzer struct {
	normal []byte
	lower  []byte
	padded []byte
	pair   []byte // 'w' and the word before, if there is one
	gram   []byte
}

// start begins a text and returns it in one form.
func (a *analyzer) start(text string) []byte {
	a.pair = a.pair[:0]
	a.lower = a.lower[:0]
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			a.normal = norm.NFKC.AppendString(a.normal[:0], text)
			a.lower = appendLower(a.lower[:0], a.normal)
			break
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		a.lower = append(a.lower, c)
	}
	return a.lower
}

// appendLower appends text in lower case; invalid bytes become U+FFFD.
func appendLower(dst, text []byte) []byte {
	for _, r := range string(text) {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// nextChunk returns the first chunk of a text and what follows it; an empty
// chunk says that there is none. Punctuation behind a run without spaces
// belongs to no chunk: it ends the run, as a space would elsewhere.
func nextChunk(text []byte) (chunk, rest []byte) {
	start := 0
	for start < len(text) {
		r, size := decode(text[start:])
		if !isSpace(r) {
			break
		}
		start += size
	}
	end, run := start, false
	for end < len(text) {
		r, size := decode(text[end:])
		if isSpace(r) {
			break
		}
		if in := spaceless(r); end == start {
			run = in
		} else if in != run && !unicode.IsMark(r) {
			break
		}
		end += size
	}
	chunk, rest = text[start:end], text[end:]
	for run && len(rest) > 0 {
		r, size := decode(rest)
		if !unicode.IsPunct(r) {
			break
		}
		rest = rest[size:]
	}
	return chunk, rest
}

// spaceless tells whether a character belongs to a script that is written
// without spaces between words. Marks belong to the character before, whatever
// its script.
func spaceless(r rune) bool {
	return r >= firstSpaceless && !unicode.IsMark(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r == longVowel
}

const (
	firstSpaceless = 0x0e00 // where Thai begins
	longVowel      = 'ー'    // of Kana, though of no script
)

// isRun tells whether a chunk is a run of a script without spaces.
func isRun(chunk []byte) bool {
	if chunk[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRune(chunk)
	return spaceless(r)
}

// run calls emit with each n-gram of a run of a script without spaces, as n-grams
// of a block, repeats included. The bytes are valid only during the call.
func (a *analyzer) run(block byte, chunk []byte, emit func(gram []byte)) {
	for len(chunk) > 0 {
		longest := maxOther
		if r, _ := utf8.DecodeRune(chunk); unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			longest = maxHan
		}
		a.gram = append(a.gram[:0], block)
		end, next := 0, 0
		for n := 1; n <= longest && end < len(chunk); n++ {
			end += characterSize(chunk[end:])
			if n == 1 {
				next = end
			}
			a.gram = append(a.gram[:1], chunk[:end]...)
			emit(a.gram)
		}
		chunk = chunk[next:]
	}
}

// characterSize returns the bytes of the first character of b and its marks.
func characterSize(b []byte) int {
	_, end := utf8.DecodeRune(b)
	for end < len(b) {
		r, size := utf8.DecodeRune(b[end:])
		if !unicode.IsMark(r) {
			break
		}
		end += size
	}
	return end
}

// characters calls emit with each character n-gram of a chunk, repeats
// included. The bytes are valid only during the call.
func (a *analyzer) characters(chunk []byte, emit func(gram []byte)) {
	if isRun(chunk) {
		a.run(charGram, chunk, emit)
		return
	}
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
	if isRun(chunk) {
		a.run(wordGram, chunk, emit)
		a.pair = a.pair[:0]
		return
	}
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
		case len(word) == 0 || isLetter(word):
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

// isWord tells whether words would call emit with the whole chunk, and with nothing else
// but its pair: a run of at least two ASCII letters, digits and underscores.
func isWord(chunk []byte) bool {
	for _, b := range chunk {
		if b >= utf8.RuneSelf || !wordRune(rune(b)) {
			return false
		}
	}
	return len(chunk) > 1 && len(chunk) <= maxWordBytes
}

// pairWith is words for a chunk that isWord, which does not emit the word itself, but
// returns its pair, nil if there is none; it is valid until the next call.
func (a *analyzer) pairWith(word []byte) (pair []byte) {
	before := len(a.pair)
	if before > 0 {
		a.pair = append(append(a.pair, ' '), word...)
		a.gram = append(a.gram[:0], a.pair...)
		pair = a.gram
	}
	a.pair = append(append(a.pair[:0], wordGram), word...)
	return pair
}

// isLetter tells whether a word is a single letter or digit.
func isLetter(word []byte) bool {
	r, size := decode(word)
	return size == len(word) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// wordRune tells whether a character belongs to a word. Of ASCII only letters, digits and
// the underscore do, of all else what is neither punctuation nor space nor control.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return !unicode.IsPunct(r) && !unicode.IsSpace(r) && !unicode.IsControl(r)
}

// isSpace is unicode.IsSpace with a short way for ASCII.
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
