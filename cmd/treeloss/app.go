package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/remote"
	"github.com/treeloss/treeloss/internal/shard"
)

// app is what all commands share: the streams and the flags of the root.
type app struct {
	in    io.Reader
	out   io.Writer // results
	log   io.Writer // everything else
	quiet bool
	json  bool

	skipped *skippedRows  // of the command, once it reads examples
	args    []string      // of the call
	parts   *shard.Parts  // what gather has, and runs a command with; nil: it does not
	stage   *remote.Stage // copies of what the arguments name by URL; nil: none do
}

// execute runs the command that arguments call for.
func (a *app) execute(ctx context.Context, args []string) (err error) {
	a.args = joined(args)
	local, send, err := a.staged(ctx, a.args)
	if a.stage != nil {
		defer func() { err = cmp.Or(err, a.stage.Close()) }()
	}
	if err != nil {
		return err
	}
	root := newRoot(a)
	root.SetArgs(local)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.log)
	explainWrongCalls(root, args)
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return send()
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "treeloss",
		Short: "Classify into many classes, using what you know about them",
		Long: `Treeloss trains classifiers of many similar classes, from few examples of
each, and uses what you know about the classes: their names, a taxonomy.

Start with:  treeloss quickstart`,
		Version:       versionInFull(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          commandsOnly,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no log and no progress bars, for scripts")
	root.AddCommand(newQuickstart(a), newTrain(a), newEvaluate(a), newPredict(a), newCompare(a), newDoctor(a), newExplain(a), newTune(a), newCV(a), newExperiment(a), newTree(a), newVectors(a), newEncoder(a), newBench(a), newEmbed(a), newServe(a), newExplore(a), newExport(a), newGather(a), newTweets(a), newManual(a))
	readHelp(root)
	setHelp(root)
	return root
}

// jsonFlag adds --json to a command that prints results.
func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "print one JSON document instead of a table, for programs")
}

// logf writes a line to the log unless --quiet.
func (a *app) logf(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.log, a.named(namesInFlags(fmt.Sprintf(format, args...))))
	}
}

// printJSON prints one JSON document, an object. With --skip-bad its last key is how
// many rows were left out.
func (a *app) printJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	const end = "\n}\n"
	if n, asked := a.skipped.count(); asked && bytes.HasSuffix(text.Bytes(), []byte(end)) {
		text.Truncate(text.Len() - len(end))
		fmt.Fprintf(&text, ",\n  \"skipped_rows\": %d%s", n, end)
	}
	_, err := a.out.Write(text.Bytes())
	return err
}

// bar returns a progress bar in the log, unless --quiet.
func (a *app) bar() *console.Bar {
	if a.quiet {
		return console.NewBar(nil)
	}
	return console.NewBar(a.log)
}

// noArgs refuses arguments of a command that takes flags only.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		for _, flag := range []string{"vectors", "data"} {
			if c.Flags().Lookup(flag) != nil {
				return usagef("%s takes no argument %q; if it is a file, give it with --%s", c.CommandPath(), args[0], flag)
			}
		}
		return usagef("%s takes no argument %q; its flags are listed by --help", c.CommandPath(), args[0])
	}
	return nil
}

// version is the module's version, or the commit of a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// versionInFull adds what the program was built of: the commit, where Go recorded it, the
// release of Go, and the platform.
func versionInFull() string {
	of := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := debug.ReadBuildInfo()
	for i := 0; info != nil && i < len(info.Settings); i++ {
		switch s := info.Settings[i]; {
		case s.Key == "vcs.revision":
			of = slices.Insert(of, 0, "commit "+s.Value[:min(12, len(s.Value))])
		case s.Key == "vcs.modified" && s.Value == "true":
			of = append(of, "with changes that are not committed")
		}
	}
	return version() + " (" + strings.Join(of, ", ") + ")"
}

// program is the name that a model file records.
func program() string { return "treeloss " + version() }
