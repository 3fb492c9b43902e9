package feature

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"math"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
)

func TestHash32IsFNV(t *testing.T) {
	for _, gram := range []string{"", "c a", "wmy card", "c👍"} {
		h := fnv.New32a()
		h.Write([]byte(gram))
		if got := hash32([]byte(gram)); got != h.Sum32() {
			t.Errorf("hash of %q is %08x, want %08x", gram, got, h.Sum32())
		}
	}
	if key := string(appendKey(nil, 'w', 0x0012abcf)); key != "w0012abcf" || !isKey(key) || hashOf(key, true) != 'w'<<32|0x0012abcf {
		t.Errorf("key %q", key)
	}
}

func writeHashed(tb testing.TB, t *Table, rows, within []int, texts ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := WriteHashed(&out, t, rows, within, texts); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func readHashed(tb testing.TB, data []byte) *Table {
	tb.Helper()
	t, err := ReadHashed(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// banking returns the texts of banking77, of which every 26th is trained on,
// and class names.
func banking(tb testing.TB) (t *Table, rows, train []int, names []string) {
	texts := readTexts(tb, "banking77/train.csv")
	t, all := tableOf(texts)
	rows = all[:3465]
	for i := 0; i < len(rows); i += 9 {
		train = append(train, i)
	}
	for i := range 77 {
		names = append(names, strings.Join(strings.Fields(texts[len(texts)-1-i])[:2], " "))
	}
	return t, rows, train, names
}

func TestHashedBanking(t *testing.T) {
	table, rows, train, names := banking(t)
	data := writeHashed(t, table, rows, train, names...)
	hashes, distinct := make(map[uint64]int), 0
	for _, gram := range table.grams {
		hashes[hashOf(gram, false)]++
		distinct++
	}
	t.Logf("%d rows, %d of them trained on, and %d names: %d bytes; of all %d n-grams of the file %d share a hash",
		len(rows), len(train), len(names), len(data), distinct, distinct-len(hashes))
	if len(data) > 350_000 {
		t.Errorf("%d bytes, want at most 350,000", len(data))
	}
	if !bytes.Equal(data, writeHashed(t, table, rows, train, names...)) {
		t.Error("the same rows give other bytes")
	}
	hashed := readHashed(t, data)
	if hashed.Rows() != len(rows) {
		t.Fatalf("%d rows, want %d", hashed.Rows(), len(rows))
	}
	for _, name := range names {
		table.AddText(name)
		hashed.AddText(name)
	}
	// Fitted on the training rows and the names, on both tables.
	n := table.Rows() - len(names)
	fitA, fitB := append([]int(nil), train...), append([]int(nil), train...)
	for i := range names {
		fitA, fitB = append(fitA, n+i), append(fitB, len(rows)+i)
	}
	a, b := fit(t, table, fitA...), fit(t, hashed, fitB...)
	if a.Dim() != b.Dim() {
		t.Fatalf("%d features, want %d", b.Dim(), a.Dim())
	}
	if !strings.HasPrefix(b.Name(0), "n-gram #") {
		t.Errorf("a hashed feature is called %s", b.Name(0))
	}
	to := make([]int32, a.Dim()) // feature of b for each of a
	for f, gram := range a.grams {
		g := b.lookup().find(appendKey(nil, gram[0], hash32([]byte(gram))))
		if g < 0 || b.idf[g] != a.idf[f] {
			t.Fatalf("%q is feature %d hashed, its weight is not %v", gram, g, a.idf[f])
		}
		to[f] = g
	}
	x, y := rowsOf(t, a, table, rows...).(*matrix.Sparse), rowsOf(t, b, hashed, rows...).(*matrix.Sparse)
	rower := NewRower(b)
	texts := readTexts(t, "banking77/train.csv")
	for i := range rows {
		index, value := x.Row(i)
		want := make(map[int32]float32)
		for n, f := range index {
			want[to[f]] = value[n]
		}
		index, value = y.Row(i)
		if len(index) != len(want) {
			t.Fatalf("row %d has %d features, want %d", i, len(index), len(want))
		}
		for n, g := range index {
			if math.Abs(float64(value[n]-want[g])) > 1e-6 {
				t.Fatalf("row %d, feature %d: %v, want %v", i, g, value[n], want[g])
			}
		}
		again, values, err := rower.Row(dataset.Example{Text: texts[i]})
		if err != nil || !equal(again, index) || !equal(values, value) {
			t.Fatalf("row %d from its text: %v %v, want %v %v (%v)", i, again, values, index, value, err)
		}
	}
}

func equal[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Two n-grams with one hash count as one.
func TestHashCollision(t *testing.T) {
	// Found by search: two words whose n-grams "w..." have the same hash.
	seen := make(map[uint32]string)
	var a, b string
	for i := 0; b == ""; i++ {
		word := string(binary.AppendUvarint(nil, uint64(i)))
		word = strings.Map(func(r rune) rune { return 'a' + r%26 }, word) + base26(i)
		h := hash32([]byte("w" + word))
		if other, ok := seen[h]; ok && other != word {
			a, b = other, word
		}
		seen[h] = word
	}
	table, _ := tableOf([]string{a + " , " + b + " , " + b, a})
	hashed := readHashed(t, writeHashed(t, table, []int{0, 1}, []int{1}))
	key := appendKey(nil, 'w', hash32([]byte("w"+a)))
	if got := gramsOf(hashed, 0)[string(key)]; got != 3 {
		t.Errorf("%q and twice %q count %d, want 3", a, b, got)
	}
	if got := gramsOf(hashed, 1)[string(key)]; got != 1 {
		t.Errorf("%q alone counts %d, want 1", a, got)
	}
}

func base26(i int) string {
	var out []byte
	for ; i > 0; i /= 26 {
		out = append(out, byte('a'+i%26))
	}
	return string(out)
}

func TestHashedKeepsWhatIsAskedFor(t *testing.T) {
	table, _ := tableOf([]string{"a b", "b c c c", "", "d"})
	hashed := readHashed(t, writeHashed(t, table, []int{1, 2, 1, 0}, []int{0}, "c"))
	want := make(map[string]int)
	for gram, n := range slowGrams("b c c c") {
		if gram != "wb c" && gram != "wc c" { // in "a b" and "c" there is no such pair
			want[string(appendKey(nil, gram[0], hash32([]byte(gram))))] = n
		}
	}
	for _, row := range []int{0, 2} {
		if got := gramsOf(hashed, row); len(got) != len(want) {
			t.Errorf("row %d: %v, want %v", row, got, want)
		} else {
			for gram, n := range want {
				if got[gram] != n {
					t.Errorf("row %d: %s occurs %d times, want %d", row, gram, got[gram], n)
				}
			}
		}
	}
	if got := gramsOf(hashed, 1); len(got) != 0 {
		t.Errorf("an empty text has %v", got)
	}
	// A hashed table can be written again.
	once := writeHashed(t, hashed, []int{0, 1, 2, 3}, []int{0, 3})
	again := writeHashed(t, readHashed(t, once), []int{0, 1, 2, 3}, []int{0, 3})
	if !bytes.Equal(once, again) {
		t.Error("read and written again, the bytes differ")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteHashedRefuses(t *testing.T) {
	table, _ := tableOf([]string{"a"})
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"numbers", WriteHashed(&bytes.Buffer{}, NewTable(dataset.Numbers, nil), nil, nil, nil), "a table of numeric columns, want one of text"},
		{"a row too many", WriteHashed(&bytes.Buffer{}, table, []int{1}, nil, nil), "row 1, want 0 to 0"},
		{"a training row too many", WriteHashed(&bytes.Buffer{}, table, nil, []int{-1}, nil), "row -1, want 0 to 0"},
		{"a full disk", WriteHashed(fullDisk{}, table, []int{0}, []int{0}, nil), "no space left"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, tc.err, tc.want)
		}
	}
}

// pack makes a file of a body, with its checksum.
func pack(body []byte) []byte {
	var out bytes.Buffer
	out.WriteString(hashedMagic)
	w, _ := flate.NewWriter(&out, flate.BestSpeed)
	_, _ = w.Write(binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(body)))
	_ = w.Close()
	return out.Bytes()
}

func TestReadHashedRefuses(t *testing.T) {
	table, _ := tableOf([]string{"my card", "a card card"})
	good := writeHashed(t, table, []int{0, 1}, []int{0, 1})
	one := []byte{1, 'c', 1, 2, 3, 4} // one n-gram
	body := func(tail ...byte) []byte { return pack(append(append([]byte(nil), one...), tail...)) }
	if _, err := ReadHashed(bytes.NewReader(body(1, 1, 1, 5))); err != nil {
		t.Fatalf("one row of one n-gram seven times: %v", err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-3] ^= 1
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, `the file begins "", want "treeloss n-grams 1\n"`},
		{"another format", []byte("PK\x03\x04"), "the file begins"},
		{"a newer version", []byte("treeloss n-grams 2\nabc"), "the file begins"},
		{"nothing behind the magic", []byte(hashedMagic), "unexpected EOF"},
		{"a byte behind the end", append(bytes.Clone(good), 0), "1 bytes behind the end"},
		{"a bit flipped", flipped, ""},
		{"too short for a checksum", append([]byte(hashedMagic), 3, 0), "0 bytes unpacked"},
		{"more n-grams than bytes", pack([]byte{200, 1}), "the number of n-grams is 200"},
		{"n-grams cut off", pack([]byte{2, 'c', 'c', 1, 2, 3, 4, 1, 2, 3}), "2 n-grams in 9 bytes"},
		{"unknown block", pack([]byte{1, 'x', 1, 2, 3, 4, 0}), `block 'x'`},
		{"an n-gram twice", pack([]byte{2, 'c', 'c', 1, 2, 3, 4, 1, 2, 3, 4, 0}), "as one before"},
		{"more rows than bytes", body(9), "the number of rows is 9"},
		{"more n-grams in a row than there are", body(1, 2, 0, 0), "the number of n-grams in a row is 2"},
		{"a step too far", body(1, 1, 9), "a step between columns is 9"},
		{"a column too many", body(1, 1, 2), "row 0: n-gram 1, want one below 1"},
		{"a count cut off", body(1, 1, 1), "a count is 0"},
		{"a count beyond 32 bits", body(1, 1, 1, 255, 255, 255, 255, 255, 1), "a count is"},
		{"bytes behind the last row", body(0, 0), "1 bytes behind the last row"},
		{"a bomb", pack(make([]byte, maxHashedBytes+1)), "more than 16777216 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ReadHashed(bytes.NewReader(tc.data))
			if !errors.Is(err, ErrHashed) || !strings.Contains(err.Error(), tc.want) || got != nil {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
	for n := range len(good) {
		if _, err := ReadHashed(bytes.NewReader(good[:n])); !errors.Is(err, ErrHashed) {
			t.Errorf("cut at byte %d of %d: error %v", n, len(good), err)
		}
	}
	if _, err := ReadHashed(brokenReader{}); err == nil || errors.Is(err, ErrHashed) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("bad sector") }

func FuzzReadHashed(f *testing.F) {
	table, _ := tableOf([]string{"my card", "a card card", ""})
	f.Add(writeHashed(f, table, []int{0, 1, 2}, []int{0, 1}, "name"), false)
	f.Add([]byte{1, 'c', 1, 2, 3, 4, 2, 1, 1, 5, 0}, true)
	f.Add([]byte{2, 'c', 'w', 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, body bool) {
		if body { // so that fuzzing comes past the checksum
			data = pack(data)
		}
		table, err := ReadHashed(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrHashed) {
				t.Fatal(err)
			}
			return
		}
		table.AddText("my card")
		rows := make([]int, table.Rows())
		for i := range rows {
			rows[i] = i
		}
		rowsOf(t, fit(t, table, rows...), table, rows...)
		again := readHashed(t, writeHashed(t, table, rows, rows))
		for i := range rows {
			got, want := gramsOf(again, i), gramsOf(table, i)
			for gram, n := range want {
				if got[gram] != n || len(got) != len(want) {
					t.Fatalf("row %d written and read again: %v, want %v", i, got, want)
				}
			}
		}
	})
}
