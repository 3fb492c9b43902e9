package dataset

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/kernel"
)

// Folder is a folder of pictures with a folder for each class, as ImageNet is
// handed out. It knows the files; Picture reads one.
type Folder struct {
	Root    string
	Files   []string // below Root, classes and names in order
	Label   []int32  // of each file, a place in Classes
	Classes []string // names of the folders, sorted, such as n01440764
	Others  int      // files that are no .jpg, .jpeg or .png, left out
}

// maxPicture bounds what a picture of a few bytes can make the decoder take.
const maxPicture = 1 << 28 // pixels

// OpenFolder lists the pictures of a folder: files that end in .jpg, .jpeg or
// .png, in any case, anywhere below the folder of their class. What begins with a
// dot, as what macOS puts beside a file, is none. A folder that is missing or has
// no classes, one with train and val in it, and a class without pictures, are each
// an *Error.
//
// labels names a file that says which class each picture of a folder without
// subfolders has; "" for none: lines of a file's name and a class with a tab, a
// comma or spaces between; what follows is not looked at, the names may lack their
// extension, and a first line for which there is no picture is taken for a
// header. So val_annotations.txt of Tiny ImageNet and LOC_val_solution.csv
// of ImageNet can be named as they are. A picture without a line, or a line
// without a picture, is an *Error.
func OpenFolder(root, labels string) (*Folder, error) {
	f := &Folder{Root: root}
	if labels != "" {
		return f, f.flat(labels)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, input.Missing(root, err)
	}
	for _, class := range entries {
		if !class.IsDir() || strings.HasPrefix(class.Name(), ".") {
			continue
		}
		before := len(f.Files)
		if err := f.add(class.Name()); err != nil {
			return nil, err
		}
		if len(f.Files) == before {
			return nil, input.Refuse(filepath.Join(root, class.Name()), 0, 0, "a class without pictures; want .jpg, .jpeg or .png files there, or remove the folder")
		}
		for range f.Files[before:] {
			f.Label = append(f.Label, int32(len(f.Classes)))
		}
		f.Classes = append(f.Classes, class.Name())
	}
	switch has := func(name string) bool { return slices.Contains(f.Classes, name) }; {
	case len(f.Classes) == 0:
		return nil, input.Refuse(root, 0, 0, "no folders in it; want a folder of pictures for each class")
	case has("train") && (has("val") || has("test")):
		return nil, input.Refuse(root, 0, 0, "holds %s; name one of them, such as %s", strings.Join(f.Classes, ", "), filepath.Join(root, "train"))
	}
	return f, nil
}

// add lists the pictures of a folder below the root and those below it, sorted.
func (f *Folder) add(dir string) error {
	entries, err := os.ReadDir(filepath.Join(f.Root, dir))
	if err != nil {
		return input.Missing(filepath.Join(f.Root, dir), err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch hidden := strings.HasPrefix(e.Name(), "."); {
		case e.IsDir() && !hidden:
			if err := f.add(name); err != nil {
				return err
			}
		case e.IsDir():
		case hidden || !IsPicture(name):
			f.Others++
		default:
			f.Files = append(f.Files, name)
		}
	}
	return nil
}

// IsPicture tells whether a file is a picture that can be read, .jpg, .jpeg or .png in any
// case. It goes by the name alone: a damaged picture is then an error of the one who
// reads it and no silent omission.
func IsPicture(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}

// flat takes the classes of all pictures below the root from a file. Names are those of
// files without their folder; where two are the same one has no line, which is an error.
func (f *Folder) flat(labels string) error {
	if err := f.add("."); err != nil {
		return err
	}
	f.Others = 0 // the label file may be one
	byName := make(map[string]int, 2*len(f.Files))
	for i, file := range f.Files {
		base := filepath.Base(file)
		byName[base] = i
		byName[strings.TrimSuffix(base, filepath.Ext(base))] = i
	}
	classOf := make([]string, len(f.Files))
	lines := 0
	err := input.EachLine(labels, textOfClasses, func(number int, line string) error {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ',' || r == ' ' })
		if len(fields) < 2 {
			return input.Refuse(labels, number, 0, "%s, want a picture and its class", input.Clip(line))
		}
		i, ok := byName[filepath.Base(fields[0])]
		switch {
		case !ok && number == 1:
			return nil // a header
		case !ok:
			return input.Refuse(labels, number, 0, "no picture %s in %s; is this the label file of these pictures?", input.Clip(fields[0]), f.Root)
		case classOf[i] != "":
			return input.Refuse(labels, number, 0, "the picture %s stands already on a line above", input.Clip(fields[0]))
		}
		classOf[i] = fields[1]
		lines++
		return nil
	})
	if err != nil {
		return err
	}
	if lines != len(f.Files) || lines == 0 {
		missing := ""
		if i := slices.Index(classOf, ""); i >= 0 {
			missing = ", none for " + input.Clip(f.Files[i])
		}
		return input.Refuse(labels, 0, 0, "classes for %d pictures, %s has %d%s; take the file that belongs to the folder", lines, f.Root, len(f.Files), missing)
	}
	index := NewLabels(classOf)
	f.Classes = index.Names()
	for _, class := range classOf {
		i, _ := index.Index(class)
		f.Label = append(f.Label, int32(i))
	}
	return nil
}

