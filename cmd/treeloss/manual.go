package main

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/manual"
)

// newManual returns treeloss manual, for those who package the program: it writes what
// --help-all says as man pages and as Markdown, and the completions of shells.
func newManual(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:    "manual --out FOLDER",
		Short:  "Write man pages and a reference of all commands",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("no folder: name it with --out")
			}
			err := cmp.Or(manual.Save(out, "treeloss "+version(), pages(c.Root())), saveCompletions(c.Root(), filepath.Join(out, "completions")))
			if err != nil {
				return err
			}
			a.logf("manual: reference.md, man1 and completions in %s", out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder for reference.md, man1 and completions")
	return c
}

// saveCompletions writes what makes shells complete the commands and flags of root.
func saveCompletions(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	return cmp.Or(root.GenBashCompletionFileV2(in("treeloss.bash"), true), root.GenZshCompletionFile(in("_treeloss")),
		root.GenFishCompletionFile(in("treeloss.fish"), true), root.GenPowerShellCompletionFileWithDesc(in("treeloss.ps1")))
}

// pages returns a command and all below it that help shows.
func pages(c *cobra.Command) []manual.Page {
	c.InitDefaultHelpFlag()
	c.InheritedFlags() // merges those of the root
	p := manual.Page{Command: c.CommandPath(), Short: c.Short, Use: c.UseLine(), Long: c.Long, Examples: c.Example,
		Groups: groupsOf(c, func(string) bool { return true })}
	var below []manual.Page
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			p.Commands = append(p.Commands, sub.CommandPath())
			below = append(below, pages(sub)...)
		}
	}
	return append([]manual.Page{p}, below...)
}
