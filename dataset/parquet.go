package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/dataset/internal/parquet"
	"github.com/treeloss/treeloss/internal/input"
)

// parquetRows reads a Parquet file row by row. Columns of text, numbers and
// truth values are found and used as those of a CSV file are, but by their
// type and not by what the first row shows; a column of lists of numbers is
// used as a JSON array is. Integers beyond 2^53 lose their last digits as
// features, not as labels.
type parquetRows struct {
	name   string
	file   *parquet.File
	rows   *parquet.Rows
	opts   Options
	choice       // places in file.Columns
	slot   []int // place in file.Columns to place among the columns that are read
	row    int   // the last one read, from 1
	ahead  bool  // rows stands on the first row already
	labels interner
	text   []byte
	parts
}

func newParquet(in *input.Stream, opts Options) (source, error) {
	where, size, err := in.Random("Parquet")
	if err != nil {
		return nil, err
	}
	p := &parquetRows{name: in.Name, opts: opts}
	if p.file, err = parquet.Open(where, size, parquet.Options{MaxPage: opts.maxRecord()}); err != nil {
		return nil, p.unreadable(err)
	}
	cols := make([]column, len(p.file.Columns))
	for i, c := range p.file.Columns {
		cols[i] = column{c.Name, parquetHolds(c.Kind)}
		if !utf8.ValidString(c.Name) {
			return nil, input.Refuse(in.Name, 0, 0, "the name %s of a column is not UTF-8; rename it", input.Clip(c.Name))
		}
	}
	chooser := newChooser(cols, opts, "column")
	chooser.typed = true
	if p.choice, err = chooser.choose(); err != nil {
		return nil, input.Refuse(in.Name, 0, 0, "%s", err)
	}
	if err := p.checkTypes(); err != nil {
		return nil, err
	}
	p.parts = describe(cols, p.choice, "column")
	p.read(in)
	if err := p.rows.Next(); err == io.EOF {
		return nil, input.Refuse(in.Name, 0, 0, "no rows in it; add examples")
	} else if err != nil {
		return nil, p.unreadable(err)
	}
	p.ahead = true
	if p.list {
		return p, p.measure()
	}
	return p, nil
}

func parquetHolds(k parquet.Kind) holding {
	switch k {
	case parquet.Text:
		return words
	case parquet.Bool:
		return truth
	case parquet.Int, parquet.Uint, parquet.Float:
		return number
	case parquet.List:
		return list
	}
	return other
}

// checkTypes refuses columns that were asked for and hold something else.
func (p *parquetRows) checkTypes() error {
	refuseType := func(i int, want, option string) error {
		c := p.file.Columns[i]
		return input.Refuse(p.name, 0, 0, "column %q holds %s, want %s; name another with %s", c.Name, c.What, want, option)
	}
	if i := p.label; i >= 0 && (p.file.Columns[i].Kind == parquet.Other || p.file.Columns[i].Kind == parquet.List) {
		return refuseType(i, "labels: text, integers or truth values", "Options.Label")
	}
	if i := p.choice.text; i >= 0 && p.file.Columns[i].Kind != parquet.Text {
		return refuseType(i, "text", "Options.Text")
	}
	if i := p.weight; i >= 0 && parquetHolds(p.file.Columns[i].Kind) != number {
		return refuseType(i, "a number", "Options.Weight")
	}
	for _, i := range p.numbers {
		if h := parquetHolds(p.file.Columns[i].Kind); h != number && h != list {
			return refuseType(i, "a number", "Options.Columns")
		}
	}
	return nil
}

// read begins to read the columns that play a part.
func (p *parquetRows) read(in *input.Stream) {
	var wanted []int
	p.slot = make([]int, len(p.file.Columns))
	for i := range p.slot {
		p.slot[i] = -1
	}
	for _, i := range append([]int{p.label, p.choice.text, p.weight}, p.numbers...) {
		if i >= 0 && p.slot[i] < 0 {
			p.slot[i] = len(wanted)
			wanted = append(wanted, i)
		}
	}
	p.rows = p.file.Read(wanted)
	in.OnClose(p.rows.Close)
}

// measure finds the length that the lists of features have in the first row.
func (p *parquetRows) measure() error {
	i := p.numbers[0]
	name := p.file.Columns[i].Name
	first, null := p.rows.List(p.slot[i])
	p.row = 1
	if null || len(first) == 0 {
		return p.refuse(i, "%s, want numbers; fill it in or remove the row", emptyOrNull(null))
	}
	p.row = 0
	p.columns, p.width = nil, len(first)
	p.about = fmt.Sprintf("%s, %s in column %q", labelPart(p.parts, "column"), input.Plural(p.width, "number"), name)
	return nil
}

