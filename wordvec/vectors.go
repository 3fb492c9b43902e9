package wordvec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

var (
	// ErrUnknown is wrapped by errors about words that have no vector.
	ErrUnknown = errors.New("no vector")
	// ErrQuantised is wrapped by the refusal of a quantised fastText model.
	ErrQuantised = errors.New("quantised fastText model")
)

// Vectors are the words that were kept from a file and their vectors, in the
// order of the file. Nothing changes after reading: any number of goroutines
// may use it.
type Vectors struct {
	info   Info
	words  []string
	rows   [][]float32
	index  map[string]int
	wanted map[string]struct{} // what Options asked for; nil: everything
	first  int                 // words of the file that are kept whatever they are, those to come

	ngrams  *ngrams              // how words are cut up; nil but for fastText .bin
	buckets [][]float32          // the n-gram rows, where everything was kept
	unknown map[string][]float32 // wanted words outside the vocabulary, from n-grams
}

// Info describes a file of word vectors.
type Info struct {
	Name       string // as given to Open or Read
	Format     Format
	Dim        int // numbers a word
	Words      int // in the file
	Kept       int // of them kept
	Duplicates int // later occurrences of a kept word, left out

	// For fastText .bin, else 0: n-grams of MinN to MaxN characters share
	// Buckets rows. MaxN 0 means a model without n-grams.
	MinN, MaxN, Buckets int
	Supervised          bool // trained with labels (fastText .bin)
}

// String is one line for the log.
func (i Info) String() string {
	s := fmt.Sprintf("%s: %s, %d words x %d, %d kept", i.Name, i.Format, i.Words, i.Dim, i.Kept)
	if i.MaxN > 0 {
		s += fmt.Sprintf(", n-grams of %d to %d characters in %d rows", i.MinN, i.MaxN, i.Buckets)
	}
	return s
}

// Info returns what is known about the file.
func (v *Vectors) Info() Info { return v.info }

// Dim returns the length of each vector.
func (v *Vectors) Dim() int { return v.info.Dim }

// Len returns the number of kept words.
func (v *Vectors) Len() int { return len(v.words) }

// Words returns the kept words in the order of the file.
func (v *Vectors) Words() []string { return slices.Clone(v.words) }

// Vector returns the vector of a word that is in the file, spelled exactly so,
// and whether it was kept. The vector aliases v: do not change it.
func (v *Vectors) Vector(word string) ([]float32, bool) {
	i, ok := v.index[word]
	if !ok {
		return nil, false
	}
	return v.rows[i], true
}

// Neighbour is a word near a query.
type Neighbour struct {
	Word   string
	Cosine float64 // -1 to 1
}

// Nearest returns the n kept words whose vectors have the largest cosine with
// q, best first, in the order of the file where equal; fewer than n if no more
// are kept. A vector of zeros is near nothing and is left out. It takes
// O(Len·Dim) time. A q of another length than Dim, of zeros, or with a NaN or
// infinite value is an error.
func (v *Vectors) Nearest(q []float32, n int) ([]Neighbour, error) {
	if len(q) != v.Dim() {
		return nil, fmt.Errorf("nearest: a query of %d numbers, want %d", len(q), v.Dim())
	}
	if i := notFinite(q); i >= 0 {
		return nil, fmt.Errorf("nearest: number %d of the query is %v, want a finite one", i+1, q[i])
	}
	norm := math.Sqrt(dot(q, q))
	if norm == 0 {
		return nil, errors.New("nearest: the query is a vector of zeros, which has no direction")
	}
	var best []Neighbour
	for i, row := range v.rows {
		length := math.Sqrt(dot(row, row))
		if length == 0 {
			continue
		}
		c := dot(q, row) / (norm * length)
		// Behind all that are at least as near: the first of equals stays first.
		at, _ := slices.BinarySearchFunc(best, c, func(b Neighbour, c float64) int {
			if b.Cosine >= c {
				return -1
			}
			return 1
		})
		if at >= n {
			continue
		}
		best = slices.Insert(best, at, Neighbour{v.words[i], c})
		best = best[:min(n, len(best))]
	}
	return best, nil
}

// asked reports whether the options of reading let the word in, so that its
// absence means that the file does not have it.
func (v *Vectors) asked(word string) bool {
	if v.wanted == nil {
		return true
	}
	_, ok := v.wanted[word]
	return ok
}

// add keeps a word. A word that is kept already stays as it was: the same
// vector again changes nothing, another one is an error unless first is set.
func (v *Vectors) add(word string, row []float32, first bool) error {
	if i := notFinite(row); i >= 0 {
		return fmt.Errorf("number %d of word %s is %v, want a finite one", i+1, quote(word), row[i])
	}
	if i, ok := v.index[word]; ok {
		if !first && !slices.Equal(v.rows[i], row) {
			return fmt.Errorf("word %s is here a second time with another vector; set KeepFirst to keep the first", quote(word))
		}
		v.info.Duplicates++
		return nil
	}
	v.index[word] = len(v.words)
	v.words = append(v.words, word)
	v.rows = append(v.rows, row)
	return nil
}

// scaled returns sum / n as float32, or zeros if n is 0.
func scaled(sum []float64, n int) []float32 {
	out := make([]float32, len(sum))
	for j, s := range sum {
		out[j] = float32(s / float64(max(n, 1)))
	}
	return out
}

// dot returns x·y, summed in double precision. Both have one length.
func dot(x, y []float32) float64 {
	var sum float64
	for i, a := range x {
		sum += float64(a) * float64(y[i])
	}
	return sum
}

// notFinite returns the index of the first NaN or infinity, or -1.
func notFinite(x []float32) int {
	return slices.IndexFunc(x, func(a float32) bool {
		return math.Float32bits(a)&0x7f800000 == 0x7f800000
	})
}

// quote is %q cut to a length that an error message can bear.
func quote[T string | []byte](word T) string {
	const longest = 80
	if len(word) <= longest {
		return fmt.Sprintf("%q", word)
	}
	return fmt.Sprintf("%q... (%d bytes)", word[:longest], len(word))
}

// MissingError is the error about words without a vector: it says what could help.
func (v *Vectors) MissingError(words []string) error {
	const most = 10
	var quoted []string
	for _, w := range words[:min(len(words), most)] {
		quoted = append(quoted, strconv.Quote(w))
	}
	list := input.Some(quoted, most, len(words))
	advice := "try another spelling; only a fastText .bin has vectors for unknown words"
	if v.Info().MaxN > 0 {
		advice = fmt.Sprintf("too short for its n-grams of %d to %d characters", v.Info().MinN, v.Info().MaxN)
	}
	return fmt.Errorf("%s has no vector for %s: %s", v.Info().Name, list, advice)
}
