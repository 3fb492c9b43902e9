package wordvec

import "fmt"

// ngrams cuts words as a fastText model does (Dictionary::computeSubwords).
type ngrams struct {
	min, max int    // characters
	buckets  uint32 // rows that the n-grams share
}

// endOfSentence is fastText's token for the end of a line; it has no n-grams.
const endOfSentence = "</s>"

// appendRows appends the bucket of each n-gram of word, in fastText's order:
// n-grams of <word> by start, then by length, counted in characters, without
// a lone < or >. The whole of <word> is one of them if it is short enough.
// It takes O(len(word)·max) time.
func (g *ngrams) appendRows(rows []uint32, word string) []uint32 {
	if word == endOfSentence {
		return rows
	}
	w := "<" + word + ">"
	for i := range len(w) {
		if isContinuation(w[i]) {
			continue
		}
		hash := uint32(hashOffset)
		j := i
		for n := 1; j < len(w) && n <= g.max; n++ {
			hash = hashByte(hash, w[j])
			for j++; j < len(w) && isContinuation(w[j]); j++ {
				hash = hashByte(hash, w[j])
			}
			if n >= g.min && (n > 1 || i > 0 && j < len(w)) {
				rows = append(rows, hash%g.buckets)
			}
		}
	}
	return rows
}

// hashOffset is where 32-bit FNV-1a begins.
const hashOffset = 2166136261

// hashByte is a step of 32-bit FNV-1a with a byte that is first widened as a
// signed one (Dictionary::hash): bytes from 128 on flip the upper bits too.
func hashByte(h uint32, b byte) uint32 { return (h ^ uint32(int8(b))) * 16777619 }

// isContinuation reports whether b is a byte inside a UTF-8 character.
func isContinuation(b byte) bool { return b&0xC0 == 0x80 }

// Subword returns the vector that fastText has for a word, whether the
// vocabulary has it or not (print-word-vectors): the mean of the word's own
// row and the rows of its n-grams. It aliases v where it can: do not change it.
//
// It is an error if v is not from a fastText .bin with n-grams, if Options did
// not ask for the word, and, wrapping ErrUnknown, if a word outside the
// vocabulary has no n-grams (fastText gives zeros there).
func (v *Vectors) Subword(word string) ([]float32, error) {
	if v.info.Format != FastTextBinary {
		return nil, fmt.Errorf("%s (%s) has no n-grams to build %s from, want a fastText .bin: %w", v.info.Name, v.info.Format, quote(word), ErrUnknown)
	}
	if row, ok := v.Vector(word); ok {
		return row, nil
	}
	if row, ok := v.unknown[word]; ok {
		return row, nil
	}
	if !v.asked(word) {
		return nil, v.notAsked(word)
	}
	if v.ngrams == nil {
		return nil, fmt.Errorf("%s has no n-grams to build %s from, want a fastText .bin trained with -maxn above 0: %w", v.info.Name, quote(word), ErrUnknown)
	}
	rows := v.ngrams.appendRows(nil, word)
	if len(rows) == 0 {
		return nil, fmt.Errorf("word %s has no n-grams of %d to %d characters: %w", quote(word), v.ngrams.min, v.ngrams.max, ErrUnknown)
	}
	if v.buckets == nil {
		// A spelling that Names tries, but not the one that it takes n-grams of.
		return nil, v.notAsked(word)
	}
	row := make([]float32, v.info.Dim)
	v.mean(row, nil, rows, make([]float64, v.info.Dim))
	return row, nil
}

// notAsked is the error about a word that Options did not let in.
func (v *Vectors) notAsked(word string) error {
	return fmt.Errorf("word %s was not among the words asked for when %s was read", quote(word), v.info.Name)
}
