package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/dataset"
)

// readPictures reads CIFAR-100 data and gives its classes the names of a file,
// if one is named.
func readPictures(paths []string, classNames string) (*dataset.Images, error) {
	if len(paths) != 1 {
		return nil, usagef("a network reads one set of pictures, not %d: name a CIFAR-100 folder or file with --data", len(paths))
	}
	s, err := dataset.ReadCIFAR100(paths[0])
	if err != nil || classNames == "" {
		return s, err
	}
	names, err := readClassNames(classNames)
	if err != nil {
		return nil, err
	}
	if len(names) != len(s.Classes) {
		return nil, fmt.Errorf("%s: %d class names, %s has %d classes; give one a class, in the order of their numbers", classNames, len(names), paths[0], len(s.Classes))
	}
	s.Classes = names
	return s, nil
}

// readClassNames reads a name a line, or the column of a CSV file: FILE:COLUMN.
func readClassNames(spec string) ([]string, error) {
	var names []string
	file, column, ok := strings.Cut(spec, ".csv:")
	if !ok {
		list, err := readLabels(spec)
		if err != nil {
			return nil, err
		}
		names = list
	} else {
		list, err := readColumn(file+".csv", column)
		if err != nil {
			return nil, err
		}
		names = list
	}
	sorted := slices.Sorted(slices.Values(names))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("%s: the class name %q occurs twice", spec, sorted[i])
		}
	}
	return names, nil
}

func readColumn(path, column string) ([]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; check the path of --class-names", path)
	}
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
	var names []string
	for {
		row, err := r.Read()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		names = append(names, row[at])
	}
}
