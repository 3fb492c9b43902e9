// Package quickstart holds a small real data set inside the program: banking77, 13,083
// questions of bank customers with 77 intents (Casanueva et al. 2020, CC BY 4.0), as
// published: the packed CSV files of its training and its test questions. They come from
//
//	go generate ./internal/quickstart
//
// which needs train.csv and test.csv of the data set in the folder that the environment
// variable BANKING77 names; see gen.
package quickstart

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the data
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/atomicfile"
)

//go:generate go run ./gen

//go:embed train.csv.gz
var train []byte

//go:embed test.csv.gz
var test []byte

// Attribution says whose data it is, as its licence asks.
const Attribution = "banking77 by PolyAI (Casanueva et al. 2020), CC BY 4.0"

// files are the data by the names that WriteFiles gives them.
var files = []struct {
	name   string
	packed []byte
}{{"train.csv", train}, {"test.csv", test}}

// Data returns the data and the numbers of its 10,003 training and 3,080 test rows.
func Data(ctx context.Context) (d *corpus.Data, trainRows, testRows []int, err error) {
	c := corpus.New(dataset.Text, nil)
	for _, f := range files {
		if err := read(c, f.name+".gz", f.packed); err != nil {
			return nil, nil, nil, fmt.Errorf("quickstart: %w", err)
		}
		if trainRows == nil {
			trainRows = c.Rows()
		}
	}
	testRows = c.Rows()[len(trainRows):]
	if d, err = c.Data(ctx, trainRows, corpus.ClassFiles{}); err != nil {
		return nil, nil, nil, fmt.Errorf("quickstart: %w", err)
	}
	return d, trainRows, testRows, nil
}

// read adds the examples of one file to c.
func read(c *corpus.Corpus, name string, packed []byte) error {
	r, err := dataset.NewReader(bytes.NewReader(packed), name, dataset.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	return c.AddAll(r)
}

// WriteFiles writes train.csv and test.csv, as published, to a folder, which is made if
// there is none. A file of one of these names is an error, and nothing is written.
func WriteFiles(folder string) error {
	for _, f := range files {
		path := filepath.Join(folder, f.name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already; name another folder", path)
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		unpacked, err := gzip.NewReader(bytes.NewReader(f.packed))
		if err != nil {
			return fmt.Errorf("quickstart: %w", err)
		}
		err = atomicfile.Write(filepath.Join(folder, f.name), func(w io.Writer) error {
			_, err := io.Copy(w, unpacked)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
