package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// balanced is the value of --class-weight that gives every class the same say.
const balanced = "balanced"

const classWeightHelp = "balanced, where rare classes count as much as frequent ones, or a file of label,weight rows"

// weigh sets the weights of the classes for training on rows. how is "", balanced
// or a file of label,weight rows.
func weigh(how string, data *corpus.Data, rows []int) error {
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

// readClassWeights sets the weights of the classes from a file of label,weight
// rows; a class that does not occur has weight 1.
func readClassWeights(path string, labels []string, weight []float64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file; --class-weight wants balanced or a file of label,weight rows", path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	read, err := dataset.ReadClassWeights(f, path)
	if err != nil {
		return err
	}
	for c, label := range labels {
		weight[c] = 1
		if w, ok := read[label]; ok {
			weight[c] = w
			delete(read, label)
		}
		if weight[c] > math.MaxFloat32 {
			return fmt.Errorf("%s: weight %g of label %q, want at most %g", path, weight[c], label, math.MaxFloat32)
		}
	}
	if unknown := slices.Sorted(maps.Keys(read)); len(unknown) > 0 {
		return fmt.Errorf("%s: no training row has the label %q; correct or remove it", path, unknown[0])
	}
	return nil
}
