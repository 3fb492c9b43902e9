package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/train"
)

// pictures are labelled pictures: CIFAR-100 in memory, or a folder of files.
type pictures struct {
	cifar  *dataset.Images
	folder *dataset.Folder // nil: cifar
	side   int             // to which pictures of a folder are brought
}

// defaultSide is the side of ImageNet's pictures for a network.
const defaultSide = 224

// readPictures reads CIFAR-100 data, or lists a folder with a folder for each
// class or a file of labels, and gives the classes the names of a file, if one is
// named. side is for folders, 0 means 224.
func readPictures(a *app, paths []string, classNames, labels string, side int) (*pictures, error) {
	if len(paths) != 1 {
		return nil, usagef("a network reads one set of pictures, not %d: name a CIFAR-100 folder or file, or a folder of pictures", len(paths))
	}
	p := &pictures{side: cmp.Or(side, defaultSide)}
	info, err := os.Stat(paths[0])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file or folder; check the path", paths[0])
	}
	if err == nil && info.IsDir() && !dataset.IsCIFAR100(paths[0]) {
		p.folder, err = dataset.OpenImageFolder(paths[0], dataset.FolderOptions{Labels: labels})
		if err == nil && p.folder.Others > 0 {
			a.logf("%s: left out %d files that are no .jpg, .jpeg or .png", paths[0], p.folder.Others)
		}
	} else if labels != "" {
		return nil, usagef("%s: labels of their own are for folders of pictures, not for CIFAR-100", labels)
	} else if p.cifar, err = dataset.ReadCIFAR100(paths[0]); err == nil {
		p.side = p.cifar.Width
	}
	if err != nil || classNames == "" {
		return p, err
	}
	names, err := readClassNames(classNames, p.classes())
	if err != nil {
		return nil, err
	}
	if len(names) != len(p.classes()) {
		return nil, fmt.Errorf("%s: %d class names, %s has %d classes; give one a class, in the order of their numbers", classNames, len(names), paths[0], len(p.classes()))
	}
	if p.folder != nil {
		p.folder.Classes = names
	} else {
		p.cifar.Classes = names
	}
	return p, nil
}

// readUnlabelled reads pictures whose classes do not matter: CIFAR-100 data, a
// picture, or all pictures of a folder and those below it, in the order of their
// names.
func readUnlabelled(a *app, path string, side int) (*pictures, error) {
	info, err := os.Stat(path)
	if err != nil || dataset.IsCIFAR100(path) || !info.IsDir() && !isPicture(path) {
		return readPictures(a, []string{path}, "", "", side)
	}
	f := &dataset.Folder{Root: path, Classes: []string{""}}
	if !info.IsDir() {
		f.Root = filepath.Dir(path)
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && file != path: // what macOS puts beside a file is no picture
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && isPicture(file):
			name, err := filepath.Rel(f.Root, file)
			f.Files, f.Label = append(f.Files, name), append(f.Label, 0)
			return err
		case !entry.IsDir():
			f.Others++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Len() == 0 {
		return nil, fmt.Errorf("%s: no .jpg, .jpeg or .png in it", path)
	}
	if f.Others > 0 {
		a.logf("%s: left out %d files that are no .jpg, .jpeg or .png", path, f.Others)
	}
	return &pictures{folder: f, side: side}, nil
}

// isPicture tells by its name whether a file is a picture that can be read.
func isPicture(name string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png"}, strings.ToLower(filepath.Ext(name)))
}

// whole leaves out the pictures of a folder that cannot be read, and tells which.
func (p *pictures) whole(ctx context.Context, a *app) error {
	if p.folder == nil {
		return nil
	}
	whole, damaged, err := p.folder.Check(ctx, 0)
	if err != nil {
		return err
	}
	if whole.Len() == 0 {
		return fmt.Errorf("none of the %d pictures can be read, the first because: %w", p.folder.Len(), damaged[0])
	}
	p.folder = whole
	for _, err := range damaged[:min(len(damaged), shownDamaged)] {
		a.logf("left out: %v", err)
	}
	if more := len(damaged) - shownDamaged; more > 0 {
		a.logf("left out: %d more that cannot be read", more)
	}
	return nil
}

// shownDamaged is how many damaged pictures the log names.
const shownDamaged = 10

func (p *pictures) classes() []string {
	if p.folder != nil {
		return p.folder.Classes
	}
	return p.cifar.Classes
}

func (p *pictures) len() int {
	if p.folder != nil {
		return p.folder.Len()
	}
	return p.cifar.Len()
}

func (p *pictures) label(i int) int {
	if p.folder != nil {
		return int(p.folder.Label[i])
	}
	return int(p.cifar.Label[i])
}

// keep returns the pictures of some classes, and how many others there were.
func (p *pictures) keep(classes []string) (*pictures, int) {
	out, others := &pictures{side: p.side}, 0
	if p.folder != nil {
		out.folder, others = p.folder.Keep(classes)
	} else {
		out.cifar, others = p.cifar.Keep(classes)
	}
	return out, others
}

// scale returns that of the pixels, of a folder that of ImageNet.
func (p *pictures) scale() images.Scale {
	if p.folder != nil {
		return images.ImageNet()
	}
	return images.Measure(p.cifar)
}

// set makes batches.
func (p *pictures) set(scale images.Scale, opts images.Options) (train.Data, error) {
	if p.folder != nil {
		return images.NewFolder(p.folder, p.side, scale, opts)
	}
	return images.New(p.cifar, scale, opts)
}

// readClassNames reads a name a line, or the column of a CSV file: FILE:COLUMN. Of
// a CSV file that has a column with what the classes are called now, such as
// wnids, it takes the rows of these classes, in any order; else names are in the
// order of the classes.
func readClassNames(spec string, classes []string) ([]string, error) {
	var names []string
	file, column, ok := strings.Cut(spec, ".csv:")
	if !ok {
		list, err := readLabels("--class-names", spec)
		if err != nil {
			return nil, err
		}
		names = list
	} else {
		list, err := readColumn(file+".csv", column, classes)
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

func readColumn(path, column string, classes []string) ([]string, error) {
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
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
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
// classes that are the key of no row. A key of two rows finds nothing.
func lookUp(rows [][]string, key, field int, classes []string) (names, missing []string) {
	place := make(map[string]int, len(classes))
	for i, c := range classes {
		place[c] = i
	}
	names, found := make([]string, len(classes)), make([]bool, len(classes))
	for _, row := range rows {
		if i, ok := place[row[key]]; ok {
			if found[i] {
				return nil, classes
			}
			names[i], found[i] = row[field], true
		}
	}
	for i, ok := range found {
		if !ok {
			missing = append(missing, classes[i])
		}
	}
	return names, missing
}
