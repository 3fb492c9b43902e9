package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// FolderOptions says how a folder is labelled. The zero value takes the name of
// each subfolder for a class.
type FolderOptions struct {
	// Classes are the classes by label; nil: the subfolders, sorted. A
	// picture of another class, such as of a wnid that is not in the list, is an
	// error, and so is a class without a subfolder.
	Classes []string
	// Labels names a file that says which class each picture of a folder without
	// subfolders has: lines of a file's name and a class with a tab, a comma or
	// spaces between; what follows is not looked at, the names may lack their
	// extension, and a first line for which there is no picture is taken for
	// a header. So val_annotations.txt of Tiny ImageNet and LOC_val_solution.csv
	// of ImageNet can be named as they are. A picture without a line, or a line
	// without a picture, is an error.
	Labels string
}

// folderDepth is how many folders a picture of a flat folder may lie below it.
const folderDepth = 3

// OpenImageFolder lists the pictures of a folder as OpenFolder does, with the
// classes of a list or of a label file. What is refused is an *Error.
func OpenImageFolder(root string, o FolderOptions) (*Folder, error) {
	if o.Labels != "" {
		f := &Folder{Root: root}
		return f, f.flat(o)
	}
	f, err := OpenFolder(root)
	if err != nil {
		return nil, err
	}
	if slices.Contains(f.Classes, "train") && (slices.Contains(f.Classes, "val") || slices.Contains(f.Classes, "test")) {
		return nil, input.Refuse(root, 0, 0, "holds %s; name one of them, such as %s", strings.Join(f.Classes, ", "), filepath.Join(root, "train"))
	}
	if o.Classes == nil {
		return f, nil
	}
	place, err := places(root, o.Classes)
	if err != nil {
		return nil, err
	}
	for _, name := range f.Classes {
		if _, ok := place[name]; !ok {
			return nil, input.Refuse(filepath.Join(root, name), 0, 0, "%q is none of the %d classes of the list, which begins with %q; remove the folder or take the list that belongs to it", name, len(o.Classes), o.Classes[0])
		}
	}
	for _, name := range o.Classes {
		if !slices.Contains(f.Classes, name) {
			return nil, input.Refuse(root, 0, 0, "no folder for the class %q; bring its pictures or leave it out of the list", name)
		}
	}
	kept, _ := f.Keep(o.Classes)
	return kept, nil
}

// places returns the labels of classes.
func places(root string, classes []string) (map[string]int32, error) {
	place := make(map[string]int32, len(classes))
	for i, name := range classes {
		if _, twice := place[name]; twice {
			return nil, input.Refuse(root, 0, 0, "the class %q stands twice in the list of classes", name)
		}
		place[name] = int32(i)
	}
	return place, nil
}

// pictureFiles lists the pictures of a folder and those below it, sorted.
func pictureFiles(dir, name string, depth int) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, name))
	if err != nil {
		return nil, input.Missing(filepath.Join(dir, name), err)
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && depth > 0:
			below, err := pictureFiles(dir, path, depth-1)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		case !e.IsDir() && isPicture(e.Name()):
			files = append(files, path)
		}
	}
	return files, nil
}

func isPicture(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}

// flat takes the pictures of a folder and their classes from a file.
func (f *Folder) flat(o FolderOptions) error {
	files, err := pictureFiles(f.Root, ".", folderDepth)
	if err != nil {
		return err
	}
	byName := make(map[string]int, 2*len(files))
	for i, file := range files {
		base := filepath.Base(file)
		byName[base] = i
		byName[strings.TrimSuffix(base, filepath.Ext(base))] = i
	}
	classOf := make([]string, len(files))
	lines := 0
	err = input.EachLine(o.Labels, input.Options{Want: "a text file of classes"}, func(number int, line string) error {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ',' || r == ' ' })
		if len(fields) < 2 {
			return input.Refuse(o.Labels, number, 0, "%s, want a picture and its class", input.Clip(line))
		}
		i, ok := byName[filepath.Base(fields[0])]
		switch {
		case !ok && number == 1:
			return nil // a header
		case !ok:
			return input.Refuse(o.Labels, number, 0, "no picture %s in %s; is this the label file of these pictures?", input.Clip(fields[0]), f.Root)
		case classOf[i] != "":
			return input.Refuse(o.Labels, number, 0, "the picture %s stands already on a line above", input.Clip(fields[0]))
		}
		classOf[i] = fields[1]
		lines++
		return nil
	})
	if err != nil {
		return err
	}
	if lines != len(files) || lines == 0 {
		missing := ""
		if i := slices.Index(classOf, ""); i >= 0 {
			missing = ", none for " + input.Clip(files[i])
		}
		return input.Refuse(o.Labels, 0, 0, "classes for %d pictures, %s has %d%s; take the file that belongs to the folder", lines, f.Root, len(files), missing)
	}
	if f.Classes = o.Classes; f.Classes == nil {
		f.Classes = slices.Compact(slices.Sorted(slices.Values(classOf)))
	}
	place, err := places(f.Root, f.Classes)
	if err != nil {
		return err
	}
	for i, class := range classOf {
		label, ok := place[class]
		if !ok {
			return input.Refuse(o.Labels, 0, 0, "the picture %s has class %q, which is none of the %d classes", input.Clip(files[i]), class, len(f.Classes))
		}
		f.Files, f.Label = append(f.Files, files[i]), append(f.Label, label)
	}
	return nil
}
