package images

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/gomlx/gomlx/core/tensors"
	"golang.org/x/image/draw"

	"github.com/treeloss/treeloss/dataset"
)

// ImageNet is the scale that networks of torchvision and timm are trained with.
func ImageNet() Scale {
	return Scale{Mean: [3]float64{0.485, 0.456, 0.406}, Deviation: [3]float64{0.229, 0.224, 0.225}}
}

// Folder gives batches of pictures that are read from their files when they are
// needed, as squares of one size.
//
// In training a part of the picture is cut out and brought to the size: 8 to 100 %
// of its area, 3:4 to 4:3, mirrored or not (Szegedy et al. 2015). Else the shorter
// side is brought to 256/224 of the size, and the middle taken. Both as
// torchvision does, but for rounding.
type Folder struct {
	data *dataset.Folder
	side int
	opts Options
	norm *Set // for its table of bytes to pixels
}

// NewFolder returns batches of squares of that side. Pad has no meaning here. An
// unknown augmentation, a side below 1 and an empty folder are errors.
func NewFolder(data *dataset.Folder, side int, scale Scale, opts Options) (*Folder, error) {
	if side < 1 || data.Len() == 0 {
		return nil, fmt.Errorf("images: %d pictures of side %d, want at least 1 of each", data.Len(), side)
	}
	norm, err := New(&dataset.Images{Label: []int32{0}}, scale, opts)
	if err != nil {
		return nil, err
	}
	return &Folder{data: data, side: side, opts: norm.opts, norm: norm}, nil
}

// Len returns the number of pictures.
func (f *Folder) Len() int { return f.data.Len() }

// Label returns the label of a picture.
func (f *Folder) Label(i int) int { return int(f.data.Label[i]) }

// Batch reads and cuts the pictures of some rows, spread over the processors:
// [rows, side, side, 3]. A picture that cannot be read is an error that names its
// file.
func (f *Folder) Batch(rows []int, epoch int) ([]*tensors.Tensor, error) {
	size := f.side * f.side * 3
	out := make([]float32, len(rows)*size)
	errs := make([]error, len(rows))
	workers := min(runtime.GOMAXPROCS(0), len(rows))
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for n := worker; n < len(rows); n += workers {
				errs[n] = f.draw(out[n*size:(n+1)*size], rows[n], epoch)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(out, len(rows), f.side, f.side, 3)}, nil
}

func (f *Folder) draw(out []float32, row, epoch int) error {
	picture, err := f.data.Picture(row)
	if err != nil {
		return err
	}
	part, flip := middle(picture.Bounds()), false
	if epoch >= 0 && f.opts.Augment != None {
		if f.opts.Augment == Frozen {
			epoch = 0
		}
		rng := rand.New(rand.NewPCG(f.opts.Seed^cropStream, uint64(epoch)<<40^uint64(row)))
		part, flip = randomPart(rng, picture.Bounds()), rng.IntN(2) == 1
	}
	square := image.NewRGBA(image.Rect(0, 0, f.side, f.side))
	draw.BiLinear.Scale(square, square.Rect, picture, part, draw.Src, nil)
	for y := range f.side {
		for x := range f.side {
			from := x
			if flip {
				from = f.side - 1 - x
			}
			for c := range 3 {
				out[(y*f.side+x)*3+c] = f.norm.norm[c][square.Pix[y*square.Stride+from*4+c]]
			}
		}
	}
	return nil
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
