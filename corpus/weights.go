package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
)

// Balanced weighs rare classes as much as frequent ones.
const Balanced = "balanced"

// WeighClasses sets the weights of the classes for training on rows. how is "" for all 1,
// Balanced, or a file of label,weight rows; a class that does not occur there has weight 1.
// Balanced is n / (k n_c): n rows, k classes, n_c the rows of class c, with soft labels
// their shares of it; on a stream the rows of their largest share.
func (d *Data) WeighClasses(how string, rows []int) error {
	if how == "" {
		return nil
	}
	weight := make([]float64, len(d.Classes.Labels))
	if how == Balanced {
		total := len(rows)
		if d.Stream != nil {
			weight, total = d.Stream.ClassRows(len(weight)), d.Stream.Rows()
		} else {
			for _, row := range rows {
				d.EachShare(row, func(class int, share float64) { weight[class] += share })
			}
		}
		for c, n := range weight {
			// A class without rows keeps weight 1, which nothing is multiplied by.
			if weight[c] = 1; n > 0 {
				weight[c] = float64(total) / (float64(len(weight)) * n)
			}
		}
	} else if err := readClassWeights(how, d.Classes.Labels, weight); err != nil {
		return err
	}
	d.ClassWeight = make([]float32, len(weight))
	for c, w := range weight {
		d.ClassWeight[c] = float32(w)
	}
	return nil
}

// ClassTotals returns what the examples of each class weigh together in training on rows:
// the weight of each, times that of its class, with soft labels by their shares. Names as
// examples and unlabelled rows do not count. All rows of a stream do. O(rows).
func (d *Data) ClassTotals(rows []int) []float32 {
	totals := make([]float64, len(d.Classes.Labels))
	if d.Stream != nil {
		totals = d.Stream.classTotals(len(totals))
	} else {
		for _, row := range d.Labelled(rows) {
			weight := 1.0
			if d.Weight != nil {
				weight = float64(d.Weight[row])
			}
			d.EachShare(row, func(class int, share float64) { totals[class] += weight * share })
		}
	}
	out := make([]float32, len(totals))
	for c, total := range totals {
		if d.ClassWeight != nil {
			total *= float64(d.ClassWeight[c])
		}
		out[c] = float32(total)
	}
	return out
}

// Uniform says that all classes are as frequent.
const Uniform = "uniform"

// ReadBalance reads how frequent classes are where a model is used, as classify.Rebalance
// takes it: how is Uniform, or a file of label,weight rows.
func ReadBalance(how string) (map[string]float64, error) {
	if how == Uniform {
		return map[string]float64{classify.OtherClasses: 1}, nil
	}
	return readWeightFile(how, "ClassBalance wants "+Uniform)
}

// readWeightFile reads a file of label,weight rows; or says what else an option takes, for
// the error where there is no such file.
func readWeightFile(path, or string) (map[string]float64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; Options.%s or a file of label,weight rows", path, or)
	}
	if err != nil {
		return nil, input.Missing(path, err)
	}
	defer f.Close()
	return dataset.ReadClassWeights(f, path)
}

// readClassWeights sets the weights of the classes from a file of label,weight
// rows; a class that does not occur has weight 1.
func readClassWeights(path string, labels []string, weight []float64) error {
	read, err := readWeightFile(path, "ClassWeight wants "+Balanced)
	if err != nil {
		return err
	}
	for c, label := range labels {
		weight[c] = 1
		if w, ok := read[label]; ok {
			weight[c] = w
			delete(read, label)
		}
		// Trainers have weights in float32.
		if weight[c] > math.MaxFloat32 {
			return fmt.Errorf("%s: weight %g of label %q, want at most %g", path, weight[c], label, math.MaxFloat32)
		}
	}
	if unknown := slices.Sorted(maps.Keys(read)); len(unknown) > 0 {
		return fmt.Errorf("%s: no training row has the label %q; correct or remove it", path, unknown[0])
	}
	return nil
}
