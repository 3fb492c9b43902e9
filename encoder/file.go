package encoder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/half"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// Names of what an encoder keeps in a model file.
const (
	metadataKey     = "encoder"
	rowsTensor      = "encoder_rows"      // F16, R x d, times 2^-exponent
	mappingTensor   = "encoder_mapping"   // I32, row of each token, -1 for none
	weightTensor    = "encoder_weight"    // F32, of each token; optional
	tokenizerTensor = "encoder_tokenizer" // U8, the tokenizer.json
)

// metadata is the part of an encoder that is no array, JSON under metadataKey.
type metadata struct {
	Dim       int  `json:"dim"`
	Normalize bool `json:"normalize"`
	Exponent  int  `json:"exponent"`
}

// Compact returns the encoder as a model file keeps it: without the rows that no token
// has, nor that of the unknown one, in half precision. The rows are scaled by the power
// of two at which the largest number is from 2^14 to 2^15, so that small ones keep their
// digits; a number differs by at most 2^-12 of itself, or 2^-40 of the largest. All other
// rows stay, also of tokens that no training text has: new texts will have some. A compact
// encoder is itself.
func (s *Static) Compact() *Static {
	if s.compact {
		return s
	}
	c := &Static{tokenizer: s.tokenizer, text: s.text, normalize: s.normalize, compact: true, rows: &matrix.Dense{Columns: s.Dim()}}
	n := s.tokenizer.Size()
	if s.weight != nil {
		c.weight = s.weight[:n]
	}
	c.mapping = make([]int32, n)
	// Rows are numbered anew in the order of the tokens that use them first, so that two
	// encoders with the same vectors for the same tokens have one fingerprint.
	moved := make([]int32, s.rows.Rows()) // 1 + new number of a row; 0: none yet
	var largest float64
	kept := int32(0)
	for id := range c.mapping {
		c.mapping[id] = -1
		row := s.row(int32(id))
		if row < 0 || id == s.tokenizer.Unknown() || s.Token(id) == "" {
			continue
		}
		if moved[row] == 0 {
			kept++
			moved[row] = kept
			for _, v := range s.rows.Row(int(row)) {
				largest = max(largest, math.Abs(float64(v)))
			}
		}
		c.mapping[id] = moved[row] - 1
	}
	if largest > 0 { // a half-precision number has up to 65504, below 2^16
		c.exponent = max(-maxExponent, min(maxExponent, 14-math.Ilogb(largest)))
	}
	if kept == 0 { // only the unknown token: a row of zeros that nobody has
		kept = 1
	}
	c.rows.Data = make([]float32, int(kept)*s.Dim())
	up, down := powers(c.exponent)
	for row, to := range moved {
		if to == 0 {
			continue
		}
		out := c.rows.Row(int(to - 1))
		for j, v := range s.rows.Row(row) {
			out[j] = half.Float32(half.Round(v*up)) * down
		}
	}
	return c
}

// maxExponent keeps a power of two within what a float32 can have, 2^-126 to 2^127.
const maxExponent = 100

// powers returns 2^e and 2^-e.
func powers(e int) (up, down float32) {
	return float32(math.Ldexp(1, e)), float32(math.Ldexp(1, -e))
}

