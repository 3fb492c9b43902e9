package feature

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/treeloss/treeloss/dataset"
)

// WriteHashed writes the n-gram counts of some rows of a table of texts as
// numbers, without the texts: n-grams become 32-bit FNV-1a hashes. Only the
// n-grams that occur in the rows within or in the texts are kept; name there
// whatever features will be fitted on (training rows, class names), and Fit
// finds on the table that ReadHashed returns the features it would find here.
//
// Two n-grams of a block with the same hash become one. Among n distinct
// n-grams some n²/2³³ pairs do: 0.03 among 16,000.
//
// The same rows give the same bytes. The format, version 1:
//
//	"treeloss n-grams 1\n"
//	a DEFLATE stream (RFC 1951) of
//	  m            uvarint, the number of hashed n-grams
//	  m bytes      the block of each: 'c' characters, 'w' words
//	  4 m bytes    the hash of each, little-endian
//	  n            uvarint, the number of rows
//	  n rows of
//	    e          uvarint, the n-grams that differ
//	    e times    uvarint 2 (columns skipped since the last) + (1 if it occurs
//	               more than once), and in that case uvarint count - 2
//	  4 bytes      CRC-32 (IEEE) of the stream up to here, little-endian
//
// A table of another kind, a row it does not have, rows of more than 16 MiB
// unpacked and what w refuses are errors.
func WriteHashed(w io.Writer, t *Table, rows, within []int, texts []string) error {
	if t.kind != dataset.Text {
		return fmt.Errorf("feature: write hashed n-grams: a table of %v, want one of text", t.kind)
	}
	for _, i := range slices.Concat(rows, within) {
		if i < 0 || i >= t.Rows() {
			return fmt.Errorf("feature: write hashed n-grams: row %d, want 0 to %d", i, t.Rows()-1)
		}
	}
	hashes := make([]uint64, len(t.grams))
	for id, gram := range t.grams {
		hashes[id] = hashOf(gram, t.hashed)
	}
	columns, order := hashedColumns(t, hashes, within, texts)
	body := appendHashes(nil, order)
	body = binary.AppendUvarint(body, uint64(len(rows)))
	counts := make(map[int32]uint64)
	var row []int32
	for _, i := range rows {
		clear(counts)
		row = row[:0]
		ids, count := t.bags.row(i)
		for n, id := range ids {
			j, ok := columns[hashes[id]]
			if !ok {
				continue
			}
			if counts[j] == 0 {
				row = append(row, j)
			}
			counts[j] += uint64(count[n])
		}
		slices.Sort(row)
		body = appendHashedRow(body, row, counts)
	}
	body = binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(body))
	if len(body) > maxHashedBytes {
		return fmt.Errorf("feature: write hashed n-grams: %d rows make %d bytes, want at most %d: write fewer rows", len(rows), len(body), maxHashedBytes)
	}
	var packed bytes.Buffer
	packed.WriteString(hashedMagic)
	deflate, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = deflate.Write(body)
	}
	if err == nil {
		err = deflate.Close()
	}
	if err == nil {
		_, err = w.Write(packed.Bytes())
	}
	if err != nil {
		return fmt.Errorf("feature: write hashed n-grams: %w", err)
	}
	return nil
}

// hashedColumns numbers the n-grams to keep in the order in which the table
// first met them: those of a word stand together then, so most steps from one
// column of a row to the next are 0, and the file is a quarter smaller than
// with the most frequent ones first.
func hashedColumns(t *Table, hashes []uint64, within []int, texts []string) (columns map[uint64]int32, order []uint64) {
	var asked []uint64
	for _, i := range within {
		ids, _ := t.bags.row(i)
		for _, id := range ids {
			asked = append(asked, hashes[id])
		}
	}
	var a analyzer
	ask := func(gram []byte) { asked = append(asked, uint64(gram[0])<<32|uint64(hash32(gram))) }
	for _, text := range texts {
		for chunk, rest := nextChunk(a.start(text)); len(chunk) > 0; chunk, rest = nextChunk(rest) {
			a.characters(chunk, ask)
			a.words(chunk, ask)
		}
	}
	keep := make(map[uint64]bool, len(asked))
	for _, hash := range asked {
		keep[hash] = true
	}
	columns = make(map[uint64]int32, len(keep))
	for _, hash := range slices.Concat(hashes, asked) {
		if _, ok := columns[hash]; keep[hash] && !ok {
			columns[hash] = int32(len(order))
			order = append(order, hash)
		}
	}
	return columns, order
}

// appendHashes appends the number of n-grams, their blocks and their hashes: bytes of a
// kind together, which DEFLATE packs better than pairs.
func appendHashes(body []byte, order []uint64) []byte {
	body = binary.AppendUvarint(body, uint64(len(order)))
	for _, hash := range order {
		body = append(body, byte(hash>>32))
	}
	for _, hash := range order {
		body = binary.LittleEndian.AppendUint32(body, uint32(hash))
	}
	return body
}

// appendHashedRow appends a row, whose columns ascend.
func appendHashedRow(body []byte, row []int32, counts map[int32]uint64) []byte {
	body = binary.AppendUvarint(body, uint64(len(row)))
	last := int32(-1)
	for _, j := range row {
		step := uint64(j-last-1) * 2
		last = j
		if counts[j] == 1 {
			body = binary.AppendUvarint(body, step)
			continue
		}
		body = binary.AppendUvarint(body, step+1)
		body = binary.AppendUvarint(body, counts[j]-2)
	}
	return body
}
