package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
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
	rows   *Rows
	column *Column

	// What parquet-go reads: see ReadAt.
	chunk      chunkMeta
	off, end   int64 // what is left of the chunk
	values     int64 // entries left in pages to come
	dictionary bool  // has been sent
	pending    [][]byte
	failed     error
	head       []byte // buffers: header, packed page, page
	raw, page  []byte
	decoded    int // bytes that decoding the largest page takes

	// What parquet-go gives back.
	pages   *parquet.FilePages
	present parquet.Page
	reader  parquet.ValueReader
	batch   [128]parquet.Value
	next    []parquet.Value // of batch, still to come

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
	for _, c := range r.cursors {
		c.close()
	}
	r.unpacker.close()
	return nil
}

// Next goes on to the next row; at the end it returns io.EOF.
func (r *Rows) Next() error {
	for r.left == 0 {
		for _, c := range r.cursors {
			if c.values > 0 || len(c.next) > 0 || c.reader != nil && c.fill() != io.EOF {
				return c.fail(errors.New("more values than rows; fetch or write the file anew"))
			}
		}
		if r.group == len(r.file.groups) {
			return io.EOF
		}
		g := r.file.groups[r.group]
		r.group++
		r.left = g.Rows
		for _, c := range r.cursors {
			if err := c.open(g.Chunks[c.column.leaf]); err != nil {
				return c.fail(err)
			}
		}
	}
	r.left--
	for _, c := range r.cursors {
		if err := c.row(); err != nil {
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
	m := k.Meta
	start := m.Data
	if m.Dictionary > 0 && m.Dictionary < m.Data {
		start = m.Dictionary
	}
	switch {
	case len(k.Elsewhere) > 0:
		return errors.New("its values are in another file; write it as one file")
	case k.Encrypted != nil || len(k.Hidden) > 0:
		return errEncrypted
	case m.Physical != c.column.node.Type.V:
		return errors.New("its values are of another type than the schema says; write the file anew")
	case start < int64(len(Magic)) || m.Size < 0 || m.Size > c.rows.file.size-start || m.Values < 0:
		return errors.New("its values lie outside the file; fetch or write the file anew")
	}
	c.close()
	c.chunk, c.off, c.end, c.values = m, start, start+m.Size, m.Values
	c.dictionary, c.pending, c.failed, c.next = false, nil, nil, nil
	c.pages = c.column.source.PagesFrom(c)
	return nil
}

// close gives parquet-go's buffers back to it.
func (c *cursor) close() {
	var ignored error // a panic in giving back a damaged page
	defer rescue(&ignored)
	if c.present != nil {
		parquet.Release(c.present)
		c.present = nil
	}
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

// fill sees to it that next has a value. It returns io.EOF at the end of the
// chunk.
func (c *cursor) fill() (err error) {
	defer rescue(&err)
	for len(c.next) == 0 {
		if c.reader == nil {
			page, err := c.pages.ReadPage()
			if c.failed != nil {
				return c.failed
			}
			if err != nil {
				return fmt.Errorf("%w; fetch or write the file anew", err)
			}
			if c.present != nil {
				parquet.Release(c.present)
			}
			c.present, c.reader = page, page.Values()
		}
		n, err := c.reader.ReadValues(c.batch[:])
		if c.next = c.batch[:n]; err == io.EOF {
			c.reader = nil
		} else if err != nil || n == 0 {
			return errValues
		}
	}
	return nil
}

// row reads the entry, or the entries, of the next row.
func (c *cursor) row() error {
	if err := c.fill(); err == io.EOF {
		return errors.New("fewer values than rows; fetch or write the file anew")
	} else if err != nil {
		return err
	}
	if c.column.Kind != List {
		return c.take()
	}
	if c.next[0].RepetitionLevel() != 0 {
		return errors.New("a list without a beginning; fetch or write the file anew")
	}
	c.list = c.list[:0]
	null := false
	for {
		def := c.next[0].DefinitionLevel()
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
		if err := c.fill(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if c.next[0].RepetitionLevel() == 0 {
			break
		}
	}
	c.value.Null = null
	return nil
}

// take takes the next value.
func (c *cursor) take() error {
	v := c.next[0]
	c.next = c.next[1:]
	return c.column.finish(v, &c.value)
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
