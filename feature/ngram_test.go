package feature

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 128 }) {
		text = norm.NFKC.String(text)
	}
	before := ""
	for _, chunk := range slowChunks(strings.Map(unicode.ToLower, string([]rune(text)))) {
		if spaceless([]rune(chunk)[0]) {
			slowRun(grams, chunk)
			before = ""
			continue
		}
		runes := []rune(" " + chunk + " ")
		for n := 2; n <= 4; n++ {
			for i := 0; i+n <= len(runes); i++ {
				grams["c"+string(runes[i:i+n])]++
			}
		}
		for _, w := range strings.FieldsFunc(chunk, func(r rune) bool { return !word(r) }) {
			if len(w) > 256 {
				before = ""
				continue
			}
			if runes := []rune(w); len(runes) == 1 && (unicode.IsLetter(runes[0]) || unicode.IsDigit(runes[0])) {
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

// slowChunks cuts a text at white space and where a run of a script without
// spaces begins or ends.
func slowChunks(text string) (chunks []string) {
	for _, field := range strings.Fields(text) {
		in := false
		var chunk []rune
		for n, r := range []rune(field) {
			if now := spaceless(r) || in && unicode.IsMark(r); now != in {
				if len(chunk) > 0 {
					chunks = append(chunks, string(chunk))
				}
				chunk, in = nil, now
				if !in && unicode.IsPunct(r) {
					continue
				}
			} else if !in && len(chunk) == 0 && n > 0 && unicode.IsPunct(r) {
				continue
			}
			chunk = append(chunk, r)
		}
		if len(chunk) > 0 {
			chunks = append(chunks, string(chunk))
		}
	}
	return chunks
}

// slowRun counts the n-grams of a run: at most 2 characters from a Han or Kana
// one on, at most 3 from others, marks with the character that they belong to.
func slowRun(grams map[string]int, run string) {
	var characters []string
	for n, r := range []rune(run) {
		if n > 0 && unicode.IsMark(r) {
			characters[len(characters)-1] += string(r)
		} else {
			characters = append(characters, string(r))
		}
	}
	for i, c := range characters {
		longest := 3
		if unicode.In([]rune(c)[0], unicode.Han, unicode.Hiragana, unicode.Katakana) {
			longest = 2
		}
		for n := 1; n <= longest && i+n <= len(characters); n++ {
			gram := strings.Join(characters[i:i+n], "")
			grams["c"+gram]++
			grams["w"+gram]++
		}
	}
}

// gramsOf returns the n-gram counts of a row of a table.
func gramsOf(t *Table, row int) map[string]int {
	grams := make(map[string]int)
	ids, counts := t.bags.row(row)
	for n, id := range ids {
		grams[t.vocabulary.grams[id]] += int(counts[n])
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
		{"one letter is no word", "A", []string{"c a", "ca ", "c a "}},
		{"ASCII and a pair", "Go up", []string{
			"c g", "cgo", "co ", "c go", "cgo ", "c go ", "c u", "cup", "cp ", "c up", "cup ", "c up ",
			"wgo", "wup", "wgo up"}},
		{"at most four characters", "card", []string{
			"c c", "cca", "car", "crd", "cd ", "c ca", "ccar", "card", "crd ", "c car", "ccard", "card ", "wcard"}},
		{"a repeat counts twice, its pair once", "ab ab", []string{"c a=2", "cab=2", "cb =2", "c ab=2", "cab =2", "c ab =2", "wab=2", "wab ab"}},
		{"CRLF is white space", "a\r\na", []string{"c a=2", "ca =2", "c a =2"}},
		{"a pair spans a word of one letter", "go a go", []string{
			"c g=2", "cgo=2", "co =2", "c go=2", "cgo =2", "c go =2", "c a", "ca ", "c a ", "wgo=2", "wgo go"}},
		{"digits and an underscore are letters of words", "a_1", []string{
			"c a", "ca_", "c_1", "c1 ", "c a_", "ca_1", "c_1 ", "c a_1", "ca_1 ", "wa_1"}},
		{"punctuation ends a word, not a chunk", "as,bs", []string{
			"c a", "cas", "cs,", "c,b", "cbs", "cs ", "c as", "cas,", "cs,b", "c,bs", "cbs ", "c as,", "cas,b", "cs,bs", "c,bs ", "was", "wbs", "was bs"}},
		{"an apostrophe splits", "I'm", []string{
			"c i", "ci'", "c'm", "cm ", "c i'", "ci'm", "c'm ", "c i'm", "ci'm "}},
		{"punctuation alone makes no word", "?", []string{"c ?", "c? ", "c ? "}},
		{"capitals beyond ASCII", "É", []string{"c é", "cé ", "c é "}},
		{"an emoji is one character and a word", "👍", []string{"c 👍", "c👍 ", "c 👍 ", "w👍"}},
		{"joined emojis are one word of several characters", "👩\u200d💻", []string{
			"c 👩", "c👩\u200d", "c\u200d💻", "c💻 ", "c 👩\u200d", "c👩\u200d💻", "c\u200d💻 ",
			"c 👩\u200d💻", "c👩\u200d💻 ", "w👩\u200d💻"}},
		{"invalid UTF-8 becomes U+FFFD", "\xff", []string{"c \ufffd", "c\ufffd ", "c \ufffd ", "w\ufffd"}},
		{"full width and a combining accent, by NFKC", "Ｇo\u0301", []string{"c g", "cgó", "có ", "c gó", "cgó ", "c gó ", "wgó"}},
		{"Han: one and two characters, in both blocks", "你好吗", []string{
			"c你", "c好", "c吗", "c你好", "c好吗", "w你", "w好", "w吗", "w你好", "w好吗"}},
		{"Kana with the sign for a long vowel", "カード", []string{
			"cカ", "cー", "cド", "cカー", "cード", "wカ", "wー", "wド", "wカー", "wード"}},
		{"Thai: up to three characters, marks with their letter", "ที่นี่", []string{
			"cที่", "cนี่", "cที่นี่", "wที่", "wนี่", "wที่นี่"}},
		{"Latin within Han", "用ai吗", []string{
			"c用", "w用", "c a", "cai", "ci ", "c ai", "cai ", "c ai ", "wai", "c吗", "w吗"}},
		{"punctuation behind a run ends it", "好。吗！", []string{"c好", "c吗", "w好", "w吗"}},
		{"Hangul has spaces", "네 네", []string{"c 네=2", "c네 =2", "c 네 =2"}},
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
	for _, text := range []string{long, "aa " + long + " bb", strings.Repeat("你好吗", 300), strings.Repeat("y", 256)} {
		table.AddText(text)
		if got, want := gramsOf(table, table.Rows()-1), slowGrams(text); !maps.Equal(got, want) {
			t.Errorf("n-grams of %.20q...: %d, want %d", text, len(got), len(want))
		}
	}
	for gram := range gramsOf(table, 1) {
		if gram[0] == wordGram && len(gram) > 3 {
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
	if n := table.counter.chunks.count; n != maxCachedWords {
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
	for _, text := range []string{"", "what's my balance?", "a\r\nb\u2028c", "去ABC。ก็ได้ -好ー\u0301", "\u0301好\u0301a\u0301", "0\u0e49", "👩\u200d💻 \ufe0f ❤️", "İSTANBUL ẞ K", "\xff\xfe a\x80b", "_ - _x_ 10.5%", strings.Repeat("a", 300) + " b"} {
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
