package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/report"
)

// reportFlag adds --report.
func reportFlag(c *cobra.Command, folder *string) {
	c.Flags().StringVar(folder, "report", "", "folder to write a page with figures into, DIR/index.html; other files in it are left alone")
}

// checkReport finds out before the work begins whether a report can be written.
func checkReport(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder = filepath.Dir(filepath.Clean(folder)) // it will be made
	case err != nil:
		return fmt.Errorf("--report: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--report %s is a file; name a folder", folder)
	case foreignPage(folder):
		return fmt.Errorf("--report: %s is a page of another program; it is left as it is: name another folder", filepath.Join(folder, "index.html"))
	}
	probe, err := os.CreateTemp(folder, ".treeloss-probe-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--report: there is no folder %s; create it first", folder)
	case err != nil:
		return fmt.Errorf("--report: no file can be written to the folder %s: %w", folder, reason(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// foreignPage tells whether a folder has an index.html that treeloss did not write.
func foreignPage(folder string) bool {
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	return err == nil && len(page) > 0 && !bytes.Contains(page, []byte(`<meta name="generator" content="treeloss">`))
}

// reason returns what went wrong without the name of the file.
func reason(err error) error {
	if place, ok := errors.AsType[*fs.PathError](err); ok {
		return place.Err
	}
	if places, ok := errors.AsType[*os.LinkError](err); ok {
		return places.Err
	}
	return err
}

// saveReport adds how the page was made and writes it.
func saveReport(a *app, page *report.Page, folder string, took time.Duration) error {
	page.Facts = append(page.Facts,
		report.Fact{Name: "Program", Value: program()},
		report.Fact{Name: "Machine", Value: report.Machine()},
		report.Fact{Name: "Time taken", Value: took.Round(100 * time.Millisecond).String()})
	return savePage(a, page, folder)
}

// savePage writes a page that says all it should.
func savePage(a *app, page *report.Page, folder string) error {
	if _, err := page.Save(folder); err != nil {
		return err
	}
	a.logf("report: %s", filepath.Join(folder, "index.html"))
	return nil
}
