package encoder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Near is a token and the cosine of its vector with another.
type Near struct {
	Token  string  `json:"token"`
	Cosine float64 `json:"cosine"`
}

// Nearest returns the n tokens whose vectors have the largest cosine with the vector of a
// text, best first, of equals the one with the lower number; tokens that make up the text
// are among them. A text without a token that has a vector is an error. With R rows of d
// numbers and t tokens it takes O(R d + t log t).
func (s *Static) Nearest(text string, n int) ([]Near, error) {
	query := make([]float32, s.Dim())
	if s.Encode(text, query) == 0 {
		return nil, fmt.Errorf("%.60q has no token with a vector", text)
	}
	own := length(query)
	if own == 0 {
		return nil, fmt.Errorf("the vector of %.60q is zero, it has no direction", text)
	}
	// By row, as many tokens may share one. Weights do not matter: they change no direction.
	cosine := make([]float64, s.Rows())
	for row := range cosine {
		x := s.rows.Row(row)
		var dot float64
		for j, v := range x {
			dot += float64(v) * float64(query[j])
		}
		if norm := length(x); norm > 0 {
			cosine[row] = dot / (own * norm)
		}
	}
	var all []Near
	for id := range s.Tokens() {
		row := s.row(int32(id))
		if row >= 0 && id != s.tokenizer.Unknown() && s.Token(id) != "" {
			all = append(all, Near{s.Token(id), cosine[row]})
		}
	}
	slices.SortStableFunc(all, func(a, b Near) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return all[:min(n, len(all))], nil
}

// length is the Euclidean norm, summed in float64.
func length(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
