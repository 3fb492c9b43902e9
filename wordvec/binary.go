package wordvec

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// readBinary reads word2vec's binary format.
func (v *Vectors) readBinary(in *bufio.Reader, opts Options) error {
	count, dim, err := header(in)
	if err != nil {
		return err
	}
	v.info.Dim = dim
	for n := range count {
		if err := v.readRecord(in, opts); err != nil {
			return truncated(err, fmt.Sprintf("record %d of the %d that its first line promises", n+1, count))
		}
	}
	return atEnd(in, count)
}

// readRecord reads a word, a space and the numbers of the word.
func (v *Vectors) readRecord(in *bufio.Reader, opts Options) error {
	if next, err := in.Peek(1); err == nil && next[0] == '\n' {
		in.Discard(1) // the line break after the record before
	}
	word, err := readUntil(in, ' ')
	if err != nil {
		return err
	}
	v.info.Words++
	if !v.keeps(word) {
		return skip(in, 4*int64(v.info.Dim))
	}
	text := string(word)
	row, err := readRow(in, v.info.Dim)
	if err != nil {
		return err
	}
	if err := v.add(text, row, opts.KeepFirst); err != nil {
		return fmt.Errorf("record %d: %w", v.info.Words, err)
	}
	return nil
}

// readUntil reads up to the byte end, which it takes but does not return. The
// result is valid until the next read.
func readUntil(in *bufio.Reader, end byte) ([]byte, error) {
	word, err := in.ReadSlice(end)
	if len(word) > maxWord {
		return nil, fmt.Errorf("a word of more than %d bytes that starts with %s: this is no file of word vectors, or a damaged one", maxWord, quote(word))
	}
	if err != nil {
		return nil, err
	}
	return word[:len(word)-1], nil
}

// readRow reads dim little-endian float32, which fit into the buffer.
func readRow(in *bufio.Reader, dim int) ([]float32, error) {
	b, err := in.Peek(4 * dim)
	if err != nil {
		return nil, err
	}
	row := make([]float32, dim)
	for j := range row {
		row[j] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*j:]))
	}
	_, err = in.Discard(len(b))
	return row, err
}

// skip discards n bytes.
func skip(in *bufio.Reader, n int64) error {
	const step = 1 << 30 // fits an int everywhere
	for n > 0 {
		did, err := in.Discard(int(min(n, step)))
		if err != nil {
			return err
		}
		n -= int64(did)
	}
	return nil
}

// atEnd checks that nothing but white space follows the last record.
func atEnd(in *bufio.Reader, count int64) error {
	for {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !strings.ContainsRune(" \t\n\v\f\r", rune(b)):
			return fmt.Errorf("there is more after the %d words that the first line promises", count)
		}
	}
}
