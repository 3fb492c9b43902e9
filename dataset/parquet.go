package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/dataset/internal/parquet"
	"github.com/treeloss/treeloss/internal/input"
)

// parquetRow is a row of a Parquet file. Columns of text, numbers and truth
// values are found and used as those of a CSV file are, but by their type and not
// by what the first row shows; a column of lists of numbers is used as a JSON
// array is. Integers beyond 2^53 lose their last digits as features, not as labels.
type parquetRow struct {
	in     *input.Stream
	file   *parquet.File
	rows   *parquet.Rows
	opts   Options
	cols   []column
	slot   []int // place in cols to place among the columns that are read, -1
	row    int   // the number of the row, from 1
	labels interner
}

// parquetHolds is what columns of each kind hold.
var parquetHolds = map[parquet.Kind]holding{
	parquet.Other: other, parquet.Text: words, parquet.Bool: truth, parquet.List: list,
	parquet.Int: number, parquet.Uint: number, parquet.Float: number,
}

// newParquet reads the footer, which names the columns and their types. All else is
// read as rows are asked for.
func newParquet(in *input.Stream, opts Options) (source, error) {
	where, size, err := in.Random("Parquet")
	if err != nil {
		return nil, err
	}
	p := &parquetRow{in: in, opts: opts}
	if p.file, err = parquet.Open(where, size, opts.maxRecord()); err != nil {
		return nil, p.unreadable(err)
	}
	for _, c := range p.file.Columns {
		if !utf8.ValidString(c.Name) {
			return nil, input.Refuse(in.Name, 0, 0, "the name %s of a column is not UTF-8; rename it", input.Clip(c.Name))
		}
		p.cols, p.slot = append(p.cols, column{c.Name, parquetHolds[c.Kind]}), append(p.slot, -1)
	}
	return newRows(p, in, p.cols, 0, opts, "column", "list", true)
}

// use refuses columns that were asked for and hold something else, and reads the
// first row of the others.
func (p *parquetRow) use(c choice) error {
	var wanted []int
	use := func(i int, want, option string, holds ...holding) error {
		if i < 0 {
			return nil
		}
		if !slices.Contains(holds, p.cols[i].holds) {
			return input.Refuse(p.in.Name, 0, 0, "column %q holds %s, want %s; name another with %s", p.cols[i].name, p.file.Columns[i].What, want, option)
		}
		if p.slot[i] < 0 {
			p.slot[i] = len(wanted)
			wanted = append(wanted, i)
		}
		return nil
	}
	useAll := func(which []int, want, option string, holds ...holding) (err error) {
		for _, i := range which {
			err = cmp.Or(err, use(i, want, option, holds...))
		}
		return err
	}
	err := cmp.Or(
		use(c.label, "labels: text, integers or truth values", "Options.Label", words, number, truth),
		use(c.weight, "a number", "Options.Weight", number),
		useAll(c.texts, "text", "Options.Text", words),
		useAll(c.categories, "text, integers or truth values", "Options.Categories", words, number, truth),
		use(c.id, "text, integers or truth values", "Options.ID", words, number, truth))
	for _, i := range c.numbers {
		err = cmp.Or(err, use(i, "a number", "Options.Columns", number, list))
	}
	if err != nil {
		return err
	}
	p.rows = p.file.Read(wanted)
	p.in.OnClose(p.rows.Close)
	if err = p.read(); err == io.EOF {
		return input.Refuse(p.in.Name, 0, 0, "no rows in it; add examples")
	}
	return err
}

// read implements cells.
func (p *parquetRow) read() error {
	err := p.rows.Next()
	if err != nil && err != io.EOF {
		return p.unreadable(err)
	}
	p.row++
	return err
}

// extent implements cells.
func (p *parquetRow) extent() extent { return p }

// Place returns the row, from 0, that begins the row group: these are not divided.
func (p *parquetRow) Place() int64 { return p.rows.GroupStart() }

// Size returns the number of rows.
func (p *parquetRow) Size() int64 { return p.file.NumRows() }

