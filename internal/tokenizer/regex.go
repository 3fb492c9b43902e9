package tokenizer

import (
	"fmt"
	"regexp"
	"strings"
)

// What the classes of an expression are in Unicode, as Hugging Face has them (UTS #18,
// annex C); in Go's expressions they are ASCII alone.
var unicodeClasses = map[byte]string{
	's': `\t\n\v\f\r \x{85}\p{Z}`,
	'd': `\p{Nd}`,
	'w': `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}`,
}

// compile compiles a regular expression of a tokenizer.json, which is one of Oniguruma:
// \s, \d and \w become their Unicode classes. One that Go's do not have, such as one that
// looks ahead, is an error; so is \S within brackets, as Go has no difference of classes.
func compile(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	class := false // within brackets
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			lower := text[i] | 0x20
			set, known := unicodeClasses[lower]
			switch {
			case !known:
				b.WriteString(text[i-1 : i+1])
			case text[i] == lower && class:
				b.WriteString(set)
			case text[i] == lower:
				b.WriteString("[" + set + "]")
			case class:
				return nil, fmt.Errorf(`the expression %q has a \%c in brackets, which is not supported`, text, text[i])
			default:
				b.WriteString("[^" + set + "]")
			}
			continue
		case c == '[' && class && !strings.HasPrefix(text[i:], "[:"):
			return nil, fmt.Errorf("the expression %q has brackets in brackets, which is not supported", text)
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(c)
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("the expression %q is not supported", text)
	}
	return re, nil
}
