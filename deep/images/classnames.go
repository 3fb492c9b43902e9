package images

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/dataset"
)

// classNames reads a name a line, in the order of the classes, or the column of a
// CSV file: FILE.csv:COLUMN. Of a CSV file that has a column with what the classes
// are called now, such as wnids, it takes the rows of these, in any order.
func classNames(spec string, classes []string) (names []string, err error) {
	if file, column, ok := strings.Cut(spec, ".csv:"); ok {
		names, err = readColumn(file+".csv", column, classes)
	} else {
		names, err = dataset.ReadLabels(spec)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; check the path of Options.ClassNames", err)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("%s: the class name %q occurs twice", spec, name)
		}
		seen[name] = true
	}
	return names, nil
}

// readColumn reads one column of a CSV file with a header. Every column is tried as the
// one that has what the classes are called now; if most classes are there, all must be.
func readColumn(path, column string, classes []string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	at := slices.Index(header, column)
	if at < 0 {
		return nil, fmt.Errorf("%s: no column %q among %s", path, column, strings.Join(header, ", "))
	}
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// A column with most of the classes is meant, and must have all; one with fewer has
	// something else in it.
	for key, name := range header {
		names, missing := lookUp(rows, key, at, classes)
		switch {
		case len(missing) == 0:
			return names, nil
		case len(missing) < len(classes)/2: // meant to be found there
			return nil, fmt.Errorf("%s: column %q has no row for the class %q; add one, or take the file that belongs to the pictures", path, name, missing[0])
		}
	}
	var names []string
	for _, row := range rows {
		names = append(names, row[at])
	}
	return names, nil
}

// lookUp returns for each class the field of the row whose key it is, and the
// classes that are the key of no row. A class that is the key of two rows ends the
// search: the column is no key.
func lookUp(rows [][]string, key, field int, classes []string) (names, missing []string) {
	fields := map[string][]string{}
	for _, row := range rows {
		fields[row[key]] = append(fields[row[key]], row[field])
	}
	for _, c := range classes {
		switch found := fields[c]; len(found) {
		case 0:
			missing = append(missing, c)
		case 1:
			names = append(names, found[0])
		default:
			return nil, classes
		}
	}
	return names, missing
}
