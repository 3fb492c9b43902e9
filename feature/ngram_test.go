package feature

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/treeloss/treeloss/dataset"
)

// slowGrams is the plain definition of the n-grams of a text and their counts.
func slowGrams(text string) map[string]int {
	grams := make(map[string]int)
	word := func(r rune) bool {
		if r < 128 {
			return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		}
		return !unicode.IsPunct(r) && !unicode.IsSpace(r) && !unicode.IsControl(r)
	}
	before := ""
	for _, chunk := range strings.Fields(strings.Map(unicode.ToLower, string([]rune(text)))) {
		runes := []rune(" " + chunk + " ")
		for n := 2; n <= 5; n++ {
			for i := 0; i+n <= len(runes); i++ {
				grams["c"+string(runes[i:i+n])]++
			}
		}
		for _, w := range strings.FieldsFunc(chunk, func(r rune) bool { return !word(r) }) {
			if len(w) > 256 {
				before = ""
				continue
			}
			grams["w"+w]++
			if before != "" {
				grams["w"+before+" "+w]++
			}
			before = w
		}
	}
	return grams
}

// gramsOf returns the n-gram counts of a row of a table.
func gramsOf(t *Table, row int) map[string]int {
	grams := make(map[string]int)
	ids, counts := t.bags.row(row)
	for n, id := range ids {
		grams[t.grams[id]] += int(counts[n])
	}
	return grams
}

