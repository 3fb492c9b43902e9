package feature

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/treeloss/treeloss/dataset"
)

// ReadHashed reads what WriteHashed wrote: a table of texts whose rows 0, 1 and
// so on are the written ones, in their order, and to which more texts can be
// added; their n-grams are hashed, too. A Set fitted on it has hashes for a
// vocabulary, and its Rower looks the n-grams of texts up by their hashes.
//
// Bytes that are truncated, damaged or of another kind are an error that wraps
// ErrHashed.
func ReadHashed(r io.Reader) (*Table, error) {
	packed, err := io.ReadAll(io.LimitReader(r, maxHashedBytes+1))
	if err != nil {
		return nil, fmt.Errorf("feature: read hashed n-grams: %w", err)
	}
	t, err := parseHashed(packed)
	if err != nil {
		return nil, fmt.Errorf("feature: read hashed n-grams: %w: %w; make the file again with WriteHashed", err, ErrHashed)
	}
	return t, nil
}

// parseHashed takes a file apart, the format of WriteHashed. Nothing is allocated on the
// word of a number in it: each is checked against the bytes that are left.
func parseHashed(packed []byte) (*Table, error) {
	stream, ok := bytes.CutPrefix(packed, []byte(hashedMagic))
	if !ok {
		return nil, fmt.Errorf("the file begins %.20q, want %q", packed, hashedMagic)
	}
	in := bytes.NewReader(stream)
	body, err := io.ReadAll(io.LimitReader(flate.NewReader(in), maxHashedBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxHashedBytes:
		return nil, fmt.Errorf("more than %d bytes unpacked", maxHashedBytes)
	case in.Len() > 0:
		return nil, fmt.Errorf("%d bytes behind the end", in.Len())
	case len(body) < 4:
		return nil, fmt.Errorf("%d bytes unpacked, want at least 4", len(body))
	}
	body, sum := body[:len(body)-4], body[len(body)-4:]
	if got, want := crc32.ChecksumIEEE(body), binary.LittleEndian.Uint32(sum); got != want {
		return nil, fmt.Errorf("checksum %08x, want %08x", got, want)
	}
	p := &hashedParser{rest: body}
	t := NewTable(dataset.Text, nil)
	t.hashed = true
	p.hashes(t)
	p.rows(t)
	if p.err == nil && len(p.rest) > 0 {
		p.fail("%d bytes behind the last row", len(p.rest))
	}
	return t, p.err
}

// hashedParser takes a body apart. After the first error it does nothing more.
type hashedParser struct {
	rest []byte
	err  error
}

// fail keeps the first error.
func (p *hashedParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = nil
}

// number reads a number of at most limit.
func (p *hashedParser) number(what string, limit uint64) uint64 {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 || v > limit {
		p.fail("%s is %d, want a number up to %d", what, v, limit)
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

// hashes reads the n-grams and gives them to t, under their keys.
func (p *hashedParser) hashes(t *Table) {
	m := int(p.number("the number of n-grams", uint64(len(p.rest))))
	if len(p.rest) < 5*m {
		p.fail("%d n-grams in %d bytes, want 5 bytes for each", m, len(p.rest))
	}
	if p.err != nil {
		return
	}
	blocks, hashes := p.rest[:m], p.rest[m:5*m]
	p.rest = p.rest[5*m:]
	for j, block := range blocks {
		if block != charGram && block != wordGram {
			p.fail("n-gram %d is of block %q, want %q or %q", j, block, charGram, wordGram)
			return
		}
		gram := string(appendKey(nil, block, binary.LittleEndian.Uint32(hashes[4*j:])))
		if _, ok := t.number[gram]; ok {
			p.fail("n-gram %d is %s, as one before", j, gram)
			return
		}
		t.number[gram] = int32(j)
		t.grams = append(t.grams, gram)
	}
}

// rows reads the rows and gives them to t.
func (p *hashedParser) rows(t *Table) {
	n := p.number("the number of rows", uint64(len(p.rest)))
	m := uint64(len(t.grams))
	for i := uint64(0); i < n && p.err == nil; i++ {
		entries := p.number("the number of n-grams in a row", min(m, uint64(len(p.rest))))
		var ids []int32
		var counts []uint32
		next, count := uint64(0), uint64(0)
		for range entries {
			step := p.number("a step between columns", 2*m)
			next += step / 2
			if next >= m {
				p.fail("row %d: n-gram %d, want one below %d", i, next, m)
				return
			}
			if count = 1; step%2 == 1 {
				count = 2 + p.number("a count", math.MaxUint32-2)
			}
			ids, counts = append(ids, int32(next)), append(counts, uint32(count))
			next++
		}
		t.bags.add(ids, counts)
	}
}
