package wordvec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// planar returns vectors of 2 dimensions in GloVe format: word i is (i+1, 1).
func planar(words ...string) []byte {
	var b []byte
	for i, w := range words {
		b = fmt.Appendf(b, "%s %d 1\n", w, i+1)
	}
	return b
}

func TestSpellings(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  []string
		want []string
	}{
		{"one word: case forms in order", nameSpellings("iPod"), []string{"iPod", "ipod", "Ipod", "IPOD"}},
		{"case before joint", nameSpellings("new_york"), []string{
			"new_york", "new york", "new-york", "New_York", "New York", "New-York", "NEW_YORK", "NEW YORK", "NEW-YORK"}},
		{"outer and double separators", nameSpellings("_a  b"), []string{
			"_a  b", "a_b", "a b", "a-b", "_A  B", "A_B", "A B", "A-B"}},
		{"apostrophe", wordSpellings("o'neill's"), []string{"o'neill's", "O'neill's", "O'NEILL'S"}},
		{"emoji: as it is, without, with", wordSpellings("❤"), []string{"❤", "❤\uFE0F"}},
		{"emoji with it", wordSpellings("❤\uFE0F"), []string{"❤\uFE0F", "❤"}},
		{"flag: two letters, no variation", wordSpellings("🇺🇸"), []string{"🇺🇸"}},
		{"sequence with it inside", wordSpellings("🏳\u200D🌈"), []string{
			"🏳\u200D🌈", "🏳\uFE0F\u200D🌈", "🏳\u200D🌈\uFE0F", "🏳\uFE0F\u200D🌈\uFE0F"}},
		{"skin tone takes its place", wordSpellings("☝🏽"), []string{"☝🏽", "☝\uFE0F🏽"}},
		{"keycap: before the frame, and behind it", wordSpellings("1\u20E3"), []string{
			"1\u20E3", "1\uFE0F\u20E3", "1\u20E3\uFE0F", "1\uFE0F\u20E3\uFE0F"}},
		{"more than 4 signs: none and all", wordSpellings("❤❤❤❤❤"), []string{
			"❤❤❤❤❤", strings.Repeat("❤\uFE0F", 5)}},
		{"words of a name", splitName(" what_is  my\tco-pay "), []string{"what", "is", "my", "co-pay"}},
		{"camelCase", splitWord("acceptReservationNow"), []string{"accept", "Reservation", "Now"}},
		{"capitals before a word", splitWord("HTTPServer"), []string{"HTTP", "Server"}},
		{"digits", splitWord("Boeing747b"), []string{"Boeing", "747", "b"}},
		{"punctuation", splitWord("co-payment?"), []string{"co", "payment"}},
		{"signs that belong to the word", splitWord("C#/C++/@user/what's/'s"), []string{"C#", "C++", "@user", "what's", "s"}},
		{"nothing left", splitWord("--"), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: %+q, want %+q", tc.name, tc.got, tc.want)
		}
	}
}

