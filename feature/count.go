package feature

import (
	"encoding/binary"
	"hash/maphash"
)

// counter counts the n-grams of one text at a time. Tables and Rowers share
// it, so that a text means the same to both.
type counter struct {
	find func(gram []byte) int32 // the number of an n-gram; -1 leaves it out

	analyzer analyzer
	chunks   chunks // that were met before
	ids      []int32
	counts   []uint32
	place    []int32 // 1 + where in ids a number stands; 0: nowhere
	chunk    []int32
}

// count returns the numbers of the n-grams of text, each once, in the order in
// which they first occur, and how often each occurs. Both slices are valid
// until the next call.
func (c *counter) count(text string) (ids []int32, counts []uint32) {
	c.ids, c.counts = c.ids[:0], c.counts[:0]
	emitWord := func(gram []byte) { c.add(c.find(gram)) }
	for chunk, rest := nextChunk(c.analyzer.start(text)); len(chunk) > 0; chunk, rest = nextChunk(rest) {
		if known, ok := c.chunks.get(chunk); ok {
			for numbers := c.chunks.numbers(known); len(numbers) > 0; numbers = numbers[4:] {
				c.add(int32(binary.LittleEndian.Uint32(numbers)))
			}
			if known.oneWord {
				c.add(known.word)
				if pair := c.analyzer.pairWith(chunk); pair != nil {
					c.add(c.find(pair))
				}
				continue
			}
		} else {
			c.characters(chunk)
			for _, id := range c.chunk {
				c.add(id)
			}
		}
		c.analyzer.words(chunk, emitWord)
	}
	for _, id := range c.ids {
		c.place[id] = 0
	}
	return c.ids, c.counts
}

// characters sets c.chunk to the numbers of the character n-grams of a chunk, repeats
// included, and keeps them if there is room.
func (c *counter) characters(chunk []byte) {
	c.chunk = c.chunk[:0]
	c.analyzer.characters(chunk, func(gram []byte) {
		if id := c.find(gram); id >= 0 {
			c.chunk = append(c.chunk, id)
		}
	})
	if len(chunk) > maxCachedBytes || c.chunks.count >= maxCachedWords {
		return
	}
	known := knownChunk{word: -1, oneWord: isWord(chunk)}
	if known.oneWord {
		c.analyzer.gram = append(append(c.analyzer.gram[:0], wordGram), chunk...)
		known.word = c.find(c.analyzer.gram)
	}
	c.chunks.put(chunk, known, c.chunk)
}

func (c *counter) add(id int32) {
	if id < 0 {
		return
	}
	if int(id) >= len(c.place) {
		c.place = append(c.place, make([]int32, int(id)+1-len(c.place))...)
	}
	if at := c.place[id]; at > 0 {
		c.counts[at-1]++
		return
	}
	c.ids, c.counts = append(c.ids, id), append(c.counts, 1)
	c.place[id] = int32(len(c.ids))
}

// Texts use the same words again and again, so finding the n-grams of a chunk
// once saves most of the work. The bounds keep memory from growing with what
// is read; they change no result.
const (
	maxCachedWords = 1 << 15
	maxCachedBytes = 48 // of one chunk
)

// chunks is a hash table of chunks with the numbers of their n-grams. A chunk and its
// numbers lie side by side, so that one that is found costs two places in memory, that of
// the slot and that of the chunk; a map costs twice as many.
type chunks struct {
	seed  maphash.Seed
	slot  []knownChunk // a power of two, at most half of them taken; nil before the first chunk
	bytes []byte       // of each chunk its text, then its numbers, 4 bytes each
	count int
}

// knownChunk is what is known about a chunk.
type knownChunk struct {
	hash    uint32
	at      uint32 // in bytes
	word    int32  // the number of the chunk as a word, if it is one
	numbers uint16
	length  uint8 // of the text; 0: a free slot
	oneWord bool  // it is one word and nothing else
}

// get returns what is known about a chunk.
func (s *chunks) get(chunk []byte) (known knownChunk, ok bool) {
	if s.slot == nil || len(chunk) > maxCachedBytes {
		return known, false
	}
	known, _ = s.look(chunk)
	return known, known.length > 0
}

// look returns the slot of a chunk, or the free one where it belongs, and its place.
func (s *chunks) look(chunk []byte) (known knownChunk, at int) {
	hash := uint32(maphash.Bytes(s.seed, chunk))
	mask := uint32(len(s.slot) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		known = s.slot[i]
		if known.length == 0 || known.hash == hash && string(s.bytes[known.at:known.at+uint32(known.length)]) == string(chunk) {
			known.hash = hash
			return known, int(i)
		}
	}
}

// grow makes room for twice as many chunks.
func (s *chunks) grow() {
	old := s.slot
	s.slot = make([]knownChunk, max(2*len(old), 256))
	mask := uint32(len(s.slot) - 1)
	for _, known := range old {
		if known.length == 0 {
			continue
		}
		i := known.hash & mask
		for s.slot[i].length > 0 {
			i = (i + 1) & mask
		}
		s.slot[i] = known
	}
}

// numbers returns the numbers of the character n-grams, 4 bytes each.
func (s *chunks) numbers(known knownChunk) []byte {
	from := int(known.at) + int(known.length)
	return s.bytes[from : from+4*int(known.numbers)]
}

// put keeps a chunk that is not there.
func (s *chunks) put(chunk []byte, known knownChunk, numbers []int32) {
	if s.slot == nil {
		s.seed = maphash.MakeSeed()
	}
	if 2*s.count >= len(s.slot) {
		s.grow()
	}
	free, at := s.look(chunk)
	known.hash, known.at, known.length, known.numbers = free.hash, uint32(len(s.bytes)), uint8(len(chunk)), uint16(len(numbers))
	s.bytes = append(s.bytes, chunk...)
	for _, id := range numbers {
		s.bytes = binary.LittleEndian.AppendUint32(s.bytes, uint32(id))
	}
	s.slot[at] = known
	s.count++
}

// bags holds the n-gram counts of texts: that of row i are
// count[start[i]:start[i+1]], of the n-grams id[start[i]:start[i+1]], which
// differ and come in no order.
type bags struct {
	start []int
	id    []int32
	count []uint32
}

func (b *bags) rows() int { return max(len(b.start)-1, 0) }

func (b *bags) row(i int) (id []int32, count []uint32) {
	from, to := b.start[i], b.start[i+1]
	return b.id[from:to:to], b.count[from:to:to]
}

func (b *bags) add(id []int32, count []uint32) {
	if len(b.start) == 0 {
		b.start = append(b.start, 0)
	}
	b.id = append(b.id, id...)
	b.count = append(b.count, count...)
	b.start = append(b.start, len(b.id))
}
