package wordvec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// allocated returns the bytes that f allocates in all, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// slack is what reading may allocate beyond a small multiple of the file:
// buffers, and what the unpackers need for themselves.
const slack = 12 << 20

func TestHostile(t *testing.T) {
	good := newTable(1, 3, "a", "b", "c")
	nan := newTable(1, 3, "a", "b", "c")
	nan.rows[1][2] = float32(math.NaN())
	inf := newTable(1, 3, "a", "b", "c")
	inf.rows[1][2] = float32(math.Inf(-1))
	m := newModel(1, 3, 5, 3, 6, "a", "b", "c")
	with := func(change func(*model)) []byte {
		copied := m
		change(&copied)
		return copied.bytes()
	}
	long := bytes.Repeat([]byte("x"), 3<<20)
	header := func(h string) []byte { return append([]byte(h), good.binary("")[4:]...) }
	headed := func(h string) []byte { return append([]byte(h), good.text(" ", "\n")...) }
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	// A .zst frame of 1 byte whose head asks for a window of 2 GiB.
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0, 0, 'x'}

	for _, tc := range []struct {
		name string
		file []byte
		want string // in the error
	}{
		{"empty", nil, "empty"},
		{"empty, packed", gzipped(nil), "empty"},
		{"one word", []byte("hello"), "it starts with"},
		{"a CSV file", []byte("text,label\nhello,1\n"), "it starts with"},
		{"no line break for long", long, "no line break"},
		{"random bytes", []byte("\x00\x01\x02\n\x03"), "it starts with"},
		{"zip", []byte("PK\x03\x04....."), "a zip file"},
		{"xz", []byte("\xfd7zXZ\x00...."), "xz"},
		{"NumPy", []byte("\x93NUMPY\x01\x00"), "NumPy"},
		{"pickle", []byte("\x80\x04\x95...."), "pickle"},

		{"no words promised", header("0 3\n"), "promises 0 words"},
		{"negative words", header("-3 3\n"), "promises -3 words"},
		{"more words than fit 63 bits", header("99999999999999999999 3\n"), "words"},
		{"no dimensions", header("3 0\n"), "vectors of 0 numbers"},
		{"negative dimensions", header("3 -3\n"), "vectors of -3 numbers"},
		{"huge dimensions", header("3 2000000000\n"), "vectors of 2000000000"},
		{"huge count", header("2000000000 3\n"), "the file ends inside record 4 of the 2000000000"},
		{"the largest dimensions there can be", header("3 100000\n"), "the file ends inside record 1"},
		{"binary: cut in a vector", cut(good.binary(""), 1), "record 3 of the 3"},
		{"binary: cut in a word", good.binary("\n")[:19], "record 2 of the 3"},
		{"binary: header only", []byte("3 3\n"), "0 of the 3 words"},
		{"binary: more than promised", header("2 3\n"), "more after the 2 words"},
		{"binary: NaN", nan.binary(""), `number 3 of word "b" is NaN`},
		{"binary: Inf", inf.binary("\n"), `number 3 of word "b" is -Inf`},
		{"binary: a long word", slices.Concat([]byte("2 3\n\x00"), long, []byte(" ")), "a word of more than 65536 bytes"},
		{"binary: a long word that ends", slices.Concat([]byte("2 3\n\x00"), long[:maxWord+9], []byte(" ")), "a word of more than 65536 bytes"},

		{"text: fewer than promised", headed("9 3\n"), "after 3 of the 9 words"},
		{"text: more than promised", headed("2 3\n"), "test:4: more than the 2 words"},
		{"text: NaN", append([]byte("3 3\n"), nan.text(" ", "\n")...), `test:3: number 3 of word "b" is NaN`},
		{"text: out of range", []byte("2 2\na 1 2\nb 1 1e99\n"), `test:3: word "b": number 2 is "1e99"`},
		{"text: no number", []byte("2 2\na 1 2\nb 1 x\n"), `test:3: word "b": number 2 is "x"`},
		{"text: damaged first record", []byte("2 2\na 1 y\nb 1 2\n"), `test:2: word "a"`},
		{"text: too few numbers", []byte("2 2\na 1 2\nb 1\n"), "test:3: 2 fields, want a word and 2 numbers"},
		{"text: no word", []byte("2 2\na 1 2\n 1 3\n"), "test:3: 2 fields, want a word and 2 numbers"},
		{"text: a double space for a number", []byte("2 3\na 1 2 3\nb  1 2\n"), `word "b": 2 numbers, want 3`},
		{"text: a long line", slices.Concat([]byte("2 2\na 1 2\n"), long, []byte("\n")), "test:3: line is longer than 65664 bytes"},
		{"GloVe: cut in a number's row", []byte("a 1 2\nb 1\n"), "test:2: 2 fields"},
		{"GloVe: NaN", nan.text(" ", "\n"), `test:2: number 3 of word "b" is NaN`},
		{"GloVe: a long line", slices.Concat([]byte("a 1 2\n"), long), "test:2: line is longer than"},

		{"gzip: cut", cut(gzipped(good.text(" ", "\n")), 9), "gzip"},
		{"gzip: damaged head", []byte("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00"), "gzip"},
		{"zstd: cut", cut(zstded(good.text(" ", "\n")), 3), "zstd"},
		{"zstd: a window of 2 GiB", window, "packed with zstd for a window of other than 1 KiB to 128 MiB"},

		{"fastText: head only", m.bytes()[:20], "inside the head of a fastText model"},
		{"fastText: version 10", with(func(m *model) { m.version = 10 }), "version 10, want 11 or 12"},
		{"fastText: no arguments' end", m.bytes()[:64], "head of the dictionary"},
		{"fastText: dictionary promises more", with(func(m *model) { m.extra, m.dictWords = 2e9, 2e9 }), "entry"},
		{"fastText: dictionary does not add up", with(func(m *model) { m.extra = -1 }), "add up"},
		{"fastText: negative words", with(func(m *model) { m.extra, m.dictWords = -9, -9 }), "-6 words"},
		{"fastText: label before the words' end", with(func(m *model) { m.labels = []string{"l"}; m.extra, m.dictWords = 1, 1 }), "of type 1"},
		{"fastText: negative buckets", with(func(m *model) { m.bucketsInArgs = -5 }), "-5 n-gram buckets"},
		{"fastText: more buckets than rows", with(func(m *model) { m.bucketsInArgs = 2e9 }), "8 x 3, want 2000000003 x 3"},
		{"fastText: maxn that takes for ever", with(func(m *model) { m.maxN = 1 << 30 }), "n-grams of 3 to 1073741824"},
		{"fastText: negative minn", with(func(m *model) { m.minN = -1 }), "n-grams of -1"},
		{"fastText: cut in the words' rows", cut(m.bytes(), 4*(5*3+1)), "row 2 of the 8"},
		{"fastText: cut in the n-grams' rows", cut(m.bytes(), 1), "row 7 of the 8"},
		{"fastText: cut in the dictionary", m.bytes()[:100], "of the dictionary"},
		{"fastText: cut before the matrix", cut(m.bytes(), 4*8*3+17), "head of the input matrix"},
		{"fastText: cut before its size", cut(m.bytes(), 4*8*3+1), "head of the input matrix"},
		{"fastText: NaN in a word", with(func(m *model) { m.table = nan }), `word "b"`},
		{"fastText: NaN in an n-gram", with(func(m *model) { m.buckets = slices.Repeat(nan.rows[1:2], 5) }), "is NaN"},
		{"fastText: a long word", with(func(m *model) { m.words = []string{"a", string(long), "c"} }), "a word of more than 65536 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, opts := range []Options{{}, {Words: []string{"a", "b", "c", "dd"}}} {
				var err error
				used := allocated(func() { _, err = readBytes(tc.file, opts) })
				if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "test:") {
					t.Errorf("%v, want %q", err, tc.want)
				}
				if used > slack+4*uint64(len(tc.file)) {
					t.Errorf("%d bytes allocated for a file of %d", used, len(tc.file))
				}
			}
		})
	}
}

