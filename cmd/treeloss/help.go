package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/internal/manual"
	"github.com/treeloss/treeloss/internal/quickstart"
)

// helpTexts has a file for each command, such as tree-build.txt: what it does, then a
// line "Examples:" and the examples. {{decide}} stands for another file, which several
// commands share.
//
//go:embed help
var helpTexts embed.FS

// readHelp gives the commands of root their texts.
func readHelp(root *cobra.Command) {
	shared := strings.NewReplacer("{{attribution}}", quickstart.Attribution,
		"{{decide}}", helpText("decide"), "{{vector-formats}}", helpText("vector-formats"))
	for _, c := range root.Commands() {
		path := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "treeloss "), " ", "-")
		long, examples, _ := strings.Cut(helpText(path), "\n\nExamples:\n")
		c.Long, c.Example = shared.Replace(long), examples
		readHelp(c)
	}
}

// helpText returns a file of helpTexts without its last line break.
func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic("treeloss: " + err.Error()) // a command without a help text: a slip in this program
	}
	return strings.TrimSuffix(string(text), "\n")
}

// flagGroups are the groups of flags in help, in their order. A flag that is in none
// goes with the others of its command.
var flagGroups = []struct{ title, flags string }{
	{"Data", "data label text categories encoder features weight labels format encoding skip-bad label-prefix first-label multilabel label-separator test test-labels valid valid-labels oos unlabeled class-weight unknown-labels methods shots seeds names synonyms vectors"},
	{"Class information", "sharing taxonomy label-vectors unknown distances weights-model from base rho names-as-examples"},
	{"Model and output", "model calibrate top reject threshold confidence target-accuracy class-balance decode echo id probabilities report out output quantize prune per-class confusions baseline shard json quiet help help-all"},
	{"Training", "mode beam loss fourier label-smoothing hxe-alpha prior thresholds trainer epochs batch rate momentum nesterov weight-decay schedule average patience init-model resume seed threads memory"},
	{"Serving", "addr watch token-file tls-cert tls-key max-body max-items queue timeout connections drain log"},
	{"Networks", "network backend tokens augment side damaged class-names milestones warm-up tensorboard"},
}

// Of commands with more than fewFlags flags --help shows those that most people need.
const (
	fewFlags  = 24
	mostUsed  = " data unlabeled label text features test valid methods shots folds time sharing taxonomy label-vectors model calibrate report help-all "
	helpWidth = 140 // a longer line of help is broken
)

// helpFlag is --help-all: it asks for help with all flags.
type helpFlag struct{ all bool }

func (h *helpFlag) String() string   { return "false" }
func (h *helpFlag) Type() string     { return "bool" }
func (h *helpFlag) IsBoolFlag() bool { return true }
func (h *helpFlag) Set(string) error {
	h.all = true
	return pflag.ErrHelp
}

// setHelp makes root print help in groups.
func setHelp(root *cobra.Command) {
	var asked helpFlag
	flag := root.PersistentFlags().VarPF(&asked, "help-all", "", "help with all flags, and how they work together")
	flag.NoOptDefVal = "true"
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() || c.Example == "" { // a list of commands, or one of package cobra
			plain(c, args)
			return
		}
		writeHelp(c.OutOrStdout(), c, asked.all)
	})
}

// writeHelp writes the help of a command: all of it, or what fits on a screen.
func writeHelp(out io.Writer, c *cobra.Command, all bool) {
	n := 0
	c.InitDefaultHelpFlag()
	c.InheritedFlags() // merges those of the root
	c.Flags().VisitAll(func(*pflag.Flag) { n++ })
	brief := n > fewFlags && !all
	long := c.Long
	if brief {
		long, _, _ = strings.Cut(long, "\n\n")
	}
	fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", long, c.UseLine(), c.Example)
	for _, g := range groupsOf(c, func(flag string) bool { return !brief || strings.Contains(mostUsed, " "+flag+" ") }) {
		fmt.Fprintf(out, "\n%s:\n%s", g.Title, g.Flags.FlagUsagesWrapped(helpWidth))
	}
	if brief {
		fmt.Fprintf(out, "\n%s --help-all has all %d flags.\n", c.CommandPath(), n)
	}
}

// groupsOf returns the flags of a command that are shown, in the order of flagGroups.
func groupsOf(c *cobra.Command, shown func(flag string) bool) []manual.Group {
	groups := make([]manual.Group, len(flagGroups)+1)
	for i := range groups {
		title := "Other flags"
		if i < len(flagGroups) {
			title = flagGroups[i].title
		}
		groups[i] = manual.Group{Title: title, Flags: pflag.NewFlagSet(title, pflag.ContinueOnError)}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !shown(f.Name) {
			return
		}
		i := len(flagGroups)
		for j, g := range flagGroups {
			if slices.Contains(strings.Fields(g.flags), f.Name) {
				i = j
			}
		}
		groups[i].Flags.AddFlag(f)
	})
	return slices.DeleteFunc(groups, func(g manual.Group) bool { return !g.Flags.HasFlags() })
}
