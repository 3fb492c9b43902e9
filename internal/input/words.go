package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// InWords returns text, the text of err, with what the packages that read JSON and
// numbers say of their insides in a user's words:
//
//	invalid character '}' looking for beginning of value
//	-> unexpected "}"
//	json: cannot unmarshal number into Go struct field jsonHead.format of type string
//	-> "format" is a number, want a text
func InWords(text string, err error) string {
	replace := func(old error, words string) { text = strings.ReplaceAll(text, old.Error(), words) }
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		replace(e, syntaxWords(e.Error()))
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := ""
		if e.Field != "" {
			where = fmt.Sprintf("%q is ", e.Field)
		}
		replace(e, where+mismatch(e))
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		replace(e, fmt.Sprintf("%s is no number that can be used", Clip(e.Num)))
	}
	return strings.ReplaceAll(text, "json: unknown field", "unknown key")
}

// syntaxWords says what a *json.SyntaxError says.
func syntaxWords(text string) string {
	switch {
	case strings.Contains(text, "exceeded max depth"):
		return "nested more than 10,000 levels deep"
	case strings.Contains(text, "unexpected end"):
		return "it ends too early"
	}
	if rest, ok := strings.CutPrefix(text, "invalid character "); ok {
		// A quoted character comes next; a quote itself is written '\''.
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			if c, err := strconv.Unquote(quoted); err == nil {
				return "unexpected " + strconv.Quote(c)
			}
		}
		return "unexpected " + strings.Fields(rest)[0]
	}
	return "unexpected text"
}
