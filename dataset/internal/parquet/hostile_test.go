package parquet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// fileOf returns a file that ends in the footer.
func fileOf(body, footer string) []byte {
	b := []byte(Magic + body + footer)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), Magic...)
}

// onePage returns a file of one row group with one column and one page, whose
// header may be given as bytes.
func onePage(t *testing.T, e format.SchemaElement, codec format.CompressionCodec, h any, page []byte, rows int64) []byte {
	t.Helper()
	encode := func(v any) string {
		b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	e.Name = "x"
	body, ok := h.(string)
	if !ok {
		body = encode(h)
	}
	body += string(page)
	return fileOf(body, encode(format.FileMetaData{
		Version: 1, NumRows: rows, Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(1))}, e},
		RowGroups: []format.RowGroup{{NumRows: rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: e.Type.V, Codec: codec, NumValues: rows, DataPageOffset: 4, TotalCompressedSize: int64(len(body)), PathInSchema: []string{"x"},
		}}}}},
	}))
}

// dataPage returns the header of a page of n values.
func dataPage(n, unpacked, packed int, encoding format.Encoding) format.PageHeader {
	return format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(unpacked), CompressedPageSize: int32(packed), DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(n), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
}

// TestHostile reads files whose numbers are lies, and small files that unpack
// to large ones: an error, in memory of a small multiple of the largest page.
func TestHostile(t *testing.T) {
	field := func(delta, kind byte) string { return string([]byte{delta<<4 | kind}) }
	const huge, maxPage = "\xff\xff\xff\xff\x07", 1 << 16 // 2^31-1
	texts := format.SchemaElement{Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Required)}
	ints := format.SchemaElement{Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Required)}
	maybe := format.SchemaElement{Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}
	page := func(e format.SchemaElement, n int, encoding format.Encoding, body string) []byte {
		return onePage(t, e, format.Uncompressed, dataPage(n, len(body), len(body), encoding), []byte(body), int64(n))
	}
	header, err := thrift.Marshal(&thrift.CompactProtocol{}, dataPage(1, 8, 8, format.Plain))
	if err != nil {
		t.Fatal(err)
	}
	// After the inner header's encodings, statistics with a maximum of 2^31 bytes.
	long := string(header[:len(header)-2]) + field(1, 12) + field(1, 8) + huge
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"a list of 2^31 schema nodes":  {fileOf("", field(2, 9)+"\xfc"+huge), "ends early"},
		"a list of 2^31 row groups":    {fileOf("", field(4, 9)+"\xfc"+huge), "ends early"},
		"row groups of no bytes":       {fileOf("", field(2, 9)+"\x0c"+field(2, 9)+"\xfc\xff\xff\x03"+strings.Repeat("\x00", 1<<16)), ""},
		"a name of 2^31 bytes":         {fileOf("", field(2, 9)+"\x1c"+field(4, 8)+huge), "ends early"},
		"a map of 2^31 in an unknown":  {fileOf("", field(15, 11)+huge+"\x88"), "ends early"},
		"a list of 2^31 in an unknown": {fileOf("", field(15, 9)+"\xf5"+huge), "ends early"},
		"a number without end":         {fileOf("", field(15, 6)+strings.Repeat("\xff", 100)), "damaged"},
		"a kind that is none":          {fileOf("", field(15, 14)), "damaged"},
		"structs without end":          {fileOf("", strings.Repeat(field(15, 12), 1<<16)), "damaged"},
		"lists without end":            {fileOf("", field(15, 9)+strings.Repeat("\x19", 1<<16)), "damaged"},
		"groups without end":           {fileOf("", field(2, 9)+"\xfc\x80\x80\x04"+strings.Repeat("\x55\x02\x00", 1<<16)+"\x00"), ""},
		"a schema without nodes":       {fileOf("", "\x00"), ""},
		"statistics of 2^31 bytes":     {onePage(t, ints, format.Uncompressed, long, nil, 1), "ends early"},
		"a page of 2^31 bytes":         {onePage(t, ints, format.Gzip, dataPage(1, 8, 1<<31-1, format.Plain), nil, 1), "does not fit its column"},
		"a page that says 2^31 bytes":  {onePage(t, ints, format.Gzip, dataPage(1, 1<<31-1, 0, format.Plain), nil, 1), "a page of 2147483647 bytes"},
		"a page of 2^31 values":        {page(ints, 1<<31-1, format.Plain, "12345678"), "a page of 2147483647 values"},
		"fewer bytes than values":      {page(ints, 3, format.Plain, "12345678"), "a page of 8 bytes for 3 values of 8"},
		"fewer texts than values":      {page(texts, 3, format.Plain, "\x00\x00\x00\x00"), "fewer values than rows"},
		"a text of 2^32 bytes":         {page(texts, 1, format.Plain, "\xff\xff\xff\xff"), "ends early"},
		"packed levels of 2^31":        {page(maybe, 8, format.Plain, "\x06\x00\x00\x00\xff\xff\xff\xff\x0f\x01"), "ends early"},
		"deltas without a block":       {page(ints, 8, format.DeltaBinaryPacked, "\x00\x04\x08\x00"), "invalid block size"},
		"an index without dictionary":  {page(ints, 8, format.RLEDictionary, "\x01\x10\x01"), "fewer values than rows"},
		"an unknown encoding":          {page(ints, 8, 4, "\x01\x10\x01"), "encoding not supported"},
		"Snappy that says 2^32":        {onePage(t, ints, format.Snappy, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "does not unpack"},
		"LZ4 that never ends":          {onePage(t, ints, format.Lz4Raw, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "does not unpack"},
		"Brotli that is none":          {onePage(t, ints, format.Brotli, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "is packed with BROTLI"},
		"LZO":                          {onePage(t, ints, format.LZO, dataPage(1, 8, 8, format.Plain), []byte("12345678"), 1), "is packed with LZO"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := drain(tc.data, maxPage)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*maxPage+200*uint64(len(tc.data)) {
				t.Errorf("%d bytes took %d of memory", len(tc.data), used)
			}
		})
	}
}

