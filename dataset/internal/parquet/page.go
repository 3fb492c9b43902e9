package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Types of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageData2      = 3
)

// pageHeader is what stands before a page.
type pageHeader struct {
	kind           int32
	unpacked, size int32
	checksum       uint32
	summed         bool

	values           int32
	encoding         int32
	defForm, repForm int32 // encodings of the levels, version 1
	defSize, repSize int32 // bytes of the levels, version 2
	packed           bool
}

// maxHeader bounds a page's header, which may hold a longest and a shortest
// value as statistics.
const maxHeader = 1 << 20

// readHeader reads the header at off and returns its length. It reads ahead in
// growing pieces, since its length is not known before.
func (c *cursor) readHeader(off, end int64) (h pageHeader, length int64, err error) {
	for n := int64(256); ; n *= 8 {
		n = min(n, end-off, maxHeader)
		if int64(cap(c.head)) < n {
			c.head = make([]byte, n)
		}
		b := c.head[:n]
		if err := readAt(c.rows.file.r, b, off); err != nil {
			return h, 0, err
		}
		t := &thrift{b: b}
		h = t.pageHeader()
		switch {
		case t.err == nil:
			return h, int64(t.i), nil
		case t.err != errThriftShort || n == end-off || n == maxHeader:
			return h, 0, fmt.Errorf("the header of a page: %w; fetch or write the file anew", t.err)
		}
	}
}

func (t *thrift) pageHeader() pageHeader {
	h := pageHeader{kind: -1, packed: true}
	t.fields(func(id int, kind byte) bool {
		switch {
		case kind == thriftStruct && (id == 5 || id == 7 || id == 8):
			t.innerHeader(&h, id)
		case kind != thriftInt32:
			return false
		case id == 1:
			h.kind = t.int32()
		case id == 2:
			h.unpacked = t.int32()
		case id == 3:
			h.size = t.int32()
		case id == 4:
			h.checksum, h.summed = uint32(t.int32()), true
		default:
			return false
		}
		return true
	})
	return h
}

// innerHeader reads what the page types have of their own: 5 is a data page, 7
// a dictionary, 8 a data page of version 2.
func (t *thrift) innerHeader(h *pageHeader, which int) {
	t.fields(func(id int, kind byte) bool {
		if which == 8 && id == 7 {
			h.packed = kind != thriftFalse
			return false
		}
		if kind != thriftInt32 {
			return false
		}
		switch {
		case id == 1:
			h.values = t.int32()
		case id == 2 && which != 8, id == 4 && which == 8:
			h.encoding = t.int32()
		case id == 3 && which == 5:
			h.defForm = t.int32()
		case id == 4 && which == 5:
			h.repForm = t.int32()
		case id == 5 && which == 8:
			h.defSize = t.int32()
		case id == 6 && which == 8:
			h.repSize = t.int32()
		default:
			return false
		}
		return true
	})
}

// nextPage reads on to the next page with values.
func (c *cursor) nextPage() error {
	for {
		if c.off >= c.end {
			return errValues
		}
		h, length, err := c.readHeader(c.off, c.end)
		if err != nil {
			return err
		}
		c.off += length
		limit := int32(min(c.rows.file.opts.maxPage(), 1<<31-1))
		switch {
		case h.size < 0 || h.unpacked < 0 || h.values < 0 || int64(h.size) > c.end-c.off:
			return errors.New("a page that does not fit its column; fetch or write the file anew")
		case max(h.size, h.unpacked) > limit:
			return fmt.Errorf("a page of %d bytes, want at most %d; write the file with smaller pages", max(h.size, h.unpacked), limit)
		case h.values > limit:
			return fmt.Errorf("a page of %d values, want at most %d; write the file with smaller pages", h.values, limit)
		}
		start := c.off
		c.off += int64(h.size)
		switch h.kind {
		case pageDictionary:
			err = c.readDictionary(h, start)
		case pageData, pageData2:
			if err = c.readData(h, start); err == nil && c.left > 0 {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// load reads the bytes of a page.
func (c *cursor) load(h pageHeader, start int64) ([]byte, error) {
	var err error
	if c.raw, err = c.rows.grow(c.raw, int(h.size)); err != nil {
		return nil, err
	}
	if err := readAt(c.rows.file.r, c.raw, start); err != nil {
		return nil, err
	}
	if h.summed && !c.rows.file.opts.noChecksum && crc32.ChecksumIEEE(c.raw) != h.checksum {
		return nil, errors.New("a page is damaged, its checksum is wrong; fetch or write the file anew")
	}
	return c.raw, nil
}

// unpack unpacks b into dst, keeping count of the memory.
func (c *cursor) unpack(dst, b []byte, size int) ([]byte, error) {
	if c.chunk.codec == codecNone {
		return b, nil
	}
	before := cap(dst)
	dst, err := c.rows.unpacker.unpack(c.chunk.codec, dst, b, size)
	if err == nil {
		err = c.rows.hold(cap(dst) - before)
	}
	return dst, err
}

func (c *cursor) readDictionary(h pageHeader, start int64) error {
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return fmt.Errorf("a dictionary in encoding %d, want plain", h.encoding)
	}
	raw, err := c.load(h, start)
	if err != nil {
		return err
	}
	b, err := c.unpack(c.store, raw, int(h.unpacked))
	if err != nil {
		return err
	}
	// The dictionary outlives the page: it takes over whichever buffer it is in.
	if c.chunk.codec == codecNone {
		c.raw, c.store = c.store[:0], b
	} else {
		c.store = b
	}
	c.dict, err = c.column.newDictionary(b, int(h.values))
	if err == nil {
		err = c.rows.hold(4 * len(c.dict.starts))
	}
	return err
}

// readData takes a data page apart into levels and values.
func (c *cursor) readData(h pageHeader, start int64) error {
	b, err := c.load(h, start)
	if err != nil {
		return err
	}
	repWidth, defWidth := 0, widthOf(c.column.maxDef)
	if c.column.inList > 0 {
		repWidth = 1
	}
	var rep, def []byte
	if h.kind == pageData2 {
		if h.repSize < 0 || h.defSize < 0 || int64(h.repSize)+int64(h.defSize) > int64(min(len(b), int(h.unpacked))) {
			return errValues
		}
		rep, def, b = b[:h.repSize], b[h.repSize:h.repSize+h.defSize], b[h.repSize+h.defSize:]
		if h.packed {
			if b, err = c.unpack(c.page, b, int(h.unpacked-h.repSize-h.defSize)); err == nil && c.chunk.codec != codecNone {
				c.page = b
			}
		}
	} else {
		if b, err = c.unpack(c.page, b, int(h.unpacked)); err == nil && c.chunk.codec != codecNone {
			c.page = b
		}
		if err == nil && repWidth > 0 {
			rep, b, err = levels(b, h.repForm)
		}
		if err == nil && defWidth > 0 {
			def, b, err = levels(b, h.defForm)
		}
	}
	if err != nil {
		return err
	}
	c.left = int(h.values)
	c.rep, c.def = newHybrid(rep, repWidth), newHybrid(def, defWidth)
	c.decoder, err = c.column.newDecoder(h.encoding, b, c.left, c.dict)
	return err
}

// levels cuts off the levels that a page of version 1 begins with.
func levels(b []byte, encoding int32) (levels, rest []byte, err error) {
	if encoding != encodingRLE {
		return nil, nil, fmt.Errorf("levels in encoding %d, which is no longer in use; write the file anew", encoding)
	}
	if len(b) < 4 {
		return nil, nil, errValues
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, errValues
	}
	return b[4 : 4+n], b[4+n:], nil
}
