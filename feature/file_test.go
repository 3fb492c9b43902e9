package feature

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/safetensors"
)

func TestStoreAndLoad(t *testing.T) {
	accents := NewTable(dataset.Text, nil)
	tables := map[string]*Table{"accents": accents}
	for _, kind := range kinds() {
		tables[kind.String()], _ = randomTable(t, kind, 30, 8)
	}
	for i := range 30 {
		accents.AddText(strings.Repeat("card ", i%3) + "été")
	}
	for name, table := range tables {
		t.Run(name, func(t *testing.T) {
			s := fit(t, table, 2, 3, 5, 8)
			var file safetensors.File
			if err := s.Store(&file); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := safetensors.Write(&out, &file); err != nil {
				t.Fatal(err)
			}
			read, err := safetensors.Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Load(read)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind() != s.Kind() || got.Dim() != s.Dim() || !reflect.DeepEqual(got.Columns(), s.Columns()) {
				t.Errorf("loaded %v with %d features, want %v with %d", got.Kind(), got.Dim(), s.Kind(), s.Dim())
			}
			for j := range s.Dim() {
				if got.Name(j) != s.Name(j) {
					t.Fatalf("feature %d is called %s, want %s", j, got.Name(j), s.Name(j))
				}
			}
			a, b := rowsOf(t, s, table, 0, 2, 29), rowsOf(t, got, table, 0, 2, 29)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("rows by the loaded features %v, want %v", b, a)
			}
		})
	}
}

// textFile returns a file of text features made by hand.
func textFile(meta, vocabulary string, idf ...float32) *safetensors.File {
	return &safetensors.File{
		Metadata: map[string]string{metadataKey: meta},
		Tensors: []safetensors.Tensor{
			safetensors.New(vocabularyTensor, []byte(vocabulary), len(vocabulary)),
			safetensors.New(idfTensor, idf, len(idf)),
		},
	}
}

func numbersFile(meta string, mean, scale []float64) *safetensors.File {
	return &safetensors.File{
		Metadata: map[string]string{metadataKey: meta},
		Tensors: []safetensors.Tensor{
			safetensors.New(meanTensor, mean, len(mean)),
			safetensors.New(scaleTensor, scale, len(scale)),
		},
	}
}