// The order in which the spellings of a name are tried.
func TestNamesOrder(t *testing.T) {
	for _, tc := range []struct {
		name, label string
		file        []string
		want        []Word
	}{
		{"as it is comes first", "New_York", []string{"new_york", "New_York", "New", "York"}, []Word{{Text: "New_York", Found: "New_York"}}},
		{"a phrase with another joint before lower case", "New York", []string{"New", "new york", "New_York", "York"}, []Word{{Text: "New York", Found: "New_York"}}},
		{"a phrase in Title case before its words", "new_york", []string{"new", "york", "New_York"}, []Word{{Text: "new_york", Found: "New_York"}}},
		{"lower before Title before UPPER", "uSA", []string{"USA", "Usa", "usa"}, []Word{{Text: "uSA", Found: "usa"}}},
		{"UPPER when nothing else is there", "usa", []string{"USA"}, []Word{{Text: "usa", Found: "USA"}}},
		{"words, each by its own spelling", "new_york_CARD", []string{"york", "New", "card"}, []Word{
			{Text: "new", Found: "New"}, {Text: "york", Found: "york"}, {Text: "CARD", Found: "card"}}},
		{"a word with its punctuation before one without", "my_payment?", []string{"payment", "payment?", "my"}, []Word{
			{Text: "my", Found: "my"}, {Text: "payment?", Found: "payment?"}}},
		{"without the punctuation", "my_payment?", []string{"payment", "my"}, []Word{
			{Text: "my", Found: "my"}, {Text: "payment", Found: "payment"}}},
		{"a hyphenated word before its parts", "x-ray tube", []string{"x", "ray", "x-ray", "tube"}, []Word{
			{Text: "x-ray", Found: "x-ray"}, {Text: "tube", Found: "tube"}}},
		{"camelCase only when the word is not there", "iPhone", []string{"iphone", "i", "phone"}, []Word{{Text: "iPhone", Found: "iphone"}}},
		{"camelCase", "acceptPayment", []string{"accept", "payment"}, []Word{
			{Text: "accept", Found: "accept"}, {Text: "Payment", Found: "payment"}}},
		{"parts that are all unknown stay one word", "zigZag_accept", []string{"accept"}, []Word{
			{Text: "zigZag"}, {Text: "accept", Found: "accept"}}},
		{"an unknown word loses its punctuation", "zag?", []string{"accept"}, []Word{{Text: "zag"}}},
		{"a name of separators only", "_", []string{"accept"}, []Word{{Text: "_"}}},
	} {
		for _, keep := range []Options{{}, {Names: []string{tc.label}}} {
			v, err := readBytes(planar(tc.file...), keep)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			l, err := v.Names([]string{tc.label}, UnknownRoot)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			if !slices.Equal(l.Names[0].Words, tc.want) {
				t.Errorf("%s: %+v, want %+v", tc.name, l.Names[0].Words, tc.want)
			}
		}
	}
}

