package bert

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// A distilled encoder has, up to a rotation, the vectors that BERT has for its tokens
// alone, with weights by rank; it is the same each time.
func TestDistill(t *testing.T) {
	b := backendtest.Open(t)
	dir, weights := folder(t, vocabulary(plain), tiny, "")
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"freeze", "my", "what's up", "Cards", "freeze"} // the third is cut, the fourth is lower case in a text
	last := 0
	s, left, err := e.Distill(t.Context(), b, DistillOptions{Words: words, Dim: tiny.hidden, Progress: func(done, all int) { last = all - done }})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left, []string{"what's up", "Cards"}) || last != 0 {
		t.Errorf("left out: %q, %d not done", left, last)
	}
	unique := map[string]bool{}
	for _, w := range vocabulary(plain) {
		unique[w] = true
	}
	known := len(unique) - 5 // special tokens
	if s.Dim() != tiny.hidden || !s.Normalized() || s.Tokens() < known || s.Token(0) != "[UNK]" {
		t.Errorf("%d dimensions, %d tokens of %d", s.Dim(), s.Tokens(), known)
	}
	for _, special := range []string{"[CLS]", "[PAD]", "[MASK]"} {
		for id := range s.Tokens() {
			if s.Token(id) == special {
				t.Errorf("%s has a vector", special)
			}
		}
	}
	// Distances between the vectors of two tokens are those of BERT's in float64.
	place := map[string]int{}
	for id := range s.Tokens() {
		place[s.Token(id)] = id
	}
	vector := func(token string) []float64 {
		input, err := e.Tokens(token, 20)
		if err != nil {
			t.Fatal(err)
		}
		return reference(weights, tiny, input)
	}
	rows, factor := s.Vectors()
	distance := func(a, b []float64) (sum float64) {
		for j := range a {
			sum += (a[j] - b[j]) * (a[j] - b[j])
		}
		return math.Sqrt(sum)
	}
	row := func(token string) (out []float64) {
		for _, v := range rows.Row(place[token]) {
			out = append(out, float64(v))
		}
		return out
	}
	for _, pair := range [][2]string{{"a", "b"}, {"freeze", "a"}, {"freeze", ","}} {
		got, want := distance(row(pair[0]), row(pair[1])), distance(vector(pair[0]), vector(pair[1]))
		if math.Abs(got-want) > 1e-4*want || want == 0 {
			t.Errorf("%q are %v apart, want %v", pair, got, want)
		}
	}
	// The variance falls from one component to the next.
	var variance []float64
	for j := range s.Dim() {
		var sum float64
		for id := 1; id < s.Tokens(); id++ {
			sum += float64(rows.Row(id)[j]) * float64(rows.Row(id)[j])
		}
		variance = append(variance, -sum)
	}
	if !slices.IsSorted(variance) {
		t.Errorf("variances %v", variance)
	}
	// freeze is the first of the words: p = 1 / (1 * sum of 1/r).
	var harmonic float64
	for r := range known {
		harmonic += 1 / float64(r+1)
	}
	if want := DefaultSIF / (DefaultSIF + 1/harmonic); math.Abs(float64(factor[place["freeze"]])-want) > 1e-3*want {
		t.Errorf("weight %v, want %v", factor[place["freeze"]], want)
	}
	// Fewer tokens, fewer dimensions; written and read it is the same.
	small, _, err := e.Distill(t.Context(), b, DistillOptions{Tokens: 20, Dim: 7})
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := e.Distill(t.Context(), b, DistillOptions{Tokens: 20, Dim: 7})
	if err != nil || small.Tokens() != 21 || small.Dim() != 7 || small.Fingerprint() != again.Fingerprint() {
		t.Errorf("%d tokens, %d dimensions, %v", small.Tokens(), small.Dim(), err)
	}
}

func TestDistillRefuses(t *testing.T) {
	b := backendtest.Open(t)
	dir, _ := folder(t, vocabulary(plain), tiny, "")
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []DistillOptions{{Tokens: -1}, {Dim: -1}, {SIF: -1}} {
		if _, _, err := e.Distill(t.Context(), b, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := e.Distill(stopped, b, DistillOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	e.texts[tokenizerFile] = strings.Replace(e.texts[tokenizerFile], `"type":"WordPiece","unk`, `"type":"BPE","unk`, 1)
	e.texts[tokenizerFile] = strings.Replace(e.texts[tokenizerFile], `"type":"WordPiece","vocab`, `"type":"BPE","vocab`, 1)
	if _, _, err := e.Distill(t.Context(), b, DistillOptions{}); err == nil || !strings.Contains(err.Error(), "want WordPiece") {
		t.Errorf("BPE: %v", err)
	}
}