func emptyOrNull(null bool) string {
	if null {
		return "a null, or a list with a null in it"
	}
	return "an empty list"
}

// next implements source.
func (p *parquetRows) next(ex *Example) error {
	if p.ahead {
		p.ahead = false
	} else if err := p.rows.Next(); err == io.EOF {
		return err
	} else if err != nil {
		return p.unreadable(err)
	}
	p.row++
	ex.Place.Line = p.row
	ex.Weight, ex.Label, ex.Text, ex.Values = 1, "", "", ex.Values[:0]
	if p.label >= 0 {
		if err := p.takeLabel(ex); err != nil {
			return err
		}
	}
	if i := p.choice.text; i >= 0 {
		v := p.rows.Value(p.slot[i])
		if err := p.checkText(i, v); err != nil {
			return err
		}
		ex.Text = string(v.Bytes)
	}
	if i := p.weight; i >= 0 {
		w, err := p.number(i, p.rows.Value(p.slot[i]))
		if err == nil && w < 0 {
			err = p.refuse(i, "weight %g, want 0 or more", w)
		}
		if err != nil {
			return err
		}
		ex.Weight = w
	}
	if p.list {
		return p.takeList(ex)
	}
	for _, i := range p.numbers {
		v, err := p.number(i, p.rows.Value(p.slot[i]))
		if err != nil {
			return err
		}
		ex.Values = append(ex.Values, v)
	}
	return nil
}

func (p *parquetRows) takeLabel(ex *Example) error {
	i := p.label
	v := p.rows.Value(p.slot[i])
	b := p.text[:0]
	switch kind := p.file.Columns[i].Kind; {
	case v.Null && p.opts.Unlabelled:
		return nil
	case v.Null:
		return p.refuse(i, "the label is null; fill it in or remove the row")
	case kind == parquet.Text:
		if err := p.checkText(i, v); err != nil {
			return err
		}
		b = append(b, v.Bytes...)
	case kind == parquet.Bool:
		b = strconv.AppendBool(b, v.Int != 0)
	case kind == parquet.Int:
		b = strconv.AppendInt(b, v.Int, 10)
	case kind == parquet.Uint:
		b = strconv.AppendUint(b, uint64(v.Int), 10)
	default:
		// Integers in a column that once had gaps are floats: 1, not 1.0.
		if _, err := p.number(i, v); err != nil {
			return err
		}
		b = strconv.AppendFloat(b, v.Number, 'g', -1, 64)
	}
	p.text = b
	ex.Label = p.labels.get(bytes.TrimSpace(b))
	if ex.Label == "" && !p.opts.Unlabelled {
		return p.refuse(i, "the label is empty; fill it in or remove the row")
	}
	return nil
}

// checkText refuses a null and what is not UTF-8.
func (p *parquetRows) checkText(i int, v parquet.Value) error {
	if v.Null {
		return p.refuse(i, "is null, want text; fill it in or remove the row")
	}
	if !utf8.Valid(v.Bytes) {
		at := input.InvalidAt(v.Bytes)
		return p.refuse(i, "invalid UTF-8: byte 0x%02x at byte offset %d; save the text as UTF-8", v.Bytes[at], at)
	}
	return nil
}

func (p *parquetRows) number(i int, v parquet.Value) (float64, error) {
	if v.Null {
		return 0, p.refuse(i, "is null, want a number; fill it in, or leave the column out with Options.Columns")
	}
	if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) {
		return 0, p.refuse(i, "%v is not a finite number; fill it in or remove the row", v.Number)
	}
	return v.Number, nil
}

func (p *parquetRows) takeList(ex *Example) error {
	i := p.numbers[0]
	values, null := p.rows.List(p.slot[i])
	switch {
	case null || len(values) == 0:
		return p.refuse(i, "%s, want %s; fill it in or remove the row", emptyOrNull(null), input.Plural(p.width, "number"))
	case len(values) != p.width:
		return p.refuse(i, "%s in the list, want %d as in the first", input.Plural(len(values), "number"), p.width)
	}
	for n, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return p.refuse(i, "number %d of the list is %v, want a finite one; fill it in or remove the row", n+1, v)
		}
	}
	ex.Values = append(ex.Values, values...)
	return nil
}

// refuse returns an error at column i of the row.
func (p *parquetRows) refuse(i int, format string, args ...any) error {
	return input.Refuse(p.name, p.row, 0, "column %q: %s", p.file.Columns[i].Name, fmt.Sprintf(format, args...))
}

// unreadable makes an *Error of what package parquet says.
func (p *parquetRows) unreadable(err error) error {
	message := err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the data ends early; fetch or write the file anew"
	}
	return &Error{File: p.name, Message: strings.ReplaceAll(message, "\n", " "), Err: err}
}
