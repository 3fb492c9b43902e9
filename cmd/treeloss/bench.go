package main

import (
	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/speed"
)

// newBench returns treeloss bench. It reads and writes no file, times what package speed
// lists on random data, and prints a row for each.
func newBench(a *app) *cobra.Command {
	var o speed.Options
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of this machine",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runBench(c, a, o) },
	}
	c.Flags().IntVar(&o.Threads, "threads", 0, "processor threads of the rows with several, 0 for all")
	a.jsonFlag(c)
	c.Flags().BoolVar(&o.Tiny, "tiny", false, "sizes that say nothing, for tests")
	c.Flags().Lookup("tiny").Hidden = true
	return c
}

func runBench(c *cobra.Command, a *app, o speed.Options) error {
	if err := option.Threads(o.Threads); err != nil {
		return err
	}
	var visit func(speed.Row)
	if console.IsTerminal(a.log) && !a.quiet {
		visit = func(r speed.Row) { a.logf("%s, %s", r.Name, r.Size) }
	}
	report, err := speed.Run(c.Context(), o, visit)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(report)
	}
	report.WriteText(a.out)
	return nil
}
