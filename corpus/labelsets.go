package corpus

import (
	"slices"
	"strings"

	"github.com/treeloss/treeloss/matrix"
)

// LabelSets are the labels of rows that may have any number of them, none included. A label
// is kept once and counts 4 bytes a row.
type LabelSets struct {
	names  []string         // in the order in which they were met
	number map[string]int32 // of each
	start  []int            // row i has label[start[i]:start[i+1]]
	label  []int32
}

func newLabelSets() *LabelSets {
	return &LabelSets{number: make(map[string]int32), start: []int{0}}
}

// add appends a row.
func (s *LabelSets) add(labels []string) {
	for _, l := range labels {
		n, known := s.number[l]
		if !known {
			n = int32(len(s.names))
			l = strings.Clone(l) // not the cell that it was cut from
			s.names, s.number[l] = append(s.names, l), n
		}
		s.label = append(s.label, n)
	}
	s.start = append(s.start, len(s.label))
}

// bytes is about how much memory the sets take.
func (s *LabelSets) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(8*cap(s.start)+4*cap(s.label)) + gramBytes*int64(len(s.names))
}

// gramBytes is about what a name in a map and a list takes.
const gramBytes = 96

// Classes returns the labels of the given rows in the order of their bytes.
func (s *LabelSets) Classes(rows []int) []string {
	seen := make([]bool, len(s.names))
	for _, row := range rows {
		for _, n := range s.label[s.start[row]:s.start[row+1]] {
			seen[n] = true
		}
	}
	var classes []string
	for n, name := range s.names {
		if seen[n] {
			classes = append(classes, name)
		}
	}
	slices.Sort(classes)
	return classes
}

// Matrix returns the classes of the given rows by number, each with the value 1
// (softmax.Examples.Labels). Labels that are none of the classes are left out.
func (s *LabelSets) Matrix(rows []int, classes []string) *matrix.Sparse {
	class := make([]int32, len(s.names)) // of each name, -1: none
	for n := range class {
		class[n] = -1
	}
	for c, name := range classes {
		if n, known := s.number[name]; known {
			class[n] = int32(c)
		}
	}
	m := &matrix.Sparse{Columns: len(classes), Start: []int{0}}
	var index []int32
	var value []float32
	for _, row := range rows {
		index = index[:0]
		for _, n := range s.label[s.start[row]:s.start[row+1]] {
			if c := class[n]; c >= 0 {
				index = append(index, c)
			}
		}
		slices.Sort(index)
		for len(value) < len(index) {
			value = append(value, 1)
		}
		m.AppendRow(index, value[:len(index)])
	}
	return m
}