// Store adds a compact encoder to a model file: the metadata entry "encoder" and tensors
// whose names begin with encoder_, 2 R d bytes and the tokenizer. Rounding is what Compact
// did: Load gives the same numbers, and storing these the same bytes.
func (s *Static) Store(f *safetensors.File) error {
	s = s.Compact()
	bits := make([]uint16, len(s.rows.Data))
	up, _ := powers(s.exponent)
	for i, v := range s.rows.Data {
		bits[i] = half.Round(v * up)
	}
	text, err := json.Marshal(metadata{s.Dim(), s.normalize, s.exponent})
	if err != nil {
		return err
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[metadataKey] = string(text)
	f.Tensors = append(f.Tensors,
		safetensors.Float16(rowsTensor, bits, s.rows.Rows(), s.Dim()),
		safetensors.New(mappingTensor, s.mapping, len(s.mapping)),
		safetensors.New(tokenizerTensor, s.text, len(s.text)))
	if s.weight != nil {
		f.Tensors = append(f.Tensors, safetensors.New(weightTensor, s.weight, len(s.weight)))
	}
	return nil
}

// Load returns the encoder that a model file holds, as Compact made it, in 4 R d bytes. Parts
// that are missing or do not fit each other are errors that name the tensor.
func Load(f *safetensors.File) (*Static, error) {
	var m metadata
	if err := json.Unmarshal([]byte(f.Metadata[metadataKey]), &m); err != nil {
		return nil, fmt.Errorf("metadata %q is %.60q: %w", metadataKey, f.Metadata[metadataKey], input.JSON(err))
	}
	s := &Static{normalize: m.Normalize, exponent: m.Exponent, compact: true}
	var parts [3]*safetensors.Tensor
	for i, name := range []string{rowsTensor, mappingTensor, tokenizerTensor} {
		var err error
		if parts[i], err = f.Tensor(name); err != nil {
			return nil, err
		}
	}
	bits, err := parts[0].Halfs()
	if err != nil {
		return nil, err
	}
	if shape := parts[0].Shape; len(shape) != 2 || shape[0] < 1 || shape[1] < 1 || shape[1] != m.Dim {
		return nil, fmt.Errorf("tensor %q has the shape %v, want rows x %d", rowsTensor, shape, m.Dim)
	}
	s.rows = &matrix.Dense{Columns: m.Dim, Data: make([]float32, len(bits))}
	if m.Exponent < -maxExponent || m.Exponent > maxExponent {
		return nil, fmt.Errorf("metadata %q has the exponent %d, want %d to %d", metadataKey, m.Exponent, -maxExponent, maxExponent)
	}
	_, down := powers(m.Exponent)
	for i, h := range bits {
		s.rows.Data[i] = half.Float32(h) * down // exact
	}
	if s.mapping, err = parts[1].Int32s(); err != nil {
		return nil, err
	}
	text, err := parts[2].Bytes()
	if err != nil {
		return nil, err
	}
	if err := s.setTokenizer(text); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", tokenizerTensor, err)
	}
	if t := find(f, weightTensor); t != nil {
		if s.weight, err = t.Float32s(); err != nil {
			return nil, err
		}
	}
	return s, s.check()
}

// Fingerprint is the SHA-256, in hexadecimal, of the encoder as a model file has it: of two
// with the same one all texts have the same features. It makes that file in memory, 2 R d
// bytes and the time of a Compact.
func (s *Static) Fingerprint() string {
	f := &safetensors.File{}
	if err := s.Store(f); err != nil {
		return "" // of three plain fields as JSON, which cannot fail
	}
	sum := sha256.New()
	sum.Write([]byte(f.Metadata[metadataKey]))
	for _, t := range f.Tensors {
		fmt.Fprint(sum, t.Name, t.Shape) // the name and the size go before each part
		sum.Write(t.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Bytes returns about how many bytes the encoder takes, in memory or in a model file: of
// float32 and half-precision numbers, and of the tokenizer, whose maps take some eight times
// its text in memory.
func (s *Static) Bytes() (memory, file int64) {
	n := int64(len(s.rows.Data))
	rest := int64(len(s.text)) + 4*int64(len(s.mapping)+len(s.weight))
	return 4*n + 8*rest, 2*n + rest
}

// Equal tells whether two encoders have the same tokenizer, vectors and weights, so that
// every text has the same vector.
func (s *Static) Equal(other *Static) bool {
	return s == other || s.normalize == other.normalize && bytes.Equal(s.text, other.text) && s.rows.Columns == other.rows.Columns &&
		slices.Equal(s.rows.Data, other.rows.Data) && slices.Equal(s.mapping, other.mapping) && slices.Equal(s.weight, other.weight)
}
