package input

import "strings"

// ShellLine writes the words of a command as a POSIX shell reads them: what it could take
// for more than a word is in single quotes.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.Trim(word, plainLetters) != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

// plainLetters have no meaning of their own in a shell, at any place of a word.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%"
