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
	"math"
	"math/rand/v2"
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
	f, err := OpenImageFolder(dir, FolderOptions{})
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
	s, skipped, err := f.Read(t.Context(), 4, 6, 3)
	if err != nil || len(skipped) != 1 || !strings.Contains(skipped[0].Error(), "cut.jpeg: no readable picture") {
		t.Fatalf("skipped %v, %v", skipped, err)
	}
	if s.Len() != 3 || len(s.Pixels) != 3*72 || !slices.Equal(s.Label, []int32{0, 1, 1}) || s.Height != 4 || s.Width != 6 {
		t.Fatalf("read %d pictures, %d bytes, labels %v", s.Len(), len(s.Pixels), s.Label)
	}
	for i, colour := range [][3]int{{200, 30, 30}, {77, 77, 77}, {200, 30, 30}} {
		for j, v := range s.Picture(i) {
			if d := int(v) - colour[j%3]; d < -4 || d > 4 { // JPEG is not exact
				t.Fatalf("picture %d has %d at %d, want about %d", i, v, j, colour[j%3])
			}
		}
	}
	one, _, err := f.Read(t.Context(), 4, 6, 1)
	if err != nil || !bytes.Equal(one.Pixels, s.Pixels) {
		t.Error("another number of threads gives other pixels")
	}
	whole, damaged, err := f.Check(t.Context(), 0)
	if err != nil || whole.Len() != 3 || len(damaged) != 1 {
		t.Errorf("checked: %d whole, %v, %v", whole.Len(), damaged, err)
	}
	reordered, err := OpenImageFolder(dir, FolderOptions{Classes: []string{"n00000002", "n00000001"}})
	if err != nil || !slices.Equal(reordered.Label, []int32{1, 1, 0, 0}) || !slices.Equal(reordered.Files, want) {
		t.Errorf("with a list: %+v, %v", reordered, err)
	}
	kept, others := f.Keep([]string{"n00000002"})
	if others != 2 || kept.Len() != 2 || kept.Label[0] != 0 {
		t.Errorf("kept %+v, %d others", kept, others)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Read(ended, 4, 4, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := f.Check(ended, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := f.Read(t.Context(), 0, 4, 0); err == nil {
		t.Error("pictures without rows are read")
	}
}

func TestImageFolderRefusals(t *testing.T) {
	dir := twoClasses(t)
	empty, bare, outer, bad := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	put(t, []byte("x"), bare, "a", "x.txt")
	put(t, []byte("x"), outer, "train", "a", "x.jpg")
	put(t, []byte("x"), outer, "val", "a", "x.jpg")
	put(t, []byte("x"), bad, "a", "x.jpg")
	for _, tc := range []struct {
		name, dir, says string
		o               FolderOptions
	}{
		{"missing folder", filepath.Join(dir, "x"), "no such file", FolderOptions{}},
		{"a file", filepath.Join(bare, "a", "x.txt"), "cannot read", FolderOptions{}},
		{"no classes", empty, "no folders in it", FolderOptions{}},
		{"no pictures", bare, "without pictures", FolderOptions{}},
		{"the folder above", outer, "name one of them", FolderOptions{}},
		{"unknown wnid", dir, `"n00000002" is none of the 1 classes`, FolderOptions{Classes: []string{"n00000001"}}},
		{"missing class", dir, `no folder for the class "n00000003"`, FolderOptions{Classes: []string{"n00000001", "n00000002", "n00000003"}}},
		{"class twice", dir, "twice", FolderOptions{Classes: []string{"n00000001", "n00000001"}}},
	} {
		_, err := OpenImageFolder(tc.dir, tc.o)
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
	f, err := OpenImageFolder(bad, FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, skipped, err := f.Read(t.Context(), 2, 2, 0); err == nil || len(skipped) != 1 || !strings.Contains(err.Error(), "none of the 1 pictures") {
		t.Errorf("no picture whole: %v, %v", skipped, err)
	}
	if err := os.Remove(filepath.Join(f.Root, f.Files[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Decode(0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed picture: %v", err)
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
		{"no lines", "", "classes for 0 pictures"},
	} {
		if err := os.WriteFile(labels, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenImageFolder(dir, FolderOptions{Labels: labels})
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
	if _, err := OpenImageFolder(dir, FolderOptions{Labels: labels, Classes: []string{"b"}}); err == nil || !strings.Contains(err.Error(), `class "a"`) {
		t.Errorf("unknown class: %v", err)
	}
	if _, err := OpenImageFolder(dir, FolderOptions{Labels: labels + "x"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no label file: %v", err)
	}
}

// Resizing to the same size changes nothing, flips mirror, a ramp stays a ramp,
// and a pattern finer than the result becomes its mean.
func TestResize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &Picture{Height: 7, Width: 5, Pixels: make([]byte, 105)}
	for i := range p.Pixels {
		p.Pixels[i] = byte(rng.IntN(256))
	}
	same, flipped := make([]byte, 105), make([]byte, 105)
	p.Resize(image.Rect(0, 0, 5, 7), 7, 5, false, same)
	p.Resize(image.Rect(0, 0, 5, 7), 7, 5, true, flipped)
	if !bytes.Equal(same, p.Pixels) {
		t.Error("the same size gives other pixels")
	}
	for y := range 7 {
		for x := range 5 {
			for c := range 3 {
				if flipped[(y*5+4-x)*3+c] != p.Pixels[(y*5+x)*3+c] {
					t.Fatal("a flip does not mirror")
				}
			}
		}
	}
	part := make([]byte, 2*3*3)
	p.Resize(image.Rect(1, 2, 4, 4), 2, 3, false, part)
	if !bytes.Equal(part[:9], p.Pixels[(2*5+1)*3:(2*5+4)*3]) {
		t.Error("a part is not cut out")
	}
	ramp := &Picture{Height: 1, Width: 64, Pixels: make([]byte, 192)}
	for i := range ramp.Pixels {
		ramp.Pixels[i] = byte(i / 3 * 4)
	}
	for _, n := range []int{16, 100} {
		out := make([]byte, n*3)
		ramp.Resize(image.Rect(0, 0, 64, 1), 1, n, false, out)
		for i := 64/n + 1; i < n-64/n-1; i++ { // away from the ends
			want := ((float64(i)+0.5)*64/float64(n) - 0.5) * 4
			if n > 64 && (i < 2 || i > n-3) {
				continue
			}
			if math.Abs(float64(out[3*i])-want) > 1 {
				t.Fatalf("ramp to %d: %d at %d, want %.1f", n, out[3*i], i, want)
			}
		}
	}
	fine := &Picture{Height: 64, Width: 64, Pixels: make([]byte, 64*64*3)}
	for i := range fine.Pixels {
		if (i/3+i/192)%2 == 0 {
			fine.Pixels[i] = 200
		}
	}
	out := make([]byte, 8*8*3)
	fine.Resize(image.Rect(0, 0, 64, 64), 8, 8, false, out)
	for _, v := range out {
		if v < 96 || v > 104 {
			t.Fatalf("a board of 0 and 200 becomes %d, want about 100", v)
		}
	}
	for _, tc := range []struct {
		h, w, toH, toW int
		want           image.Rectangle
	}{{10, 20, 5, 5, image.Rect(5, 0, 15, 10)}, {20, 10, 2, 4, image.Rect(0, 7, 10, 12)}, {1, 9, 9, 1, image.Rect(4, 0, 5, 1)}} {
		if got := (&Picture{Height: tc.h, Width: tc.w}).Middle(tc.toH, tc.toW); got != tc.want {
			t.Errorf("middle of %d x %d for %d x %d: %v, want %v", tc.h, tc.w, tc.toH, tc.toW, got, tc.want)
		}
	}
}

func TestFromImage(t *testing.T) {
	dir := t.TempDir()
	m := image.NewRGBA64(image.Rect(0, 0, 1, 1))
	m.Set(0, 0, color.NRGBA{100, 200, 40, 255})
	put(t, pngOf(t, m), dir, "a", "0.png")
	put(t, pngOf(t, plainImage(1, 1, color.NRGBA{200, 200, 200, 0})), dir, "a", "1.png")
	f, err := OpenImageFolder(dir, FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]byte{{100, 200, 40}, {0, 0, 0}} { // 16 bits; transparent
		if p, err := f.Decode(i); err != nil || !bytes.Equal(p.Pixels, want) {
			t.Errorf("%s: %v, %v", f.Files[i], p, err)
		}
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
	f, err := OpenImageFolder(filepath.Join(dir, "val"), FolderOptions{})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no ../shared/data")
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
	s, skipped, err := part.Read(t.Context(), 32, 32, 0)
	if err != nil || len(skipped) > 0 || s.Len() != 100 {
		t.Errorf("read %d pictures, skipped %v, %v", s.Len(), skipped, err)
	}
}
