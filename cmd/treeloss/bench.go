package main

import (
	"fmt"
	"strconv"
	"time"

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
	fmt.Fprintf(a.out, "instructions %s, %s/%s, %d CPUs\n\n", report.Instructions, report.OS, report.Arch, report.CPUs)
	t := console.NewTable(a.out, "what", "size", "threads", "time", "rate", "ratio")
	for _, r := range report.Results {
		ratio := ""
		if r.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		t.Row(r.Name, r.Size, strconv.Itoa(r.Threads), shortTime(r.Seconds), fmt.Sprintf("%.4g %s/s", r.Rate, r.Unit), ratio)
	}
	t.Flush()
	return nil
}

// shortTime prints seconds with three digits and a unit.
func shortTime(seconds float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}} {
		if seconds >= unit.size {
			return fmt.Sprintf("%.3g %s", seconds/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d ns", time.Duration(seconds*1e9))
}
