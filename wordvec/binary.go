package wordvec

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// readBinary reads word2vec's binary format.
func (v *Vectors) readBinary(in *bufio.Reader, opts Options) error {
	count, dim, err := header(in)
	if err != nil {
		return err
	}
	v.info.Dim = dim
	var scratch []byte
	for n := range count {
		place := func() string { return fmt.Sprintf("record %d of the %d that its first line promises", n+1, count) }
		if next, err := in.Peek(1); err == nil && next[0] == '\n' {
			in.Discard(1) // the line break after the record before
		}
		word, err := readUntil(in, ' ')
		if err != nil {
			return truncated(err, place())
		}
		v.info.Words++
		if !v.keeps(word) {
			if err := skip(in, 4*int64(dim)); err != nil {
				return truncated(err, place())
			}
			continue
		}
		text := string(word)
		row, buf, err := readRow(in, dim, scratch)
		if err != nil {
			return truncated(err, place())
		}
		scratch = buf
		if err := v.add(text, row, opts.KeepFirst); err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
	}
	return atEnd(in, count)
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

// readRow reads dim little-endian float32 into a slice of its own, by way of
// scratch, which it returns for the next time.
func readRow(in *bufio.Reader, dim int, scratch []byte) ([]float32, []byte, error) {
	if cap(scratch) < 4*dim {
		scratch = make([]byte, 4*dim)
	}
	scratch = scratch[:4*dim]
	if _, err := io.ReadFull(in, scratch); err != nil {
		return nil, scratch, err
	}
	row := make([]float32, dim)
	for j := range row {
		row[j] = math.Float32frombits(binary.LittleEndian.Uint32(scratch[4*j:]))
	}
	return row, scratch, nil
}

// atEnd checks that nothing but white space follows the last record.
func atEnd(in *bufio.Reader, count int64) error {
	for {
		b, err := in.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !isASCIISpace(rune(b)) {
			return fmt.Errorf("there is more after the %d words that the first line promises", count)
		}
	}
}
