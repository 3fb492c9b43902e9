package feature

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/record"
)

// Names of what a Set keeps in a model file.
const (
	metadataKey      = "features"
	vocabularyTensor = "vocabulary" // U8: n-grams, each ended by a line feed
	idfTensor        = "idf"        // F32, one an n-gram
	meanTensor       = "mean"       // F64, one a numeric column
	scaleTensor      = "scale"      // F64, one a numeric column
)

// setMetadata is the part of a Set that is no array.
type setMetadata struct {
	Kind    string   `json:"kind"` // "text", "numbers" or "sparse"
	Dim     int      `json:"dim"`
	Hashed  bool     `json:"hashed,omitempty"`  // of "text", in old files only: see errHashed
	Columns []string `json:"columns,omitempty"` // of "numbers"
	Fourier int      `json:"fourier,omitempty"` // of "numbers": random Fourier features behind the columns
	Encoder int      `json:"encoder,omitempty"` // of "text": features of a sentence encoder behind the n-grams
	Scale   float64  `json:"encoder_scale,omitempty"`

	Fields *record.Fields `json:"fields,omitempty"` // of "text": the columns, where there are several
}

// Store adds the set to a model file: the metadata entry "features" and, for
// texts, the tensors "vocabulary" and "idf", with a sentence encoder all of it; for numeric columns "mean" and
// "scale".
func (s *Set) Store(f *safetensors.File) error {
	meta := setMetadata{Dim: s.dim, Columns: s.columns, Fourier: s.fourier.dim()}
	switch s.kind {
	case record.Text:
		meta.Kind = "text"
		var vocabulary strings.Builder
		for _, gram := range s.grams {
			vocabulary.WriteString(gram)
			vocabulary.WriteByte('\n') // no n-gram holds white space but ' '
		}
		f.Tensors = append(f.Tensors,
			safetensors.New(vocabularyTensor, []byte(vocabulary.String()), vocabulary.Len()),
			safetensors.New(idfTensor, s.idf, len(s.idf)))
		if s.fields.Several() {
			meta.Fields = &s.fields
		}
		if s.numeric != nil {
			s.numeric.store(f)
		}
		if s.block != nil {
			meta.Encoder, meta.Scale = s.block.dim(), float64(s.block.scale)
			if err := s.block.store(f); err != nil {
				return fmt.Errorf("feature: %w", err)
			}
		}
	case record.Numbers:
		meta.Kind = "numbers"
		f.Tensors = append(f.Tensors,
			safetensors.New(meanTensor, s.mean, len(s.mean)),
			safetensors.New(scaleTensor, s.scale, len(s.scale)))
		if s.fourier != nil {
			s.fourier.store(f)
		}
	default:
		meta.Kind = "sparse"
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("feature: %w", err)
	}
	if f.Metadata == nil {
		f.Metadata = make(map[string]string)
	}
	f.Metadata[metadataKey] = string(text)
	return nil
}

// errHashed says why a model is refused that the quickstart of an older version wrote.
var errHashed = errors.New("feature: the vocabulary holds hashes of n-grams, as in a model of an older version's quickstart; make it again with treeloss quickstart --model")

