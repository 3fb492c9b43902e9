package wordvec

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// variation is U+FE0F, which asks for an emoji in colour. Some files write
	// it, some do not, and it means nothing else.
	variation = '\uFE0F'
	// keycap puts a frame around the digit before it.
	keycap = '\u20E3'
)

// splitName cuts a class name at white space and underscores.
func splitName(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || unicode.IsSpace(r) })
}

// splitWord cuts a word at hyphens and other punctuation, between a small
// letter and a capital (camelCase), before the last capital of several that a
// small letter follows (HTTPServer), and between letters and digits. The
// punctuation is left out, but not the signs of C#, @user, 50% or what's.
func splitWord(word string) []string {
	var parts []string
	for _, field := range strings.FieldsFunc(word, func(r rune) bool {
		return unicode.IsPunct(r) && !strings.ContainsRune("#@%*'’", r)
	}) {
		runes := []rune(strings.Trim(field, "'’"))
		start := 0
		for i := 1; i <= len(runes); i++ {
			if i == len(runes) || boundary(runes, i) {
				parts = append(parts, string(runes[start:i]))
				start = i
			}
		}
	}
	return parts
}

// boundary reports whether a word of its own starts at runes[i], i > 0.
func boundary(runes []rune, i int) bool {
	a, b := runes[i-1], runes[i]
	switch {
	case unicode.IsLetter(a) && unicode.IsDigit(b), unicode.IsDigit(a) && unicode.IsLetter(b):
		return true
	case unicode.IsLower(a) && unicode.IsUpper(b):
		return true
	}
	return unicode.IsUpper(a) && unicode.IsUpper(b) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// nameSpellings lists the ways to write a whole class name, in the order in
// which they are tried: as it is, in lower case, Title Case and UPPER CASE;
// each of them as it is, then with underscores, spaces and hyphens between
// the words.
func nameSpellings(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	forms := []string{name}
	if len(words) > 1 {
		for _, join := range []string{"_", " ", "-"} {
			forms = append(forms, strings.Join(words, join))
		}
	}
	return spellings(forms...)
}

// wordSpellings is nameSpellings for one word of a name.
func wordSpellings(word string) []string { return spellings(word) }

// spellings returns each form in four cases and, if it has emojis, with and without
// U+FE0F, in the order in which Names tries them and each once.
func spellings(forms ...string) []string {
	var out []string
	for _, change := range []func(string) string{
		func(s string) string { return s }, strings.ToLower, titleCase, strings.ToUpper,
	} {
		for _, form := range forms {
			for _, s := range emojiForms(change(form)) {
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// titleCase makes the first letter of each word a capital and the others
// small: New_York. An apostrophe is no end of a word.
func titleCase(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		first := !inside
		inside = unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’'
		if first {
			return unicode.ToTitle(r)
		}
		return unicode.ToLower(r)
	}, s)
}

// emojiForms returns s; then, if it holds emoji, s without any U+FE0F and with
// it after each set of the signs that can have one, also inside sequences that
// a U+200D joins. Beyond 4 such signs: after none and after all.
func emojiForms(s string) []string {
	if strings.IndexFunc(s, isEmojiPart) < 0 {
		return []string{s}
	}
	plain := []rune(strings.ReplaceAll(s, string(variation), ""))
	var places []int // in plain: the signs that can have a U+FE0F behind them
	for i, r := range plain {
		if isEmoji(r) || i+1 < len(plain) && plain[i+1] == keycap {
			places = append(places, i)
		}
	}
	const most = 4
	sets := []int{0, -1} // bit b: places[b] has one
	if len(places) <= most {
		sets = sets[:0]
		for set := range 1 << len(places) {
			sets = append(sets, set)
		}
	}
	forms := []string{s}
	for _, set := range sets {
		var b strings.Builder
		next := 0
		for i, r := range plain {
			b.WriteRune(r)
			if next < len(places) && places[next] == i {
				if set>>next&1 == 1 {
					b.WriteRune(variation)
				}
				next++
			}
		}
		if form := b.String(); form != s {
			forms = append(forms, form)
		}
	}
	return forms
}

// isEmoji reports whether r is a sign that U+FE0F may follow: a symbol outside
// ASCII, but no skin tone and no letter of a flag; the few that Unicode counts
// as punctuation or letters; and the frame of a keycap, where U+FE0F belongs
// before it but is found behind it too.
func isEmoji(r rune) bool {
	switch {
	case 0x1F3FB <= r && r <= 0x1F3FF, 0x1F1E6 <= r && r <= 0x1F1FF:
		return false
	case r == 0x203C, r == 0x2049, r == 0x2139, r == 0x3030, r == 0x303D, r == keycap:
		return true
	}
	return r > unicode.MaxASCII && unicode.IsSymbol(r)
}

func isEmojiPart(r rune) bool { return r == variation || isEmoji(r) }
