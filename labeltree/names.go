package labeltree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// names gives out names that no two nodes share.
type names map[string]bool

// free returns the wanted name with as many underscores behind it as make it
// new, and takes it. Labels are taken first, so a class never loses its name.
func (n names) free(want string) string {
	for n[want] {
		want += "_"
	}
	n[want] = true
	return want
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
		case taken[label]:
			return nil, fmt.Errorf("labeltree: two classes have the label %q, want each label once", label)
		}
		taken[label] = true
	}
	return taken, nil
}

// namePseudoclasses calls the nodes without a class and a name pseudo1,
// pseudo2, ... in preorder, as the paper's figure 1 does.
func namePseudoclasses(p *parts, taken names) error {
	order, err := preorder(p.parent)
	if err != nil {
		return err
	}
	count := 0
	for _, v := range order {
		if p.class[v] >= 0 {
			continue
		}
		count++
		if p.name[v] == "" {
			p.name[v] = taken.free(fmt.Sprintf("pseudo%d", count))
		}
	}
	return nil
}
