package parquet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
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
	flags := format.SchemaElement{Type: thrift.New(format.Boolean), RepetitionType: thrift.New(format.Required)}
	maybe := format.SchemaElement{Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(make([]byte, 32<<20))
		z.Close()
		return b.Bytes()
	}()
	// Lengths of what 4,000 texts repeat: of all of the one before.
	prefixes, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, slices.Concat([]int32{0}, slices.Repeat([]int32{4000}, 3999)))
	if err != nil {
		t.Fatal(err)
	}
	suffixes, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, slices.Concat([]int32{4000}, make([]int32, 3999)))
	if err != nil {
		t.Fatal(err)
	}
	repeats := slices.Concat(prefixes, suffixes, bytes.Repeat([]byte("x"), 4000))
	page := func(e format.SchemaElement, n int, encoding format.Encoding, body string) []byte {
		return onePage(t, e, format.Uncompressed, dataPage(n, len(body), len(body), encoding), []byte(body), int64(n))
	}
	header, err := thrift.Marshal(&thrift.CompactProtocol{}, dataPage(1, 8, 8, format.Plain))
	if err != nil {
		t.Fatal(err)
	}
	// After the inner header's encodings, statistics with a maximum of 2^31 bytes.
	long := string(header[:len(header)-2]) + field(1, thriftStruct) + field(1, thriftBinary) + huge
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"a list of 2^31 schema nodes":  {fileOf("", field(2, thriftList)+"\xfc"+huge), "ends early"},
		"a list of 2^31 row groups":    {fileOf("", field(4, thriftList)+"\xfc"+huge), "ends early"},
		"row groups of no bytes":       {fileOf("", field(2, thriftList)+"\x0c"+field(2, thriftList)+"\xfc\xff\xff\x03"+strings.Repeat("\x00", 1<<16)), ""},
		"a name of 2^31 bytes":         {fileOf("", field(2, thriftList)+"\x1c"+field(4, thriftBinary)+huge), "ends early"},
		"a map of 2^31 in an unknown":  {fileOf("", field(15, thriftMap)+huge+"\x88"), "ends early"},
		"a list of 2^31 in an unknown": {fileOf("", field(15, thriftList)+"\xf5"+huge), "ends early"},
		"a number without end":         {fileOf("", field(15, thriftInt64)+strings.Repeat("\xff", 100)), "damaged"},
		"a kind that is none":          {fileOf("", field(15, 14)), "damaged"},
		"structs without end":          {fileOf("", strings.Repeat(field(15, thriftStruct), 1<<16)), "damaged"},
		"lists without end":            {fileOf("", field(15, thriftList)+strings.Repeat("\x19", 1<<16)), "damaged"},
		"groups without end":           {fileOf("", field(2, thriftList)+"\xfc\x80\x80\x04"+strings.Repeat("\x55\x02\x00", 1<<16)+"\x00"), ""},
		"a schema without nodes":       {fileOf("", "\x00"), ""},
		"statistics of 2^31 bytes":     {onePage(t, ints, format.Uncompressed, long, nil, 1), "ends early"},
		"a page of 2^31 bytes":         {onePage(t, ints, format.Gzip, dataPage(1, 8, 1<<31-1, format.Plain), nil, 1), "does not fit its column"},
		"a page that says 2^31 bytes":  {onePage(t, ints, format.Gzip, dataPage(1, 1<<31-1, 0, format.Plain), nil, 1), "a page of 2147483647 bytes"},
		"a page of 2^31 values":        {page(ints, 1<<31-1, format.Plain, "12345678"), "a page of 2147483647 values"},
		"fewer bytes than values":      {page(ints, 3, format.Plain, "12345678"), "not the values it says"},
		"fewer texts than values":      {page(texts, 3, format.Plain, "\x00\x00\x00\x00"), "not the values it says"},
		"a text of 2^32 bytes":         {page(texts, 1, format.Plain, "\xff\xff\xff\xff"), "not the values it says"},
		"a run of 2^31 truth values":   {page(flags, 8, format.RLE, "\x06\x00\x00\x00\xfe\xff\xff\xff\x0f\x01"), "not the values it says"},
		"a run of 2^31 levels":         {page(maybe, 8, format.Plain, "\x06\x00\x00\x00\xfe\xff\xff\xff\x0f\x01"), "not the values it says"},
		"packed levels of 2^31":        {page(maybe, 8, format.Plain, "\x06\x00\x00\x00\xff\xff\xff\xff\x0f\x01"), "not the values it says"},
		"2^31 deltas":                  {page(ints, 8, format.DeltaBinaryPacked, "\x80\x01\x04"+huge+"\x00"), "damaged delta"},
		"deltas without a block":       {page(ints, 8, format.DeltaBinaryPacked, "\x00\x04\x08\x00"), "damaged delta"},
		"2^31 lengths":                 {page(texts, 8, format.DeltaLengthByteArray, "\x80\x01\x04"+huge+"\x00"), "damaged delta"},
		"texts that repeat":            {page(texts, 4000, format.DeltaByteArray, string(repeats)), "bytes of text"},
		"an index without dictionary":  {page(ints, 8, format.RLEDictionary, "\x01\x10\x01"), "dictionary that is not there"},
		"an unknown encoding":          {page(ints, 8, 4, "\x01\x10\x01"), "BIT_PACKED"},
		"a gzip bomb":                  {onePage(t, ints, format.Gzip, dataPage(1, 8, len(bomb), format.Plain), bomb, 1), "does not unpack"},
		"Snappy that says 2^32":        {onePage(t, ints, format.Snappy, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "does not unpack"},
		"LZ4 that never ends":          {onePage(t, ints, format.Lz4Raw, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "does not unpack"},
		"Brotli that is none":          {onePage(t, ints, format.Brotli, dataPage(1, 8, 6, format.Plain), []byte("\xff\xff\xff\xff\x0f\x00"), 1), "does not unpack"},
		"LZO":                          {onePage(t, ints, format.LZO, dataPage(1, 8, 8, format.Plain), []byte("12345678"), 1), "is packed with LZO"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := drain(tc.data, Options{MaxPage: maxPage})
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
			drain(b, Options{MaxPage: 1 << 16, noChecksum: true})
			runtime.ReadMemStats(&after)
			worst = max(worst, after.TotalAlloc-before.TotalAlloc)
		}
		if worst > 16<<20 {
			t.Errorf("%s: %d damaged bytes took %d of memory", name, len(data), worst)
		}
		t.Logf("%s: at most %d bytes for %d", name, worst, len(data))
	}
}

