package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
)

// choices tells the shell completion what a flag may say. Flags without
// choices complete file names.
func choices(c *cobra.Command, flag string, values ...string) {
	complete(c, flag, values, cobra.ShellCompDirectiveNoFileComp)
}

// suggest is choices for a flag that may also name a file.
func suggest(c *cobra.Command, flag string, values ...string) {
	complete(c, flag, values, cobra.ShellCompDirectiveDefault)
}

func complete(c *cobra.Command, flag string, values []string, directive cobra.ShellCompDirective) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, directive)); err != nil {
		panic("treeloss: " + err.Error()) // no such flag: a slip in this program
	}
}

// choicesOf is choices for a flag that takes several values with a separator
// between them, each once.
func choicesOf(c *cobra.Command, flag, separator string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before, last := "", typed
		if at := strings.LastIndex(typed, separator); at >= 0 {
			before, last = typed[:at+len(separator)], typed[at+len(separator):]
		}
		var out []cobra.Completion
		for _, v := range values {
			if strings.HasPrefix(v, last) && !slices.Contains(strings.Split(before, separator), v) {
				out = append(out, before+v)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("treeloss: " + err.Error()) // no such flag: a slip in this program
	}
}

// inputFormats returns the formats that --format may name.
func inputFormats() []string {
	var names []string
	for f := dataset.CSV; f <= dataset.Lines; f++ {
		names = append(names, strings.ToLower(f.String()))
	}
	return names
}
