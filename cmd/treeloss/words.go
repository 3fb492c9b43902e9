package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/dataset"
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
	if m, ok := errors.AsType[*option.Misuse](err); ok {
		text, wrongCall = strings.ReplaceAll(text, m.Error(), m.In(flagOf)), true
	}
	if e, ok := errors.AsType[*dataset.Error](err); ok && e.Row {
		text += "; --skip-bad leaves such rows out"
	}
	return namesInFlags(text), wrongCall
}

// namesInFlags replaces the Options.Name of a text of the library by a flag.
func namesInFlags(text string) string {
	return optionName.ReplaceAllStringFunc(text, func(name string) string { return flagOf(strings.TrimPrefix(name, "Options.")) })
}

// optionName is how a text of the library names an option that would mend them.
var optionName = regexp.MustCompile(`\bOptions\.[A-Z][A-Za-z]+`)

// flagOf returns the flag of an option of the library: its name in small letters,
// but for a few. A value may stand behind the name.
func flagOf(option string) string {
	name, value, _ := strings.Cut(option, " ")
	special := map[string]string{"ID": "id", "Alpha": "hxe-alpha", "Unlabelled": "unlabeled", "Smoothing": "label-smoothing", "Names": "names-as-examples", "Columns": "features", "Cost": "decode cost", "Vectors": "label-vectors", "Weights": "weights-model"}
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