// Len returns the number of pictures.
func (f *Folder) Len() int { return len(f.Files) }

// Keep returns the pictures of some classes, labelled by their places in that
// list, and how many others there were.
func (f *Folder) Keep(classes []string) (kept *Folder, others int) {
	kept = &Folder{Root: f.Root, Classes: classes, Others: f.Others}
	place := places(f.Classes, classes)
	for i, file := range f.Files {
		if c := place[f.Label[i]]; c >= 0 {
			kept.Files, kept.Label = append(kept.Files, file), append(kept.Label, c)
		}
	}
	return kept, f.Len() - kept.Len()
}

// Picture reads a picture, grey or in colours. The bytes tell JPEG from PNG, as
// ImageNet has one under the other's name. What cannot be read, or has no or more
// than 2^28 pixels, is an *Error.
func (f *Folder) Picture(i int) (image.Image, error) {
	path := filepath.Join(f.Root, f.Files[i])
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	picture, err := DecodePicture(data, maxPicture)
	if err != nil {
		return nil, &Error{File: path, Message: fmt.Sprintf("no readable picture: %v; fetch it anew or remove it", err), Err: err}
	}
	return picture, nil
}

// DecodePicture reads the bytes of a JPEG or PNG file, a PNG by its signature, else a JPEG,
// whose reader says if it is none. One of more than max pixels is an error, and takes no
// memory: how many it claims to have is looked at first.
func DecodePicture(data []byte, max int) (image.Image, error) {
	config, read := jpeg.DecodeConfig, jpeg.Decode
	if bytes.HasPrefix(data, []byte("\x89PNG")) {
		config, read = png.DecodeConfig, png.Decode
	}
	c, err := config(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > max/c.Height {
		return nil, fmt.Errorf("%d x %d pixels, want at most %d in all", c.Width, c.Height, max)
	}
	return read(bytes.NewReader(data))
}

// Check decodes all pictures and returns a folder of those that are whole, and
// why the others are not, in their order. threads 0 means one a processor; they
// never change the result. Each has one picture in memory. When ctx is done its error is
// the only result.
func (f *Folder) Check(ctx context.Context, threads int) (whole *Folder, damaged []error, err error) {
	failed := make([]error, f.Len())
	kernel.Parallel(threads, f.Len(), 1, func(i, _, _ int) {
		if ctx.Err() == nil {
			_, failed[i] = f.Picture(i)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	whole = &Folder{Root: f.Root, Classes: f.Classes, Others: f.Others}
	for i, err := range failed {
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		whole.Files, whole.Label = append(whole.Files, f.Files[i]), append(whole.Label, f.Label[i])
	}
	return whole, damaged, nil
}
