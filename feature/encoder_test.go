package feature

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// testEncoder has random vectors of words, [UNK] the first, and their numbers.
func testEncoder(t testing.TB, dim int, words ...string) *encoder.Static {
	t.Helper()
	vocab := map[string]int{"[UNK]": 0}
	for _, w := range words {
		vocab[w] = len(vocab)
	}
	text, err := json.Marshal(map[string]any{"normalizer": map[string]any{"type": "Lowercase"}, "pre_tokenizer": map[string]any{"type": "Whitespace"},
		"model": map[string]any{"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(dim), 7))
	rows := matrix.NewDense(len(vocab), dim)
	for i := range rows.Data {
		rows.Data[i] = float32(rng.NormFloat64())
	}
	e, err := encoder.New(text, rows, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var encoded = []string{"my card is lost", "the card", "lost purse", "zzz", "", "My CARD is lost!"}

func encodedTable(t testing.TB, e *encoder.Static) (*Table, []int) {
	t.Helper()
	table := NewTable(record.Text, nil)
	if e != nil {
		if err := table.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	var rows []int
	for i, text := range encoded {
		table.AddText(text)
		rows = append(rows, i)
	}
	return table, rows
}

// The block behind the n-grams is s (v - c) / |v - c|, and the n-grams are what they are
// without it.
func TestEncoderBlock(t *testing.T) {
	e := testEncoder(t, 6, "my", "card", "is", "lost", "purse", "the")
	table, rows := encodedTable(t, e)
	bare, _ := encodedTable(t, nil)
	plain, err := bare.Fit(rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := plain.Matrix(bare, rows)
	for _, scale := range []float64{0, 3} {
		s, err := table.Fit(rows[:3], Options{EncoderScale: scale})
		if err != nil {
			t.Fatal(err)
		}
		if scale == 0 {
			scale = DefaultEncoderScale
		}
		if got := s.EncoderScale(); math.Abs(got-scale) > 1e-6 || s.Dim() != len(s.grams)+6 || s.Name(s.Dim()-1) != "encoder 6" {
			t.Errorf("scale %v, %d features, the last is %s", got, s.Dim(), s.Name(s.Dim()-1))
		}
		// In float64, from the compact encoder: its vectors are what a model file has.
		v := e.Compact().Matrix(encoded)
		center := make([]float64, 6)
		for i := range 3 {
			for j, x := range v.Row(i) {
				center[j] += float64(x) / 3
			}
		}
		x, err := s.Matrix(table, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			index, value := x.(*matrix.Sparse).Row(i)
			n, _ := slices.BinarySearch(index, int32(len(s.grams)))
			block := value[n:]
			if i == 3 || i == 4 { // no token
				if len(block) > 0 {
					t.Errorf("%q has a block %v", encoded[i], block)
				}
				continue
			}
			var norm float64
			for j, c := range center {
				norm += (float64(v.Row(i)[j]) - c) * (float64(v.Row(i)[j]) - c)
			}
			for j, c := range center {
				if want := scale * (float64(v.Row(i)[j]) - c) / math.Sqrt(norm); math.Abs(float64(block[j])-want) > 1e-5 || index[n+j] != int32(len(s.grams)+j) {
					t.Fatalf("%q: %v at %d, want %v", encoded[i], block[j], index[n+j], want)
				}
			}
		}
	}
	// Less than 0 leaves the block out, and alone the n-grams.
	none, err := table.Fit(rows, Options{EncoderScale: -1})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := none.Matrix(table, rows)
	if !equalSparse(got.(*matrix.Sparse), want.(*matrix.Sparse)) || none.EncoderScale() != 0 {
		t.Error("without the block the n-grams are others")
	}
	alone, err := table.Fit(rows, Options{EncoderAlone: true})
	if err != nil || alone.Dim() != 6 || alone.Name(0) != "encoder 1" {
		t.Errorf("alone: %d features, %v", alone.Dim(), err)
	}
	// Without an encoder the options have no effect.
	if s, err := bare.Fit(rows, Options{EncoderAlone: true, EncoderScale: 4}); err != nil || s.Dim() != plain.Dim() {
		t.Errorf("no encoder: %v", err)
	}
}

func equalSparse(a, b *matrix.Sparse) bool {
	return a.Columns == b.Columns && slices.Equal(a.Start, b.Start) && slices.Equal(a.Index, b.Index) && slices.Equal(a.Value, b.Value)
}

// A new text has the row of the table, bit for bit, from the fitted set and from a file.
func TestEncoderRows(t *testing.T) {
	e := testEncoder(t, 5, "my", "card", "lost", "purse")
	table, rows := encodedTable(t, e)
	for _, opts := range []Options{{}, {EncoderAlone: true, EncoderScale: 2}, {EncoderScale: -1}} {
		s, err := table.Fit(rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Matrix(table, rows)
		if err != nil {
			t.Fatal(err)
		}
		f := &safetensors.File{}
		if err := s.Store(f); err != nil {
			t.Fatal(err)
		}
		back, err := Load(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []*Set{s, back} {
			r := NewRower(set)
			for i, text := range encoded {
				index, value, err := r.Row(record.Example{Text: text})
				wantIndex, want := x.(*matrix.Sparse).Row(i)
				if err != nil || index == nil || !slices.Equal(index, wantIndex) || !slices.Equal(value, want) {
					t.Fatalf("%+v: %q: %v %v, %v, want %v %v", opts, text, index, value, err, wantIndex, want)
				}
			}
		}
		// Features of the same encoder go on from one set to another.
		match, err := s.Match(back)
		if err != nil {
			t.Fatal(err)
		}
		for f, g := range match {
			if f != int(g) {
				t.Fatalf("%+v: feature %d is %d in the file", opts, f, g)
			}
		}
		other, _ := encodedTable(t, testEncoder(t, 5, "my", "card", "lost", "cheque"))
		o, err := other.Fit(rows, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if match, err = s.Match(o); err != nil || opts.EncoderScale >= 0 && match[s.Dim()-1] != -1 {
			t.Errorf("%+v: of another encoder: %v, %v", opts, match, err)
		}
		if opts.EncoderScale >= 0 {
			if _, err := s.Matrix(other, rows); err == nil {
				t.Error("vectors of another encoder are taken")
			}
		}
	}
	for _, bad := range []*Table{NewTable(record.Numbers, nil), table} {
		if err := bad.Encode(e); err == nil {
			t.Errorf("an encoder for %d rows of %v", bad.Rows(), bad.Kind())
		}
	}
}

func TestEncoderDamaged(t *testing.T) {
	table, rows := encodedTable(t, testEncoder(t, 4, "my", "card"))
	s, err := table.Fit(rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ from, to string }{
		{`"encoder":4`, `"encoder":3`},
		{`"encoder":4`, `"encoder":-4`},
		{`"encoder":4`, fmt.Sprintf(`"encoder":%d`, math.MaxInt32)},
		{`"encoder_scale":`, `"encoder_scale":-`},
	} {
		f := &safetensors.File{}
		if err := s.Store(f); err != nil {
			t.Fatal(err)
		}
		text := f.Metadata[metadataKey]
		if f.Metadata[metadataKey] = strings.Replace(text, tc.from, tc.to, 1); f.Metadata[metadataKey] == text {
			t.Fatalf("%s has no %s", text, tc.from)
		}
		if _, err := Load(f); err == nil {
			t.Errorf("%s is loaded", tc.to)
		}
	}
}

func TestEncodeNames(t *testing.T) {
	e := testEncoder(t, 4, "lost", "card", "purse")
	x := EncodeNames(e, []string{"lost_card", "LostPurse", "zzz"})
	if x == nil || math.Abs(x.SquaredNorm(0)-1) > 1e-5 || math.Abs(x.SquaredNorm(1)-1) > 1e-5 || x.SquaredNorm(2) != 0 {
		t.Errorf("%v", x)
	}
	// Less their mean, two are opposite.
	if c := matrix.Cosine(x, 0, 1); math.Abs(c+1) > 1e-5 {
		t.Errorf("cosine %v", c)
	}
	for _, names := range [][]string{{"a", "b"}, {"card", "Card"}} {
		if x := EncodeNames(e, names); x != nil {
			t.Errorf("%q: %v", names, x)
		}
	}
}