// Load returns the set that a model file holds, or an error that says what is
// missing or does not fit. What it returns shares memory with f.
func Load(f *safetensors.File) (*Set, error) {
	text, ok := f.Metadata[metadataKey]
	if !ok {
		return nil, fmt.Errorf("feature: no metadata %q, want a model file of treeloss", metadataKey)
	}
	var meta setMetadata
	if err := json.Unmarshal([]byte(text), &meta); err != nil {
		return nil, fmt.Errorf("feature: metadata %q is %.60q: %w", metadataKey, text, err)
	}
	if meta.Dim < 1 || meta.Dim > math.MaxInt32 {
		return nil, fmt.Errorf("feature: %d features, want 1 to %d", meta.Dim, math.MaxInt32)
	}
	s := &Set{dim: meta.Dim}
	var err error
	switch meta.Kind {
	case "text":
		if meta.Hashed {
			return nil, errHashed
		}
		s.kind = record.Text
		if meta.Fields != nil {
			s.fields = *meta.Fields
		}
		if n := len(s.fields.Numbers); n > 0 {
			if s.numeric, err = loadNumberBlock(f, n); err != nil {
				return nil, err
			}
		}
		if err = s.loadTexts(f, meta.Dim-meta.Encoder-s.numeric.dim()); err == nil && meta.Encoder != 0 {
			s.block, err = loadBlock(f, meta.Encoder, meta.Scale)
		}
	case "numbers":
		s.kind, s.columns = record.Numbers, meta.Columns
		err = s.loadNumbers(f, meta.Fourier)
	case "sparse":
		s.kind = record.Sparse
	default:
		err = fmt.Errorf("feature: kind %q, want text, numbers or sparse", meta.Kind)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// loadTexts reads vocabulary and idf of so many n-grams. They must ascend, as those of one block then
// stand together and none comes twice.
func (s *Set) loadTexts(f *safetensors.File, n int) error {
	t, err := f.Tensor(vocabularyTensor)
	if err != nil {
		return err
	}
	vocabulary, err := t.Bytes()
	if err != nil {
		return err
	}
	if n := len(vocabulary); n > 0 && vocabulary[n-1] != '\n' {
		return fmt.Errorf("feature: the vocabulary ends within an n-gram, want a line feed behind each")
	}
	for gram := range strings.Lines(string(vocabulary)) {
		gram = gram[:len(gram)-1]
		if err := s.checkGram(gram); err != nil {
			return fmt.Errorf("feature: n-gram %d of the vocabulary is %.60q, want %w", len(s.grams), gram, err)
		}
		if n := len(s.grams); n > 0 && gram <= s.grams[n-1] {
			return fmt.Errorf("feature: n-gram %d of the vocabulary is %.60q after %.60q, want ascending ones", n, gram, s.grams[n-1])
		}
		s.grams = append(s.grams, gram)
	}
	if n != len(s.grams) {
		return fmt.Errorf("feature: the vocabulary has %d n-grams, want %d", len(s.grams), n)
	}
	s.splitBlocks()
	if t, err = f.Tensor(idfTensor); err != nil {
		return err
	}
	if s.idf, err = t.Float32s(); err != nil {
		return err
	}
	if err := checkNumbers(idfTensor, s.idf, n); err != nil {
		return err
	}
	for i, v := range s.idf {
		if v <= 0 {
			return fmt.Errorf("feature: tensor %q: number %d is %v, want one above 0", idfTensor, i, v)
		}
	}
	return nil
}

// checkGram returns an error that says what an n-gram must be.
func (s *Set) checkGram(gram string) error {
	switch {
	case len(gram) > 0 && gram[0] >= 0x80 && utf8.ValidString(gram):
		return checkFieldGram(gram, s.fields)
	case len(gram) < 2 || gram[0] != charGram && gram[0] != wordGram:
		return fmt.Errorf("%q or %q and some text", charGram, wordGram)
	case !utf8.ValidString(gram):
		return fmt.Errorf("UTF-8")
	}
	return nil
}

// loadNumbers reads mean and scale, one number for each named column, and so many
// Fourier features.
func (s *Set) loadNumbers(f *safetensors.File, fourier int) (err error) {
	if fourier < 0 || fourier > MaxFourier {
		return fmt.Errorf("feature: %d Fourier features, want 0 to %d", fourier, MaxFourier)
	}
	if s.dim-fourier != len(s.columns) {
		return fmt.Errorf("feature: %d names of numeric columns, want %d", len(s.columns), s.dim-fourier)
	}
	if fourier > 0 {
		if s.fourier, err = loadFourier(f, len(s.columns), fourier); err != nil {
			return err
		}
	}
	s.mean, s.scale, err = loadScaling(f, meanTensor, scaleTensor, len(s.columns))
	return err
}

// loadScaling reads the mean and the scale of n columns.
func loadScaling(f *safetensors.File, meanName, scaleName string, n int) (mean, scale []float64, err error) {
	read := func(name string) (x []float64, err error) {
		t, err := f.Tensor(name)
		if err != nil {
			return nil, err
		}
		if x, err = t.Float64s(); err != nil {
			return nil, err
		}
		return x, checkNumbers(name, x, n)
	}
	if mean, err = read(meanName); err != nil {
		return nil, nil, err
	}
	scale, err = read(scaleName)
	return mean, scale, err
}

// checkNumbers returns an error unless x has n finite numbers.
func checkNumbers[T float32 | float64](name string, x []T, n int) error {
	if len(x) != n {
		return fmt.Errorf("feature: tensor %q has %d numbers, want %d", name, len(x), n)
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("feature: tensor %q: number %d is %v, want a finite one", name, i, v)
		}
	}
	return nil
}
