package encoder

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Word vectors are an encoder: words count by the inverse of their frequency, and what no
// text is cut into is left out.
func TestOpenWords(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "v.vec")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("5 2\nthe 1 0\ndon't 5 5\ncard 0 2\nlost 1 1\n, 0 1\n")
	s, err := OpenAny(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Tokens() != 5 || s.Dim() != 2 || !s.Weighted() || !s.Normalized() {
		t.Errorf("%+v", s.Info())
	}
	sum := 1 + 1./2 + 1./3 + 1./4 + 1./5
	w := func(rank float64) float64 { return 1e-3 / (1e-3 + 1/(rank*sum)) }
	x, y := w(1)+w(4), 2*w(3)+w(4) // the, lost; card, lost
	got := make([]float32, 2)
	if n := s.Encode("The LOST card xyzzy", got); n != 3 || math.Abs(float64(got[0])-x/math.Hypot(x, y)) > 1e-6 || math.Abs(float64(got[1])-y/math.Hypot(x, y)) > 1e-6 {
		t.Errorf("%d words: %v, want %v, %v", n, got, x/math.Hypot(x, y), y/math.Hypot(x, y))
	}
	// With capitals in the file they count in texts.
	if s, err = OpenAny(t.Context(), write("2 1\nCard 1\ncard 2\n")); err != nil || s.Encode("CARD card", got[:1]) != 1 {
		t.Errorf("capitals: %v", err)
	}
	var long strings.Builder
	for i := range MaxWords + 10 {
		fmt.Fprintf(&long, "w%d 1 2\n", i)
	}
	if s, err = OpenAny(t.Context(), write(long.String())); err != nil || s.Tokens() != MaxWords+1 {
		t.Errorf("a long file: %v", err)
	}
	for _, bad := range []string{"", "x", "1 2\ndon't 1 2\n", "2 2\nthe 1 0\n", "1 1\nthe NaN\n"} {
		if _, err := OpenAny(t.Context(), write(bad)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := OpenAny(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("what is not there is opened")
	}
}
