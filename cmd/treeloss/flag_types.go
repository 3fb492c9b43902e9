package main

import (
	"encoding"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/option"
)

// onOff is a flag that is on or off, and on without a value.
type onOff bool

func (f *onOff) String() string { return map[onOff]string{true: "on", false: "off"}[*f] }
func (f *onOff) Type() string   { return "string" }

func (f *onOff) Set(s string) error {
	on := s == "on" || s == "true"
	if !on && s != "off" && s != "false" {
		return option.Check("", s, false, "on or off")
	}
	*f = onOff(on)
	return nil
}

// joined makes one argument of "--calibrate off": of a flag that may stand without a value
// the next argument is none.
func joined(args []string) (out []string) {
	for i, arg := range args {
		if i > 0 && args[i-1] == "--calibrate" && (arg == "on" || arg == "off") {
			out[len(out)-1] += "=" + arg
		} else {
			out = append(out, arg)
		}
	}
	return out
}

// textValue is a type of the library that has a text for each of its values.
type textValue interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// textFlag is a flag for a textValue; what that refuses, the flag refuses.
type textFlag struct{ value textValue }

func (f textFlag) String() string {
	text, err := f.value.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (f textFlag) Set(s string) error { return f.value.UnmarshalText([]byte(s)) }
func (f textFlag) Type() string       { return "string" }

// addText adds a flag for a textValue, whose default is what it holds.
func addText(c *cobra.Command, value textValue, name, usage string, completions ...string) {
	c.Flags().Var(textFlag{value}, name, usage)
	if len(completions) > 0 {
		choices(c, name, completions...)
	}
}

// wordFlag is a flag that takes one of some words.
type wordFlag[T ~string] struct {
	value *T
	words []T
}

func (f wordFlag[T]) String() string { return string(*f.value) }
func (f wordFlag[T]) Type() string   { return "string" }

func (f wordFlag[T]) Set(s string) error {
	if !slices.Contains(f.words, T(s)) {
		last := len(f.words) - 1
		return option.Check("", s, false, join(f.words[:last])+" or "+string(f.words[last]))
	}
	*f.value = T(s)
	return nil
}

// addWord adds a flag that takes one of some words, the first by default.
func addWord[T ~string](c *cobra.Command, value *T, name, usage string, words ...T) {
	*value = words[0]
	c.Flags().Var(wordFlag[T]{value, words}, name, usage)
	choices(c, name, plainTexts(words)...)
}

// plainTexts returns words of a type of the library as plain ones.
func plainTexts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

func join[T ~string](words []T) string { return strings.Join(plainTexts(words), ", ") }

// refusal says why a textFlag or a wordFlag refused a value.
func refusal(flag, value string, err error) error {
	if e, ok := errors.AsType[*option.Error](err); ok {
		return usagef("--%s %q, want %s", flag, value, e.Want)
	}
	return usagef("--%s: %v", flag, err)
}
