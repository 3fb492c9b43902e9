package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var (
	errFit    = errors.New("a page that does not fit its column; fetch or write the file anew")
	errUnpack = errors.New("a page does not unpack to its length; fetch or write the file anew")
)

// pages reads the pages of a chunk for parquet-go, checked and unpacked: of
// what LZ4 unpacks, version 0.32 can return zeros.
type pages struct {
	*parquet.FileColumnChunk // decodes them
	file                     *File
	leaf                     *parquet.Column
	codec                    format.CompressionCodec
	at, end                  int64 // what is left of the chunk
	left                     int64 // values in pages to come
	ready                    []byte
	failed                   error
}

// schemaFile returns parquet-go's view of a file that has nothing but the schema and
// one row group: what it reads as the pages of its columns comes from pages. The library has
// no way to be given a schema and pages without a file, hence one is written for it.
func schemaFile(schema []format.SchemaElement) (*parquet.File, error) {
	group := format.RowGroup{NumRows: 1}
	for _, e := range schema {
		if e.Type.Valid {
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: e.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{e.Name}, NumValues: 1,
				DataPageOffset: int64(len(Magic)), TotalCompressedSize: 1 << 62,
			}})
		}
	}
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, format.FileMetaData{Version: 1, Schema: schema, NumRows: 1, RowGroups: []format.RowGroup{group}})
	if err != nil {
		return nil, err
	}
	b := append([]byte(Magic), footer...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), Magic...)
	return parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// pages returns the pages of a chunk of a column.
func (f *File) pages(c *Column, k format.ColumnChunk) (*pages, error) {
	m := k.MetaData
	p := &pages{FileColumnChunk: f.leaves[c.leaf.Index()].(*parquet.FileColumnChunk), file: f, leaf: c.leaf, codec: m.Codec, at: m.DataPageOffset, left: m.NumValues}
	if m.DictionaryPageOffset > 0 {
		p.at = min(p.at, m.DictionaryPageOffset)
	}
	p.end = p.at + m.TotalCompressedSize
	switch {
	case k.FilePath != "":
		return nil, errors.New("its values are in another file; write it as one file")
	case k.CryptoMetadata.Value != nil || len(k.EncryptedColumnMetadata) > 0:
		return nil, errEncrypted
	case m.Type != format.Type(c.leaf.Type().Kind()):
		return nil, errors.New("its values are of another type than the schema says; write the file anew")
	case p.at < int64(len(Magic)) || m.TotalCompressedSize < 0 || p.end > f.size || p.end < p.at || m.NumValues < 0:
		return nil, errors.New("its values lie outside the file; fetch or write the file anew")
	}
	return p, nil
}

// Pages has parquet-go read from p.
func (p *pages) Pages() parquet.Pages { return p.PagesFrom(p) }

