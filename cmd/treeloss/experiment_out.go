package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"time"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/experiment"
	"github.com/treeloss/treeloss/internal/input"
)

// saveExperiment writes the page, and the claims if all experiments were run.
func saveExperiment(a *app, r *experiment.Results, folder, name string, took time.Duration) error {
	if name == allExperiments {
		var claims bytes.Buffer
		if err := r.WriteClaims(&claims); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(folder, "claims.md"), claims.Bytes()); err != nil {
			return err
		}
	}
	return saveReport(a, r.Page(), folder, took)
}

// printExperiment prints what holds, and a short table of each sweep.
func printExperiment(a *app, r *experiment.Results) {
	for i := range r.Sweeps {
		s := &r.Sweeps[i]
		fmt.Fprintf(a.out, "%s\n\n%s\n\n", s.Sweep.Title, input.Wrap(r.Paragraph(s), 100))
		heads := []string{fmt.Sprintf("%s %v", s.Sweep.XLabel, s.Sweep.Focus)}
		for _, p := range r.Options.Protocols {
			heads = append(heads, string(p), "difference")
		}
		t := console.NewTable(a.out, heads...)
		for _, m := range experiment.Methods() {
			cells, any := []string{string(m)}, false
			for _, p := range r.Options.Protocols {
				row, ok := s.Find(p, r.Options.Averaged && p != experiment.Converged, m, s.Sweep.Focus)
				any = any || ok
				switch {
				case !ok:
					cells = append(cells, "", "")
				case m == experiment.CrossEntropy:
					cells = append(cells, points(row.Accuracy.Mean), "-")
				default:
					cells = append(cells, points(row.Accuracy.Mean), difference(row.Difference.Mean, (row.Difference.High-row.Difference.Low)/2))
				}
			}
			if any {
				t.Row(cells...)
			}
		}
		t.Flush()
		fmt.Fprintf(a.out, "\npoints; difference: to cross entropy in the same runs, ± half its 95 %% interval\n\n")
	}
	if r.Norms != nil {
		fmt.Fprintf(a.out, "%s\n\n%s\n\n", r.Norms.Sweep.Title, input.Wrap(r.NormsParagraph(), 100))
	}
}
