package dataset

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// putFile writes a file, its folders too.
func putFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, data)
}

func encoded(t testing.TB, kind string) []byte {
	t.Helper()
	var b bytes.Buffer
	m := image.NewRGBA(image.Rect(0, 0, 6, 4))
	for i := range m.Pix {
		m.Pix[i] = 200
	}
	grey := image.NewGray(image.Rect(0, 0, 6, 4))
	grey.SetGray(1, 1, color.Gray{Y: 90})
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, m)
	case "grey":
		err = jpeg.Encode(&b, grey, nil)
	default:
		err = jpeg.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFolder(t *testing.T) {
	root := t.TempDir()
	for name, kind := range map[string]string{"n02/a.JPEG": "jpeg", "n02/b.jpg": "grey", "n01/images/c.png": "png", "n01/d.jpeg": "png"} {
		putFile(t, filepath.Join(root, name), encoded(t, kind))
	}
	putFile(t, filepath.Join(root, "n01/boxes.txt"), []byte("x"))
	putFile(t, filepath.Join(root, "README"), []byte("x"))
	f, err := OpenFolder(root, "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Classes, []string{"n01", "n02"}) || !slices.Equal(f.Label, []int32{0, 0, 1, 1}) || f.Others != 1 {
		t.Errorf("classes %v, labels %v, %d others", f.Classes, f.Label, f.Others)
	}
	for i := range f.Len() {
		m, err := f.Picture(i)
		if err != nil {
			t.Errorf("%s: %v", f.Files[i], err)
		} else if m.Bounds().Dx() != 6 || m.Bounds().Dy() != 4 {
			t.Errorf("%s: bounds %v", f.Files[i], m.Bounds())
		}
	}
	kept, others := f.Keep([]string{"n03", "n02"})
	if others != 2 || !slices.Equal(kept.Label, []int32{1, 1}) || kept.Len() != 2 {
		t.Errorf("kept %+v, %d others", kept, others)
	}
}

func TestFolderRefuses(t *testing.T) {
	root := t.TempDir()
	check := func(want string, err error) {
		t.Helper()
		var refusal *Error
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	_, err := OpenFolder(filepath.Join(root, "none"), "")
	check("no such file", err)
	_, err = OpenFolder(root, "")
	check("no folders", err)
	putFile(t, filepath.Join(root, "n01/notes.txt"), nil)
	_, err = OpenFolder(root, "")
	check("a class without pictures", err)
	putFile(t, filepath.Join(root, "n01/a.jpg"), encoded(t, "jpeg")[:200])
	putFile(t, filepath.Join(root, "n01/b.png"), []byte("no picture"))
	huge := encoded(t, "png")
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 x 65,536, with the old checksum
	putFile(t, filepath.Join(root, "n01/c.png"), huge)
	f, err := OpenFolder(root, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Len() {
		_, err := f.Picture(i)
		check("no readable picture", err)
	}
	f.Files[0] = "gone.jpg"
	_, err = f.Picture(0)
	check("no such file", err)
}

// All 200 classes and both kinds of JPEG of the data at hand, if they are there.
func TestFolderShared(t *testing.T) {
	root := "../../shared/data/tiny-imagenet/train"
	if _, err := os.Stat(root); err != nil {
		t.Skip("the real data of ../shared is not beside the repository")
	}
	f, err := OpenFolder(root, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Classes) != 200 || f.Len() != 20_000 {
		t.Errorf("%d classes, %d pictures", len(f.Classes), f.Len())
	}
	for i := 0; i < f.Len(); i += 97 {
		if _, err := f.Picture(i); err != nil {
			t.Error(err)
		}
	}
}

func FuzzPicture(f *testing.F) {
	for _, kind := range []string{"jpeg", "png", "grey"} {
		f.Add(encoded(f, kind))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		writeFile(t, filepath.Join(dir, "x"), data)
		folder := &Folder{Root: dir, Files: []string{"x"}}
		if m, err := folder.Picture(0); (m == nil) == (err == nil) {
			t.Errorf("picture %v, error %v", m, err)
		}
	})
}
