package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// npyLabels gives the labels that go with the rows of an array, one after the
// other, without outer white space, and io.EOF after the last.
type npyLabels func() (string, error)

// newNPYLabels reads a text with a label on each line, or a NumPy array of integers
// or strings. A blank line of a text counts: to leave it out would move all labels
// after it to the wrong rows.
func newNPYLabels(in *input.Stream, opts Options) (npyLabels, error) {
	var labels interner
	if !in.StartsWith(npyMagic) {
		lines := in.Lines(opts.maxRecord())
		return func() (string, error) {
			line, err := lines.Read()
			return labels.get(bytes.TrimSpace(line)), err
		}, nil
	}
	head, err := readNPYHeader(in)
	if err != nil {
		return nil, err
	}
	if len(head.shape) != 1 && !(len(head.shape) == 2 && head.width == 1) {
		return nil, input.Refuse(in.Name, 0, 0, "labels of shape %v, want one a row; use y.ravel(), or y.argmax(1) if a row holds a 1 for its class", head.shape)
	}
	if head.kind != 'U' && head.kind != 'S' && !head.isInteger() {
		return nil, input.Refuse(in.Name, 0, 0, "labels of type %c%d, want integers or strings; use y.astype('U') or y.astype('int64')", head.kind, head.item)
	}
	if head.item < 1 || head.item > 1<<16 {
		return nil, input.Refuse(in.Name, 0, 0, "labels of %d bytes, want 1 to %d", head.item, 1<<16)
	}
	row, item, text := 0, make([]byte, head.item), []byte(nil)
	return func() (string, error) {
		if int64(row) == head.rows {
			return "", io.EOF
		}
		row++
		if _, err := io.ReadFull(in.Reader, item); err != nil {
			return "", input.Unreadable(in.Name, row, err)
		}
		if text, err = head.appendLabel(text[:0], item); err != nil {
			return "", input.Refuse(in.Name, row, 0, "label %v", err)
		}
		return labels.get(bytes.TrimSpace(text)), nil
	}, nil
}

// appendLabel appends the text that an element is: integers in decimal, strings
// without the zeros that fill them up.
func (h *npyHeader) appendLabel(text, item []byte) ([]byte, error) {
	switch h.kind {
	case 'i':
		return strconv.AppendInt(text, int64(h.integer(item)), 10), nil
	case 'u':
		return strconv.AppendUint(text, h.integer(item), 10), nil
	case 'U':
		for ; len(item) > 0; item = item[4:] {
			r := rune(binary.LittleEndian.Uint32(item))
			if !utf8.ValidRune(r) {
				return nil, fmt.Errorf("with the number %#x, which is no Unicode character; write the file anew", uint32(r))
			}
			text = utf8.AppendRune(text, r)
		}
	default:
		text = append(text, item...)
	}
	if text = bytes.TrimRight(text, "\x00"); !utf8.Valid(text) {
		return nil, fmt.Errorf("%s is not UTF-8; save y.astype('U')", input.Clip(text))
	}
	return text, nil
}
