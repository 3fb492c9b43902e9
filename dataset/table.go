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

// table is a row of CSV or TSV.
type table struct {
	rec    *records
	header []string
	labels interner
}

// newTable reads the header and the first row. What a column holds is guessed from
// that row: a field that is empty may be a number that is missing.
func newTable(in *input.Stream, format Format, opts Options) (source, error) {
	t := &table{rec: &records{lines: in.Lines(opts.maxRecord()), comma: ',', quotes: !opts.NoQuotes, limit: maxColumns}}
	if format == TSV {
		t.rec.comma = '\t'
	}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	header := t.rec.line
	t.rec.limit = len(t.header)
	if err := t.read(); err == io.EOF {
		return nil, input.Refuse(in.Name, header, 0, "only the header line, no rows; add examples below it")
	} else if err != nil {
		return nil, err
	}
	cols := make([]column, len(t.header))
	for i, name := range t.header {
		cols[i].name = name
		value := bytes.TrimSpace(t.rec.field(i))
		if _, err := parseNumber(value); err == nil || err == errNotFinite || len(value) == 0 {
			cols[i].holds = number
		}
	}
	return newRows(t, in, cols, header, opts, "column", "list", false)
}

// readHeader reads the names of the columns, without outer white space. A carriage
// return in it tells a file with the line ends of old Macs, of which all is one line.
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

func (t *table) use(choice) error { return nil }

// read reads the next row and refuses one of another width.
func (t *table) read() error {
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

func (t *table) line() int { return t.rec.line }

func (t *table) label(ex *Example, i int) error {
	ex.Label = t.labels.get(bytes.TrimSpace(t.rec.field(i)))
	return nil
}

func (t *table) text(i int) (string, error) { return string(t.rec.field(i)), nil }

func (t *table) number(i int, option string) (float64, error) {
	v, err := parseNumber(t.rec.field(i))
	if err != nil {
		err = t.refuse(i, "%s", numberProblem(t.rec.field(i), err, option))
	}
	return v, err
}

// numbers is oneByOne without a call through an interface for each number, which
// would make reading tables of numbers slower.
func (t *table) numbers(dst []float64, c choice, _ int) ([]float64, error) {
	for _, i := range c.numbers {
		v, err := parseNumber(t.rec.field(i))
		if err != nil {
			_, err = t.number(i, "Options.Columns") // says what is wrong
			return dst, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// refuse implements cells: an error where the field begins.
func (t *table) refuse(i int, format string, args ...any) error {
	line, column := t.rec.at(i)
	return input.Refuse(t.rec.lines.Name(), line, column, "column %q: %s", t.header[i], fmt.Sprintf(format, args...))
}
