package labeltree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// names gives out names that no two nodes share: to each name that is taken,
// how often it was asked for since.
type names map[string]int

// free returns the wanted name with what makes it new behind it, and takes it:
// up to three underscores, then a number, since a thousand nodes "other" shall
// not become a thousand underscores. Labels are taken first, so a class never
// loses its name. A name that is asked for n times takes O(n) time in all.
func (n names) free(want string) string {
	name := want
	for {
		again, taken := n[name]
		if !taken {
			n[name] = 0
			return name
		}
		if name != want {
			again = n[want]
		}
		n[want] = again + 1
		if name = want + strings.Repeat("_", again+1); again >= 3 {
			name = fmt.Sprintf("%s_%d", want, again+2)
		}
	}
}

// has tells whether a name is taken.
func (n names) has(name string) bool {
	_, taken := n[name]
	return taken
}

// takeLabels checks the labels of k classes and takes their names.
func takeLabels(labels []string, k int) (names, error) {
	if len(labels) != k {
		return nil, fmt.Errorf("labeltree: %d labels for %d classes", len(labels), k)
	}
	if k == 0 {
		return nil, fmt.Errorf("labeltree: no classes, want at least one")
	}
	taken := make(names, 2*k)
	for c, label := range labels {
		switch {
		case strings.TrimSpace(label) == "":
			return nil, fmt.Errorf("labeltree: class %d has the label %q, want a name", c, label)
		case !utf8.ValidString(label):
			return nil, fmt.Errorf("labeltree: label %q of class %d is not UTF-8", label, c)
		case taken.has(label):
			return nil, fmt.Errorf("labeltree: two classes have the label %q, want each label once", label)
		}
		taken[label] = 0
	}
	return taken, nil
}
