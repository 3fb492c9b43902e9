package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
)

// labelFlags say where the class names of a tree come from: a file of labels,
// or the labels of examples.
type labelFlags struct {
	data dataFlags // data.Labels is the file of labels
}

func (f *labelFlags) add(c *cobra.Command) {
	f.data.addColumns(c)
	c.Flags().Lookup("data").Usage = "examples whose labels are the classes: CSV, TSV, JSONL, Parquet, fastText, LIBSVM or .npy"
	c.Flags().Lookup("labels").Usage = "file of class names, one a line; with --data of an .npy file the labels of its rows"
}

// given tells whether there is any source of labels.
func (f *labelFlags) given() bool { return len(f.data.data) > 0 || f.data.Labels != "" }

// read returns the distinct labels in the order of their bytes, as models have
// them. Examples are read as a stream.
func (f *labelFlags) read(a *app) ([]string, error) {
	if len(f.data.data) == 0 {
		list, err := dataset.ReadLabels(f.data.Labels)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file; check the path of --labels", f.data.Labels)
		}
		if err != nil {
			return nil, err
		}
		return dataset.NewLabels(list).Names(), nil
	}
	if err := f.data.check(); err != nil {
		return nil, err
	}
	defer f.data.skipped.in(a)()
	r, err := a.openExamples(f.data.data, f.data.Options)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a.logf("%s", r.Describe())
	return r.Labels()
}