// TestDamaged changes files in a few places at random: rows or an error, in
// bounded memory.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	for _, name := range []string{"types", "plain-v1", "plain-v2", "zstd-v1", "snappy-v2", "lz4-v2", "brotli-v2", "gzip-v2"} {
		data := load(t, name+".parquet")
		worst := uint64(0)
		for range 200 {
			b := bytes.Clone(data)
			for range 1 + random.IntN(4) {
				b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
			}
			runtime.ReadMemStats(&before)
			drain(b, 1<<16)
			runtime.ReadMemStats(&after)
			worst = max(worst, after.TotalAlloc-before.TotalAlloc)
		}
		if worst > 16<<20 {
			t.Errorf("%s: %d damaged bytes took %d of memory", name, len(data), worst)
		}
		t.Logf("%s: at most %d bytes for %d", name, worst, len(data))
	}
}

// TestLargePages reads what goes beyond the buffers: long texts, many values a
// page, dictionaries, nulls over whole pages and row groups.
func TestLargePages(t *testing.T) {
	type wide struct {
		Text  string   `parquet:"text"`
		Label string   `parquet:"label,dict"`
		Maybe *int64   `parquet:"maybe,optional,dict"`
		List  []uint32 `parquet:"list,list"`
	}
	all := make([]wide, 3000)
	for i := range all {
		all[i] = wide{Text: strings.Repeat("x", i*7%5000), Label: string(rune('a' + i/999)), List: make([]uint32, i%3)}
		if i > 2000 {
			v := int64(i)
			all[i].Maybe = &v
		}
	}
	for _, version := range []int{1, 2} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[wide](&b, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(version), parquet.PageBufferSize(1<<20), parquet.MaxRowsPerRowGroup(1500))
		if _, err := w.Write(all); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f := open(t, b.Bytes(), 64<<20)
		r := f.Read([]int{0, 1, 2, 3})
		defer r.Close()
		for i, want := range all {
			if err := r.Next(); err != nil {
				t.Fatal(i, err)
			}
			list, null := r.List(3)
			if v := r.Value(2); string(r.Value(0).Bytes) != want.Text || string(r.Value(1).Bytes) != want.Label || v.Null != (want.Maybe == nil) || !v.Null && v.Int != *want.Maybe || null || len(list) != len(want.List) {
				t.Fatalf("version %d, row %d: %v %v", version, i, v, list)
			}
		}
	}
}
