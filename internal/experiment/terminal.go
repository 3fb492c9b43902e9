package experiment

import (
	"fmt"
	"io"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/input"
)

// WriteText prints what holds, and a short table of each sweep. Errors of out are not
// reported.
func (r *Results) WriteText(out io.Writer) {
	for i := range r.Sweeps {
		s := &r.Sweeps[i]
		fmt.Fprintf(out, "%s\n\n%s\n\n", s.Sweep.Title, input.Wrap(r.Paragraph(s), 100))
		heads := []string{fmt.Sprintf("%s %v", s.Sweep.XLabel, s.Sweep.Focus)}
		for _, p := range r.Options.Protocols {
			heads = append(heads, string(p), "difference")
		}
		t := console.NewTable(out, heads...)
		for _, m := range Methods() {
			cells, any := []string{string(m)}, false
			for _, p := range r.Options.Protocols {
				row, ok := s.Find(p, r.Options.Averaged && p != Converged, m, s.Sweep.Focus)
				any = any || ok
				switch {
				case !ok:
					cells = append(cells, "", "")
				case m == CrossEntropy:
					cells = append(cells, console.Points(row.Accuracy.Mean), "-")
				default:
					cells = append(cells, console.Points(row.Accuracy.Mean), console.Difference(row.Difference.Mean, (row.Difference.High-row.Difference.Low)/2))
				}
			}
			if any {
				t.Row(cells...)
			}
		}
		t.Flush()
		fmt.Fprintf(out, "\npoints; difference: to cross entropy in the same runs, ± half its 95 %% interval\n\n")
	}
	if r.Norms != nil {
		fmt.Fprintf(out, "%s\n\n%s\n\n", r.Norms.Sweep.Title, input.Wrap(r.NormsParagraph(), 100))
	}
}
