package feature

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// Names returns E, k x m: the unit-length tf-idf rows of the character n-grams
// (2 to 4, within words) of k class names; NameText splits the names into
// words. The cosine of two rows is how alike two names look. A name of white
// space alone has an empty row; if all are like that it is an error. It takes
// time in proportion to the length of the names.
func Names(names []string) (*matrix.Sparse, error) {
	t := NewTable(record.Text, nil)
	rows := make([]int, len(names))
	for i, name := range names {
		t.AddText(NameText(name))
		rows[i] = i
	}
	set, err := t.Fit(rows, Options{})
	if err != nil {
		return nil, fmt.Errorf("feature: all of the %d class names are blank, so there is nothing to compare", len(names))
	}
	both := set.texts(t, rows)
	out := &matrix.Sparse{Columns: set.words} // the block of characters comes first
	for i := range names {
		index, value := both.Row(i)
		n, _ := slices.BinarySearch(index, int32(set.words))
		out.AppendRow(index[:n], value[:n])
	}
	return out, nil
}

// NameText turns a class name into the text that a person would read, in lower
// case, with single spaces: "cardArrival", "card_arrival", "CARD-ARRIVAL" and
// "card.arrival" are all "card arrival", and "HTTPServer" is "http server".
//
// The signs _ - / . : become spaces, so does + before a letter or digit (C++
// keeps its own). A word begins at a capital behind a small letter, and at the
// last of several capitals that a small letter follows. Digits stay with their
// letters. A name of nothing but such signs stays as it is.
func NameText(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case strings.ContainsRune("_-/.:", r), r == '+' && i+1 < len(runes) && alphanumeric(runes[i+1]):
			r = ' '
		case i > 0 && wordBegins(runes, i):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if text := strings.Join(strings.Fields(b.String()), " "); text != "" {
		return text
	}
	return name
}

// wordBegins tells whether capitals alone make a word begin at runes[i], i > 0.
func wordBegins(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	if unicode.IsLower(runes[i-1]) {
		return true
	}
	if !unicode.IsUpper(runes[i-1]) || i+1 == len(runes) || !unicode.IsLower(runes[i+1]) {
		return false
	}
	// The s of PINs is no word of its own, nor is Ns.
	plural := runes[i+1] == 's' && (i+2 == len(runes) || !unicode.IsLower(runes[i+2]))
	return !plural
}

// alphanumeric tells whether r is a letter or digit of any script.
func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
