package dataset_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/treeloss/treeloss/dataset"
)

func ExampleOpen() {
	r, err := dataset.Open("testdata/flowers.csv", dataset.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer r.Close()
	fmt.Println(r.Describe())
	for ex, err := range r.All() {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		fmt.Println(ex.Place.Line, ex.Label, ex.Values)
	}
	// Output:
	// testdata/flowers.csv: label column "species", 4 numeric columns petal length..sepal width (column "id" left out)
	// 2 daisy [1.5 0.5 3 1]
	// 3 aster [1.25 0.75 2.5 1.5]
	// 4 daisy [1.75 0.5 3.25 1]
	// 5 aster [1 1 2.75 1.25]
}

func ExampleNewReader() {
	lines := strings.NewReader("daisy 1:1.5 4:0.5\naster 2:0.75\n")
	r, err := dataset.NewReader(lines, "standard input", dataset.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for ex := range r.All() {
		fmt.Println(ex.Label, ex.Index, ex.Values)
	}
	// Output:
	// daisy [0 3] [1.5 0.5]
	// aster [1] [0.75]
}

func ExampleError() {
	_, err := dataset.NewReader(strings.NewReader("width,species\nabc,daisy\n"), "train.csv", dataset.Options{Columns: []string{"width"}})
	fmt.Println(err)
	// Output:
	// train.csv:2:1: column "width": "abc" is not a number; name the numeric columns with Options.Columns
}

func ExampleShots() {
	labels := []string{"daisy", "aster", "daisy", "daisy", "aster"}
	index := dataset.NewLabels(labels)
	y := make([]int, len(labels))
	for i, label := range labels {
		y[i], _ = index.Index(label)
	}
	rows, err := dataset.Shots(y, index.Len(), 1, 1)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(index.Names(), y, len(rows), "rows drawn")
	// Output:
	// [aster daisy] [1 0 1 1 0] 2 rows drawn
}
