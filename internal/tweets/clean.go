package tweets

import (
	"strings"
	"unicode"
)

// Clean returns a tweet's text without emojis, user names and addresses, with
// one space for each run of white space, and the different emojis that it had.
// Hashtags, numbers and punctuation stay, as do the letters of all scripts.
//
// A user name is @ and letters, digits or underscores where a word may begin, so
// that addresses of mail stay; an address of the web is whatever begins with
// http://, https://, www. or pic.twitter.com/, up to the next space, and an
// address that Twitter cut off at the end of the text.
func Clean(text string) (clean string, emojis []string) {
	text = escapes.Replace(strings.ToValidUTF8(text, " "))
	emojis, text = Emojis(text)
	return strings.Join(strings.Fields(withoutNames(withoutAddresses(text))), " "), emojis
}

// escapes are the three characters that the API escapes.
var escapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// starts of an address, in lower case.
var starts = []string{"https://", "http://", "www.", "pic.twitter.com/"}

// cut is how an address looks of which only the beginning stands at the end of
// a text.
var cut = []string{"http…", "https…", "https:…", "https:/…", "http:…", "http:/…"}

// withoutAddresses puts a space in place of each address, and takes the stumps of
// addresses off the end: texts of the API that are cut at 140 characters end in such.
// It takes O(n).
func withoutAddresses(text string) string {
	var out strings.Builder
	from := 0 // of what is not yet written
	for i := 0; i < len(text); {
		if !startsAddress(text[i:]) {
			i++
			continue
		}
		out.WriteString(text[from:i])
		out.WriteByte(' ')
		if end := strings.IndexFunc(text[i:], unicode.IsSpace); end >= 0 {
			i += end
		} else {
			i = len(text)
		}
		from = i
	}
	out.WriteString(text[from:])
	all := strings.TrimRightFunc(out.String(), unicode.IsSpace)
	for i := 0; i < len(cut); i++ {
		if start := len(all) - len(cut[i]); start >= 0 && strings.EqualFold(all[start:], cut[i]) {
			all, i = strings.TrimRightFunc(all[:start], unicode.IsSpace), -1 // and once more from the first
		}
	}
	return all
}

// startsAddress is asked at every byte: most answers come from the first letter.
func startsAddress(text string) bool {
	switch text[0] {
	case 'h', 'H', 'w', 'W', 'p', 'P':
	default:
		return false
	}
	for _, s := range starts {
		if len(text) >= len(s) && strings.EqualFold(text[:len(s)], s) {
			return true
		}
	}
	return false
}

// withoutNames puts a space in place of each user name, also after the wide @ (U+FF20)
// that Twitter takes, too.
func withoutNames(text string) string {
	var out strings.Builder
	runes := []rune(text)
	inWord := false
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if (r == '@' || r == '＠') && !inWord {
			end := i + 1
			for end < len(runes) && isName(runes[end]) {
				end++
			}
			if end > i+1 {
				out.WriteByte(' ')
				i = end - 1
				continue // and a name may follow at once
			}
		}
		inWord = isName(r) || r == '@' || r == '＠'
		out.WriteRune(r)
	}
	return out.String()
}

// isName reports what a user name is made of.
func isName(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
