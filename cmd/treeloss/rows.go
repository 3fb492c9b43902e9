package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// rowColumns are the columns of --out as CSV; as JSON lines they are keys.
var rowColumns = []string{"place", "id", "text", "label", "predicted", "right", "probability", "label_probability"}

// rowFile writes rows to a file that takes its place when all are written. What
// fails before that shows in commit, so that results are printed on a full disk.
// A nil one writes nothing.
type rowFile struct {
	file  *atomicfile.File
	path  string
	table *csv.Writer // nil: JSON lines
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
	r := &rowFile{file: file, path: f.out}
	if endsIn(f.out, ".csv") {
		r.table = csv.NewWriter(file)
		_ = r.table.Write(rowColumns)
	}
	return r, nil
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
	if r == nil {
		return
	}
	if r.table == nil {
		_ = encode(r.file, row)
		return
	}
	right, ofLabel := "0", ""
	if row.Right {
		right = "1"
	}
	if row.LabelProbability != nil {
		ofLabel = probabilityCell(*row.LabelProbability)
	}
	_ = r.table.Write([]string{row.Place, row.ID, row.Text, row.Label, row.Predicted, right, probabilityCell(row.Probability), ofLabel})
}

// probabilityCell has as many digits as it takes to read the same number again.
func probabilityCell(p float32) string { return strconv.FormatFloat(float64(p), 'g', -1, 32) }

// commit puts the rows in place of the file.
func (r *rowFile) commit(a *app) error {
	if r == nil {
		return nil
	}
	if r.table != nil {
		r.table.Flush()
	}
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