func TestLoadRefuses(t *testing.T) {
	const two = `{"kind":"text","dim":2}`
	nan := float32(math.NaN())
	wrongTypes := textFile(two, "ca\ncb\n", 1, 1)
	wrongTypes.Tensors[0].DType, wrongTypes.Tensors[0].Shape = "I8", []int{6}
	noIDF := textFile(two, "ca\ncb\n")
	noIDF.Tensors = noIDF.Tensors[:1]
	wrongIDF := textFile(two, "ca\ncb\n", 1, 1)
	wrongIDF.Tensors[1] = safetensors.New(idfTensor, []int32{1, 1}, 2)
	wrongMean := numbersFile(`{"kind":"numbers","dim":1,"columns":["x"]}`, nil, nil)
	wrongMean.Tensors[0] = safetensors.New(meanTensor, []float32{1}, 1)
	for _, tc := range []struct {
		name string
		file *safetensors.File
		want string
	}{
		{"another program's file", &safetensors.File{}, `no metadata "features"`},
		{"no JSON", textFile("{", ""), `metadata "features" is "{"`},
		{"JSON of another kind", textFile(`[1]`, ""), "cannot unmarshal"},
		{"unknown kind", textFile(`{"kind":"image","dim":1}`, ""), `kind "image", want text, numbers or sparse`},
		{"no features", textFile(`{"kind":"text"}`, ""), "0 features, want 1 to"},
		{"negative dim", textFile(`{"kind":"sparse","dim":-1}`, ""), "-1 features"},
		{"dim beyond int32", textFile(`{"kind":"sparse","dim":2147483648}`, ""), "2147483648 features"},
		{"no tensors", &safetensors.File{Metadata: map[string]string{metadataKey: two}}, `no tensor "vocabulary"`},
		{"vocabulary of another type", wrongTypes, "want U8"},
		{"cut vocabulary", textFile(two, "ca\ncb", 1, 1), "ends within an n-gram"},
		{"fewer n-grams", textFile(two, "ca\n", 1), "1 n-grams, want 2"},
		{"no idf", noIDF, `no tensor "idf"`},
		{"idf of another type", wrongIDF, "type I32"},
		{"fewer weights", textFile(two, "ca\ncb\n", 1), `"idf" has 1 numbers, want 2`},
		{"a weight is NaN", textFile(two, "ca\ncb\n", 1, nan), "number 1 is NaN"},
		{"out of order", textFile(two, "cb\nca\n", 1, 1), `n-gram 1 of the vocabulary is "ca" after "cb"`},
		{"an n-gram twice", textFile(two, "ca\nca\n", 1, 1), "want ascending"},
		{"empty n-gram", textFile(two, "\nca\n", 1, 1), `n-gram 0 of the vocabulary is ""`},
		{"unknown block", textFile(two, "ca\nxa\n", 1, 1), `n-gram 1 of the vocabulary is "xa", want 'c' or 'w' and some text`},
		{"not UTF-8", textFile(two, "c\xff\ncb\n", 1, 1), "want UTF-8"},
		{"hashes of n-grams", textFile(`{"kind":"text","dim":1,"hashed":true}`, "c01234567\n", 1), "make it again with treeloss quickstart"},
		{"columns missing", numbersFile(`{"kind":"numbers","dim":2,"columns":["x"]}`, []float64{1, 2}, []float64{1, 2}), "1 names of numeric columns, want 2"},
		{"means missing", numbersFile(`{"kind":"numbers","dim":1,"columns":["x"]}`, nil, []float64{1}), `"mean" has 0 numbers, want 1`},
		{"scales missing", numbersFile(`{"kind":"numbers","dim":1,"columns":["x"]}`, []float64{1}, nil), `"scale" has 0 numbers, want 1`},
		{"infinite scale", numbersFile(`{"kind":"numbers","dim":1,"columns":["x"]}`, []float64{1}, []float64{math.Inf(1)}), "number 0 is +Inf"},
		{"means of another type", wrongMean, "want F64"},
		{"no means", &safetensors.File{Metadata: map[string]string{metadataKey: `{"kind":"numbers","dim":1,"columns":["x"]}`}}, `no tensor "mean"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := Load(tc.file)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if s != nil {
				t.Error("a set comes with the error")
			}
		})
	}
}

// Whatever a file holds, Load refuses it or returns features that work.
func FuzzLoad(f *testing.F) {
	f.Add(`{"kind":"text","dim":2}`, []byte("ca\nwb\n"), []byte{0, 0, 128, 63, 0, 0, 128, 63})
	f.Add(`{"kind":"text","dim":1,"hashed":true}`, []byte("c0011aabb\n"), []byte{0, 0, 128, 63})
	f.Add(`{"kind":"numbers","dim":1,"columns":["x"]}`, []byte{0, 0, 0, 0, 0, 0, 240, 63}, []byte{0, 0, 0, 0, 0, 0, 240, 63})
	f.Add(`{"kind":"sparse","dim":3}`, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, meta string, a, b []byte) {
		file := &safetensors.File{Metadata: map[string]string{metadataKey: meta}, Tensors: []safetensors.Tensor{
			{Name: vocabularyTensor, DType: safetensors.U8, Shape: []int{len(a)}, Data: a},
			{Name: idfTensor, DType: safetensors.F32, Shape: []int{len(b) / 4}, Data: b[:len(b)/4*4]},
			{Name: meanTensor, DType: safetensors.F64, Shape: []int{len(a) / 8}, Data: a[:len(a)/8*8]},
			{Name: scaleTensor, DType: safetensors.F64, Shape: []int{len(b) / 8}, Data: b[:len(b)/8*8]},
		}}
		s, err := Load(file)
		if err != nil {
			return
		}
		_, _ = s.Name(0), s.Name(s.Dim()-1)
		var e dataset.Example
		switch s.Kind() {
		case dataset.Text:
			e.Text = "a b card"
		case dataset.Numbers:
			e.Values = make([]float64, s.Dim())
		default:
			e.Index, e.Values = []int32{0, 1 << 20}, []float64{1, 2}
		}
		index, _, err := NewRower(s).Row(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range index {
			if j < 0 || int(j) >= s.Dim() {
				t.Fatalf("feature %d of %d", j, s.Dim())
			}
		}
		var again safetensors.File
		if err := s.Store(&again); err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(again.Metadata[metadataKey])) {
			t.Fatalf("metadata %q", again.Metadata[metadataKey])
		}
		if got, err := Load(&again); err != nil || got.Dim() != s.Dim() {
			t.Fatalf("stored and loaded again: %v", err)
		}
	})
}
