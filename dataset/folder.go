package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
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
// .png, in any case, anywhere below the folder of their class. A folder that is
// missing or has no classes, and a class without pictures, are each an *Error.
func OpenFolder(root string) (*Folder, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, input.Missing(root, err)
	}
	f := &Folder{Root: root}
	for _, class := range entries {
		if !class.IsDir() || strings.HasPrefix(class.Name(), ".") {
			continue
		}
		before := len(f.Files)
		err := filepath.WalkDir(filepath.Join(root, class.Name()), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			switch {
			case strings.HasPrefix(entry.Name(), "."): // what macOS puts beside a file is none
				f.Others++
			case isPicture(path):
				name, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				f.Files = append(f.Files, name)
				f.Label = append(f.Label, int32(len(f.Classes)))
			default:
				f.Others++
			}
			return nil
		})
		if err != nil {
			return nil, input.Missing(filepath.Join(root, class.Name()), err)
		}
		if len(f.Files) == before {
			return nil, input.Refuse(filepath.Join(root, class.Name()), 0, 0, "a class without pictures; want .jpg, .jpeg or .png files there, or remove the folder")
		}
		f.Classes = append(f.Classes, class.Name())
	}
	if len(f.Classes) == 0 {
		return nil, input.Refuse(root, 0, 0, "no folders in it; want a folder of pictures for each class")
	}
	return f, nil
}

// Len returns the number of pictures.
func (f *Folder) Len() int { return len(f.Files) }

// Keep returns the pictures of some classes, labelled by their places in that
// list, and how many others there were.
func (f *Folder) Keep(classes []string) (kept *Folder, others int) {
	kept = &Folder{Root: f.Root, Classes: classes, Others: f.Others}
	for i, file := range f.Files {
		if c := slices.Index(classes, f.Classes[f.Label[i]]); c >= 0 {
			kept.Files, kept.Label = append(kept.Files, file), append(kept.Label, int32(c))
		} else {
			others++
		}
	}
	return kept, others
}

// Picture reads a picture, grey or in colours. The bytes tell JPEG from PNG, as
// ImageNet has one under the other's name. What cannot be read, or has no or more
// than 2^28 pixels, is an *Error.
func (f *Folder) Picture(i int) (image.Image, error) {
	path := filepath.Join(f.Root, f.Files[i])
	in, err := os.Open(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	defer in.Close()
	picture, err := decode(bufio.NewReader(in))
	if err != nil {
		return nil, &Error{File: path, Message: fmt.Sprintf("no readable picture: %v; fetch it anew or remove it", err), Err: err}
	}
	return picture, nil
}

func decode(r *bufio.Reader) (image.Image, error) {
	head, _ := r.Peek(1 << 12)
	config, read := jpeg.DecodeConfig, jpeg.Decode
	if bytes.HasPrefix(head, []byte("\x89PNG")) {
		config, read = png.DecodeConfig, png.Decode
	}
	// The size stands near the start; where it does not, the decoder looks.
	if c, err := config(bytes.NewReader(head)); err == nil && (c.Width < 1 || c.Height < 1 || c.Width > maxPicture/c.Height) {
		return nil, fmt.Errorf("%d x %d pixels", c.Width, c.Height)
	}
	return read(r)
}
