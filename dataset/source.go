package dataset

import (
	"io"
	"strings"

	"github.com/treeloss/treeloss/dataset/internal/parquet"
	"github.com/treeloss/treeloss/internal/input"
)

// source reads one opened file.
type source interface {
	// next reads the next example into ex, using its slices again. At the end
	// it returns io.EOF, else nil or an *Error.
	next(ex *Example) error
	// what tells kind and columns; it does not change.
	what() parts
	// extent tells where the examples stand in the file.
	extent() extent
}

// extent is where the records of a file begin: at bytes, or at rows.
type extent interface {
	Place() int64             // of the record read last, be it an error
	Size() int64              // of the file, in the same unit; -1 where it cannot be divided
	SkipTo(place int64) error // passes over the records that begin before a place; io.EOF, if at all, comes of reading
}

// cursor is one walk through one file.
type cursor struct {
	source
	in   *input.Stream
	opts Options
	ex   Example
	end  int64 // place of the first record behind the part that is read; -1: all are
}

// next implements source. It passes over rows that Options.Skip takes. Whether a row is behind
// the part is asked before whether it is wrong: each wrong row is told by one part.
func (c *cursor) next(ex *Example) error {
	for {
		ex.Labels = ex.Labels[:0]
		err := c.source.next(ex)
		if c.ended() != nil {
			return io.EOF
		}
		if err == nil {
			if c.opts.Several() {
				sortLabels(ex)
			}
			err = checkLabel(ex)
		}
		if err == nil || err == io.EOF || !c.opts.skip(err) {
			return err
		}
	}
}

// ended returns io.EOF if what was read last is behind the part.
func (c *cursor) ended() error {
	if c.end >= 0 && c.extent().Place() >= c.end {
		return io.EOF
	}
	return nil
}

// checkLabel refuses a label with a byte of 0, which shows nowhere and ends a text in
// many other programs.
func checkLabel(ex *Example) error {
	label := ex.Label
	for _, s := range ex.Mix {
		if strings.IndexByte(s.Label, 0) >= 0 {
			label = s.Label
		}
	}
	for _, l := range ex.Labels {
		if strings.IndexByte(l, 0) >= 0 {
			label = l
		}
	}
	if strings.IndexByte(label, 0) < 0 {
		return nil
	}
	return input.Refuse(ex.Place.File, ex.Place.Line, 0, "the label %s holds a byte of 0; write it without", input.Clip(label))
}

// what implements source, with the encoding of the file.
func (c *cursor) what() parts {
	p := c.source.what()
	p.encoding = c.in.Encoding
	return p
}

// newCursor finds the format and reads the first example. If it fails, the
// input is closed.
func newCursor(in *input.Stream, opts Options) (*cursor, error) {
	src, err := newSource(in, opts)
	if err != nil {
		in.Close()
		return nil, err
	}
	c := &cursor{source: src, in: in, opts: opts, end: -1}
	c.ex.Place.File = in.Name
	if err := c.next(&c.ex); err != nil {
		c.in.Close()
		if err == io.EOF {
			return nil, input.Refuse(in.Name, 0, 0, "no examples in it%s", opts.noneLeft())
		}
		return nil, err
	}
	return c, nil
}

// newSource opens the reader of the format: that of the options, else that of the
// name, else what the first bytes or the first line look like. A name goes before the
// content, so that a CSV whose first header is a brace stays one.
func newSource(in *input.Stream, opts Options) (source, error) {
	format := opts.Format
	if format == Auto {
		format = FormatOfName(in.Name)
	}
	if format == Auto {
		switch {
		case in.StartsWith(npyMagic):
			format = NPY
		case in.StartsWith(parquet.Magic):
			format = Parquet
		default:
			format = sniff(in.FirstLine(), opts)
		}
	}
	if opts.Labels != "" && format != NPY {
		return nil, input.Refuse(in.Name, 0, 0, "%s files hold their labels themselves; a labels file (%s) goes with .npy only", format, opts.Labels)
	}
	if (format == NPY || format == Parquet) && in.Encoding != "" {
		return nil, input.Refuse(in.Name, 0, 0, "%s files hold no text of another encoding; leave out Options.Encoding", format)
	}
	if format == FastText && opts.Format == Auto && !opts.Unlabelled && parseXMC(in.FirstLine()) != nil {
		format = LIBSVM // files of the Extreme Classification Repository are called .txt
	}
	if format == NPY && opts.Several() {
		return nil, input.Refuse(in.Name, 0, 0, "%s files have one label a row; leave out Options.Multilabel", format)
	}
	switch format {
	case CSV, TSV:
		return newTable(in, format, opts)
	case JSONL:
		return newJSONL(in, opts)
	case FastText:
		return newFastText(in, opts)
	case Lines:
		return newPlain(in, opts)
	case LIBSVM:
		return newLIBSVM(in, opts)
	case NPY:
		return newNPY(in, opts)
	case Parquet:
		return newParquet(in, opts)
	}
	if input.Blank(in.FirstLine()) {
		return nil, input.Refuse(in.Name, 1, 0, "begins with blank lines, so that its format cannot be told; remove them, or name it with Options.Format")
	}
	return nil, input.Refuse(in.Name, 1, 0, "cannot tell the format from the name or from %s; want %s", input.Clip(in.FirstLine()), formats)
}
