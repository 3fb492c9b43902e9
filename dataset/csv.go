package dataset

import (
	"bytes"
	"io"

	"github.com/treeloss/treeloss/internal/input"
)

// records splits the lines of a CSV or TSV file into fields (RFC 4180). A line
// without a double quote, which is most lines, is split where it lies; others
// are copied. A quote inside a field that does not begin with one stands for
// itself, as in 5" pipe, unless strict refuses it. CRLF inside quotes counts as LF, so that a file gives
// the same fields with either line end.
type records struct {
	lines  *input.Lines
	comma  byte
	quotes bool
	strict bool // refuse a quote inside a field that does not begin with one
	limit  int  // fields kept of a record; the rest is only counted

	data  []byte // the bytes in which the spans lie
	store []byte // own memory of data, for a record with quotes
	spans []span // one a field
	marks []mark // where the fields begin; empty for a record without quotes
	extra int    // fields beyond limit
	line  int    // on which the record starts
	ahead bool   // the record is read, with the error found, and not given yet
	found error
}

// span is a field: data[from:to].
type span struct{ from, to int }

// mark is a place in the file, both from 1; columns are bytes.
type mark struct{ line, column int }

// read reads the next record, leaving out blank lines; at the end io.EOF.
func (r *records) read() error {
	if r.ahead {
		r.ahead = false
		return r.found
	}
	line, err := r.lines.Filled(func(line []byte) bool { return len(line) == 0 })
	if err != nil {
		return err
	}
	r.line = r.lines.Number
	r.spans, r.marks, r.extra = r.spans[:0], r.marks[:0], 0
	if r.quotes && bytes.IndexByte(line, '"') >= 0 {
		return r.split(line)
	}
	r.data = line
	for from := 0; ; {
		n := bytes.IndexByte(line[from:], r.comma)
		if n < 0 {
			r.add(span{from, len(line)})
			return nil
		}
		r.add(span{from, from + n})
		from += n + 1
	}
}

// Place returns the offset at which the record begins, in bytes.
func (r *records) Place() int64 { return r.lines.Place() }

// Size returns the length of the file.
func (r *records) Size() int64 { return r.lines.Size() }

// SkipTo passes over the records that begin before an offset. They are taken apart, since
// a line may begin within quotes. What is wrong with them is not told.
func (r *records) SkipTo(to int64) error {
	r.ahead, r.found = false, nil
	for r.Place() < to && r.found != io.EOF {
		if r.found = r.read(); r.found != nil && input.MarkRow(r.found) == nil && r.found != io.EOF {
			return r.found
		}
	}
	r.ahead = true
	return nil
}

// split takes apart a record whose first line has a quote. Fields are gathered in store one
// behind the other, and the spans point into it, as quotes that are written twice make a
// field shorter than it is in the file.
func (r *records) split(line []byte) error {
	r.store = r.store[:0]
	for i := 0; ; i++ {
		at, from := mark{r.lines.Number, i + 1}, len(r.store)
		if i < len(line) && line[i] == '"' {
			var err error
			if line, i, err = r.unquote(line, i+1, at); err != nil {
				return err
			}
			if i < len(line) && line[i] != r.comma {
				return r.lines.Refuse(i+1, "text after the closing quote of a field; write a quote inside quotes twice")
			}
		} else {
			end := len(line)
			if n := bytes.IndexByte(line[i:], r.comma); n >= 0 {
				end = i + n
			}
			if n := bytes.IndexByte(line[i:end], '"'); n >= 0 && r.strict {
				return r.lines.Refuse(i+n+1, "a quote inside a field that does not begin with one; put the field in quotes and write this one twice, or separate the fields by tabs, where quotes are text")
			}
			r.store = append(r.store, line[i:end]...)
			i = end
		}
		if len(r.spans) < r.limit {
			r.marks = append(r.marks, at)
		}
		r.add(span{from, len(r.store)})
		if i >= len(line) {
			r.data = r.store
			return nil
		}
	}
}

// unquote appends the quoted field that goes on at line[i] to the store. It
// returns the line on which the field ends and the place after its quote.
func (r *records) unquote(line []byte, i int, open mark) ([]byte, int, error) {
	for {
		n := bytes.IndexByte(line[i:], '"')
		if n >= 0 {
			r.store = append(r.store, line[i:i+n]...)
			i += n + 1
			if i >= len(line) || line[i] != '"' {
				return line, i, nil
			}
			r.store = append(r.store, '"')
			i++
			continue
		}
		r.store = append(append(r.store, line[i:]...), '\n')
		if len(r.store) > r.lines.Max {
			return nil, 0, input.Last(input.Refuse(r.lines.Name(), open.line, open.column, "the field that this quote opens is longer than %d bytes; close it", r.lines.Max))
		}
		var err error
		if line, err = r.lines.Read(); err == io.EOF {
			return nil, 0, input.Last(input.Refuse(r.lines.Name(), open.line, open.column, "the quote that opens this field is never closed; close it, or double it if it is text"))
		} else if err != nil {
			return nil, 0, err
		}
		i = 0
	}
}

// add keeps a field, or counts it if the record has its fill: a row with a million
// separators more than the header has takes no memory for them.
func (r *records) add(s span) {
	if len(r.spans) < r.limit {
		r.spans = append(r.spans, s)
	} else {
		r.extra++
	}
}

// count returns the number of fields of the record.
func (r *records) count() int { return len(r.spans) + r.extra }

// field returns field i, valid until the next read.
func (r *records) field(i int) []byte { return r.data[r.spans[i].from:r.spans[i].to] }

// at returns where field i begins.
func (r *records) at(i int) (line, column int) {
	if len(r.marks) > 0 {
		return r.marks[i].line, r.marks[i].column
	}
	return r.line, r.spans[i].from + 1
}
