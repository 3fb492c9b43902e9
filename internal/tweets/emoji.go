package tweets

import (
	"slices"
	"strings"
	"unicode"
)

// Emojis returns the different emojis of a text in the order in which they
// occur, each without U+FE0F, and the text with a space in place of each.
func Emojis(text string) (emojis []string, rest string) {
	runes := []rune(text)
	var out strings.Builder
	for i := 0; i < len(runes); {
		n, label := sequence(runes[i:])
		switch {
		case label && n > 0:
			e := Label(string(runes[i : i+n]))
			if !slices.Contains(emojis, e) {
				emojis = append(emojis, e)
			}
			fallthrough
		case n > 0:
			out.WriteByte(' ')
			i += n
			for i < len(runes) && (runes[i] == joiner || runes[i] == colour || runes[i] == plain) {
				i++ // dangling
			}
		default:
			if r := runes[i]; r != colour && r != plain {
				out.WriteRune(r)
			}
			i++
		}
	}
	return emojis, out.String()
}

// sequence returns how many runes at the start of r belong to an emoji or to a
// part of one, and whether these make a label. 0: the first rune is text.
func sequence(r []rune) (n int, label bool) {
	switch first := r[0]; {
	case isRegion(first):
		if len(r) > 1 && isRegion(r[1]) {
			return 2, true
		}
		return 1, false
	case isKey(first):
		n = 1
		if n < len(r) && r[n] == colour {
			n++
		}
		if n < len(r) && r[n] == keycap {
			return n + 1, true
		}
		return 0, false
	case isTone(first), isTag(first), first == keycap:
		return 1, false
	}
	n, label = picture(r)
	if n == 0 || !label {
		return n, label
	}
	for n+1 < len(r) && r[n] == joiner {
		m, ok := picture(r[n+1:])
		if !ok {
			break
		}
		n += 1 + m
	}
	return n, true
}

// picture returns the length of a single emoji at the start of r, with its skin
// tone, its U+FE0F or its tags, and whether it counts as one.
func picture(r []rune) (n int, label bool) {
	if !unicode.Is(pictures, r[0]) {
		return 0, false
	}
	next := rune(0)
	if len(r) > 1 {
		next = r[1]
	}
	switch {
	case next == plain && r[0] >= signs:
		return 2, false
	case r[0] < signs && next != colour:
		return 0, false
	}
	n = 1
	if next == colour {
		n++
	}
	if n < len(r) && isTone(r[n]) {
		n++
	}
	for n < len(r) && isTag(r[n]) {
		n++
	}
	return n, true
}

// Tone returns an emoji without its skin tones.
func Tone(emoji string) string {
	return strings.Map(func(r rune) rune {
		if isTone(r) {
			return -1
		}
		return r
	}, emoji)
}

// Among returns the labels of those names that are one emoji, without the tones of
// skin if these do not matter.
func Among(names []string, noTones bool) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		found, _ := Emojis(name)
		switch {
		case len(found) == 1 && found[0] == Label(name):
			if noTones {
				name = Tone(name)
			}
			out[Label(name)] = true
		case len(found) == 0 && len([]rune(Label(name))) == 1: // © without U+FE0F
			out[Label(name)] = true
		}
	}
	return out
}
