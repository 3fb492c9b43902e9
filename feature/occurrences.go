package feature

import (
	"bytes"

	"golang.org/x/text/unicode/norm"

	"github.com/treeloss/treeloss/record"
)

// Occurrence is a place in a text at which a feature of a Set occurs: the bytes
// text[Start:End]. For characters within a word the space that stands for its beginning or
// end is no part of it.
type Occurrence struct {
	Feature    int32
	Start, End int
}

// Occurrences returns every place at which an n-gram of s occurs in a text, chunk by
// chunk, characters before words. A feature occurs here as often as Rower.Row counts it, so that
// a number that belongs to a feature can be spread over the letters that it came from.
// Sets of other kinds than Text have none. It takes time in proportion to the text.
func (s *Set) Occurrences(text string) []Occurrence {
	if s.kind != record.Text {
		return nil
	}
	var a analyzer
	var out []Occurrence
	vocabulary := s.lookup()
	places := originOf(text)
	lower := a.start(text)
	if len(places) != len(lower)+1 {
		return nil // a normalisation that is not that of its segments; there is none in Unicode
	}
	add := func(gram []byte, chunk, start, end int) {
		if f := vocabulary.find(gram); f >= 0 && start < end {
			out = append(out, Occurrence{f, places[chunk+start].start, places[chunk+end-1].end})
		}
	}
	var before wordPlace // of the word before, for pairs
	for chunk, rest := nextChunk(lower); len(chunk) > 0; chunk, rest = nextChunk(rest) {
		// A slice of a slice tells by its capacity where in it it begins.
		at := cap(lower) - cap(chunk)
		if isRun(chunk) {
			for _, block := range []byte{charGram, wordGram} {
				start, last := -1, 0
				a.run(block, chunk, func(gram []byte) {
					n := len(gram) - 1
					switch { // n-grams of one start come one after the other, the shortest first
					case start < 0:
						start = 0
					case n <= last:
						start += characterSize(chunk[start:])
					}
					last = n
					add(gram, at, start, start+n)
				})
			}
			continue
		}
		a.characters(chunk, func(gram []byte) {
			// padded is the byte of the block, a space, the chunk and a space.
			start := cap(a.padded) - cap(gram) - 1
			add(gram, at, max(start, 0), min(start+len(gram)-1, len(chunk)))
		})
		// Words come in order and hold no space, pairs do: a word is at or behind the end of the
		// one before, and its pair, which follows it, begins where that one began.
		next := 0
		a.words(chunk, func(gram []byte) {
			word := gram[1:]
			if bytes.IndexByte(word, ' ') < 0 {
				start := next + bytes.Index(chunk[next:], word)
				next = start + len(word)
				add(gram, at, start, next)
				before = wordPlace{before.now, at + start}
				return
			}
			add(gram, 0, before.last, at+next) // a pair, behind its second word
		})
	}
	return out
}

// wordPlace has where the last two words of a text begin.
type wordPlace struct{ last, now int }

// origin is what bytes of a text one byte of its normal form came from.
type origin struct{ start, end int }

// originOf returns the origin of each byte of the text as analyzer.start brings it into one
// form, and one more for its end. Normalisation works segment by segment, each a
// character and the marks on it, so that the origin of a byte is its segment.
func originOf(text string) []origin {
	var out []origin
	var normal, lower []byte
	for start := 0; start < len(text); {
		end := start + norm.NFKC.NextBoundaryInString(text[start:], true)
		normal = norm.NFKC.AppendString(normal[:0], text[start:end])
		lower = appendLower(lower[:0], normal)
		for range lower {
			out = append(out, origin{start, end})
		}
		start = end
	}
	return append(out, origin{len(text), len(text)})
}
