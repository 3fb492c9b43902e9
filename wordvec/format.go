package wordvec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// Format is a file format of word vectors.
type Format int

const (
	// Auto tells the format from the content.
	Auto Format = iota
	// Word2VecBinary is a line "words dimensions", then for each word its
	// bytes, a space and little-endian float32 numbers, and perhaps a line
	// break (the original program writes one, gensim does not).
	Word2VecBinary
	// Word2VecText is a line "words dimensions", then a line for each word:
	// the word and its numbers. fastText's .vec is the same.
	Word2VecText
	// GloVe is Word2VecText without the first line.
	GloVe
	// FastTextBinary is a fastText model, version 11 or 12, not quantised.
	FastTextBinary
)

// String names the format.
func (f Format) String() string {
	names := [...]string{"auto", "word2vec binary", "word2vec text", "GloVe text", "fastText binary"}
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("Format(%d)", int(f))
	}
	return names[f]
}

// sampleSize is how many bytes after the first line decide between text and
// binary where the first record does not.
const sampleSize = 4096

// detect tells the format from the bytes that in has ready, taking none.
//
// The two word2vec formats start with the same line. What follows is text if
// the next line is a word and as many numbers as that line says, or if the
// next 4 KiB are clean text (a text file with a damaged first record, whose
// error then names the line). Packed floats are neither.
func detect(in *input.Stream) (Format, error) {
	head, err := in.Peek(bufferSize)
	whole := err == io.EOF // head is all there is
	if err != nil && !whole {
		return Auto, input.Unreadable(in.Name, 0, err)
	}
	if len(head) == 0 {
		return Auto, errors.New("is empty, want a file of word vectors")
	}
	if in.StartsWith("\x93NUMPY") {
		return Auto, errors.New("is a NumPy array, which has no words: " + knownFormats)
	}
	if len(head) >= 4 && binary.LittleEndian.Uint32(head) == fastTextMagic {
		return FastTextBinary, nil
	}
	first, rest, found := bytes.Cut(head, []byte("\n"))
	if !found && !whole {
		return Auto, fmt.Errorf("no line break in the first %d bytes: %s", len(head), knownFormats)
	}
	if _, dim, is, err := parseHeader(first); is {
		if err != nil {
			return Word2VecText, nil // its reader has the error
		}
		record, _, found := bytes.Cut(bytes.TrimLeft(rest, "\n"), []byte("\n"))
		if (found || whole) && isRecord(record, dim) || isCleanText(rest[:min(len(rest), sampleSize)]) {
			return Word2VecText, nil
		}
		return Word2VecBinary, nil
	}
	if numbers := len(fieldsOf(first)) - 1; numbers > 0 && isRecord(first, numbers) {
		return GloVe, nil
	}
	return Auto, fmt.Errorf("it starts with %s: %s", quote(first), knownFormats)
}

const knownFormats = "want " + knownForms

const knownForms = "word2vec (binary or text), GloVe text, or fastText (.vec or .bin, version 11 or 12)"

// parseHeader reads the line "words dimensions". is tells whether it is one, be its
// numbers right or wrong, which err says.
func parseHeader(line []byte) (words int64, dim int, is bool, err error) {
	fields := fieldsOf(line)
	if len(fields) != 2 {
		return 0, 0, false, nil
	}
	for _, f := range fields {
		f = bytes.TrimPrefix(f, []byte("-"))
		if len(f) == 0 || len(bytes.Trim(f, "0123456789")) > 0 {
			return 0, 0, false, nil
		}
	}
	words, err = strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil || words < 1 {
		return 0, 0, true, fmt.Errorf("the first line promises %s words, want a number of 1 to 9223372036854775807", fields[0])
	}
	dim, err = strconv.Atoi(string(fields[1]))
	if err != nil || dim < 1 || dim > maxDim {
		return 0, 0, true, fmt.Errorf("the first line promises vectors of %s numbers, want 1 to %d", fields[1], maxDim)
	}
	return words, dim, true, nil
}

// isRecord reports whether a line is a word and dim numbers.
func isRecord(line []byte, dim int) bool {
	_, numbers, err := cutRecord(line, dim)
	if err != nil {
		return false
	}
	fields := fieldsOf(numbers)
	if len(fields) != dim {
		return false
	}
	for _, f := range fields {
		if _, err := strconv.ParseFloat(string(f), 32); err != nil && !errors.Is(err, strconv.ErrRange) {
			return false
		}
	}
	return true
}

// isCleanText reports whether the bytes are UTF-8 without control characters
// other than white space; the last character may be cut off.
func isCleanText(sample []byte) bool {
	for len(sample) > 0 {
		r, size := utf8.DecodeRune(sample)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(sample)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		sample = sample[size:]
	}
	return true
}

// header reads the line "words dimensions".
func header(in *bufio.Reader) (words int64, dim int, err error) {
	line, err := in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return 0, 0, fmt.Errorf("no line break in the first %d bytes, want a first line \"words dimensions\"", bufferSize)
	}
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	words, dim, is, err := parseHeader(line)
	if !is {
		return 0, 0, fmt.Errorf("the first line is %s, want \"words dimensions\"", quote(bytes.TrimRight(line, "\r\n")))
	}
	return words, dim, err
}
