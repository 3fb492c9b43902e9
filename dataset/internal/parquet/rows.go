package parquet

import (
	"errors"
	"fmt"
	"io"
)

// Rows walks through some columns of a file.
type Rows struct {
	file     *File
	cursors  []*cursor
	group    int   // the next one
	left     int64 // rows left of the present one
	held     int64 // bytes of buffers
	unpacker unpacker
}

// cursor is the way through one column.
type cursor struct {
	rows     *Rows
	column   *Column
	chunk    chunk
	off, end int64 // what is left of the chunk
	values   int64 // entries left in pages to come

	head, raw, page, store []byte // buffers: header, packed page, page, dictionary
	dict                   *dictionary
	rep, def               hybrid
	decoder                decoder
	left                   int  // entries left in the page
	ahead                  bool // the levels of the next entry are read
	nextRep, nextDef       int

	value Value
	list  []float64
}

// Read returns the rows of the given columns, none of kind Other, before the
// first. Close it when done.
func (f *File) Read(columns []int) *Rows {
	r := &Rows{file: f, unpacker: unpacker{max: f.opts.maxPage()}}
	for _, i := range columns {
		r.cursors = append(r.cursors, &cursor{rows: r, column: &f.Columns[i]})
	}
	return r
}

// Close gives back what the decoders hold.
func (r *Rows) Close() error {
	r.unpacker.close()
	return nil
}

// Next goes on to the next row; at the end it returns io.EOF.
func (r *Rows) Next() error {
	for r.left == 0 {
		for _, c := range r.cursors {
			if c.values > 0 || c.left > 0 || c.ahead {
				return c.fail(errors.New("more values than rows; fetch or write the file anew"))
			}
		}
		if r.group == len(r.file.groups) {
			return io.EOF
		}
		g := r.file.groups[r.group]
		r.group++
		r.left = g.rows
		for _, c := range r.cursors {
			if err := c.open(g.chunks[c.column.leaf]); err != nil {
				return c.fail(err)
			}
		}
	}
	r.left--
	for _, c := range r.cursors {
		if err := c.next(); err != nil {
			return c.fail(err)
		}
	}
	return nil
}

// Value returns what stands in column i of those asked for, which is no list.
func (r *Rows) Value(i int) Value { return r.cursors[i].value }

// List returns the list in column i of those asked for, valid until the next
// row. null tells that the list is null or has a null in it.
func (r *Rows) List(i int) (list []float64, null bool) {
	return r.cursors[i].list, r.cursors[i].value.Null
}

func (c *cursor) fail(err error) error {
	return fmt.Errorf("column %.60q, row group %d: %w", c.column.Name, c.rows.group, unreadable(err))
}

// open begins with a chunk.
func (c *cursor) open(k chunk) error {
	start := k.data
	if k.dictionary > 0 && k.dictionary < k.data {
		start = k.dictionary
	}
	switch {
	case k.elsewhere:
		return errors.New("its values are in another file; write it as one file")
	case k.encrypted:
		return errors.New("is encrypted; write it without encryption")
	case k.physical != c.column.node.physical:
		return errors.New("its values are of another type than the schema says; write the file anew")
	case start < int64(len(Magic)) || k.size < 0 || k.size > c.rows.file.size-start || k.values < 0:
		return errors.New("its values lie outside the file; fetch or write the file anew")
	}
	c.chunk, c.off, c.end, c.values = k, start, start+k.size, k.values
	c.dict, c.left, c.ahead = nil, 0, false
	return nil
}

// levels reads the levels of the next entry, unless that is done. It returns
// io.EOF at the end of the chunk.
func (c *cursor) levels() error {
	if c.ahead {
		return nil
	}
	if c.left == 0 {
		if c.values == 0 {
			return io.EOF
		}
		if err := c.nextPage(); err != nil {
			return err
		}
		if c.values -= int64(c.left); c.values < 0 {
			return errors.New("its pages have more values than its column says; fetch or write the file anew")
		}
	}
	rep, err := c.rep.next()
	if err != nil {
		return err
	}
	def, err := c.def.next()
	if err != nil {
		return err
	}
	if int(def) > c.column.maxDef {
		return errValues
	}
	c.left--
	c.ahead, c.nextRep, c.nextDef = true, int(rep), int(def)
	return nil
}

// next reads the entry, or the entries, of the next row.
func (c *cursor) next() error {
	if err := c.levels(); err == io.EOF {
		return errors.New("fewer values than rows; fetch or write the file anew")
	} else if err != nil {
		return err
	}
	if c.column.Kind != List {
		return c.take()
	}
	if c.nextRep != 0 {
		return errors.New("a list without a beginning; fetch or write the file anew")
	}
	c.list = c.list[:0]
	null := false
	for n := 0; ; n++ {
		def := c.nextDef
		if err := c.take(); err != nil {
			return err
		}
		switch {
		case !c.value.Null:
			if len(c.list) >= c.rows.file.opts.maxPage()/8 {
				return fmt.Errorf("a list of more than %d numbers", len(c.list))
			}
			c.list = append(c.list, c.value.Number)
		case def >= c.column.inList, def < c.column.inList-1:
			null = true // a null in the list, or a null for it; else it is empty
		}
		if err := c.levels(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if c.nextRep == 0 {
			break
		}
	}
	c.value.Null = null
	return nil
}

// take reads the value of the entry whose levels are read.
func (c *cursor) take() error {
	c.ahead = false
	c.value = Value{Null: c.nextDef < c.column.maxDef}
	if c.value.Null {
		return nil
	}
	if err := c.decoder.next(&c.value); err != nil {
		return err
	}
	return c.column.finish(&c.value)
}

// grow returns a slice of n bytes, b's memory if that is enough.
func (r *Rows) grow(b []byte, n int) ([]byte, error) {
	if n <= cap(b) {
		return b[:n], nil
	}
	if err := r.hold(n - cap(b)); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// hold counts memory that is kept from page to page and refuses too much.
func (r *Rows) hold(n int) error {
	if r.held += int64(n); r.held > 16*int64(r.file.opts.maxPage())+8*r.file.size {
		return errors.New("the pages of one row take more memory than the file can account for; write the file anew, with smaller pages")
	}
	return nil
}

// unreadable names a broken read as what it is.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data ends early; fetch or write the file anew")
	}
	return err
}
