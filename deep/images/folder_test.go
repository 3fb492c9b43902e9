package images

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// folder writes pictures: red grows to the right, green downwards, blue is 40.
func folder(t *testing.T) *dataset.Folder {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"n01/a.png", "n01/b.png", "n02/c.png"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		m := image.NewRGBA(image.Rect(0, 0, 96, 64))
		for y := range 64 {
			for x := range 96 {
				m.Set(x, y, color.RGBA{uint8(2 * x), uint8(3 * y), 40, 255})
			}
		}
		if err := png.Encode(out, m); err != nil {
			t.Fatal(err)
		}
		out.Close()
	}
	f, err := dataset.OpenFolder(root, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var asBytes = Scale{Deviation: [3]float64{1.0 / 255, 1.0 / 255, 1.0 / 255}}

// The middle of a 96 x 64 picture is 56 x 56 from (20, 4): its colours say so.
func TestFolderMiddle(t *testing.T) {
	s, err := NewFolder(folder(t), 28, asBytes, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := batch(t, s, []int{2}, -1)
	for _, p := range [][2]int{{0, 0}, {5, 20}, {27, 27}} {
		at := (p[1]*28 + p[0]) * 3
		red, green := 2*(20+2*float64(p[0])+0.5), 3*(4+2*float64(p[1])+0.5)
		if math.Abs(float64(x[at])-red) > 2 || math.Abs(float64(x[at+1])-green) > 3 || math.Abs(float64(x[at+2])-40) > 1 {
			t.Errorf("pixel %v is %v, want %v %v 40", p, x[at:at+3], red, green)
		}
	}
	if s.Len() != 3 || s.Label(2) != 1 {
		t.Errorf("%d pictures, the last of class %d", s.Len(), s.Label(2))
	}
}

// Parts depend on seed, epoch and number alone, and mirror images occur.
func TestFolderAugment(t *testing.T) {
	data := folder(t)
	s, err := NewFolder(data, 8, ImageNet(), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	first := batch(t, s, []int{0, 1}, 4)
	old := runtime.GOMAXPROCS(1)
	if !slices.Equal(first, batch(t, s, []int{0, 1}, 4)) {
		t.Error("differs on one processor")
	}
	runtime.GOMAXPROCS(old)
	if slices.Equal(first, batch(t, s, []int{0, 1}, 5)) {
		t.Error("the epoch changes nothing")
	}
	frozen, err := NewFolder(data, 8, ImageNet(), Options{Seed: 3, Augment: Frozen})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(batch(t, frozen, []int{1}, 4), batch(t, frozen, []int{1}, 7)) {
		t.Error("frozen pictures change")
	}
	mirrored := 0
	for epoch := range 20 {
		x := batch(t, s, []int{0}, epoch)
		if x[0] > x[7*3] { // red falls to the right
			mirrored++
		}
	}
	if mirrored < 3 || mirrored > 17 {
		t.Errorf("%d of 20 are mirrored", mirrored)
	}
}

// Parts lie within the picture, and have the areas and shapes that they may.
func TestRandomPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, b := range []image.Rectangle{image.Rect(0, 0, 64, 64), image.Rect(3, 5, 503, 12), image.Rect(0, 0, 1, 1), image.Rect(0, 0, 2, 300)} {
		for range 200 {
			p := randomPart(rng, b)
			if !p.In(b) || p.Empty() {
				t.Fatalf("part %v of %v", p, b)
			}
			if share := float64(p.Dx()*p.Dy()) / float64(b.Dx()*b.Dy()); b.Dx() == 64 && (share < 0.07 || share > 1) {
				t.Errorf("part %v is %v of the picture", p, share)
			}
		}
	}
}

// A picture that cannot be read is an error with its name.
func TestFolderBadPicture(t *testing.T) {
	data := folder(t)
	if err := os.WriteFile(filepath.Join(data.Root, data.Files[1]), []byte("\x89PNG no"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewFolder(data, 8, ImageNet(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Batch([]int{0, 1, 2}, 0); err == nil || !strings.Contains(err.Error(), data.Files[1]) {
		t.Errorf("error %v", err)
	}
	if _, err := NewFolder(data, 0, ImageNet(), Options{}); err == nil {
		t.Error("pictures of side 0")
	}
	if _, err := NewFolder(data, 8, ImageNet(), Options{Augment: "some"}); err == nil {
		t.Error("an unknown augmentation")
	}
}
