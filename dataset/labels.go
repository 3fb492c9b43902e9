package dataset

import "slices"

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
	names := make([]string, 0, len(index))
	for name := range index {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		index[name] = i
	}
	return &LabelIndex{names, index}
}

// Len returns k, the number of labels.
func (l *LabelIndex) Len() int { return len(l.names) }

// Index returns the number of a label, and whether there is such a label.
func (l *LabelIndex) Index(label string) (int, bool) {
	i, ok := l.index[label]
	return i, ok
}

// Name returns label i. It panics if i is not in 0..k-1.
func (l *LabelIndex) Name(i int) string { return l.names[i] }

// Names returns a copy of the labels in order.
func (l *LabelIndex) Names() []string { return slices.Clone(l.names) }
