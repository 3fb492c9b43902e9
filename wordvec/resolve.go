package wordvec

import "strings"

// resolve finds the words of a class name by the order that Names documents.
func resolve(label string, has func(string) bool) []Word {
	if s := firstOf(nameSpellings(label), has); s != "" {
		return []Word{{Text: label, Found: s}}
	}
	words := splitName(label)
	if len(words) == 0 {
		return []Word{{Text: label}}
	}
	var out []Word
	for _, word := range words {
		if s := firstOf(wordSpellings(word), has); s != "" {
			out = append(out, Word{Text: word, Found: s})
			continue
		}
		var parts []Word
		hit := false
		for _, part := range splitWord(word) {
			s := firstOf(wordSpellings(part), has)
			parts = append(parts, Word{Text: part, Found: s})
			hit = hit || s != ""
		}
		switch {
		case hit:
			out = append(out, parts...)
		case len(parts) == 1: // the word without its punctuation
			out = append(out, Word{Text: parts[0].Text})
		default:
			out = append(out, Word{Text: word})
		}
	}
	return out
}

// eachSpelling calls f with every spelling that resolve can ask for.
func eachSpelling(label string, f func(string)) {
	resolve(label, func(s string) bool {
		f(s)
		return false // so that it goes on to the next
	})
}

// firstOf returns the first of the spellings that the file has, "" for none.
func firstOf(spellings []string, has func(string) bool) string {
	for _, s := range spellings {
		if s != "" && has(s) {
			return s
		}
	}
	return ""
}

// subwordSpelling is how an unknown word of a name is cut into n-grams. Most
// text is in lower case, so these n-grams are the best trained.
func subwordSpelling(word string) string { return strings.ToLower(word) }
