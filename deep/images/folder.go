package images

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"golang.org/x/image/draw"

	"github.com/treeloss/treeloss/dataset"
)

// NewFolder returns batches of pictures that are read from their files when they
// are needed, as squares of that side, in pixels.
//
// In training a part of the picture is cut out and brought to the size: 8 to 100 %
// of its area, 3:4 to 4:3, mirrored or not (Szegedy et al. 2015). Else the shorter
// side is brought to 256/224 of the size, and the middle taken. Both as
// torchvision does, but for rounding.
//
// An unknown augmentation, a side below 1 and an empty folder are errors.
func NewFolder(data *dataset.Folder, side int, scale Scale, opts Options) (*Set, error) {
	if side < 1 {
		return nil, fmt.Errorf("images: pictures of side %d, want at least 1", side)
	}
	s, err := newSet(data.Label, side, side, scale, opts)
	if err != nil {
		return nil, err
	}
	s.draw = func(out []float32, row int, random *rand.Rand) error {
		picture, err := data.Picture(row)
		if err != nil {
			return err
		}
		part, flip := middle(picture.Bounds()), false
		if random != nil {
			part, flip = randomPart(random, picture.Bounds()), random.IntN(2) == 1
		}
		s.cut(out, picture, part, flip)
		return nil
	}
	return s, nil
}

// maxInMemory bounds a picture that comes as bytes, in pixels: 64 MB decoded.
const maxInMemory = 1 << 24

// Decode returns batches of pictures that come as the bytes of JPEG and PNG files, as
// NewFolder gives them outside of training. After the first that cannot be read, or has
// more than 2^24 pixels, it returns those before it and the error.
func Decode(files []string, side int, scale Scale) (*Set, error) {
	s, err := newSet(make([]int32, len(files)), side, side, scale, Options{Augment: None})
	if err != nil {
		return nil, err
	}
	pixels := make([][]float32, len(files))
	s.draw = func(out []float32, row int, _ *rand.Rand) error { copy(out, pixels[row]); return nil }
	for i, file := range files {
		picture, err := dataset.DecodePicture([]byte(file), maxInMemory)
		if err != nil {
			s.label = s.label[:i]
			return s, fmt.Errorf("no readable picture: %w; want a JPEG or PNG file", err)
		}
		pixels[i] = make([]float32, side*side*3)
		s.cut(pixels[i], picture, middle(picture.Bounds()), false)
	}
	return s, nil
}

// cut writes a part of a picture, brought to the size and mirrored.
func (s *Set) cut(out []float32, picture image.Image, part image.Rectangle, flip bool) {
	square := image.NewRGBA(image.Rect(0, 0, s.width, s.height))
	draw.BiLinear.Scale(square, square.Rect, picture, part, draw.Src, nil)
	for y := range s.height {
		for x := range s.width {
			from := x
			if flip {
				from = s.width - 1 - x
			}
			for c := range 3 {
				out[(y*s.width+x)*3+c] = s.norm[c][square.Pix[y*square.Stride+from*4+c]]
			}
		}
	}
}

// middle returns the square in the middle, with 224/256 of the shorter side.
func middle(b image.Rectangle) image.Rectangle {
	n := max(1, int(math.Round(float64(min(b.Dx(), b.Dy()))*224/256)))
	x, y := b.Min.X+(b.Dx()-n)/2, b.Min.Y+(b.Dy()-n)/2
	return image.Rect(x, y, x+n, y+n)
}

// randomPart draws a part of a picture; where ten draws do not fit into it, the
// largest part in the middle with an allowed shape is taken.
func randomPart(rng *rand.Rand, b image.Rectangle) image.Rectangle {
	w, h := b.Dx(), b.Dy()
	for range 10 {
		// The area is drawn evenly, the ratio of the sides evenly in its logarithm.
		area := float64(w) * float64(h) * (0.08 + 0.92*rng.Float64())
		shape := math.Exp(math.Log(0.75) + rng.Float64()*2*math.Log(4.0/3))
		pw, ph := int(math.Round(math.Sqrt(area*shape))), int(math.Round(math.Sqrt(area/shape)))
		if pw < 1 || ph < 1 || pw > w || ph > h {
			continue
		}
		x, y := b.Min.X+rng.IntN(w-pw+1), b.Min.Y+rng.IntN(h-ph+1)
		return image.Rect(x, y, x+pw, y+ph)
	}
	pw, ph := min(w, max(1, h*4/3)), min(h, max(1, w*4/3))
	x, y := b.Min.X+(w-pw)/2, b.Min.Y+(h-ph)/2
	return image.Rect(x, y, x+pw, y+ph)
}
