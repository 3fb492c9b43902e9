package dataset

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/input"
)

// npy reads the rows of a two-dimensional NumPy array, with labels from a
// second file. Integers beyond 2^53 lose their last digits, as in any float64.
type npy struct {
	name   string
	src    io.Reader
	head   *npyHeader
	decode func(b []byte) float64
	buffer []byte
	row    int64     // the last one read, from 1
	labels npyLabels // nil: none
	lines  bool      // the labels are lines of text
	opts   Options
	parts
}

// numberTypes lists the element types of x.
const numberTypes = "float16, float32, float64, int8 to int64, uint8 to uint64"

// newNPY refuses at once what has no rows and columns of numbers, by naming the line
// of NumPy that mends it.
func newNPY(in *input.Stream, opts Options) (source, error) {
	if err := opts.withoutColumns(in.Name, NPY, Numbers); err != nil {
		return nil, err
	}
	head, err := readNPYHeader(in)
	if err != nil {
		return nil, err
	}
	decode := head.decoder()
	switch {
	case decode == nil:
		return nil, input.Refuse(in.Name, 0, 0, "elements of type %c%d, want %s", head.kind, head.item, numberTypes)
	case len(head.shape) != 2:
		return nil, input.Refuse(in.Name, 0, 0, "an array of %s, want rows and columns; use x.reshape(len(x), -1)", input.Plural(len(head.shape), "dimension"))
	case head.width < 1:
		return nil, input.Refuse(in.Name, 0, 0, "an array of shape %v has no columns", head.shape)
	case head.width > int64(opts.maxRecord()/head.item):
		return nil, input.Refuse(in.Name, 0, 0, "a row of %d columns is longer than %d bytes", head.width, opts.maxRecord())
	}
	n := &npy{name: in.Name, src: in.Reader, head: head, decode: decode, opts: opts}
	n.buffer = make([]byte, min(int64(64<<10), head.width*int64(head.item)))
	n.kind, n.width = Numbers, int(head.width)
	n.about = fmt.Sprintf("%d rows of %s", head.rows, input.Plural(n.width, "column"))
	switch {
	case opts.Labels != "":
		labelFile, err := input.Open(opts.Labels, input.Options{Want: "a file of labels, .npy or text with one a line"})
		if err != nil {
			return nil, err
		}
		in.OnClose(labelFile.Close)
		n.lines = !labelFile.StartsWith(npyMagic)
		if n.labels, err = newNPYLabels(labelFile, opts); err != nil {
			return nil, err
		}
		n.about += ", labels from " + opts.Labels
	case !opts.Unlabelled:
		return nil, input.Refuse(in.Name, 0, 0, "an array without labels; name their file with Options.Labels (.npy, or text with one a line)")
	}
	return n, nil
}

// next implements source.
func (n *npy) next(ex *Example) error {
	if n.row == n.head.rows {
		return n.end()
	}
	n.row++
	ex.Place.Line, ex.Weight, ex.Label = int(n.row), 1, ""
	ex.Values = ex.Values[:0]
	// A row is taken in pieces, so that a header that promises much makes
	// nobody allocate more than has arrived.
	item := n.head.item
	var bad error // the row is read to its end, and its label, so that it can be left out
	for left := n.width * item; left > 0; {
		b := n.buffer[:min(left, len(n.buffer))]
		if _, err := io.ReadFull(n.src, b); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return input.Last(input.Refuse(n.name, int(n.row), 0, "the array ends in row %d of %d; write the file anew", n.row, n.head.rows))
			}
			return input.Unreadable(n.name, int(n.row), err)
		}
		left -= len(b)
		for ; len(b) > 0; b = b[item:] {
			v := n.decode(b)
			if bad == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				bad = input.Refuse(n.name, int(n.row), len(ex.Values)+1, "row %d, column %d is %v, want a finite number; fill it in or remove the row", n.row, len(ex.Values)+1, v)
			}
			ex.Values = append(ex.Values, v)
		}
	}
	if n.labels == nil {
		return bad
	}
	label, err := n.labels()
	switch {
	case err == io.EOF:
		return input.Refuse(n.opts.Labels, 0, 0, "%s, but %s has %d rows; bring one a row", input.Plural(int(n.row-1), "label"), n.name, n.head.rows)
	case err == nil && label == "" && !n.opts.Unlabelled:
		return input.Refuse(n.opts.Labels, int(n.row), 0, "the label of row %d is empty; fill it in", n.row)
	}
	ex.Label = label
	return cmp.Or(err, bad)
}

// extent implements source.
func (n *npy) extent() extent { return n }

// Place returns the row, from 0.
func (n *npy) Place() int64 { return n.row - 1 }

// Size returns the number of rows.
func (n *npy) Size() int64 { return n.head.rows }

// SkipTo passes over rows and their labels.
func (n *npy) SkipTo(row int64) error {
	for ; n.row < row; n.row++ {
		if _, err := io.CopyN(io.Discard, n.src, int64(n.width*n.head.item)); err != nil {
			return input.Unreadable(n.name, int(n.row+1), err)
		}
		if n.labels == nil {
			continue
		}
		if _, err := n.labels(); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// end checks that both files end with the last row: files of different lengths do not belong
// together, and all labels may be those of other rows.
func (n *npy) end() error {
	if _, err := io.ReadFull(n.src, n.buffer[:1]); err == nil {
		return input.Refuse(n.name, 0, 0, "more bytes after the last of %d rows; write the file anew", n.head.rows)
	} else if err != io.EOF {
		return input.Unreadable(n.name, int(n.row), err)
	}
	if n.labels != nil {
		label, err := n.labels()
		for n.lines && label == "" && err == nil {
			label, err = n.labels() // blank lines at the end of a text are no labels
		}
		if err == nil {
			return input.Refuse(n.opts.Labels, int(n.row)+1, 0, "a label %s after that of the last row: %s has %d rows; bring one a row", input.Clip(label), n.name, n.head.rows)
		} else if err != io.EOF {
			return err
		}
	}
	return io.EOF
}

// integer returns the element b, of 1, 2, 4 or 8 bytes, widened to 64 bits: a signed one by
// a shift up and an arithmetic one down, which copies its sign.
func (h *npyHeader) integer(b []byte) uint64 {
	var v uint64
	switch h.item {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(binary.LittleEndian.Uint16(b))
	case 4:
		v = uint64(binary.LittleEndian.Uint32(b))
	default:
		v = binary.LittleEndian.Uint64(b)
	}
	if h.kind == 'i' {
		free := 64 - 8*h.item
		v = uint64(int64(v<<free) >> free)
	}
	return v
}

// isInteger reports whether integer reads the elements.
func (h *npyHeader) isInteger() bool {
	return (h.kind == 'i' || h.kind == 'u') && (h.item == 1 || h.item == 2 || h.item == 4 || h.item == 8)
}

// decoder returns the function that reads an element as a number, or nil.
func (h *npyHeader) decoder() func(b []byte) float64 {
	le := binary.LittleEndian
	switch {
	case h.kind == 'f' && h.item == 2:
		return func(b []byte) float64 { return float64(half.Float32(le.Uint16(b))) }
	case h.kind == 'f' && h.item == 4:
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case h.kind == 'f' && h.item == 8:
		return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	case h.kind == 'u' && h.isInteger():
		return func(b []byte) float64 { return float64(h.integer(b)) }
	case h.isInteger():
		return func(b []byte) float64 { return float64(int64(h.integer(b))) }
	}
	return nil
}
