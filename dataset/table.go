package dataset

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// maxColumns bounds the header, so that a line of commas cannot take up many
// times its own size.
const maxColumns = 1 << 20

// table reads CSV and TSV.
type table struct {
	rec    *records
	opts   Options
	header []string
	choice
	labels interner
	ahead  bool // rec holds the first row already
	parts
}

func newTable(in *input.Stream, format Format, opts Options) (source, error) {
	t := &table{opts: opts}
	t.rec = &records{lines: in.Lines(opts.maxRecord()), comma: ',', quotes: !opts.NoQuotes, limit: maxColumns}
	if format == TSV {
		t.rec.comma = '\t'
	}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	header := t.rec.line
	t.rec.limit = len(t.header)
	if err := t.readRow(); err == io.EOF {
		return nil, input.Refuse(in.Name, header, 0, "only the header line, no rows; add examples below it")
	} else if err != nil {
		return nil, err
	}
	t.ahead = true
	cols := make([]column, len(t.header))
	for i, name := range t.header {
		cols[i].name = name
		value := bytes.TrimSpace(t.rec.field(i))
		if _, err := parseNumber(value); err == nil || err == errNotFinite || len(value) == 0 {
			cols[i].holds = number
		}
	}
	var err error
	if t.choice, err = newChooser(cols, opts, "column").choose(); err != nil {
		return nil, input.Refuse(in.Name, header, 0, "%s", err)
	}
	t.parts = describe(cols, t.choice, "column")
	return t, nil
}

func (t *table) readHeader() error {
	name := t.rec.lines.Name()
	if err := t.rec.read(); err == io.EOF {
		return input.Refuse(name, 0, 0, "only blank lines, want a header line and examples")
	} else if err != nil {
		return err
	}
	if t.rec.extra > 0 {
		return input.Refuse(name, t.rec.line, 0, "header has %d columns, want at most %d", t.rec.count(), maxColumns)
	}
	if bytes.IndexByte(t.rec.data, '\r') >= 0 {
		return input.Refuse(name, t.rec.line, 0, "lines end in a carriage return alone; save the file with LF or CRLF line ends")
	}
	t.header = make([]string, t.rec.count())
	for i := range t.header {
		t.header[i] = strings.TrimSpace(string(t.rec.field(i)))
	}
	return nil
}

// readRow reads the next record and refuses one of another width.
func (t *table) readRow() error {
	if err := t.rec.read(); err != nil {
		return err
	}
	if n, want := t.rec.count(), len(t.header); n != want {
		hint := "quote a field that holds the separator"
		if n < want {
			hint = "write every field, if only as an empty one"
		}
		return input.Refuse(t.rec.lines.Name(), t.rec.line, 0, "%s, want %d as in the header; %s", input.Plural(n, "column"), want, hint)
	}
	return nil
}

// next implements source.
func (t *table) next(ex *Example) error {
	if t.ahead {
		t.ahead = false
	} else if err := t.readRow(); err != nil {
		return err
	}
	ex.Place.Line = t.rec.line
	ex.Weight, ex.Label, ex.Text, ex.Values = 1, "", "", ex.Values[:0]
	if t.label >= 0 {
		ex.Label = t.labels.get(bytes.TrimSpace(t.rec.field(t.label)))
		if ex.Label == "" && !t.opts.Unlabelled {
			return t.refuse(t.label, "the label is empty; fill it in or remove the row")
		}
	}
	if t.weight >= 0 {
		v, err := parseNumber(t.rec.field(t.weight))
		if err != nil {
			return t.refuse(t.weight, "%s", numberProblem(t.rec.field(t.weight), err, "Options.Weight"))
		}
		if v < 0 {
			return t.refuse(t.weight, "weight %g, want 0 or more", v)
		}
		ex.Weight = v
	}
	if t.text >= 0 {
		ex.Text = string(t.rec.field(t.text))
	}
	for _, i := range t.numbers {
		v, err := parseNumber(t.rec.field(i))
		if err != nil {
			return t.refuse(i, "%s", numberProblem(t.rec.field(i), err, "Options.Columns"))
		}
		ex.Values = append(ex.Values, v)
	}
	return nil
}

// refuse returns an error at column i of the record.
func (t *table) refuse(i int, format string, args ...any) error {
	line, column := t.rec.at(i)
	return input.Refuse(t.rec.lines.Name(), line, column, "column %q: %s", t.header[i], fmt.Sprintf(format, args...))
}
