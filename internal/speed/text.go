package speed

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/treeloss/treeloss/internal/console"
)

// WriteText prints a row for each thing that was timed. Errors of out are not reported.
func (r *Report) WriteText(out io.Writer) {
	fmt.Fprintf(out, "instructions %s, %s/%s, %d CPUs\n\n", r.Instructions, r.OS, r.Arch, r.CPUs)
	t := console.NewTable(out, "what", "size", "threads", "time", "rate", "ratio")
	for _, row := range r.Results {
		ratio := ""
		if row.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", row.Ratio)
		}
		t.Row(row.Name, row.Size, strconv.Itoa(row.Threads), shortTime(row.Seconds), fmt.Sprintf("%.4g %s/s", row.Rate, row.Unit), ratio)
	}
	t.Flush()
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
