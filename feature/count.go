package feature

// counter counts the n-grams of one text at a time. Tables and Rowers share
// it, so that a text means the same to both.
type counter struct {
	find func(gram []byte) int32 // the number of an n-gram; -1 leaves it out

	analyzer analyzer
	words    map[string][]int32 // character n-grams of chunks met before
	ids      []int32
	counts   []uint32
	place    []int32 // 1 + where in ids a number stands; 0: nowhere
	chunk    []int32
}

// Texts use the same words again and again, so finding the n-grams of a chunk
// once saves most of the work. The bounds keep memory from growing with what
// is read; they change no result.
const (
	maxCachedWords = 1 << 15
	maxCachedBytes = 48 // of one chunk
)

// count returns the numbers of the n-grams of text, each once, in the order in
// which they first occur, and how often each occurs. Both slices are valid
// until the next call.
func (c *counter) count(text string) (ids []int32, counts []uint32) {
	c.ids, c.counts = c.ids[:0], c.counts[:0]
	emitWord := func(gram []byte) { c.add(c.find(gram)) }
	for chunk, rest := nextChunk(c.analyzer.start(text)); len(chunk) > 0; chunk, rest = nextChunk(rest) {
		for _, id := range c.characters(chunk) {
			c.add(id)
		}
		c.analyzer.words(chunk, emitWord)
	}
	for _, id := range c.ids {
		c.place[id] = 0
	}
	return c.ids, c.counts
}

// characters returns the numbers of the character n-grams of a chunk, repeats
// included, valid until the next call.
func (c *counter) characters(chunk []byte) []int32 {
	if ids, ok := c.words[string(chunk)]; ok {
		return ids
	}
	c.chunk = c.chunk[:0]
	c.analyzer.characters(chunk, func(gram []byte) {
		if id := c.find(gram); id >= 0 {
			c.chunk = append(c.chunk, id)
		}
	})
	if len(chunk) > maxCachedBytes || len(c.words) >= maxCachedWords {
		return c.chunk
	}
	if c.words == nil {
		c.words = make(map[string][]int32)
	}
	c.words[string(chunk)] = append([]int32(nil), c.chunk...)
	return c.chunk
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