func TestPolicies(t *testing.T) {
	labels := []string{"cat", "black_cat", "black_zork", "zork"}
	file := planar("black", "cat") // (1, 1) and (2, 1)
	v, err := readBytes(file, Options{Names: labels})
	if err != nil {
		t.Fatal(err)
	}
	cat, mean, black := []float32{2, 1}, []float32{1.5, 1}, []float32{1, 1}
	zero := []float32{0, 0}
	for _, tc := range []struct {
		policy Unknown
		labels []string
		want   [][]float32
		fates  []Fate
		err    string // what the error holds
	}{
		{UnknownError, labels[:2], [][]float32{cat, mean}, []Fate{Found, Found}, ""},
		{UnknownError, labels, nil, nil, `2 of 4 class names have words without a vector (no vector): "black_zork" (zork), "zork" (zork)`},
		{UnknownAverage, labels[:3], [][]float32{cat, mean, black}, []Fate{Found, Found, Found}, ""},
		{UnknownAverage, labels, nil, nil, `1 of 4 class names have no word`},
		{UnknownDrop, labels, [][]float32{cat, mean, zero, zero}, []Fate{Found, Found, Dropped, Dropped}, ""},
		{UnknownRoot, labels, [][]float32{cat, mean, zero, zero}, []Fate{Found, Found, AtRoot, AtRoot}, ""},
		{UnknownSubword, labels[:2], [][]float32{cat, mean}, []Fate{Found, Found}, ""},
		{UnknownSubword, labels, nil, nil, `class name "black_zork": test (GloVe text) has no n-grams`},
		{Unknown(9), labels, nil, nil, "Unknown(9)"},
	} {
		l, err := v.Names(tc.labels, tc.policy)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || tc.policy <= UnknownRoot && !errors.Is(err, ErrUnknown) {
				t.Errorf("%v, %v: %v, want %s", tc.policy, tc.labels, err, tc.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v, %v: %v", tc.policy, tc.labels, err)
			continue
		}
		var present []int
		for i := range tc.labels {
			if got := l.Vectors.Row(i); !slices.Equal(got, tc.want[i]) || l.Names[i].Fate != tc.fates[i] {
				t.Errorf("%v: %s is %v, %s, want %v, %s", tc.policy, tc.labels[i], got, l.Names[i].Fate, tc.want[i], tc.fates[i])
			}
			if tc.fates[i] == Found {
				present = append(present, i)
			}
		}
		if !slices.Equal(l.Present(), present) {
			t.Errorf("%v: present %v, want %v", tc.policy, l.Present(), present)
		}
	}
}

func TestErrorNamesTenClasses(t *testing.T) {
	var labels []string
	for i := range 13 {
		labels = append(labels, fmt.Sprintf("zork%c", 'a'+i))
	}
	v, err := readBytes(planar("cat"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Names(labels, UnknownError)
	if err == nil || !strings.Contains(err.Error(), `"zorkj"`) || strings.Contains(err.Error(), `"zorkk"`) || !strings.Contains(err.Error(), "and 3 more") {
		t.Error(err)
	}
}

func TestNamesNotAskedFor(t *testing.T) {
	v, err := readBytes(planar("cat", "dog"), Options{Names: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Names([]string{"dog"}, UnknownDrop); err == nil || !strings.Contains(err.Error(), "dog") {
		t.Errorf("a class that the file was not read for: %v", err)
	}
}

func TestNamesSubword(t *testing.T) {
	m := newModel(1, 4, 50, 3, 6, "</s>", "card", "my")
	labels := []string{"my_Card", "my_LINKING", "ab-cd"}
	for _, keep := range []Options{{}, {Names: labels}} {
		v, err := readBytes(m.bytes(), keep)
		if err != nil {
			t.Fatal(err)
		}
		l, err := v.Names(labels, UnknownSubword)
		if err != nil {
			t.Fatal(err)
		}
		for i, words := range [][]string{{"my", "card"}, {"my", "linking"}, {"ab-cd"}} {
			sum := make([]float64, m.dim())
			for _, w := range words {
				addTo(sum, m.slowVector(w))
			}
			if d := maxDiff(l.Vectors.Row(i), scaled(sum, len(words))); d > 1e-6 {
				t.Errorf("%s: off by %g", labels[i], d)
			}
		}
		want := `3 class names, vectors of 4 numbers from test; unknown words: subword
  one vector: 0, mean of their words: 1, some words from n-grams: 2
  my_LINKING: my, LINKING from the n-grams of "linking"
  ab-cd: ab-cd from the n-grams of "ab-cd"`
		if l.String() != want {
			t.Errorf("%v", l)
		}
	}
}

func TestStrings(t *testing.T) {
	v, err := readBytes(planar("black", "Cat"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := v.Names([]string{"cat", "black_cat", "black_zork"}, UnknownDrop)
	if err != nil {
		t.Fatal(err)
	}
	want := `3 class names, vectors of 2 numbers from test; unknown words: drop
  one vector: 1, mean of their words: 1, without a vector: 1
  black_zork: black, zork unknown (dropped)`
	if l.String() != want {
		t.Errorf("%v", l)
	}
	if got := l.Names[1].String(); got != `black_cat: black, cat as "Cat"` {
		t.Error(got)
	}
	average, err := v.Names([]string{"black_zork"}, UnknownAverage)
	if err != nil || !strings.Contains(average.String(), "mean of the known words: 1") {
		t.Errorf("%v, %v", average, err)
	}
	if got := v.Info().String(); got != "test: GloVe text, 2 words x 2, 2 kept" {
		t.Error(got)
	}
	for f := Auto; f <= FastTextBinary+1; f++ {
		if f.String() == "" {
			t.Errorf("format %d has no name", int(f))
		}
	}
}

func TestUnknownText(t *testing.T) {
	for u := UnknownError; u <= UnknownRoot; u++ {
		if back, err := ParseUnknown(u.String()); err != nil || back != u {
			t.Errorf("%v comes back as %v, %v", u, back, err)
		}
	}
	for _, s := range []string{"guess", Unknown(9).String()} {
		if _, err := ParseUnknown(s); err == nil || !strings.Contains(err.Error(), "average") {
			t.Errorf("%s: %v", s, err)
		}
	}
}