func TestGrams(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string // "n-gram" or "n-gram=count"
	}{
		{"empty", "", nil},
		{"white space alone", " \t\r\n\u00a0\u3000", nil},
		{"one letter", "A", []string{"c a", "ca ", "c a ", "wa"}},
		{"ASCII and a pair", "Go up", []string{
			"c g", "cgo", "co ", "c go", "cgo ", "c go ", "c u", "cup", "cp ", "c up", "cup ", "c up ",
			"wgo", "wup", "wgo up"}},
		{"a repeat counts twice, its pair once", "a a", []string{"c a=2", "ca =2", "c a =2", "wa=2", "wa a"}},
		{"CRLF is white space", "a\r\na", []string{"c a=2", "ca =2", "c a =2", "wa=2", "wa a"}},
		{"digits and an underscore are letters of words", "a_1", []string{
			"c a", "ca_", "c_1", "c1 ", "c a_", "ca_1", "c_1 ", "c a_1", "ca_1 ", "c a_1 ", "wa_1"}},
		{"punctuation ends a word, not a chunk", "a,b", []string{
			"c a", "ca,", "c,b", "cb ", "c a,", "ca,b", "c,b ", "c a,b", "ca,b ", "c a,b ", "wa", "wb", "wa b"}},
		{"an apostrophe splits", "I'm", []string{
			"c i", "ci'", "c'm", "cm ", "c i'", "ci'm", "c'm ", "c i'm", "ci'm ", "c i'm ", "wi", "wm", "wi m"}},
		{"punctuation alone makes no word", "?", []string{"c ?", "c? ", "c ? "}},
		{"capitals beyond ASCII", "É", []string{"c é", "cé ", "c é ", "wé"}},
		{"an emoji is one character and a word", "👍", []string{"c 👍", "c👍 ", "c 👍 ", "w👍"}},
		{"joined emojis are one word of several characters", "👩\u200d💻", []string{
			"c 👩", "c👩\u200d", "c\u200d💻", "c💻 ", "c 👩\u200d", "c👩\u200d💻", "c\u200d💻 ",
			"c 👩\u200d💻", "c👩\u200d💻 ", "c 👩\u200d💻 ", "w👩\u200d💻"}},
		{"invalid UTF-8 becomes U+FFFD", "\xff", []string{"c \ufffd", "c\ufffd ", "c \ufffd ", "w\ufffd"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := make(map[string]int)
			for _, gram := range tc.want {
				name, count, found := strings.Cut(gram, "=")
				want[name] = 1
				if found {
					want[name] = int(count[0] - '0')
				}
			}
			table := NewTable(dataset.Text, nil)
			table.AddText(tc.text)
			if got := gramsOf(table, 0); !maps.Equal(got, want) {
				t.Errorf("n-grams of %q are %q, want %q", tc.text, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
			if slow := slowGrams(tc.text); !maps.Equal(slow, want) {
				t.Errorf("by the plain definition they are %q", slices.Sorted(maps.Keys(slow)))
			}
		})
	}
}

func TestLongWords(t *testing.T) {
	table := NewTable(dataset.Text, nil)
	long := strings.Repeat("xyz", 100)
	for _, text := range []string{long, "a " + long + " b", strings.Repeat("你好吗", 300), strings.Repeat("y", 256)} {
		table.AddText(text)
		if got, want := gramsOf(table, table.Rows()-1), slowGrams(text); !maps.Equal(got, want) {
			t.Errorf("n-grams of %.20q...: %d, want %d", text, len(got), len(want))
		}
	}
	for gram := range gramsOf(table, 1) {
		if gram[0] == wordGram && len(gram) > 2 {
			t.Errorf("word n-gram %.20q: want none of the long word, none across it", gram)
		}
	}
	if gramsOf(table, 3)["w"+strings.Repeat("y", 256)] != 1 {
		t.Error("a word of 256 bytes is no n-gram")
	}
}

// A text gives the same n-grams whether its words are in the cache or not.
func TestGramsOfRealTexts(t *testing.T) {
	for _, path := range []string{"clinc150/train-small.csv", "tweets-emoji/val.csv"} {
		t.Run(path, func(t *testing.T) {
			texts := readTexts(t, path)
			texts = texts[:min(len(texts), 3000)]
			table, rows := tableOf(texts)
			for _, i := range rows {
				if got, want := gramsOf(table, i), slowGrams(texts[i]); !maps.Equal(got, want) {
					t.Fatalf("text %d %q: n-grams %v, want %v", i, texts[i], got, want)
				}
			}
		})
	}
}

func TestFullCache(t *testing.T) {
	table := NewTable(dataset.Text, nil)
	for i := range maxCachedWords + 10 {
		table.AddText(fmt.Sprint(i % (maxCachedWords + 5)))
	}
	if n := len(table.counter.words); n != maxCachedWords {
		t.Errorf("%d words in the cache, want %d", n, maxCachedWords)
	}
	for _, i := range []int{0, maxCachedWords - 1, maxCachedWords, maxCachedWords + 4, maxCachedWords + 9} {
		text := fmt.Sprint(i % (maxCachedWords + 5))
		if got, want := gramsOf(table, i), slowGrams(text); !maps.Equal(got, want) {
			t.Errorf("n-grams of %q are %v, want %v", text, got, want)
		}
	}
}

func FuzzGrams(f *testing.F) {
	for _, text := range []string{"", "what's my balance?", "a\r\nb\u2028c", "👩\u200d💻 \ufe0f ❤️", "İSTANBUL ẞ K", "\xff\xfe a\x80b", "_ - _x_ 10.5%", strings.Repeat("a", 300) + " b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table := NewTable(dataset.Text, nil)
		for range 2 { // the second time from the cache
			table.AddText(text)
		}
		want := slowGrams(text)
		for row := range 2 {
			if got := gramsOf(table, row); !maps.Equal(got, want) {
				t.Fatalf("row %d of %q: n-grams %v, want %v", row, text, got, want)
			}
		}
	})
}

func TestNameText(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"card_arrival", "card arrival"},
		{"cardArrival", "card arrival"},
		{"CardArrival", "card arrival"},
		{"CARD-ARRIVAL", "card arrival"},
		{"card.arrival", "card arrival"},
		{"finance/card:arrival", "finance card arrival"},
		{"  card   arrival ", "card arrival"},
		{"HTTPServer", "http server"},
		{"myHTTPServer", "my http server"},
		{"resetPINs", "reset pins"},
		{"ATMsNearby", "atms nearby"},
		{"DNASequence", "dna sequence"},
		{"iPhone", "i phone"},
		{"covid19", "covid19"},
		{"top10Items", "top10items"},
		{"Refund_not_showing_up", "refund not showing up"},
		{"reverted_card_payment?", "reverted card payment?"},
		{"c++", "c++"},
		{"c+python", "c python"},
		{"C#", "c#"},
		{".NET", "net"},
		{"ÜberGröße", "über größe"},
		{"❤", "❤"},
		{"👩\u200d💻", "👩\u200d💻"},
		{"_", "_"},
		{"--", "--"},
		{"", ""},
		{"\xff", "\ufffd"},
	} {
		if got := NameText(tc.name); got != tc.want {
			t.Errorf("NameText(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
}
