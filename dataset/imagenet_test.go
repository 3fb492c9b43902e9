package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes a file of a test, with the folders above it.
func put(t *testing.T, data []byte, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// plainImage is a picture of one colour.
func plainImage(w, h int, c color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(3, 5, 3+w, 5+h)) // no image begins at 0,0 by law
	for i := range w * h {
		m.Set(3+i%w, 5+i/w, c)
	}
	return m
}

func greyImage(w, h int, level uint8) image.Image {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = level
	}
	return m
}

// twoClasses makes a folder as ImageNet has it, with a grey JPEG, a PNG that is
// called JPEG, a damaged file and things that are no pictures.
func twoClasses(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	red := plainImage(20, 10, color.NRGBA{200, 30, 30, 255})
	put(t, jpegOf(t, red), dir, "n00000002", "b.JPEG")
	put(t, jpegOf(t, greyImage(8, 8, 77)), dir, "n00000002", "a.jpg")
	put(t, []byte("boxes"), dir, "n00000002", "boxes.txt")
	put(t, []byte("junk"), dir, "n00000002", "._a.jpg")
	put(t, pngOf(t, red), dir, "n00000001", "images", "z.JPEG")
	put(t, jpegOf(t, red)[:300], dir, "n00000001", "images", "cut.jpeg")
	put(t, nil, dir, ".hidden", "x.png")
	return dir
}

func TestImageFolder(t *testing.T) {
	dir := twoClasses(t)
	f, err := OpenFolder(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"n00000001/images/cut.jpeg", "n00000001/images/z.JPEG", "n00000002/a.jpg", "n00000002/b.JPEG"}
	for i := range want {
		want[i] = filepath.FromSlash(want[i])
	}
	if !slices.Equal(f.Files, want) || !slices.Equal(f.Label, []int32{0, 0, 1, 1}) || f.Len() != 4 {
		t.Fatalf("files %q with labels %v", f.Files, f.Label)
	}
	whole, damaged, err := f.Check(t.Context(), 0)
	if err != nil || whole.Len() != 3 || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), "cut.jpeg: no readable picture") {
		t.Errorf("checked: %d whole, %v, %v", whole.Len(), damaged, err)
	}
	reordered, others := f.Keep([]string{"n00000002", "n00000001"})
	if others != 0 || !slices.Equal(reordered.Label, []int32{1, 1, 0, 0}) || !slices.Equal(reordered.Files, want) {
		t.Errorf("with a list: %+v, %d others", reordered, others)
	}
	kept, others := f.Keep([]string{"n00000002"})
	if others != 2 || kept.Len() != 2 || kept.Label[0] != 0 {
		t.Errorf("kept %+v, %d others", kept, others)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Check(ended, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestImageFolderRefusals(t *testing.T) {
	dir := twoClasses(t)
	empty, bare, outer := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, []byte("x"), bare, "a", "x.txt")
	put(t, []byte("x"), outer, "train", "a", "x.jpg")
	put(t, []byte("x"), outer, "val", "a", "x.jpg")
	for _, tc := range []struct {
		name, dir, says string
	}{
		{"missing folder", filepath.Join(dir, "x"), "no such file"},
		{"a file", filepath.Join(bare, "a", "x.txt"), "cannot read"},
		{"no classes", empty, "no folders in it"},
		{"no pictures", bare, "without pictures"},
		{"the folder above", outer, "name one of them"},
	} {
		_, err := OpenFolder(tc.dir, "")
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
}

func TestFlatFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"v_1.JPEG", "v_2.JPEG", "v_3.JPEG"} {
		put(t, jpegOf(t, greyImage(2, 2, 9)), dir, "images", name)
	}
	labels := filepath.Join(t.TempDir(), "labels")
	for _, tc := range []struct{ name, text, says string }{
		{"Tiny ImageNet", "v_1.JPEG\tb\t0\t1\nv_3.JPEG\ta\t0\nv_2.JPEG\tb\n", ""},
		{"ImageNet", "ImageId,PredictionString\nv_1,b 1 2 3 4\nv_3,a\n\nv_2,b 1\n", ""},
		{"too short", "v_1 b\nv_3 a\n", `classes for 2 pictures`},
		{"too long", "v_1 b\nv_3 a\nv_2 b\nv_4 b\n", `no picture "v_4"`},
		{"twice", "v_1 b\nv_1 b\n", "already"},
		{"no class", "v_1 b\nv_2\n", "want a picture and its class"},
		{"no lines", "\n", "classes for 0 pictures"},
		{"empty", "", "is empty, want a text file of classes"},
	} {
		if err := os.WriteFile(labels, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFolder(dir, labels)
		switch {
		case tc.says != "":
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
			}
		case err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case !slices.Equal(f.Classes, []string{"a", "b"}) || !slices.Equal(f.Label, []int32{1, 1, 0}):
			t.Errorf("%s: classes %v, labels %v", tc.name, f.Classes, f.Label)
		}
	}
	os.WriteFile(labels, []byte("v_1 b\nv_3 a\nv_2 b\n"), 0o600)
	if _, err := OpenFolder(dir, labels+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no label file: %v", err)
	}
}

func TestReadSynsets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"map.txt":    "n01440764 tench, Tinca tinca\nn02012849 crane\n",
		"words.txt":  "n01440764\ttench, Tinca tinca\nn02012849\tcrane\n",
		"c.csv":      "wnid,words\nn01440764,\"tench, Tinca tinca\"\nn02012849,crane\n",
		"index.json": `{"1": ["n02012849", "crane"], "0": ["n01440764", "tench,Tinca_tinca"]}`,
	} {
		got, err := ReadSynsets(put(t, []byte(text), dir, name))
		if err != nil || fmt.Sprint(got) != "[{n01440764 [tench Tinca tinca]} {n02012849 [crane]}]" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"a.txt": "tench\n", "b.txt": "n01440764\n", "c.txt": "", "d.txt": "n01440764 a\nn01440764 b\n", "e.txt": "n0144076x a\n",
		"a.csv": "wnid\n", "b.csv": "wnid,words\nn01440764,a,b\n", "c.csv": "wnid,words\nx,y\n", "d.csv": "",
		"a.json": "[]", "b.json": `{"1": ["n01440764", "a"]}`, "c.json": `{"0": ["n01440764"]}`, "d.json": `{"0": ["x", "a"]}`,
	} {
		path := put(t, []byte(text), dir, "bad-"+name)
		if _, err := ReadSynsets(path); err == nil || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"x.txt", "x.csv", "x.json"} {
		if _, err := ReadSynsets(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The real thing, where it is at hand.
func TestTinyImageNet(t *testing.T) {
	dir := "../../shared/data/tiny-imagenet"
	f, err := OpenFolder(filepath.Join(dir, "val"), "")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the real data of ../shared is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := ReadSynsets(filepath.Join(dir, "classes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	for _, s := range names {
		classes = append(classes, s.ID)
	}
	if f.Len() != 5000 || !slices.Equal(f.Classes, classes) {
		t.Errorf("%d pictures of %d classes, want 5000 of those of classes.csv", f.Len(), len(f.Classes))
	}
	part, _ := f.Keep(classes[:4])
	if whole, damaged, err := part.Check(t.Context(), 0); err != nil || len(damaged) > 0 || whole.Len() != 100 {
		t.Errorf("%d whole pictures, damaged %v, %v", whole.Len(), damaged, err)
	}
}
