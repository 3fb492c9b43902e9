package wordvec

import (
	"math"
	"slices"
	"testing"
)

// checkRead reads hostile bytes in each way and checks what comes of it: an
// error, or vectors that obey the promises of the package, in memory that the
// file accounts for.
func checkRead(t *testing.T, b []byte, format Format) {
	var v *Vectors
	var err error
	used := allocated(func() { v, err = readBytes(b, Options{Format: format}) })
	// A row of 1 number costs a slice header, a map entry and a string. Packed
	// files unpack to up to 1000 times their size.
	if limit := slack + 200*uint64(len(b)); used > limit && !isPacked(b) {
		t.Errorf("%d bytes allocated for a file of %d", used, len(b))
	}
	if err != nil {
		return
	}
	info := v.Info()
	if v.Dim() < 1 || info.Kept != v.Len() || info.Words < v.Len() || v.Len() != len(v.Words()) {
		t.Fatalf("%+v with %d words kept", info, v.Len())
	}
	words := v.Words()
	for _, w := range words {
		row, ok := v.Vector(w)
		if !ok || len(row) != v.Dim() || notFinite(row) >= 0 {
			t.Fatalf("word %q: %v, %v", w, row, ok)
		}
	}
	// What is kept by name is what is kept of all.
	ask := append(words[:min(3, len(words))], "zürich", "❤")
	some, err := readBytes(b, Options{Format: format, Words: ask})
	if err != nil {
		t.Fatalf("keeping all works, keeping %q gives %v", ask, err)
	}
	for _, w := range ask {
		x, known := v.Vector(w)
		y, alsoKnown := some.Vector(w)
		if known != alsoKnown || !slices.Equal(x, y) {
			t.Errorf("%q: %v and %v", w, x, y)
		}
		x, err = v.Subword(w)
		y, err2 := some.Subword(w)
		if (err == nil) != (err2 == nil) || !slices.Equal(x, y) {
			t.Errorf("%q: %v, %v and %v, %v", w, x, err, y, err2)
		}
	}
	if l, err := v.Names(ask, UnknownRoot); err != nil {
		t.Error(err)
	} else if err := l.Vectors.Check(); err != nil {
		t.Error(err)
	}
	if row, ok := v.Vector(ask[0]); ok && dot(row, row) > 0 {
		if near, err := v.Nearest(row, 2); err != nil || len(near) == 0 || !(math.Abs(near[0].Cosine-1) < 1e-6) {
			t.Errorf("nearest to itself: %v, %v", near, err)
		}
	}
}

func isPacked(b []byte) bool {
	return len(b) > 1 && (b[0] == 0x1f && b[1] == 0x8b || b[0] == 0x28 && b[1] == 0xb5)
}

func FuzzBinary(f *testing.F) {
	good := newTable(1, 3, "a", "b", "a")
	f.Add(good.binary(""))
	f.Add(good.binary("\n"))
	f.Add([]byte("2000000000 3\na 0123456789ab"))
	f.Add([]byte("-3 -3\n"))
	f.Add([]byte("1 100000\na 0123"))
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b, Word2VecBinary) })
}

func FuzzText(f *testing.F) {
	good := newTable(1, 3, "a", "b b", "a")
	f.Add(good.text(" ", "\n"), false)
	f.Add(append([]byte(good.header()), good.text(" ", " \n")...), true)
	f.Add([]byte("a 1 2\nb nan 2\n"), false)
	f.Add([]byte("2 2\na 1 2\n\tb 1 inf\r\n"), true)
	f.Fuzz(func(t *testing.T, b []byte, header bool) {
		checkRead(t, b, map[bool]Format{true: Word2VecText, false: GloVe}[header])
	})
}

func FuzzFastText(f *testing.F) {
	m := newModel(1, 3, 5, 3, 6, "</s>", "a", "zürich")
	f.Add(m.bytes())
	m.labels, m.kind = []string{"__label__a"}, supervised
	f.Add(m.bytes())
	m.words = []string{"a", "a", "b"}
	f.Add(m.bytes())
	m.quantised = true
	f.Add(m.bytes()[:150])
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b, FastTextBinary) })
}

func FuzzDetect(f *testing.F) {
	good := newTable(1, 3, "a", "b")
	for _, b := range [][]byte{good.binary(""), good.text(" ", "\n"), newModel(1, 3, 5, 3, 6, "a").bytes(), []byte("PK\x03\x04")} {
		f.Add(b)
		f.Add(gzipped(b))
		f.Add(zstded(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b, Auto) })
}

// Every spelling that Names asks for was let in by Options.Names, and finding
// any one of them is finding the name or one of its words.
func FuzzSpelling(f *testing.F) {
	for _, s := range []string{"New_York city", "acceptReservation?", "❤", "1\u20E3", "", "_", "a\xffb", "HTTPServer-v2", "ǆungla"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		set := wanted(Options{Names: []string{name}})
		for s := range set {
			for _, w := range resolve(name, func(x string) bool {
				if _, ok := set[x]; !ok {
					t.Fatalf("%q: asks for %q, which was not let in", name, x)
				}
				return x == s
			}) {
				if w.Found == "" && w.Text != name {
					if _, ok := set[subwordSpelling(w.Text)]; !ok {
						t.Errorf("%q: n-grams of %q, which was not let in", name, w.Text)
					}
				} else if w.Found != "" && w.Found != s {
					t.Errorf("%q: %+v where the file has %q", name, w, s)
				}
			}
		}
	})
}