func TestForcedFormat(t *testing.T) {
	good := newTable(1, 3, "a", "b")
	for _, f := range []Format{Word2VecBinary, Word2VecText, FastTextBinary, Format(99)} {
		if _, err := readBytes(good.text(" ", "\n"), Options{Format: f}); err == nil {
			t.Errorf("a GloVe file read as %v: no error", f)
		}
	}
	if _, err := readBytes(bytes.Repeat([]byte("x"), 2<<20), Options{Format: Word2VecBinary}); err == nil {
		t.Error("no line break: no error")
	}
	if _, err := readBytes([]byte("x\n"), Options{Format: GloVe}); err == nil {
		t.Error("a line without numbers: no error")
	}
	if _, err := readBytes([]byte("\n"), Options{Format: GloVe}); err == nil {
		t.Error("an empty line: no error")
	}
}

// endless gives n bytes of one value after its head.
type endless struct {
	head []byte
	n    int64
	b    byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.head) > 0 {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.n == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), e.n)]
	for i := range p {
		p[i] = e.b
	}
	e.n -= int64(len(p))
	return len(p), nil
}

func TestWordOfTwoGigabytes(t *testing.T) {
	model := newModel(1, 3, 5, 3, 6, "a").bytes()
	for name, head := range map[string][]byte{
		"binary":       []byte("3 300\n\x00"),
		"text":         []byte("3 3\na 1 2 3\n"),
		"GloVe":        []byte("a 1 2 3\n"),
		"one line":     nil,
		"fastText":     model[:64+28],
		"text, wide":   []byte("3 100000\n"),
		"only a space": []byte("3 3\na 1 2 3\n "),
	} {
		used := allocated(func() {
			if _, err := Read(context.Background(), &endless{head, 2 << 30, 'x'}, "test", Options{}); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
		if used > 4*slack { // a line of 100,000 numbers may have 6.4 MB
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

type failing struct{ after io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.after.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

var errDisk = errors.New("disk on fire")

func TestReadErrorsAreKept(t *testing.T) {
	m := newModel(1, 3, 5, 3, 6, "a", "b").bytes()
	for _, file := range [][]byte{nil, []byte("a"), []byte("3 3\na 1 2 3\n"), newTable(1, 3, "a").binary(""), m[:30], m[:100], m[:len(m)-2]} {
		for _, opts := range []Options{{}, {Format: Word2VecText}, {Format: Word2VecBinary}, {Format: FastTextBinary}} {
			if _, err := Read(context.Background(), failing{bytes.NewReader(file)}, "test", opts); err == nil {
				t.Errorf("%q: no error", file)
			} else if opts.Format == Auto && !errors.Is(err, errDisk) {
				t.Errorf("%q: %v, want it to wrap the reader's error", file, err)
			}
		}
	}
}
