package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/tune"
)

// balanced is the value of --class-weight that gives every class the same say.
const balanced = "balanced"

const classWeightHelp = "balanced, so that rare classes count as much as frequent ones: for macro F1 on unbalanced data; or a file of label,weight rows, for mistakes that cost more"

// weigh sets the weights of the classes for training on rows. how is "", balanced
// or a file of label,weight rows.
func weigh(how string, data *tune.Data, rows []int) error {
	if how == "" {
		return nil
	}
	weight := make([]float64, len(data.Classes.Labels))
	if how == balanced {
		for _, row := range rows {
			data.EachShare(row, func(class int, share float64) { weight[class] += share })
		}
		for c, n := range weight {
			if weight[c] = 1; n > 0 {
				weight[c] = float64(len(rows)) / (float64(len(weight)) * n)
			}
		}
	} else if err := readClassWeights(how, data.Classes.Labels, weight); err != nil {
		return err
	}
	data.ClassWeight = make([]float32, len(weight))
	for c, w := range weight {
		data.ClassWeight[c] = float32(w)
	}
	return nil
}

// readClassWeights reads rows of label and weight; a class that does not occur
// has weight 1.
func readClassWeights(path string, labels []string, weight []float64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file; --class-weight wants balanced or a file of label,weight rows", path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	class := make(map[string]int, len(labels))
	for c, label := range labels {
		class[label] = c
		weight[c] = 1
	}
	line := make(map[string]int)
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = -1
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w; want rows of label,weight", path, err)
		}
		at, _ := rows.FieldPos(0)
		if len(row) != 2 {
			return fmt.Errorf("%s:%d: %d cells, want two: label,weight", path, at, len(row))
		}
		label := strings.TrimSpace(strings.TrimPrefix(row[0], "\ufeff"))
		w, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		if err != nil && len(line) == 0 && strings.EqualFold(label, "label") {
			continue // a header
		}
		c, known := class[label]
		switch {
		case err != nil || !(w >= 0) || w > math.MaxFloat32:
			return fmt.Errorf("%s:%d: weight %q of label %q, want a number of at least 0", path, at, row[1], label)
		case !known:
			return fmt.Errorf("%s:%d: no training row has the label %q; correct or remove it", path, at, label)
		case line[label] > 0:
			return fmt.Errorf("%s:%d: label %q has a weight in line %d already; remove one", path, at, label, line[label])
		}
		weight[c], line[label] = w, at
	}
}
