package dataset

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// maxColumns bounds the header, so that a line of commas cannot take up many
// times its own size.
const maxColumns = 1 << 20

// table is a row of CSV or TSV.
type table struct {
	rec     *records
	header  []string
	labels  interner
	checked bool   // look for broken UTF-8 in whole records: a line inside quotes left out would break them
	decimal byte   // with semicolons and tabs: the mark of the numbers so far, a point or a comma; 0: none had one
	pointed []byte // a number whose comma was made a point
}

// newTable reads the header and the first row. What a column holds is guessed from
// that row: a field that is empty may be a number that is missing.
func newTable(in *input.Stream, format Format, opts Options) (source, error) {
	t := &table{rec: &records{lines: in.Lines(opts.maxRecord()), comma: ',', quotes: !opts.NoQuotes, limit: maxColumns}}
	first := in.FirstLine()
	named, found := namedSeparator(first)
	switch {
	case found:
		t.rec.comma = named
		if err := t.rec.read(); err != nil { // it is no header
			return nil, err
		}
	case format == TSV:
		t.rec.comma = '\t'
	default:
		t.rec.comma = separator(first, t.rec.quotes)
	}
	t.rec.strict = t.rec.comma != '\t'
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	header := t.rec.line
	t.rec.limit = len(t.header)
	t.checked = opts.Skip != nil
	t.rec.lines.AnyBytes = t.checked
	err := t.read()
	for n := 1; opts.skip(err); n++ {
		if err = t.read(); err == io.EOF {
			return nil, input.Refuse(in.Name, header, 0, "no rows below the header that can be used, of %d", n)
		}
	}
	if err == io.EOF {
		return nil, input.Refuse(in.Name, header, 0, "only the header line, no rows; add examples below it")
	} else if err != nil {
		return nil, err
	}
	cols := make([]column, len(t.header))
	for i, name := range t.header {
		cols[i].name = name
		value := bytes.TrimSpace(t.rec.field(i))
		if _, _, err := t.parse(value); err == nil || err == errNotFinite || len(value) == 0 {
			cols[i].holds = number
		}
	}
	r, err := newRows(t, in, cols, header, opts, "column", "list", false)
	if err != nil {
		return nil, err
	}
	if format == CSV {
		r.separator = separatorWords(t.rec.comma)
	}
	r.parts.decimal = &t.decimal
	return r, nil
}

// namedSeparator returns the separator that a first line such as sep=; names, which
// spreadsheets read and some write.
func namedSeparator(line []byte) (comma byte, found bool) {
	line = bytes.Trim(line, "\r\"")
	if len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) {
		return 0, false
	}
	return line[4], line[4] < utf8.RuneSelf
}

// separator returns what stands between the names of a header: whichever of comma,
// semicolon and tab it has most often, those inside quotes aside; the comma goes before
// the others, the semicolon before the tab. Spreadsheets write semicolons where the
// comma is the decimal mark.
func separator(header []byte, quotes bool) byte {
	var count [256]int
	inside := false
	for i, c := range header {
		if c == '"' && quotes && (inside || i == 0 || strings.IndexByte(",;\t\"", header[i-1]) >= 0) {
			inside = !inside
		} else if !inside {
			count[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(";\t") {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

// separatorWords returns a separator in words, "" for the comma, which needs none.
func separatorWords(comma byte) string {
	switch comma {
	case ',':
		return ""
	case ';':
		return "semicolons"
	case '\t':
		return "tabs"
	}
	return strconv.Quote(string(rune(comma)))
}

// parse reads a number, and returns its decimal mark if the separator is no comma: a
// comma or a point, 0 for none. Between commas a number has none.
func (t *table) parse(b []byte) (v float64, mark byte, err error) {
	if t.rec.comma == ',' {
		v, err = parseNumber(b)
		return v, 0, err
	}
	if at := bytes.IndexAny(b, ".,"); at >= 0 {
		if mark = b[at]; mark == ',' {
			t.pointed = append(t.pointed[:0], b...)
			t.pointed[at] = '.'
			b = t.pointed
		}
	}
	v, err = parseNumber(b)
	return v, mark, err
}

// value reads a number of a chosen column i. All in a file have one decimal mark: 1.234
// beside 1,5 is more likely a thousand than a little more than 1.
func (t *table) value(i int) (float64, error) {
	v, mark, err := t.parse(t.rec.field(i))
	switch {
	case err != nil || mark == 0 || mark == t.decimal:
	case t.decimal == 0:
		t.decimal = mark
	case mark == '.':
		err = errPoint
	default:
		err = errComma
	}
	return v, err
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

// use implements cells: all fields of a row are split anyway.
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
	if t.checked {
		if at := input.InvalidAt(t.rec.data); at < len(t.rec.data) {
			return input.Refuse(t.rec.lines.Name(), t.rec.line, 0, "invalid UTF-8: byte 0x%02x", t.rec.data[at])
		}
	}
	return nil
}

// extent implements cells.
func (t *table) extent() extent { return t.rec }

// line implements cells.
func (t *table) line() int { return t.rec.line }

// label implements cells. A table has no soft labels.
func (t *table) label(ex *Example, i int) error {
	ex.Label = t.labels.get(bytes.TrimSpace(t.rec.field(i)))
	return nil
}

// text implements cells, with white space as it stands.
func (t *table) text(i int) (string, error) { return string(t.rec.field(i)), nil }

// missing implements cells: an empty field, or what programs write for one.
func (t *table) missing(i int) bool {
	switch b := bytes.TrimSpace(t.rec.field(i)); string(b) {
	case "", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None":
		return true
	}
	return false
}

// number implements cells.
func (t *table) number(i int, option string) (float64, error) {
	v, err := t.value(i)
	if err != nil {
		err = t.refuse(i, "%s", numberProblem(t.rec.field(i), err, option))
	}
	return v, err
}

// numbers is oneByOne without a call through an interface for each number, which
// would make reading tables of numbers slower.
func (t *table) numbers(dst []float64, c choice, _ int) ([]float64, error) {
	if t.rec.comma != ',' { // perhaps with decimal commas
		return oneByOne(t, dst, c.numbers)
	}
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
