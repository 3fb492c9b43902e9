package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/dataset"
)

// Pictures are labelled pictures: CIFAR-100 in memory, some 150 MB, or a folder of
// files, of which only the names are. It is for one goroutine.
type Pictures struct {
	path   string
	cifar  *dataset.Images
	folder *dataset.Folder // nil: cifar
	side   int             // to which pictures of a folder are brought
}

// DefaultSide is the side of ImageNet's pictures for a network.
const DefaultSide = 224

// OpenOptions says how pictures are read. The zero value takes the classes beside
// them.
type OpenOptions struct {
	Labels     string // a file that says which class each picture of a folder has, as dataset.OpenFolder
	ClassNames string // names of the classes: a file with one a line, or FILE.csv:COLUMN
	Side       int    // to which pictures of a folder are brought; 0 means 224
	Unlabelled bool   // classes do not matter: a picture is enough, or a folder without folders of classes
	Log        func(format string, args ...any)
}

// Open reads CIFAR-100 data, or lists a folder with a folder for each class or a
// file of labels; if classes do not matter also a picture, or all pictures of a
// folder and those below it, in the order of their names. Paths are one.
func Open(paths []string, o OpenOptions) (*Pictures, error) {
	if len(paths) != 1 {
		return nil, fmt.Errorf("a network reads one set of pictures, not %d: name a CIFAR-100 folder or file, or a folder of pictures", len(paths))
	}
	path := paths[0]
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file or folder; check the path", path)
	}
	if err != nil {
		return nil, err
	}
	p := &Pictures{path: path, side: cmp.Or(o.Side, DefaultSide)}
	// A folder with the files of CIFAR-100 is no folder of pictures.
	cifar := dataset.IsCIFAR100(path)
	switch {
	case o.Unlabelled && !cifar && (info.IsDir() || dataset.IsPicture(path)):
		p.folder, err = anyPictures(path, info.IsDir())
	case info.IsDir() && !cifar:
		p.folder, err = dataset.OpenFolder(path, o.Labels)
	case o.Labels != "":
		return nil, fmt.Errorf("%s: labels of their own are for folders of pictures, not for CIFAR-100", o.Labels)
	default:
		if p.cifar, err = dataset.ReadCIFAR100(path); err == nil {
			p.side = p.cifar.Width
		}
	}
	if err != nil {
		return nil, err
	}
	if p.folder != nil && p.folder.Others > 0 && o.Log != nil {
		o.Log("%s: left out %d files that are no .jpg, .jpeg or .png", path, p.folder.Others)
	}
	if o.ClassNames == "" {
		return p, nil
	}
	return p, p.rename(o.ClassNames)
}

// anyPictures lists pictures whose classes do not matter.
func anyPictures(path string, isDir bool) (*dataset.Folder, error) {
	f := &dataset.Folder{Root: path, Classes: []string{""}}
	if !isDir {
		f.Root = filepath.Dir(path)
	}
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && file != path: // what macOS puts beside a file is no picture
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && dataset.IsPicture(file):
			name, err := filepath.Rel(f.Root, file)
			f.Files, f.Label = append(f.Files, name), append(f.Label, 0)
			return err
		case !entry.IsDir():
			f.Others++
		}
		return nil
	})
	if err == nil && f.Len() == 0 {
		err = fmt.Errorf("%s: no .jpg, .jpeg or .png in it", path)
	}
	return f, err
}

// Whole leaves out the pictures of a folder that cannot be read, and returns why.
// None that can be is an error.
func (p *Pictures) Whole(ctx context.Context) (damaged []error, err error) {
	if p.folder == nil {
		return nil, nil
	}
	whole, damaged, err := p.folder.Check(ctx, 0)
	if err != nil {
		return nil, err
	}
	if whole.Len() == 0 {
		return nil, fmt.Errorf("none of the %d pictures can be read, the first because: %w", p.folder.Len(), damaged[0])
	}
	p.folder = whole
	return damaged, nil
}

// InFolder tells whether the pictures are files of their own.
func (p *Pictures) InFolder() bool { return p.folder != nil }

// Side returns the side of the squares that a network sees.
func (p *Pictures) Side() int { return p.side }

// names returns where the names of the classes stand, by label.
func (p *Pictures) names() *[]string {
	if p.folder != nil {
		return &p.folder.Classes
	}
	return &p.cifar.Classes
}

// labels returns the label of each picture.
func (p *Pictures) labels() []int32 {
	if p.folder != nil {
		return p.folder.Label
	}
	return p.cifar.Label
}

// Classes returns the names of the classes by label.
func (p *Pictures) Classes() []string { return *p.names() }

// Len returns the number of pictures.
func (p *Pictures) Len() int { return len(p.labels()) }

// Class returns the name of the class of a picture.
func (p *Pictures) Class(i int) string { return p.Classes()[p.labels()[i]] }

// Place returns the file of a picture of a folder, below it and without a line, or
// the file of all and the number of the picture, from 1.
func (p *Pictures) Place(i int) dataset.Place {
	if p.folder != nil {
		return dataset.Place{File: p.folder.Files[i]}
	}
	return dataset.Place{File: p.path, Line: i + 1}
}

// Keep returns the pictures of some classes, labelled by these, and how many others
// there were.
func (p *Pictures) Keep(classes []string) (kept *Pictures, others int) {
	kept = &Pictures{path: p.path, side: p.side}
	if p.folder != nil {
		kept.folder, others = p.folder.Keep(classes)
		return kept, others
	}
	kept.cifar, others = p.cifar.Keep(classes)
	return kept, others
}

// Scale returns that of the pixels, of a folder that of ImageNet.
func (p *Pictures) Scale() Scale {
	if p.folder != nil {
		return ImageNet()
	}
	return Measure(p.cifar)
}

// Data makes batches.
func (p *Pictures) Data(scale Scale, o Options) (*Set, error) {
	if p.folder != nil {
		return NewFolder(p.folder, p.side, scale, o)
	}
	return New(p.cifar, scale, o)
}

// rename gives the classes the names that a file has for them.
func (p *Pictures) rename(spec string) error {
	names, err := classNames(spec, p.Classes())
	if err != nil {
		return err
	}
	if len(names) != len(p.Classes()) {
		return fmt.Errorf("%s: %d class names, %s has %d classes; give one a class, in the order of their numbers", spec, len(names), p.path, len(p.Classes()))
	}
	*p.names() = names
	return nil
}