// SkipTo passes over the row groups that begin before a row.
func (p *parquetRow) SkipTo(row int64) error {
	p.row = int(p.rows.SkipGroups(row))
	return nil
}

// line implements cells: rows of Parquet stand on no lines, so they are counted.
func (p *parquetRow) line() int { return p.row }

// label implements cells. Labels are text: integers in decimal, exact beyond 2^53,
// truth values as true and false.
func (p *parquetRow) label(ex *Example, i int) error {
	v := p.rows.Value(p.slot[i])
	var text []byte
	switch kind := p.file.Columns[i].Kind; {
	case v.Null && p.opts.Unlabelled:
		return nil
	case v.Null:
		return p.refuse(i, "the label is null; fill it in or remove the row")
	case kind == parquet.Text:
		if err := p.checkText(i, v); err != nil {
			return err
		}
		text = bytes.TrimSpace(v.Bytes)
	case kind == parquet.Bool:
		text = strconv.AppendBool(nil, v.Int != 0)
	case kind == parquet.Int:
		text = strconv.AppendInt(nil, v.Int, 10)
	case kind == parquet.Uint:
		text = strconv.AppendUint(nil, uint64(v.Int), 10)
	default:
		// Integers in a column that once had gaps are floats: 1, not 1.0.
		if _, err := p.number(i, "Options.Label"); err != nil {
			return err
		}
		text = strconv.AppendFloat(nil, v.Number, 'g', -1, 64)
	}
	ex.Label = p.labels.get(text)
	return nil
}

// text implements cells.
func (p *parquetRow) text(i int) (string, error) {
	v := p.rows.Value(p.slot[i])
	return string(v.Bytes), p.checkText(i, v)
}

// checkText refuses a null and what is not UTF-8.
func (p *parquetRow) checkText(i int, v parquet.Value) error {
	if v.Null {
		return p.refuse(i, "is null, want text; fill it in or remove the row")
	}
	if at := input.InvalidAt(v.Bytes); at < len(v.Bytes) {
		return p.refuse(i, "invalid UTF-8: byte 0x%02x at byte offset %d; save the text as UTF-8", v.Bytes[at], at)
	}
	return nil
}

// missing implements cells.
func (p *parquetRow) missing(i int) bool { return p.rows.Value(p.slot[i]).Null }

// number implements cells. Decimals are divided by their power of ten, half precision
// is widened.
func (p *parquetRow) number(i int, option string) (float64, error) {
	v := p.rows.Value(p.slot[i])
	if v.Null {
		return 0, p.refuse(i, "is null, want a number; fill it in, or leave the column out with %s", option)
	}
	if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) {
		return 0, p.refuse(i, "%v is not a finite number; fill it in or remove the row", v.Number)
	}
	return v.Number, nil
}

// numbers implements cells. The length of a list is for the caller to see.
func (p *parquetRow) numbers(dst []float64, c choice, _ int) ([]float64, error) {
	if !c.list {
		return oneByOne(p, dst, c.numbers)
	}
	i := c.numbers[0]
	values, null := p.rows.List(p.slot[i])
	if null {
		return dst, p.refuse(i, "a null, or a list with a null in it, want numbers; fill it in or remove the row")
	}
	for n, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, p.refuse(i, "number %d of the list is %v, want a finite one; fill it in or remove the row", n+1, v)
		}
	}
	return append(dst, values...), nil
}

// refuse implements cells. Rows have numbers and no lines: the first is 1.
func (p *parquetRow) refuse(i int, format string, args ...any) error {
	return input.Refuse(p.in.Name, p.row, 0, "column %q: %s", p.cols[i].name, fmt.Sprintf(format, args...))
}

// unreadable makes an *Error of what package parquet says, on one line, as messages of
// parquet-go may have several.
func (p *parquetRow) unreadable(err error) error {
	message := err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the data ends early; fetch or write the file anew"
	}
	return &Error{File: p.in.Name, Message: strings.ReplaceAll(message, "\n", " "), Err: err}
}
