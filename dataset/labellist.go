package dataset

import "github.com/treeloss/treeloss/internal/input"

// ReadLabels reads a file with one label a line; empty lines are skipped. What is
// refused, such as a file without labels, is an error with the place.
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
