package wordvec

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
)

// model is a fastText model that the tests write.
type model struct {
	table            // the rows of the words
	labels           []string
	buckets          [][]float32
	minN, maxN       int32
	version, kind    int32 // 0: 12, skipgram
	pruned           int64 // 0: -1, not pruned
	quantised        bool
	bucketsInArgs    int32 // 0: len(buckets)
	dictWords, extra int32 // added to what the dictionary promises
}

func (m model) bytes() []byte {
	b := []byte{}
	put := func(values ...any) {
		for _, x := range values {
			b, _ = binary.Append(b, binary.LittleEndian, x)
		}
	}
	or := func(x, otherwise int32) int32 {
		if x == 0 {
			return otherwise
		}
		return x
	}
	put(fastTextHead{
		Magic: fastTextMagic, Version: or(m.version, 12), Dim: int32(m.dim()), Model: or(m.kind, 2),
		Bucket: or(m.bucketsInArgs, int32(len(m.buckets))), MinN: m.minN, MaxN: m.maxN,
	})
	pruned := m.pruned
	if pruned == 0 {
		pruned = -1
	}
	put(int32(len(m.words)+len(m.labels))+m.extra, int32(len(m.words))+m.dictWords, int32(len(m.labels)), int64(1000), pruned)
	for kind, words := range [][]string{m.words, m.labels} {
		for _, w := range words {
			put([]byte(w), byte(0), int64(7), int8(kind))
		}
	}
	put(m.quantised, int64(len(m.words)+len(m.buckets)), int64(m.dim()))
	for _, row := range slices.Concat(m.rows, m.buckets) {
		put(row)
	}
	return b
}

// slowVector is fastText's word vector by way of strings: the n-grams of
// characters of <word>, hashed by the library's FNV-1a where the bytes are
// ASCII, and by the definition where they are not.
func (m model) slowVector(word string) []float32 {
	sum := make([]float64, m.dim())
	n := 0
	if i := slices.Index(m.words, word); i >= 0 {
		addTo(sum, m.rows[i])
		n++
	}
	chars := strings.Split("<"+word+">", "")
	for i := range chars {
		for j := i + 1; j <= len(chars); j++ {
			gram := strings.Join(chars[i:j], "")
			if size := int32(j - i); word == "</s>" || size < m.minN || size > m.maxN || size == 1 && (i == 0 || j == len(chars)) {
				continue
			}
			h := fnv.New32a()
			h.Write([]byte(gram))
			hash := h.Sum32()
			if strings.IndexFunc(gram, func(r rune) bool { return r > 127 }) >= 0 {
				hash = 2166136261
				for _, c := range []byte(gram) {
					signed := int32(c)
					if c > 127 {
						signed -= 256
					}
					hash = (hash ^ uint32(signed)) * 16777619
				}
			}
			addTo(sum, m.buckets[hash%uint32(len(m.buckets))])
			n++
		}
	}
	return scaled(sum, n)
}

func newModel(seed uint64, dim, buckets int, minN, maxN int32, words ...string) model {
	return model{table: newTable(seed, dim, words...), buckets: newTable(seed+1, dim, make([]string, buckets)...).rows, minN: minN, maxN: maxN}
}

func TestFastText(t *testing.T) {
	vocabulary := []string{"</s>", "bank", "card", "zürich", "🦄", "a"}
	unknown := []string{"banks", "b", "ß", "🦄🦄", "Ελλάδα", "<", "co-payment"}
	for _, tc := range []struct {
		name string
		m    model
	}{
		{"the defaults of skipgram", newModel(1, 4, 50, 3, 6, vocabulary...)},
		{"single characters, without the brackets", newModel(2, 4, 7, 1, 2, vocabulary...)},
		{"minn 0 counts as 1", newModel(3, 4, 7, 0, 3, vocabulary...)},
		{"few long n-grams", newModel(4, 3, 1000, 5, 5, vocabulary...)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := readBytes(tc.m.bytes(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			some, err := readBytes(zstded(tc.m.bytes()), Options{Words: slices.Concat(vocabulary[1:], unknown)})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(all.Words(), vocabulary) || !slices.Equal(some.Words(), vocabulary[1:]) {
				t.Fatalf("words %q and %q", all.Words(), some.Words())
			}
			for _, w := range slices.Concat(vocabulary[1:], unknown) {
				want := tc.m.slowVector(w)
				for _, v := range []*Vectors{all, some} {
					got, err := v.Subword(w)
					if errors.Is(err, ErrUnknown) {
						got = make([]float32, tc.m.dim()) // as fastText
					} else if err != nil {
						t.Fatal(err)
					}
					if maxDiff(got, want) > 1e-6 {
						t.Errorf("%q: %v, want %v", w, got, want)
					}
				}
			}
			if got, _ := all.Vector("</s>"); !slices.Equal(got, tc.m.rows[0]) {
				t.Error("</s> has n-grams")
			}
			if _, err := some.Subword("</s>"); err == nil || errors.Is(err, ErrUnknown) {
				t.Errorf("a word that was not asked for: %v", err)
			}
			if info := all.Info(); info.Format != FastTextBinary || info.Buckets != len(tc.m.buckets) || info.Words != len(vocabulary) {
				t.Errorf("%+v", info)
			}
			if !strings.Contains(all.Info().String(), "n-grams of") {
				t.Errorf("%v", all.Info())
			}
		})
	}
}

func TestFastTextKinds(t *testing.T) {
	base := newModel(1, 4, 9, 3, 6, "</s>", "bank", "card")
	with := func(change func(*model)) []byte {
		m := base
		change(&m)
		return m.bytes()
	}
	t.Run("without n-grams the row is the vector", func(t *testing.T) {
		v, err := readBytes(with(func(m *model) { m.maxN, m.buckets = 0, nil }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		base.holds(t, v)
		if _, err := v.Subword("cards"); !errors.Is(err, ErrUnknown) {
			t.Errorf("an unknown word: %v", err)
		}
	})
	t.Run("supervised, with labels", func(t *testing.T) {
		for _, keep := range []Options{{}, {Words: []string{"bank", "banks", "__label__x"}}} {
			v, err := readBytes(with(func(m *model) { m.kind, m.labels = supervised, []string{"__label__x", "__label__y"} }), keep)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := v.Vector("bank"); maxDiff(got, base.slowVector("bank")) > 1e-6 {
				t.Errorf("bank is %v", got)
			}
			if _, ok := v.Vector("__label__x"); ok {
				t.Error("a label is among the words")
			}
		}
	})
	t.Run("version 11, supervised: maxn does not count", func(t *testing.T) {
		v, err := readBytes(with(func(m *model) { m.kind, m.version = supervised, 11 }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		base.holds(t, v)
	})
	for name, b := range map[string][]byte{
		"quantised": with(func(m *model) { m.quantised = true }),
		"pruned":    with(func(m *model) { m.pruned = 2 }),
	} {
		_, err := readBytes(b, Options{})
		if !errors.Is(err, ErrQuantised) || !strings.Contains(err.Error(), ".vec") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
