package wordvec

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// These tests read the real files of ../../shared/data, where they are there.

const sharedData = "../../shared/data"

func sharedFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(sharedData, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the real data of ../shared is not beside the repository: no %s", name)
	}
	return path
}

func openShared(t testing.TB, name string, opts Options) *Vectors {
	t.Helper()
	v, err := Open(context.Background(), sharedFile(t, name), opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// numbered reads lines of a word and numbers, or of numbers only.
func numbered(t *testing.T, name string, words bool) (keys []string, rows [][]float32) {
	t.Helper()
	text, err := os.ReadFile(sharedFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, " \n"), " ")
		if words {
			keys, fields = append(keys, fields[0]), fields[1:]
		}
		var row []float32
		for _, f := range fields {
			x, err := strconv.ParseFloat(f, 32)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, float32(x))
		}
		rows = append(rows, row)
	}
	return keys, rows
}

func maxDiff(x, y []float32) float64 {
	if len(x) != len(y) {
		return math.Inf(1)
	}
	var most float64
	for i := range x {
		most = max(most, math.Abs(float64(x[i])-float64(y[i])))
	}
	return most
}

func TestFastTextWordsAsPrinted(t *testing.T) {
	words, want := numbered(t, "label-vectors/fasttext-clinc-expected.txt", true)
	if len(words) != 40 {
		t.Fatalf("%d words, want 40", len(words))
	}
	all := openShared(t, "label-vectors/fasttext-clinc.bin", Options{})
	some := openShared(t, "label-vectors/fasttext-clinc.bin", Options{Words: words})
	for i, word := range words {
		for _, v := range []*Vectors{all, some} {
			got, err := v.Subword(word)
			if err != nil {
				t.Errorf("%q: %v", word, err)
			} else if d := maxDiff(got, want[i]); d > 1e-4 {
				t.Errorf("%q (%d words kept): off by %g", word, v.Len(), d)
			}
			if _, known := v.Vector(word); known != (i < 20) {
				t.Errorf("%q in the vocabulary: %v, want %v", word, known, i < 20)
			}
		}
		a, _ := all.Subword(word)
		b, _ := some.Subword(word)
		if !slices.Equal(a, b) {
			t.Errorf("%q: keeping all and keeping some give other bits", word)
		}
	}
	if some.Len() != 20 {
		t.Errorf("%d words kept, want the 20 of the vocabulary", some.Len())
	}
}

func TestFastTextVecAgreesWithBin(t *testing.T) {
	bin := openShared(t, "label-vectors/fasttext-clinc.bin", Options{})
	vec := openShared(t, "label-vectors/fasttext-clinc.vec", Options{})
	if bin.Len() != 15709 || !slices.Equal(bin.Words(), vec.Words()) {
		t.Fatalf("%d and %d words, want the same 15709", bin.Len(), vec.Len())
	}
	for _, word := range bin.Words() {
		a, _ := bin.Vector(word)
		b, _ := vec.Vector(word)
		for j := range a { // .vec has 5 significant digits
			if math.Abs(float64(a[j]-b[j])) > 1e-4*max(1e-2, math.Abs(float64(a[j]))) {
				t.Fatalf("%q, number %d: %g and %g", word, j, a[j], b[j])
			}
		}
	}
}

func TestWord2VecBinaryAgreesWithText(t *testing.T) {
	bin := openShared(t, "label-vectors/word2vec-imagenet.bin", Options{})
	text := openShared(t, "label-vectors/word2vec-imagenet.txt", Options{})
	if bin.Info().Format != Word2VecBinary || text.Info().Format != Word2VecText {
		t.Fatalf("read as %v and %v", bin.Info().Format, text.Info().Format)
	}
	if bin.Len() != 608 || bin.Dim() != 300 || !slices.Equal(bin.Words(), text.Words()) {
		t.Fatalf("%d x %d and %d words", bin.Len(), bin.Dim(), text.Len())
	}
	for _, word := range bin.Words() {
		a, _ := bin.Vector(word)
		b, _ := text.Vector(word)
		if !slices.Equal(a, b) {
			t.Errorf("%s differs", word)
		}
	}
}

// column returns the distinct values of a column of a CSV file, sorted.
func column(t *testing.T, name, col string) []string {
	t.Helper()
	f, err := os.Open(sharedFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], col)
	var out []string
	for _, row := range rows[1:] {
		out = append(out, row[at])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEmojiLabels(t *testing.T) {
	labels := column(t, "tweets-emoji/val.csv", "label")
	if len(labels) != 20 {
		t.Fatalf("%d labels, want 20", len(labels))
	}
	v := openShared(t, "label-vectors/emoji2vec.bin", Options{Names: labels})
	l, err := v.Names(labels, UnknownError)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Present()) != 20 || v.Len() != 20 {
		t.Errorf("%d labels present, %d words kept, want 20 and 20", len(l.Present()), v.Len())
	}
	for _, n := range l.Names {
		want := n.Label
		if n.Label == "❤" || n.Label == "☀" {
			want += "\uFE0F"
		}
		if len(n.Words) != 1 || n.Words[0].Found != want {
			t.Errorf("%q found as %+v, want %q", n.Label, n.Words, want)
		}
	}
}

// Every key of emoji2vec is found again without its U+FE0F.
func TestEmojiWithoutVariationSelector(t *testing.T) {
	all := openShared(t, "label-vectors/emoji2vec.bin", Options{})
	if all.Len() != 1661 || all.Dim() != 300 {
		t.Fatalf("%d x %d, want 1661 x 300", all.Len(), all.Dim())
	}
	n := 0
	for _, word := range all.Words() {
		plain := strings.ReplaceAll(word, string(variation), "")
		if plain == word {
			continue
		}
		n++
		l, err := all.Names([]string{plain}, UnknownError)
		if err != nil {
			t.Errorf("%q: %v", word, err)
			continue
		}
		// Some keycaps are there twice, with U+FE0F before and after the frame.
		found := l.Names[0].Words[0].Found
		if strings.ReplaceAll(found, string(variation), "") != plain {
			t.Errorf("%q (%+q) was found as %+q", word, word, found)
		}
	}
	if n != 126 {
		t.Errorf("%d keys hold U+FE0F, want 126", n)
	}
}

// The README of the data counts the labels that consist of known words only.
func TestIntentLabels(t *testing.T) {
	for _, tc := range []struct {
		file  string
		known int
		k     int
	}{{"clinc150/val.csv", 143, 150}, {"banking77/test.csv", 70, 77}} {
		labels := column(t, tc.file, "label")
		v := openShared(t, "label-vectors/fasttext-clinc.bin", Options{Names: labels})
		l, err := v.Names(labels, UnknownSubword)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, n := range l.Names {
			if len(n.unknown()) == 0 {
				known++
			}
		}
		if len(labels) != tc.k || known != tc.known || len(l.Present()) != tc.k {
			t.Errorf("%s: %d of %d labels known, want %d of %d:\n%v", tc.file, known, len(labels), tc.known, tc.k, l)
		}
		all := openShared(t, "label-vectors/fasttext-clinc.bin", Options{})
		same, err := all.Names(labels, UnknownSubword)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Vectors.Data, same.Vectors.Data) {
			t.Errorf("%s: label vectors differ between keeping all and keeping what the names need", tc.file)
		}
		if dropped, err := v.Names(labels, UnknownDrop); err != nil || len(dropped.Present()) != tc.known {
			t.Errorf("%s: drop: %v", tc.file, err)
		}
	}
}
