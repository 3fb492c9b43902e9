package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// labelSource gives the labels that go with the rows of an array, without
// outer white space, and io.EOF after the last.
type labelSource interface {
	next() (string, error)
}

// newLabelSource finds out which kind of labels file it is.
func newLabelSource(in *input.Stream, opts Options) (labelSource, error) {
	if !in.StartsWith(npyMagic) {
		return &labelLines{lines: in.Lines(opts.maxRecord())}, nil
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
	return &labelArray{in: in, head: head, item: make([]byte, head.item)}, nil
}

// labelLines reads a text file with a label on each line. A blank line counts:
// to leave it out would move all labels after it to the wrong rows.
type labelLines struct {
	lines  *input.Lines
	labels interner
}

func (l *labelLines) next() (string, error) {
	line, err := l.lines.Read()
	return l.labels.get(bytes.TrimSpace(line)), err
}

// labelArray reads a NumPy array of integers or strings.
type labelArray struct {
	in     *input.Stream
	head   *npyHeader
	row    int64
	item   []byte
	text   []byte
	labels interner
}

func (l *labelArray) next() (string, error) {
	if l.row == l.head.rows {
		return "", io.EOF
	}
	l.row++
	if _, err := io.ReadFull(l.in.Reader, l.item); err != nil {
		return "", input.Unreadable(l.in.Name, int(l.row), err)
	}
	switch l.head.kind {
	case 'S':
		l.text = append(l.text[:0], bytes.TrimRight(l.item, "\x00")...)
	case 'U':
		l.text = l.text[:0]
		for b := l.item; len(b) > 0; b = b[4:] {
			r := rune(binary.LittleEndian.Uint32(b))
			if !utf8.ValidRune(r) {
				return "", input.Refuse(l.in.Name, int(l.row), 0, "label with the number %#x, which is no Unicode character; write the file anew", uint32(r))
			}
			l.text = utf8.AppendRune(l.text, r)
		}
		l.text = bytes.TrimRight(l.text, "\x00")
	case 'i':
		l.text = strconv.AppendInt(l.text[:0], int64(l.head.integer(l.item)), 10)
	default:
		l.text = strconv.AppendUint(l.text[:0], l.head.integer(l.item), 10)
	}
	if !utf8.Valid(l.text) {
		return "", input.Refuse(l.in.Name, int(l.row), 0, "label %s is not UTF-8; save y.astype('U')", input.Clip(l.text))
	}
	return l.labels.get(bytes.TrimSpace(l.text)), nil
}
