// Package quickstart holds a small real data set inside the program: banking77
// (77 intents of bank customers; Casanueva et al. 2020, CC BY 4.0), five
// training rows of each intent drawn by seed 1 and all 3,080 test rows.
//
// No sentence is embedded. A row is the counts of its n-grams, made by package
// feature; an n-gram is known by a 32-bit hash only, and those that no training
// row and no class name has are left out: a model would drop them anyway. The
// files come from
//
//	go generate ./internal/quickstart
//
// which needs train.csv and test.csv of the data set in the folder that the
// environment variable BANKING77 names; see gen.
package quickstart

import (
	"bytes"
	_ "embed" // the data
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
)

//go:generate go run ./gen

//go:embed banking77.counts
var counts []byte

//go:embed banking77.classes
var classes []byte

//go:embed banking77.labels
var labels string

// Attribution says whose data it is, as its licence asks.
const Attribution = "banking77 by PolyAI (Casanueva et al. 2020), CC BY 4.0, as n-gram counts"

// trainRows is the number of rows to train on, which come first.
const trainRows = 5 * 77

// Data returns the data with its training and test rows.
func Data() (d *corpus.Data, train, test []int, err error) {
	table, err := feature.ReadHashed(bytes.NewReader(counts))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("quickstart: %w", err)
	}
	class := make([]int32, len(classes))
	for i, c := range classes {
		class[i] = int32(c)
	}
	names := strings.Split(strings.TrimSpace(labels), "\n")
	d, err = corpus.NewData(table, class, nil, classinfo.Info{Labels: names})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("quickstart: %w", err)
	}
	return d, dataset.Range(0, trainRows), dataset.Range(trainRows, len(class)), nil
}
