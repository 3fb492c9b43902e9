package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Magic begins and ends a Parquet file.
const Magic = "PAR1"

// File is a Parquet file whose footer is read.
type File struct {
	Columns []Column // the fields of a row, in file order

	r       io.ReaderAt
	size    int64
	maxPage int
	groups  []format.RowGroup
	leaves  []parquet.ColumnChunk
}

// Open reads the footer of a file of that many bytes. maxPage bounds what reading
// may take: the bytes of a page, packed and unpacked, and of a row's list. A file that is no
// Parquet, is encrypted or damaged, or has row groups that do not fit its schema is an error
// that says what to do.
func Open(r io.ReaderAt, size int64, maxPage int) (f *File, err error) {
	defer rescue(&err)
	meta, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	source, err := schemaFile(meta.Schema)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read (%w); write the file anew", err)
	}
	f = &File{r: r, size: size, maxPage: maxPage, groups: meta.RowGroups, leaves: source.RowGroups()[0].ColumnChunks()}
	leaves := slices.DeleteFunc(slices.Clone(meta.Schema), func(e format.SchemaElement) bool { return !e.Type.Valid })
	for _, c := range source.Root().Columns() {
		f.Columns = append(f.Columns, newColumn(c, leaves))
	}
	for i, g := range f.groups { // the footer's own count of rows is wrong in files of some writers
		if g.NumRows < 0 || len(g.Columns) != len(f.leaves) {
			return nil, fmt.Errorf("row group %d has %d rows of %d columns, want 0 or more of %d; write the file anew", i+1, g.NumRows, len(g.Columns), len(f.leaves))
		}
	}
	return f, nil
}

// NumRows returns the number of rows of all row groups.
func (f *File) NumRows() (n int64) {
	for _, g := range f.groups {
		n += g.NumRows
	}
	return n
}

// rescue makes an error of a panic of parquet-go, which has them for what it
// does not expect in a file.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("cannot be read: %.200v; fetch or write the file anew", p)
	}
}

// Rows walks through some columns of a file.
type Rows struct {
	file    *File
	cursors []*cursor
	group   int   // the next one
	before  int64 // rows of the groups before the present one
	left    int64 // rows left of the present one
}

// cursor is the way through one column. Columns have pages of different lengths, so that
// each has a place of its own.
type cursor struct {
	column *Column
	most   int // numbers of a list
	pages  *pages
	source parquet.ColumnChunkValueReader
	batch  [128]parquet.Value
	next   []parquet.Value // of batch, still to come
	value  Value
	list   []float64
}

// Read returns the rows of the given columns, none of kind Other, before the
// first. Close it when done.
func (f *File) Read(columns []int) *Rows {
	r := &Rows{file: f}
	for _, i := range columns {
		r.cursors = append(r.cursors, &cursor{column: &f.Columns[i], most: f.maxPage / 8})
	}
	return r
}

// Close gives back what the decoders hold.
func (r *Rows) Close() (err error) {
	defer rescue(&err)
	for _, c := range r.cursors {
		if c.source != nil {
			c.source.Close()
			c.source = nil
		}
	}
	return nil
}

// Next goes on to the next row; at the end it returns io.EOF. Any other error names the
// column and the row group, and is the end as well.
func (r *Rows) Next() error {
	for r.left == 0 {
		for _, c := range r.cursors {
			if c.source != nil && c.more() != io.EOF {
				return r.fail(c, errors.New("more values than rows; fetch or write the file anew"))
			}
		}
		if r.group == len(r.file.groups) {
			return io.EOF
		}
		r.Close()
		if r.group > 0 {
			r.before += r.file.groups[r.group-1].NumRows
		}
		meta := r.file.groups[r.group]
		r.group++
		r.left = meta.NumRows
		for _, c := range r.cursors {
			p, err := r.file.pages(c.column, meta.Columns[c.column.leaf.Index()])
			if err != nil {
				return r.fail(c, err)
			}
			c.pages, c.source = p, parquet.NewColumnChunkValueReader(p)
		}
	}
	r.left--
	for _, c := range r.cursors {
		if err := c.row(); err != nil {
			return r.fail(c, err)
		}
	}
	return nil
}

// GroupStart returns how many rows the row groups before that of the row have.
func (r *Rows) GroupStart() int64 { return r.before }

// SkipGroups passes over the rest of the row group, and those after it of which fewer
// than some rows come before. It returns the number of rows before what Next then reads.
func (r *Rows) SkipGroups(row int64) int64 {
	r.Close()
	at := r.before
	if r.group > 0 {
		at += r.file.groups[r.group-1].NumRows
	}
	for r.group < len(r.file.groups) && at < row {
		r.before = at
		at += r.file.groups[r.group].NumRows
		r.group++
	}
	r.left = 0
	for _, c := range r.cursors {
		c.next = nil
	}
	return at
}

// Value returns what stands in column i of those asked for, which is no list.
func (r *Rows) Value(i int) Value { return r.cursors[i].value }

// List returns the list in column i of those asked for, valid until the next
// row. null tells that the list is null or has a null in it.
func (r *Rows) List(i int) (list []float64, null bool) {
	return r.cursors[i].list, r.cursors[i].value.Null
}

// fail says in which column and row group something is wrong.
func (r *Rows) fail(c *cursor, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the data ends early; fetch or write the file anew")
	}
	return fmt.Errorf("column %.60q, row group %d: %w", c.column.Name, r.group, err)
}

// more sees to it that next has a value; at the end of the chunk it returns io.EOF.
func (c *cursor) more() (err error) {
	defer rescue(&err)
	if len(c.next) > 0 {
		return nil
	}
	n, err := c.source.ReadValues(c.batch[:])
	switch c.next = c.batch[:n]; {
	case n > 0:
		return nil
	case c.pages.failed != nil:
		return c.pages.failed
	case err == nil || err == io.EOF:
		return io.EOF
	}
	return fmt.Errorf("%w; fetch or write the file anew", err)
}

// row reads the entry, or the entries, of the next row: a repetition level of 0 begins a row
// (Melnik et al. 2010, Dremel), so that a list ends where the next value has one.
func (c *cursor) row() error {
	c.list = c.list[:0]
	null := false
	for first := true; ; first = false {
		err := c.more()
		switch {
		case err == io.EOF && first:
			return errors.New("fewer values than rows; fetch or write the file anew")
		case err != nil && err != io.EOF:
			return err
		case !first && (err == io.EOF || c.next[0].RepetitionLevel() == 0):
			c.value.Null = null
			return nil
		case first && c.next[0].RepetitionLevel() != 0:
			return errors.New("a list without a beginning; fetch or write the file anew")
		}
		v := c.next[0]
		c.next = c.next[1:]
		if c.value, err = c.column.finish(v); err != nil || c.column.Kind != List {
			return err
		}
		switch level := v.DefinitionLevel(); {
		case !c.value.Null && len(c.list) >= c.most:
			return fmt.Errorf("a list of more than %d numbers", len(c.list))
		case !c.value.Null:
			c.list = append(c.list, c.value.Number)
		case level >= c.column.inList, level < c.column.inList-1:
			null = true // a null in the list, or a null for it; else it is empty
		}
	}
}
