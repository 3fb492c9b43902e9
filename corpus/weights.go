package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"

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

// readClassWeights sets the weights of the classes from a file of label,weight
// rows; a class that does not occur has weight 1.
func readClassWeights(path string, labels []string, weight []float64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file; Options.ClassWeight wants balanced or a file of label,weight rows", path)
	}
	if err != nil {
		return input.Missing(path, err)
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