// ReadAt gives the pages one after the other, wherever parquet-go says that it
// reads; it reads in order.
func (p *pages) ReadAt(b []byte, _ int64) (int, error) {
	for len(p.ready) == 0 {
		if p.failed == nil {
			p.failed = p.advance()
		}
		if p.failed != nil {
			return 0, p.failed
		}
	}
	n := copy(b, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// advance makes the next page ready: it holds what the page's header says against what is
// left of the chunk, the largest page allowed and the count of values, checks the checksum,
// unpacks the page, and puts a header before it that calls it unpacked and of that length.
func (p *pages) advance() error {
	if p.left == 0 || p.at >= p.end {
		return io.EOF
	}
	h, length, err := p.file.header(p.at, p.end)
	if err != nil {
		return fmt.Errorf("the header of a page: %w; fetch or write the file anew", err)
	}
	p.at += length
	packed, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	v1, v2 := &h.DataPageHeader.V, &h.DataPageHeaderV2.V
	levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
	values := int64(max(v1.NumValues, v2.NumValues))
	most := max(values, int64(h.DictionaryPageHeader.V.NumValues))
	limit := int64(p.file.maxPage)
	switch {
	case packed < 0 || unpacked < 0 || packed > p.end-p.at || levels < 0 || levels > min(packed, unpacked):
		return errFit
	case max(packed, unpacked) > limit:
		return fmt.Errorf("a page of %d bytes, want at most %d; write the file with smaller pages", max(packed, unpacked), limit)
	case most > max(limit/8, 64): // 8 bytes a value in memory, whatever they are packed to
		return fmt.Errorf("a page of %d values, want at most %d; write the file with smaller pages", most, max(limit/8, 64))
	case values > p.left:
		return errors.New("its pages have more values than its column says; fetch or write the file anew")
	}
	// Plain values that are never null take their width each.
	if width := widths[format.Type(p.leaf.Type().Kind())]; max(v1.Encoding, v2.Encoding) == format.Plain && p.leaf.MaxDefinitionLevel() == 0 && unpacked-levels < values*width {
		return fmt.Errorf("a page of %d bytes for %d values of %d; fetch or write the file anew", unpacked, values, width)
	}
	page := make([]byte, packed)
	if err := readAt(p.file.r, page, p.at); err != nil {
		return err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(page) != uint32(h.CRC) {
		return errors.New("a page is damaged, its checksum is wrong; fetch or write the file anew")
	}
	p.at, p.left = p.at+packed, p.left-values
	// In a page of version 2 the levels lie unpacked in front, and it may say that its values
	// are not packed although the chunk has a codec.
	if plain := h.DataPageHeaderV2.Valid && v2.IsCompressed.Valid && !v2.IsCompressed.V; !plain {
		if page, err = unpack(p.codec, page, int(levels), int(unpacked)); err != nil {
			return err
		}
	}
	// Now it is a page of no codec: parquet-go neither unpacks nor checks it once more.
	h.CRC, h.CompressedPageSize, h.UncompressedPageSize, v2.IsCompressed = 0, int32(len(page)), int32(len(page)), thrift.New(false)
	v1.Statistics, v2.Statistics = format.Statistics{}, format.Statistics{}
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, h)
	p.ready = append(head, page...)
	return err
}

// widths are the bytes of a value, where all have as many.
var widths = map[format.Type]int64{format.Int32: 4, format.Int64: 8, format.Float: 4, format.Double: 8}

// unpack returns the page of size bytes that b is, of which the levels lie in
// front unpacked. Any other length than the header says is errUnpack.
func unpack(codec format.CompressionCodec, b []byte, levels, size int) (page []byte, err error) {
	values := b[levels:]
	switch codec {
	case format.Uncompressed:
		return b, nil
	case format.Snappy: // believes the length that the data begin with
		if n, err := snappy.DecodedLen(values); err != nil || n != size-levels {
			return nil, errUnpack
		}
	case format.Lz4Raw: // parquet-go tries longer and longer pages
		page = make([]byte, size-levels)
		n, err := lz4.UncompressBlock(values, page)
		if err != nil || n != len(page) {
			return nil, errUnpack
		}
		return append(b[:levels:levels], page...), nil
	}
	page, err = parquet.LookupCompressionCodec(codec).Decode(nil, values)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is packed with %s, which fails: %w; want Snappy, zstd, gzip, Brotli, LZ4_RAW or none, whole", codec, err)
	case len(page) != size-levels:
		return nil, errUnpack
	}
	return append(b[:levels:levels], page...), nil
}

// header reads the header of a page at off and returns its length. It reads in
// growing pieces, since its length is not known before.
func (f *File) header(off, end int64) (h format.PageHeader, length int64, err error) {
	for n := int64(256); ; n *= 8 {
		n = min(n, end-off, maxHeader)
		b := make([]byte, n)
		if err := readAt(f.r, b, off); err != nil {
			return h, 0, err
		}
		size, err := walk(b)
		if err == errShort && n < end-off && n < maxHeader {
			continue
		}
		if err != nil {
			return h, 0, err
		}
		return h, int64(size), thrift.Unmarshal(&thrift.CompactProtocol{}, b[:size], &h)
	}
}
