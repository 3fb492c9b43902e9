package main

import (
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

// checkReport finds out before the work begins whether a flag's folder can get a page.
func checkReport(flag, folder string) error {
	if err := report.CheckFolder(folder); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
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
