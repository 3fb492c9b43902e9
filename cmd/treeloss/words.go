package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
)

// inFlags returns the text of an error with the names of the library's options as
// flags, and whether the program was called wrongly.
func inFlags(err error) (text string, wrongCall bool) {
	text = plain(err)
	if _, ok := errors.AsType[usageError](err); ok {
		wrongCall = true
	}
	if e, ok := errors.AsType[*option.Error](err); ok {
		wrongCall = true
		text = strings.ReplaceAll(text, e.Error(), fmt.Sprintf("%s %s, want %s", flagOf(e.Name), e.Text(), e.Want))
	}
	if c, ok := errors.AsType[*option.Conflict](err); ok {
		wrongCall = true
		text = strings.ReplaceAll(text, c.Error(), (&option.Conflict{A: flagOf(c.A), B: flagOf(c.B), Why: c.Why}).Error())
	}
	if e, ok := errors.AsType[*input.Error](err); ok {
		text = strings.ReplaceAll(text, e.Error(), e.In(flagOf))
	}
	if h, ok := errors.AsType[*option.Hint](err); ok {
		own := &option.Hint{Advice: h.Advice, Names: h.Names}
		text, wrongCall = strings.ReplaceAll(text, own.Error(), own.In(flagOf)), wrongCall || h.Err == nil
	}
	return text, wrongCall
}

// flagOf returns the flag of an option of the library: its name in small letters,
// but for a few. A value may stand behind the name.
func flagOf(option string) string {
	name, value, _ := strings.Cut(option, " ")
	special := map[string]string{"Columns": "features", "Cost": "decode cost"}
	flag := special[name]
	if flag == "" {
		for i, r := range name {
			if unicode.IsUpper(r) && i > 0 {
				flag += "-"
			}
			flag += string(unicode.ToLower(r))
		}
	}
	return strings.TrimSpace("--" + flag + " " + value)
}
