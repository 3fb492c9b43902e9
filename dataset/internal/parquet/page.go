package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxHeader bounds a page's header, which may hold a longest and a shortest
// value as statistics.
const maxHeader = 1 << 20

// plainDictionary is the name that older files have for both a dictionary and
// the places in it.
const plainDictionary format.Encoding = 2

// readHeader reads the header at off and returns its length. It reads ahead in
// growing pieces, since its length is not known before.
func (c *cursor) readHeader(off, end int64) (h format.PageHeader, length int64, err error) {
	for n := int64(256); ; n *= 8 {
		n = min(n, end-off, maxHeader)
		if int64(cap(c.head)) < n {
			c.head = make([]byte, n)
		}
		b := c.head[:n]
		if err := readAt(c.rows.file.r, b, off); err != nil {
			return h, 0, err
		}
		size, err := walk(b)
		if err == errThriftShort && n < end-off && n < maxHeader {
			continue
		}
		if err == nil {
			err = unmarshal(b[:size], &h)
		}
		if err != nil {
			return h, 0, fmt.Errorf("the header of a page: %w; fetch or write the file anew", err)
		}
		return h, int64(size), nil
	}
}

// ReadAt gives parquet-go the pages of a chunk one after the other, checked and
// unpacked, wherever it says that it reads; it reads in order.
func (c *cursor) ReadAt(b []byte, _ int64) (n int, err error) {
	for len(c.pending) == 0 {
		if c.failed != nil {
			return 0, c.failed
		}
		if c.failed = c.advance(); c.failed != nil {
			return 0, c.failed
		}
	}
	n = copy(b, c.pending[0])
	if c.pending[0] = c.pending[0][n:]; len(c.pending[0]) == 0 {
		c.pending = c.pending[1:]
	}
	return n, nil
}

// send lets parquet-go read a page of which the parts are given.
func (c *cursor) send(h format.PageHeader, parts ...[]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	h.CompressedPageSize, h.UncompressedPageSize = int32(size), int32(size)
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, h)
	c.pending = append(c.pending[:0:0], head)
	for _, p := range parts {
		if len(p) > 0 {
			c.pending = append(c.pending, p)
		}
	}
	return err
}

