// Command gen makes the data that the quickstart embeds, from the CSV files of
// banking77 (Casanueva et al. 2020, CC BY 4.0): five training rows of each class
// drawn by seed 1, all test rows, as n-gram counts under 32-bit hashes. See the
// package comment of internal/quickstart.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
)

func main() {
	log.SetFlags(0)
	from := flag.String("data", cmp.Or(os.Getenv("BANKING77"), "../../../shared/data/banking77"), "folder with train.csv and test.csv of banking77")
	to := flag.String("out", ".", "folder to write to")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		log.Fatal("gen: ", err)
	}
}

const (
	shots = 5
	seed  = 1
)

// run writes the three files of package quickstart: training rows first, then test
// rows. Labels are numbered by their order among the training labels, a byte each.
func run(from, to string) error {
	examples, _, err := corpus.Read([]string{filepath.Join(from, "train.csv")}, dataset.Options{}, corpus.Limits{})
	if err != nil {
		return err
	}
	n := examples.Table.Rows()
	test, err := examples.Append([]string{filepath.Join(from, "test.csv")}, "")
	if err != nil {
		return err
	}
	labels := dataset.NewLabels(examples.Labels[:n])
	y := make([]int, n)
	for i, label := range examples.Labels[:n] {
		y[i], _ = labels.Index(label)
	}
	train, err := dataset.Shots(y, labels.Len(), shots, seed)
	if err != nil {
		return err
	}
	var names []string
	for _, label := range labels.Names() {
		names = append(names, feature.NameText(label))
	}
	rows := append(append([]int(nil), train...), test...)
	var counts bytes.Buffer
	if err := feature.WriteHashed(&counts, examples.Table, rows, train, names); err != nil {
		return err
	}
	classes := make([]byte, len(rows))
	for i, row := range rows {
		c, ok := labels.Index(examples.Labels[row])
		if !ok || c > 255 {
			return fmt.Errorf("row %d: label %q is not among the first 256 training labels", row, examples.Labels[row])
		}
		classes[i] = byte(c)
	}
	for name, content := range map[string][]byte{
		"banking77.counts":  counts.Bytes(),
		"banking77.classes": classes,
		"banking77.labels":  []byte(strings.Join(labels.Names(), "\n") + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes\n", name, len(content))
	}
	return nil
}
