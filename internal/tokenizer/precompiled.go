package tokenizer

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charsmap is the normalizer that SentencePiece compiles into its models: a double-array
// trie (Darts-clone) over sequences of characters, and what each becomes.
//
//	4 bytes   n, the bytes of the trie, little-endian
//	n bytes   the trie: units of 32 bits
//	the rest  texts, each ended by a byte 0; the trie has where they begin
type charsmap struct {
	trie  []uint32
	texts string
}

// newCharsmap reads the bytes of a map. Where the trie points to is checked at each step of
// find: a map that is damaged replaces fewer characters, and never ends in a panic.
func newCharsmap(data []byte) (*charsmap, error) {
	if len(data) < 4 {
		return nil, errors.New("a map of characters of less than 4 bytes")
	}
	n := binary.LittleEndian.Uint32(data)
	if n%4 != 0 || n == 0 || uint64(n) > uint64(len(data)-4) {
		return nil, errors.New("a map of characters that is not whole")
	}
	c := &charsmap{trie: make([]uint32, n/4), texts: string(data[4+n:])}
	for i := range c.trie {
		c.trie[i] = binary.LittleEndian.Uint32(data[4+4*i:])
	}
	return c, nil
}

// find returns what the shortest sequence of the map that text begins with becomes. The
// shortest, where SentencePiece has the longest: Hugging Face takes the first that its walk
// down the trie meets, and its tokens are the ones to give.
//
// A unit of the trie has in bits 0-7 and 31 the byte that leads to it, in bit 8 whether a
// value is there, in bits 10-30 (bit 9: times 256) how far its children are: the child by
// byte b is unit at^offset^b, and the value, a place in texts, at^offset itself, as byte 0
// leads nowhere (github.com/s-yata/darts-clone, DoubleArrayUnit).
func (c *charsmap) find(text string) (string, bool) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(c.trie[0])
	for i := range len(text) {
		at ^= uint32(text[i])
		if text[i] == 0 || int64(at) >= int64(len(c.trie)) {
			return "", false
		}
		unit := c.trie[at]
		if unit&(1<<31|0xff) != uint32(text[i]) {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if int64(at) >= int64(len(c.trie)) {
			return "", false
		}
		start := c.trie[at] & (1<<31 - 1)
		if int64(start) > int64(len(c.texts)) {
			return "", false
		}
		to, _, _ := strings.Cut(c.texts[start:], "\x00")
		return to, true
	}
	return "", false
}

// normalize maps what a reader takes for one character, up to 5 bytes, if the map has it,
// else each of its code points. (So does Hugging Face, whose graphemes of that length are
// a letter with its marks, or a line break of two characters.)
func (c *charsmap) normalize(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := grapheme(text)
		whole := text[:n]
		text = text[n:]
		if n < 6 {
			if to, ok := c.find(whole); ok {
				b.WriteString(to)
				continue
			}
		}
		for len(whole) > 0 {
			_, size := utf8.DecodeRuneInString(whole)
			if to, ok := c.find(whole[:size]); ok {
				b.WriteString(to)
			} else {
				b.WriteString(whole[:size])
			}
			whole = whole[size:]
		}
	}
	return b.String()
}

// grapheme returns the bytes of the first character of a text with its marks, by the rules
// GB3, GB9 and GB9a of UAX #29; the others join 6 bytes or more, but for the rare GB9b.
func grapheme(text string) int {
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	_, n := utf8.DecodeRuneInString(text)
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.IsMark(r) && r != '\u200d' {
			break
		}
		n += size
	}
	return n
}
