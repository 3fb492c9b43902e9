package wordvec

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// stream generates a word2vec binary file of n words, w0 w1 and so on, without
// holding it.
type stream struct {
	words, dim, next int
	row              []byte
	rest             []byte
	buf              []byte
}

func newStream(words, dim int) *stream {
	s := &stream{words: words, dim: dim}
	rng := rand.New(rand.NewPCG(1, 2))
	for range dim {
		s.row = binary.LittleEndian.AppendUint32(s.row, math.Float32bits(float32(rng.NormFloat64())))
	}
	s.rest = []byte(table{words: make([]string, words), rows: [][]float32{make([]float32, dim)}}.header())
	return s
}

func (s *stream) Read(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(s.rest) == 0 {
			if s.next == s.words {
				break
			}
			s.buf = append(append(append(s.buf[:0], wordNumber(s.next)...), ' '), s.row...)
			s.rest = s.buf
			s.next++
		}
		n := copy(p[done:], s.rest)
		s.rest = s.rest[n:]
		done += n
	}
	if done == 0 {
		return 0, io.EOF
	}
	return done, nil
}

// wordNumber writes n in letters: a to j for the digits.
func wordNumber(n int) string {
	var b []byte
	for {
		b = append(b, 'a'+byte(n%10))
		if n /= 10; n == 0 {
			return string(b)
		}
	}
}

// classNames are k names that the stream's words make, some of two words.
func classNames(k int) []string {
	var names []string
	for i := range k {
		name := wordNumber(37 * i)
		if i%3 == 0 {
			name += "_" + strings.ToUpper(wordNumber(11*i))
		}
		names = append(names, name)
	}
	return names
}

// A file of 60 MB streams through with the memory of its class names.
func TestStreamMemory(t *testing.T) {
	const words, dim = 50_000, 300
	names := classNames(1000)
	used := allocated(func() {
		v, err := Read(context.Background(), newStream(words, dim), "stream", Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		l, err := v.Names(names, UnknownError)
		if err != nil {
			t.Fatal(err)
		}
		if v.Info().Words != words || len(l.Present()) != len(names) {
			t.Errorf("%v", l)
		}
	})
	if used > 20<<20 {
		t.Errorf("%d bytes allocated for 1000 class names", used)
	}
}