// advance reads on to the next page that parquet-go has to see.
func (c *cursor) advance() error {
	for len(c.pending) == 0 {
		if c.values == 0 || c.off >= c.end {
			return io.EOF
		}
		h, length, err := c.readHeader(c.off, c.end)
		if err != nil {
			return err
		}
		c.off += length
		packed, unpacked := h.CompressedPageSize, h.UncompressedPageSize
		values := max(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues)
		least := min(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues)
		opts := c.rows.file.opts
		limit := int32(min(opts.maxPage(), 1<<31-1))
		switch {
		case packed < 0 || unpacked < 0 || least < 0 || int64(packed) > c.end-c.off:
			return errors.New("a page that does not fit its column; fetch or write the file anew")
		case max(packed, unpacked) > limit:
			return fmt.Errorf("a page of %d bytes, want at most %d; write the file with smaller pages", max(packed, unpacked), limit)
		case int(values) > opts.maxValues():
			return fmt.Errorf("a page of %d values, want at most %d; write the file with smaller pages", values, opts.maxValues())
		}
		start := c.off
		c.off += int64(packed)
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid && !c.dictionary:
			err = c.readDictionary(h, start)
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			err = c.readData(h, start)
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			err = c.readData2(h, start)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load reads the bytes of a page.
func (c *cursor) load(h format.PageHeader, start int64) ([]byte, error) {
	n := int(h.CompressedPageSize)
	if n > cap(c.raw) {
		if err := c.rows.hold(n - cap(c.raw)); err != nil {
			return nil, err
		}
		c.raw = make([]byte, n)
	}
	c.raw = c.raw[:n]
	if err := readAt(c.rows.file.r, c.raw, start); err != nil {
		return nil, err
	}
	if h.CRC != 0 && !c.rows.file.opts.noChecksum && crc32.ChecksumIEEE(c.raw) != uint32(h.CRC) {
		return nil, errors.New("a page is damaged, its checksum is wrong; fetch or write the file anew")
	}
	return c.raw, nil
}

// unpack unpacks b into c.page, keeping count of the memory.
func (c *cursor) unpack(b []byte, size int) ([]byte, error) {
	if c.chunk.Codec == format.Uncompressed {
		return b, nil
	}
	before := cap(c.page)
	page, err := c.rows.unpacker.unpack(c.chunk.Codec, c.page, b, size)
	if err != nil {
		return nil, err
	}
	c.page = page
	return page, c.rows.hold(cap(page) - before)
}

func (c *cursor) readDictionary(h format.PageHeader, start int64) error {
	head := h.DictionaryPageHeader.V
	if head.Encoding != format.Plain && head.Encoding != plainDictionary {
		return fmt.Errorf("a dictionary in encoding %s, want plain", head.Encoding)
	}
	raw, err := c.load(h, start)
	if err != nil {
		return err
	}
	b, err := c.unpack(raw, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	if err := c.column.checkValues(format.Plain, b, int(head.NumValues), c.rows.file.opts.maxPage()); err != nil {
		return err
	}
	if err := c.rows.hold(len(b) + 4*int(head.NumValues)); err != nil {
		return err
	}
	c.dictionary, head.Encoding = true, format.Plain
	return c.send(format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(head)}, b)
}

// readData takes a data page of version 1 apart: levels and values are packed
// together.
func (c *cursor) readData(h format.PageHeader, start int64) error {
	head := h.DataPageHeader.V
	raw, err := c.load(h, start)
	if err != nil {
		return err
	}
	page, err := c.unpack(raw, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	var rep, def []byte
	b := page
	if c.column.inList > 0 {
		if rep, b, err = cutLevels(b, head.RepetitionLevelEncoding); err != nil {
			return err
		}
	}
	if c.column.maxDef > 0 {
		if def, b, err = cutLevels(b, head.DefinitionLevelEncoding); err != nil {
			return err
		}
	}
	levels := page[:len(page)-len(b)]
	_, err = c.check(&head.Encoding, rep, def, &b, int(head.NumValues))
	if err != nil || head.NumValues == 0 {
		return err
	}
	head.Statistics = format.Statistics{}
	return c.send(format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(head)}, levels, b)
}

// readData2 takes a data page of version 2 apart: only the values are packed.
func (c *cursor) readData2(h format.PageHeader, start int64) error {
	head := h.DataPageHeaderV2.V
	b, err := c.load(h, start)
	if err != nil {
		return err
	}
	size := int(h.UncompressedPageSize)
	reps, defs := int(head.RepetitionLevelsByteLength), int(head.DefinitionLevelsByteLength)
	if reps < 0 || defs < 0 || reps+defs > min(len(b), size) {
		return errValues
	}
	rep, def, b := b[:reps], b[reps:reps+defs], b[reps+defs:]
	if !head.IsCompressed.Valid || head.IsCompressed.V {
		if b, err = c.unpack(b, size-reps-defs); err != nil {
			return err
		}
	}
	if c.column.inList == 0 {
		rep = nil // some writers have them where there is no list
	}
	if c.column.maxDef == 0 {
		def = nil
	}
	nulls, err := c.check(&head.Encoding, rep, def, &b, int(head.NumValues))
	if err != nil || head.NumValues == 0 {
		return err
	}
	head.NumNulls, head.IsCompressed, head.Statistics = int32(nulls), thrift.New(false), format.Statistics{}
	head.RepetitionLevelsByteLength, head.DefinitionLevelsByteLength = int32(len(rep)), int32(len(def))
	return c.send(format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(head)}, rep, def, b)
}

// check checks the counts of a page of n entries and returns how many of them
// are null. Where none is there, values need no dictionary: it makes them plain.
func (c *cursor) check(encoding *format.Encoding, rep, def []byte, values *[]byte, n int) (nulls int, err error) {
	there := n
	if c.column.inList > 0 {
		if _, err := checkLevels(rep, 1, n); err != nil {
			return 0, err
		}
	}
	if c.column.maxDef > 0 {
		if there, err = checkLevels(def, c.column.maxDef, n); err != nil {
			return 0, err
		}
	}
	if c.values -= int64(n); c.values < 0 {
		return 0, errors.New("its pages have more values than its column says; fetch or write the file anew")
	}
	if there == 0 {
		*encoding, *values = format.Plain, nil
	}
	if (*encoding == format.RLEDictionary || *encoding == plainDictionary) && !c.dictionary {
		return 0, errors.New("a page refers to a dictionary that is not there; write the file anew")
	}
	if err := c.column.checkValues(*encoding, *values, there, c.rows.file.opts.maxPage()); err != nil {
		return 0, err
	}
	if extra := 14*n + len(*values) - c.decoded; extra > 0 { // what parquet-go makes of it
		c.decoded += extra
		err = c.rows.hold(extra)
	}
	return n - there, err
}

// cutLevels cuts off the levels that a page of version 1 begins with.
func cutLevels(b []byte, encoding format.Encoding) (levels, rest []byte, err error) {
	if encoding != format.RLE {
		return nil, nil, fmt.Errorf("levels in encoding %s, which is no longer in use; write the file anew", encoding)
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
