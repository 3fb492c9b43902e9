package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/atomicfile"
)

// rowFlags say where a row for each tested example goes.
type rowFlags struct{ out string }

// add adds --out and --id.
func (f *rowFlags) add(c *cobra.Command, data *dataFlags) {
	c.Flags().StringVar(&f.out, "out", "", "file to write with a row for each example and its answer, by its ending: .csv or .jsonl")
	c.Flags().StringVar(&data.ID, "id", "", "column that tells the examples apart, written into the rows of --out")
}

// rowFile writes rows to a file that takes its place when all are written. What
// fails before that shows in commit, so that results are printed on a full disk.
// A nil one writes nothing.
type rowFile struct {
	file *atomicfile.File
	path string
	rows *evaluate.RowWriter
}

// create begins the file, so that one that cannot be written is known before the
// work; it is nil without --out, where an --id has no effect unless idUsed. others are files that are read beside the data. commit or
// discard ends it.
func (f *rowFlags) create(data *dataFlags, idUsed bool, others ...string) (*rowFile, error) {
	if f.out == "" {
		if data.ID != "" && !idUsed {
			return nil, usagef("--id has an effect with --out only; name a file for the rows with --out FILE.csv")
		}
		return nil, nil
	}
	file, err := createTable("out", f.out, slices.Concat(data.data, others), ".csv", ".jsonl")
	if err != nil {
		return nil, err
	}
	return &rowFile{file, f.out, evaluate.NewRowWriter(file, endsIn(f.out, ".jsonl"))}, nil
}

// createTable begins the file that a flag names. It refuses other endings, and to write
// over a file that is read.
func createTable(flag, path string, inputs []string, endings ...string) (*atomicfile.File, error) {
	if !endsIn(path, endings...) {
		return nil, usagef("--%s %s, want a file name that ends in %s", flag, path, strings.Join(endings, " or "))
	}
	if there, err := os.Stat(path); err == nil {
		for _, read := range inputs {
			if info, err := os.Stat(read); err == nil && os.SameFile(info, there) {
				return nil, usagef("--%s %s is a file that is read here and would be lost; name another file", flag, path)
			}
		}
	}
	return atomicfile.Create(path)
}

// endsIn tells whether a file has one of some endings, in any case.
func endsIn(path string, endings ...string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(path)))
}

// write adds a row.
func (r *rowFile) write(row evaluate.Row) {
	if r != nil {
		r.rows.Write(row)
	}
}

// commit puts the rows in place of the file.
func (r *rowFile) commit(a *app) error {
	if r == nil {
		return nil
	}
	r.rows.Flush()
	if err := r.file.Commit(); err != nil {
		return err
	}
	a.logf("rows: %s", r.path)
	return nil
}

// discard removes what was not committed.
func (r *rowFile) discard() {
	if r != nil {
		r.file.Discard()
	}
}
