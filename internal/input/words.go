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
		replace(e, where+article(e.Value)+", want "+kindWords(e.Type.Kind().String()))
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

// article puts "a" or "an" in front of what JSON calls a value, such as "number" or
// "number 1e999".
func article(value string) string {
	switch {
	case value == "string":
		return "a text"
	case value == "bool":
		return "true or false"
	case value == "array", value == "object":
		return "an " + value
	}
	return "a " + value
}

// kindWords says what a kind of Go is for a user.
func kindWords(kind string) string {
	switch {
	case kind == "string":
		return "a text"
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number that is not too large"
	case strings.HasPrefix(kind, "float"):
		return "a number that is not too large"
	case kind == "slice", kind == "array":
		return "a list"
	}
	return "an object"
}
