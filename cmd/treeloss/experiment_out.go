package main

import (
	"bytes"
	"path/filepath"
	"time"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/experiment"
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