// TestCheckRuns counts what parquet-go's encoder wrote.
func TestCheckRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for width := 1; width <= 8; width++ {
		levels := make([]byte, 1+random.IntN(500))
		for i := 0; i < len(levels); {
			v := byte(random.IntN(1 << width))
			for k := 1 + random.IntN(20); k > 0 && i < len(levels); k-- {
				levels[i] = v
				i++
			}
		}
		b, err := (&rle.Encoding{BitWidth: width}).EncodeLevels(nil, levels)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, v := range levels {
			if v == levels[0] {
				want++
			}
		}
		count, hits, err := checkRuns(b, width, len(levels), uint64(levels[0]))
		if err != nil || count < len(levels) || hits != want {
			t.Errorf("width %d: %d of %d values, %d of %d hits, %v", width, count, len(levels), hits, want, err)
		}
	}
}

// TestCheckDelta finds the end of what parquet-go's encoder wrote.
func TestCheckDelta(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 33, 129, 1000} {
		values := make([]int32, n)
		for i := range values {
			values[i] = random.Int32() >> random.IntN(32)
		}
		b, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		if count, length, err := checkDelta(append(b, "xyz"...), n); err != nil || count != n || length != len(b) {
			t.Errorf("%d values: %d, %d of %d bytes, %v", n, count, length, len(b), err)
		}
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
		f := open(t, b.Bytes(), Options{})
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
