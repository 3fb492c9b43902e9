package input

import "strings"

// Escape makes any text one cell of a table or of TSV: tab, line feed, carriage return and
// backslash become \t, \n, \r and \\.
func Escape(text string) string {
	if !strings.ContainsAny(text, "\t\n\r\\") {
		return text
	}
	return strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`).Replace(text)
}
