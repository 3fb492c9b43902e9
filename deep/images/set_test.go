package images

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/train"
)

func pictures(n, h, w int) *dataset.Images {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &dataset.Images{Height: h, Width: w, Classes: []string{"a", "b"}}
	for i := range n {
		s.Label = append(s.Label, int32(i%2))
		for range h * w * 3 {
			s.Pixels = append(s.Pixels, byte(rng.IntN(256)))
		}
	}
	return s
}

func batch(t *testing.T, s train.Data, rows []int, epoch int) []float32 {
	t.Helper()
	x, err := s.Batch(rows, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float32](x[0])
}

// Unchanged pictures have mean 0 and deviation 1 in each channel over the set.
func TestMeasure(t *testing.T) {
	data := pictures(5, 4, 6)
	s, err := New(data, Measure(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := batch(t, s, []int{0, 1, 2, 3, 4}, -1)
	for c := range 3 {
		var sum, squares, n float64
		for i := c; i < len(all); i += 3 {
			sum += float64(all[i])
			squares += float64(all[i]) * float64(all[i])
			n++
		}
		if math.Abs(sum/n) > 1e-5 || math.Abs(squares/n-1) > 1e-5 {
			t.Errorf("channel %d: mean %g, mean square %g", c, sum/n, squares/n)
		}
	}
	flat := &dataset.Images{Height: 1, Width: 1, Pixels: []byte{7, 7, 7}, Label: []int32{0}}
	if d := Measure(flat).Deviation; d != [3]float64{1, 1, 1} {
		t.Errorf("deviation %v of one pixel", d)
	}
}

// A picture is what its seed, epoch and number say, in any batch and on any
// number of processors; fresh ones change with the epoch, frozen ones do not.
func TestAugment(t *testing.T) {
	data := pictures(40, 8, 8)
	scale := Measure(data)
	set := func(a Augment, seed uint64) *Set {
		s, err := New(data, scale, Options{Augment: a, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rows := []int{5, 3, 39, 0, 7}
	fresh := batch(t, set(Fresh, 1), rows, 2)
	old := runtime.GOMAXPROCS(1)
	single := batch(t, set(Fresh, 1), rows, 2)
	runtime.GOMAXPROCS(old)
	if !slices.Equal(fresh, single) {
		t.Error("differs on one processor")
	}
	if !slices.Equal(fresh[8*8*3:2*8*8*3], batch(t, set(Fresh, 1), []int{3}, 2)) {
		t.Error("a picture depends on its batch")
	}
	if slices.Equal(fresh, batch(t, set(Fresh, 1), rows, 3)) || slices.Equal(fresh, batch(t, set(Fresh, 2), rows, 2)) {
		t.Error("epoch or seed changes nothing")
	}
	if !slices.Equal(batch(t, set(Frozen, 1), rows, 2), batch(t, set(Frozen, 1), rows, 9)) {
		t.Error("frozen pictures change")
	}
	if !slices.Equal(batch(t, set(None, 1), rows, 2), batch(t, set(Fresh, 1), rows, -1)) {
		t.Error("pictures without augmentation change")
	}
}

// Each crop is a shift of the picture or of its mirror image, by up to Pad, with
// black around; over many draws all shifts and both flips occur.
func TestAugmentIsShiftAndFlip(t *testing.T) {
	data := pictures(1, 3, 5)
	identity := Scale{Deviation: [3]float64{1.0 / 255, 1.0 / 255, 1.0 / 255}} // bytes as they are
	s, err := New(data, identity, Options{Pad: 1})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]int]bool{}
	for epoch := range 300 {
		got := batch(t, s, []int{0}, epoch)
		found := false
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				for flip := range 2 {
					if !found && matches(got, data, dy, dx, flip == 1) {
						found = true
						seen[[3]int{dy, dx, flip}] = true
					}
				}
			}
		}
		if !found {
			t.Fatalf("epoch %d is no shift of the picture", epoch)
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d of 18 shifts and flips occur", len(seen))
	}
}

func matches(got []float32, data *dataset.Images, dy, dx int, flip bool) bool {
	h, w := data.Height, data.Width
	for y := range h {
		for x := range w {
			at := x
			if flip {
				at = w - 1 - x
			}
			for c := range 3 {
				var want float64
				if sy, sx := y+dy, at+dx; sy >= 0 && sy < h && sx >= 0 && sx < w {
					want = float64(data.Pixels[(sy*w+sx)*3+c])
				}
				if math.Abs(float64(got[(y*w+x)*3+c])-want) > 1e-3 {
					return false
				}
			}
		}
	}
	return true
}

func TestNewRefuses(t *testing.T) {
	data := pictures(1, 2, 2)
	for name, try := range map[string]func() (*Set, error){
		"augmentation": func() (*Set, error) { return New(data, Measure(data), Options{Augment: "twice"}) },
		"padding":      func() (*Set, error) { return New(data, Measure(data), Options{Pad: -1}) },
		"no pictures":  func() (*Set, error) { return New(&dataset.Images{}, Measure(data), Options{}) },
		"deviation":    func() (*Set, error) { return New(data, Scale{}, Options{}) },
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
