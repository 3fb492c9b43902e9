package wordvec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

// separators stand between a word and its numbers; other white space may be part of a
// word.
const separators = " \t"

// readText reads word2vec's text format and GloVe's. Numbers are taken from
// the end of the line, since words of GloVe's largest files hold spaces; only
// the first word of a GloVe file, from which the dimensions are counted, may
// not.
func (v *Vectors) readText(in *input.Stream, opts Options) error {
	var count int64 // promised words; 0: nothing promised
	lines := in.Lines(bufferSize)
	lines.AnyBytes = true
	if v.info.Format == Word2VecText {
		var err error
		if count, v.info.Dim, err = header(in.Reader); err != nil {
			return input.At(in.Name, 1, err)
		}
		lines.Number++
		lines.Max = maxWord + maxNumber*v.info.Dim
	}
	for {
		line, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, separators+"\r\n")
		if len(line) == 0 {
			continue
		}
		if v.info.Dim == 0 {
			if v.info.Dim = len(fieldsOf(line)) - 1; v.info.Dim < 1 || v.info.Dim > maxDim {
				return lines.Refuse(0, "%d numbers, want 1 to %d", v.info.Dim, maxDim)
			}
			lines.Max = maxWord + maxNumber*v.info.Dim
		}
		v.info.Words++
		if count > 0 && int64(v.info.Words) > count {
			return lines.Refuse(0, "more than the %d words that the first line promises", count)
		}
		if err := v.readLine(line, opts); err != nil {
			return input.At(in.Name, lines.Number, err)
		}
	}
	if int64(v.info.Words) < count {
		return fmt.Errorf("the file ends after %d of the %d words that its first line promises: %w", v.info.Words, count, io.ErrUnexpectedEOF)
	}
	if v.info.Words == 0 {
		return errors.New("no words")
	}
	return nil
}

// readLine takes the record of one line if it is to be kept.
func (v *Vectors) readLine(line []byte, opts Options) error {
	word, numbers, err := cutRecord(line, v.info.Dim)
	if err != nil {
		return err
	}
	if !v.keeps(word) {
		return nil
	}
	row := make([]float32, 0, v.info.Dim)
	for numbers = bytes.TrimLeft(numbers, separators); len(numbers) > 0; {
		end := bytes.IndexAny(numbers, separators)
		if end < 0 {
			end = len(numbers)
		}
		x, err := strconv.ParseFloat(string(numbers[:end]), 32)
		if err != nil {
			return fmt.Errorf("word %s: number %d is %s, want a finite one", quote(word), len(row)+1, quote(numbers[:end]))
		}
		row = append(row, float32(x))
		numbers = bytes.TrimLeft(numbers[end:], separators)
	}
	if len(row) != v.info.Dim {
		return fmt.Errorf("word %s: %d numbers, want %d", quote(word), len(row), v.info.Dim)
	}
	return v.add(string(word), row, opts.KeepFirst)
}

// cutRecord cuts a line into the word and the part with its last dim fields,
// all of them if dim is the number of fields less one. The line has no
// separator at its end.
func cutRecord(line []byte, dim int) (word, numbers []byte, err error) {
	line = bytes.TrimRight(line, separators+"\r\n")
	// The common case costs two passes of vector instructions.
	if at := bytes.IndexByte(line, ' '); at > 0 && bytes.Count(line, []byte{' '}) == dim && bytes.IndexByte(line, '\t') < 0 {
		return line[:at], line[at+1:], nil
	}
	end := len(line)
	for n := range dim {
		start := bytes.LastIndexAny(line[:end], separators) + 1
		if start == 0 {
			return nil, nil, fmt.Errorf("%d fields, want a word and %d numbers", n+1, dim)
		}
		numbers = line[start:]
		end = len(bytes.TrimRight(line[:start], separators))
	}
	if end == 0 {
		return nil, nil, fmt.Errorf("%d fields, want a word and %d numbers", dim, dim)
	}
	return line[:end], numbers, nil
}

// fieldsOf cuts at spaces and tabs only: no other white space separates, and
// some words are nothing else.
func fieldsOf(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' })
}
