package wordvec

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// table is a small set of word vectors that the tests write in every format.
type table struct {
	words []string
	rows  [][]float32
}

func newTable(seed uint64, dim int, words ...string) table {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := table{words: words}
	for range words {
		row := make([]float32, dim)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (t table) dim() int { return len(t.rows[0]) }

func (t table) binary(lineBreak string) []byte {
	b := fmt.Appendf(nil, "%d %d\n", len(t.words), t.dim())
	for i, w := range t.words {
		b = append(b, w+" "...)
		b, _ = binary.Append(b, binary.LittleEndian, t.rows[i])
		b = append(b, lineBreak...)
	}
	return b
}

func (t table) text(separator, lineEnd string) []byte {
	var b []byte
	for i, w := range t.words {
		b = append(b, w...)
		for _, x := range t.rows[i] {
			b = append(b, separator...)
			b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
		}
		b = append(b, lineEnd...)
	}
	return b
}

func (t table) header() string { return fmt.Sprintf("%d %d\n", len(t.words), t.dim()) }

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// pzstded starts with a frame to be skipped, as pzstd's output does.
func pzstded(b []byte) []byte {
	return append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00size"), zstded(b)...)
}

func readBytes(b []byte, opts Options) (*Vectors, error) {
	return Read(context.Background(), bytes.NewReader(b), "test", opts)
}

// holds checks that v has exactly the words of the table.
func (t table) holds(tb testing.TB, v *Vectors) {
	tb.Helper()
	if !slices.Equal(v.Words(), t.words) {
		tb.Fatalf("words %q, want %q", v.Words(), t.words)
	}
	for i, w := range t.words {
		if got, ok := v.Vector(w); !ok || !slices.Equal(got, t.rows[i]) {
			tb.Errorf("%q: %v, want %v", w, got, t.rows[i])
		}
	}
}

func TestFormats(t *testing.T) {
	words := newTable(1, 5, "the", "New_York", "❤️", "naïve", "7", "\u00a0", "a:b")
	spaced := newTable(2, 3, "the", ". . .", "at name@domain.com", "x")
	one := newTable(3, 1, "a", "b")
	wide := newTable(4, 60_000, "long", "lines") // longer than the buffer, as text
	for _, tc := range []struct {
		name string
		want table
		file []byte
		as   Format
	}{
		{"word2vec binary as gensim writes it", words, words.binary(""), Word2VecBinary},
		{"word2vec binary as word2vec writes it", words, words.binary("\n"), Word2VecBinary},
		{"word2vec binary, one dimension", one, one.binary(""), Word2VecBinary},
		{"word2vec binary, wide", wide, wide.binary("\n"), Word2VecBinary},
		{"word2vec text", words, append([]byte(words.header()), words.text(" ", "\n")...), Word2VecText},
		{"fastText .vec: a space at the end of each line", words, append([]byte(words.header()), words.text(" ", " \n")...), Word2VecText},
		{"Windows line ends", words, append([]byte(strings.Replace(words.header(), "\n", "\r\n", 1)), words.text(" ", "\r\n")...), Word2VecText},
		{"tabs", words, append([]byte(words.header()), words.text("\t", "\n")...), Word2VecText},
		{"double spaces", words, append([]byte(words.header()), words.text("  ", "\n")...), Word2VecText},
		{"byte order mark", words, append([]byte("\uFEFF"+words.header()), words.text(" ", "\n")...), Word2VecText},
		{"no line break at the end", words, append([]byte(words.header()), bytes.TrimRight(words.text(" ", "\n"), "\n")...), Word2VecText},
		{"empty lines at the end", words, slices.Concat([]byte(words.header()), words.text(" ", "\n"), []byte("\n \n")), Word2VecText},
		{"wide text with header", wide, append([]byte(wide.header()), wide.text(" ", "\n")...), Word2VecText},
		{"GloVe", words, words.text(" ", "\n"), GloVe},
		{"GloVe with spaces in words", spaced, spaced.text(" ", "\n"), GloVe},
		{"GloVe with a byte order mark", spaced, append([]byte("\uFEFF"), spaced.text(" ", "\n")...), GloVe},
		{"GloVe, one dimension", one, one.text(" ", "\n"), GloVe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, pack := range []func([]byte) []byte{slices.Clone[[]byte], gzipped, zstded, pzstded} {
				v, err := readBytes(pack(tc.file), Options{})
				if err != nil {
					t.Fatal(err)
				}
				tc.want.holds(t, v)
				info := v.Info()
				if info.Format != tc.as || info.Dim != tc.want.dim() || v.Dim() != info.Dim || info.Words != len(tc.want.words) || info.Kept != v.Len() {
					t.Errorf("info %+v", info)
				}
				kept, err := readBytes(pack(tc.file), Options{Words: []string{tc.want.words[1], "absent"}})
				if err != nil {
					t.Fatal(err)
				}
				table{tc.want.words[1:2], tc.want.rows[1:2]}.holds(t, kept)
				if none, err := readBytes(pack(tc.file), Options{Words: []string{}}); err != nil || none.Len() != 0 || none.Info().Words != len(tc.want.words) {
					t.Errorf("keeping nothing: %v", err)
				}
			}
			// A format that is given is not detected, and a pipe gives what it has.
			v, err := Read(context.Background(), &drip{tc.file}, "test", Options{Format: tc.as})
			if err != nil {
				t.Fatal(err)
			}
			tc.want.holds(t, v)
		})
	}
}

// drip gives a few bytes at a time.
type drip struct{ rest []byte }

func (d *drip) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1000)], d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	want := newTable(5, 4, "a", "b")
	path := filepath.Join(dir, "vectors")
	if err := os.WriteFile(path, want.text(" ", "\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var seen int64
	v, err := Open(context.Background(), path, Options{Progress: func(n int64) { seen = n }})
	if err != nil {
		t.Fatal(err)
	}
	want.holds(t, v)
	if seen != int64(len(want.text(" ", "\n"))) {
		t.Errorf("progress ends at %d bytes", seen)
	}
	for name, path := range map[string]string{"a folder": dir, "nothing": filepath.Join(dir, "no")} {
		if _, err := Open(context.Background(), path, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestOpenStandardInput(t *testing.T) {
	want := newTable(5, 4, "a", "b")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	os.Stdin = r
	w.Write(want.binary(""))
	w.Close()
	v, err := Open(context.Background(), "-", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want.holds(t, v)
}

func TestDuplicates(t *testing.T) {
	double := newTable(1, 3, "a", "b", "a")
	same := newTable(1, 3, "a", "b", "a")
	same.rows[2] = same.rows[0]
	for name, files := range map[string][2][]byte{
		"binary": {double.binary(""), same.binary("")},
		"GloVe":  {double.text(" ", "\n"), same.text(" ", "\n")},
	} {
		if _, err := readBytes(files[0], Options{}); err == nil || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%s: two vectors for a word: %v", name, err)
		}
		if _, err := readBytes(files[0], Options{Words: []string{"b"}}); err != nil {
			t.Errorf("%s: a duplicate that nobody asked for: %v", name, err)
		}
		v, err := readBytes(files[0], Options{KeepFirst: true})
		if err != nil {
			t.Fatal(err)
		}
		table{double.words[:2], double.rows[:2]}.holds(t, v)
		if v, err := readBytes(files[1], Options{}); err != nil || v.Len() != 2 || v.Info().Duplicates != 1 {
			t.Errorf("%s: the same vector twice: %v", name, err)
		}
	}
	m := newModel(1, 3, 5, 3, 3, "a", "b", "a", "c")
	if _, err := readBytes(m.bytes(), Options{}); err == nil {
		t.Error("fastText: no error")
	}
	for _, keep := range [][]string{nil, {"a", "b", "c"}} {
		v, err := readBytes(m.bytes(), Options{KeepFirst: true, Words: keep})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{"a", "b", "c"} {
			if got, _ := v.Vector(w); maxDiff(got, m.slowVector(w)) > 1e-6 {
				t.Errorf("fastText: %s is %v, want %v", w, got, m.slowVector(w))
			}
		}
	}
}

func TestNearest(t *testing.T) {
	nan := float32(math.NaN())
	v, err := readBytes([]byte("east 1 0\nzero 0 0\nnorth 0 2\nalso-north 0 1\nwest -3 0\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Nearest([]float32{0, 5}, 3)
	want := []Neighbour{{"north", 1}, {"also-north", 1}, {"east", 0}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if all, _ := v.Nearest([]float32{0, 5}, 99); len(all) != 4 {
		t.Errorf("%d neighbours, want the 4 that are not zero", len(all))
	}
	if none, err := v.Nearest([]float32{0, 5}, 0); err != nil || len(none) != 0 {
		t.Errorf("%v, %v, want none", none, err)
	}
	for name, q := range map[string][]float32{"length": {1}, "zeros": {0, 0}, "NaN": {1, nan}} {
		if _, err := v.Nearest(q, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSubwordOfTextFormat(t *testing.T) {
	v, err := readBytes([]byte("east 4 0\nnorth 0 2\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Subword("east"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Subword of a text file: %v", err)
	}
}

// First keeps the beginning of a file, and adds to Words.
func TestFirst(t *testing.T) {
	table := newTable(3, 4, "a", "b", "c", "d")
	bin := newModel(3, 4, 50, 3, 4, "a", "b", "c", "d")
	for name, b := range map[string][]byte{"fastText": bin.bytes(), "text": append([]byte(table.header()), table.text(" ", "\n")...), "GloVe": table.text(" ", "\n"), "binary": table.binary("\n")} {
		for _, tc := range []struct {
			opts Options
			want []string
		}{
			{Options{First: 2}, []string{"a", "b"}},
			{Options{First: 9}, []string{"a", "b", "c", "d"}},
			{Options{First: 1, Words: []string{"d"}}, []string{"a", "d"}},
		} {
			v, err := readBytes(b, tc.opts)
			if err != nil || !slices.Equal(v.Words(), tc.want) || v.Info().Words != 4 {
				t.Errorf("%s, %+v: %v, %v", name, tc.opts, v, err)
				continue
			}
			if x, _ := v.Vector("a"); name == "fastText" && !slices.Equal(x, bin.slowVector("a")) {
				t.Errorf("%+v: %v, want %v", tc.opts, x, bin.slowVector("a"))
			}
		}
	}
}
