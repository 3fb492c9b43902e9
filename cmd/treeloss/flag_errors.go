package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/internal/fasttext"
)

// explainWrongCalls makes root answer wrong calls in the words of this program, also
// those of the commands help and completion, which come with the package cobra.
// The streams of root must be set.
func explainWrongCalls(root *cobra.Command, args []string) {
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, args, err) })
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if about, rest, err := root.Find(args); err == nil && len(rest) > 0 {
					return unknownCommand(about, rest[0])
				}
				return nil
			}
		case "completion":
			c.Args, c.RunE = commandsOnly, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// commandsOnly are the arguments of a command that has commands of its own.
func commandsOnly(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// flagError says in a user's words what is wrong with a flag; the package that
// parses flags speaks of the program's insides. args are those of the whole call.
func flagError(c *cobra.Command, args []string, err error) error {
	if errors.Is(err, pflag.ErrHelp) { // --help-all
		return pflag.ErrHelp
	}
	if word := firstWord(c, args); word != "" { // its flags are not known, since it is not
		return unknownCommand(c, word)
	}
	var (
		missing *pflag.NotExistError
		bare    *pflag.ValueRequiredError
		bad     *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	help := c.CommandPath() + " --help lists the flags"
	switch {
	case errors.As(err, &missing):
		return usagef("%s%s", unknownFlag(c, missing), help)
	case errors.As(err, &bare):
		return usagef("--%s needs a value: %s", bare.GetFlag().Name, wanted(bare.GetFlag()))
	case errors.As(err, &bad):
		f := bad.GetFlag()
		if f.Value.Type() == "string" { // one of the library's types
			return refusal(f.Name, bad.GetValue(), bad.Unwrap())
		}
		return usagef("--%s %q%s, want %s", f.Name, bad.GetValue(), wrongPart(f.Value.Type(), bad.GetValue()), wanted(f))
	case errors.As(err, &syntax):
		return usagef("%q is no flag: a flag is two dashes and its name; %s", syntax.GetSpecifiedFlag(), help)
	}
	return usageError{fmt.Errorf("%w; %s", err, help)}
}

// firstWord returns what stands where a command has the name of one of its
// commands, "" if nothing does.
func firstWord(c *cobra.Command, args []string) string {
	if !c.HasSubCommands() {
		return ""
	}
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-q" || a == "--quiet" })
	depth := len(strings.Fields(c.CommandPath())) - 1
	if depth >= len(words) || strings.HasPrefix(words[depth], "-") {
		return ""
	}
	return words[depth]
}

// unknownCommand names a command that is not there, and what may be meant.
func unknownCommand(c *cobra.Command, word string) error {
	if !c.HasSubCommands() {
		return usagef("%s has no commands, so no %q", c.CommandPath(), word)
	}
	if here, ok := fasttext.Commands[word]; ok && !c.HasParent() {
		return usagef("%s is a command of fastText; here: %s", word, here)
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	text := fmt.Sprintf("unknown command %q; ", word)
	if near := nearest(strings.ToLower(word), names); near != "" {
		text = fmt.Sprintf("unknown command %q, do you mean %s %s? ", word, c.CommandPath(), near)
	}
	if !c.HasParent() {
		return usagef("%streeloss help lists the commands", text)
	}
	last := len(names) - 1
	list := names[last]
	if last > 0 {
		list = strings.Join(names[:last], ", ") + " and " + list
	}
	return usagef("%s%s has %s", text, c.CommandPath(), list)
}

// unknownFlag begins a message with a flag that is not there and what may be meant.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError) string {
	name, typed := err.GetSpecifiedName(), "--"+err.GetSpecifiedName()
	if letters := err.GetSpecifiedShortnames(); letters != "" {
		name, typed = letters, "-"+letters
		if here, ok := fasttext.Options[letters]; ok {
			return fmt.Sprintf("-%s is an option of fastText; here: %s; ", letters, here)
		}
	}
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	text := "unknown flag " + typed
	if near := nearest(name, flags); near != "" {
		return text + ", do you mean --" + near + "? "
	}
	if name == "shard" && c.Name() == "tune" {
		return text + ": each trial of tune depends on those before, so they cannot be divided; compare --methods and cv can; "
	}
	if name == "data" && strings.Contains(c.Use, "[FILE") {
		return text + fmt.Sprintf(": name the file without a flag, as in %s --model MODEL FILE; ", c.CommandPath())
	}
	return text + "; "
}

// wanted says what a flag takes.
func wanted(f *pflag.Flag) string {
	like := func(example string) string { // one's own default, if it has one
		if f.DefValue == "0" || f.DefValue == "[]" {
			return example
		}
		return strings.Trim(f.DefValue, "[]")
	}
	switch f.Value.Type() {
	case "int":
		return "a whole number, such as " + like("2")
	case "uint64":
		return "a whole number that is not negative, such as " + like("1")
	case "float64":
		if f.Name == "base" {
			return "a number above 1, such as " + like("1.3")
		}
		return "a number, such as " + like("0.5")
	case "intSlice":
		return "whole numbers with commas between them, such as " + like("1,3,5")
	case "float64Slice":
		return "numbers with commas between them, such as " + like("30,60")
	case "bool":
		return "no value, or =true or =false"
	case "duration":
		return "a time with its unit, such as 30s, 2m or 1h"
	case "stringSlice":
		return "names with commas between them, and double quotes around one that holds a comma"
	}
	return f.Usage
}

// wrongPart says what keeps a value from being a number or a list of them, where
// that is not plain to see.
func wrongPart(kind, value string) string {
	parts := []string{value}
	noun := ""
	switch kind {
	case "int", "uint64", "float64":
	case "intSlice":
		parts, noun = strings.Split(value, ","), "whole number"
	case "float64Slice":
		parts, noun = strings.Split(value, ","), "number"
	default:
		return ""
	}
	parse := func(s string) error { _, err := strconv.ParseInt(s, 0, 64); return err }
	if strings.HasPrefix(kind, "float") {
		parse = func(s string) error { _, err := strconv.ParseFloat(s, 64); return err }
	}
	for _, part := range parts {
		switch err := parse(part); {
		case err == nil:
		case errors.Is(err, strconv.ErrRange):
			return ": too large a number"
		case part == "":
			return ": a number is missing"
		case strings.HasSuffix(part, "%") && parse(part[:len(part)-1]) == nil:
			share, _ := strconv.ParseFloat(part[:len(part)-1], 64)
			return fmt.Sprintf(": %s is written %v", part, share/100)
		case kind == "float64" && strings.Count(part, ",") == 1:
			return ": decimals stand behind a point"
		case len(parts) > 1:
			return fmt.Sprintf(": %q is no %s", part, noun)
		}
	}
	return ""
}

// nearest returns the one of names that word seems to be meant for, "" for none:
// it is the beginning of only one, or one or two slips of the finger away.
func nearest(word string, names []string) string {
	var begun []string
	best, least := "", 3
	for _, name := range names {
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begun = append(begun, name)
		}
		n := slips(word, name)
		if n <= len(name)/3 && (n < least || n == least && sameLetters(word, name)) {
			best, least = name, n // of as many slips, letters were rather swapped than added
		}
	}
	if len(begun) == 1 {
		return cmp.Or(best, begun[0])
	}
	return best
}

// sameLetters tells whether words differ in the order of their letters only.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// slips counts the letters to add, leave out, change, or swap with the next,
// that make b of a.
func slips(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], 1+d[i-2][j-2])
				}
			}
		}
	}
	return d[len(a)][len(b)]
}
