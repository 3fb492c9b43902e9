package dataset

import (
	"maps"
	"slices"

	"github.com/treeloss/treeloss/internal/input"
)

// LabelIndex numbers the labels of a data set 0..k-1 in the order of their
// bytes, so that the numbers do not depend on the order of the rows.
type LabelIndex struct {
	names []string
	index map[string]int
}

// NewLabels returns the index of the labels in list, in which a label may
// occur any number of times. It takes O(n log n) time.
func NewLabels(list []string) *LabelIndex {
	index := make(map[string]int)
	for _, name := range list {
		index[name] = 0
	}
	names := slices.Sorted(maps.Keys(index))
	for i, name := range names {
		index[name] = i
	}
	return &LabelIndex{names, index}
}

// Len returns k, the number of labels.
func (l *LabelIndex) Len() int { return len(l.names) }

// Index returns the number of a label, 0..k-1, and whether there is such a label.
func (l *LabelIndex) Index(label string) (int, bool) {
	i, ok := l.index[label]
	return i, ok
}

// Name returns label i. It panics if i is not in 0..k-1.
func (l *LabelIndex) Name(i int) string { return l.names[i] }

// Names returns a copy of the labels in order.
func (l *LabelIndex) Names() []string { return slices.Clone(l.names) }

// ReadLabels reads a file with one label a line; empty lines are skipped. What is
// refused, such as a file without labels, is an *Error with the place.
func ReadLabels(path string) ([]string, error) {
	var list []string
	err := input.EachLine(path, input.Options{Want: "one class name a line"}, func(_ int, line string) error {
		list = append(list, line)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = input.Refuse(path, 0, 0, "no labels; want one class name a line")
	}
	return list, err
}
