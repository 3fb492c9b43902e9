package encoder

import (
	"math"
	"sync"

	"github.com/treeloss/treeloss/internal/tokenizer"
	"github.com/treeloss/treeloss/matrix"
)

// MaxTokens is the number of tokens that a text is cut to.
const MaxTokens = 512

// maxCharacters bounds what is looked at of a text: most have 512 tokens long before, and a
// book takes no longer than a chapter.
const maxCharacters = 1 << 16

// Static is a static sentence encoder. It is immutable and safe for concurrent use.
type Static struct {
	tokenizer *tokenizer.Tokenizer
	text      []byte        // the tokenizer.json
	rows      *matrix.Dense // R x d
	mapping   []int32       // row of each token, -1 for one that is left out; nil: the token's number
	weight    []float32     // of each token; nil: all 1
	normalize bool
	exponent  int // of a compact one: its rows are half-precision numbers times 2^-exponent
	compact   bool

	pool sync.Pool // of *scratch
}

// scratch is what a call of Encode needs, so that it allocates nothing.
type scratch struct {
	tokens []int32
	sum    []float64
}

// Dim returns d, the length of a vector.
func (s *Static) Dim() int { return s.rows.Columns }

// Tokens returns the number of tokens of the vocabulary.
func (s *Static) Tokens() int { return s.tokenizer.Size() }

// Rows returns R, the number of vectors: less than Tokens where tokens share some.
func (s *Static) Rows() int { return s.rows.Rows() }

// Normalized tells whether vectors have length 1.
func (s *Static) Normalized() bool { return s.normalize }

// Weighted tells whether tokens have weights.
func (s *Static) Weighted() bool { return s.weight != nil }

// Token returns the text of a token from 0 to Tokens()-1.
func (s *Static) Token(id int) string { return s.tokenizer.Token(id) }

// Encode sets out, of length Dim, to the vector of a text and returns how many tokens it
// is the mean of. It sums in float64, in O(length of the text + tokens * Dim), some
// microseconds for a sentence.
func (s *Static) Encode(text string, out []float32) (tokens int) {
	w, _ := s.pool.Get().(*scratch)
	if w == nil {
		w = &scratch{sum: make([]float64, s.Dim())}
	}
	defer s.pool.Put(w)
	ids := s.ids(w, text)
	clear(w.sum)
	for _, id := range ids {
		s.add(w.sum, id)
	}
	factor := 1 / float64(max(len(ids), 1))
	if s.normalize {
		var squares float64
		for _, v := range w.sum {
			squares += v * v
		}
		if factor = 0; squares > 0 {
			factor = 1 / math.Sqrt(squares)
		}
	}
	for j, v := range w.sum {
		out[j] = float32(v * factor)
	}
	return len(ids)
}

// ids returns the tokens of a text that have a vector, valid until the next call.
func (s *Static) ids(w *scratch, text string) []int32 {
	w.tokens = s.tokenizer.Append(w.tokens[:0], cut(text, maxCharacters))
	kept, unknown := w.tokens[:0], int32(s.tokenizer.Unknown())
	for _, id := range w.tokens {
		if len(kept) == MaxTokens {
			break
		}
		if id != unknown && s.row(id) >= 0 {
			kept = append(kept, id)
		}
	}
	return kept
}

// cut returns the first n characters of a text.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}

// row returns the row of a token, -1 for one without.
func (s *Static) row(id int32) int32 {
	if s.mapping != nil {
		return s.mapping[id]
	}
	return id
}

// add adds the weighted vector of a token to a sum.
func (s *Static) add(sum []float64, id int32) {
	w := 1.0
	if s.weight != nil {
		w = float64(s.weight[id])
	}
	for j, v := range s.rows.Row(int(s.row(id)))[:len(sum)] {
		sum[j] += w * float64(v)
	}
}

// Matrix returns the vectors of texts, len(texts) x Dim, one after the other on this
// goroutine.
func (s *Static) Matrix(texts []string) *matrix.Dense {
	out := matrix.NewDense(len(texts), s.Dim())
	for i, text := range texts {
		s.Encode(text, out.Row(i))
	}
	return out
}

// Vectors returns the rows of the vectors and the weights of the tokens, nil where all are
// 1. They are the encoder's own: do not change them.
func (s *Static) Vectors() (rows *matrix.Dense, weight []float32) { return s.rows, s.weight }
