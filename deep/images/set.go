package images

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/kernel"
)

// Augment says how training pictures are changed.
type Augment string

const (
	Fresh  Augment = "fresh"  // a new crop and flip in each epoch
	Frozen Augment = "frozen" // one crop and flip, drawn once: what the authors' script does
	None   Augment = "none"   // pictures as they are
)

// Options of a Set. The zero value is fresh augmentation with 4 pixels around.
type Options struct {
	Augment Augment // "" means Fresh
	Pad     int     // pictures in memory: black pixels around one before the crop; 0 means 4
	Seed    uint64
}

// Scale is the mean and the standard deviation of each channel, of bytes divided
// by 255.
type Scale struct {
	Mean      [3]float64 `json:"mean"`
	Deviation [3]float64 `json:"deviation"`
}

// ImageNet is the scale that networks of torchvision and timm are trained with.
func ImageNet() Scale {
	return Scale{Mean: [3]float64{0.485, 0.456, 0.406}, Deviation: [3]float64{0.229, 0.224, 0.225}}
}

// Measure returns the scale of all pixels of a set. A channel that is the same
// everywhere has deviation 1.
func Measure(s *dataset.Images) Scale {
	var sum, squares [3]int64 // exact: 2^63 holds 10^14 pixels
	for i, v := range s.Pixels {
		sum[i%3] += int64(v)
		squares[i%3] += int64(v) * int64(v)
	}
	n := float64(len(s.Pixels) / 3)
	var scale Scale
	for c := range 3 {
		mean := float64(sum[c]) / n
		scale.Mean[c] = mean / 255
		scale.Deviation[c] = 1
		if v := float64(squares[c])/n - mean*mean; v > 1e-6 {
			scale.Deviation[c] = math.Sqrt(v) / 255
		}
	}
	return scale
}

// Set gives batches of pictures of one size; it is a train.Data.
type Set struct {
	label         []int32
	height, width int // in pixels
	opts          Options
	norm          [3][256]float32 // byte to pixel, by channel
	// draw writes a picture, [height, width, 3], changed as the generator says; nil
	// leaves it unchanged.
	draw func(out []float32, row int, random *rand.Rand) error
}

// New returns batches of data. In training a picture is shifted by up to
// Options.Pad pixels, black coming in from outside, and mirrored or not (He et al.
// 2016). An unknown augmentation, a negative padding and an empty set are errors.
func New(data *dataset.Images, scale Scale, opts Options) (*Set, error) {
	if opts.Pad = cmp.Or(opts.Pad, 4); opts.Pad < 0 {
		return nil, fmt.Errorf("images: %d pixels around a picture, want at least 0", opts.Pad)
	}
	s, err := newSet(data.Label, data.Height, data.Width, scale, opts)
	if err != nil {
		return nil, err
	}
	s.draw = func(out []float32, row int, random *rand.Rand) error {
		s.shift(out, data.Picture(row), random)
		return nil
	}
	return s, nil
}

// newSet makes a Set that lacks only what draws a picture. A byte v of channel c becomes
// (v/255 - Mean[c]) / Deviation[c].
func newSet(label []int32, height, width int, scale Scale, opts Options) (*Set, error) {
	s := &Set{label: label, height: height, width: width, opts: opts}
	s.opts.Augment = cmp.Or(opts.Augment, Fresh)
	if a := s.opts.Augment; a != Fresh && a != Frozen && a != None {
		return nil, fmt.Errorf("images: augmentation %q, want %s, %s or %s", a, Fresh, Frozen, None)
	}
	if len(label) == 0 {
		return nil, errors.New("images: no pictures, want at least 1")
	}
	for c := range 3 {
		if !(scale.Deviation[c] > 0) {
			return nil, fmt.Errorf("images: deviation %v of channel %d, want a number above 0", scale.Deviation[c], c)
		}
		for v := range 256 {
			s.norm[c][v] = float32((float64(v)/255 - scale.Mean[c]) / scale.Deviation[c])
		}
	}
	return s, nil
}

// Len returns the number of pictures.
func (s *Set) Len() int { return len(s.label) }

// Label returns the label of a picture.
func (s *Set) Label(i int) int { return int(s.label[i]) }

// Batch returns the pictures of some rows, [rows, height, width, 3], as they are
// in an epoch of training, from 0 on; or unchanged, for epoch -1. The work is
// spread over the processors. A picture of a folder that cannot be read is an error
// that names its file; pictures in memory make none.
func (s *Set) Batch(rows []int, epoch int) ([]*tensors.Tensor, error) {
	size := s.height * s.width * 3
	out, errs := make([]float32, len(rows)*size), make([]error, len(rows))
	kernel.Parallel(0, len(rows), 1, func(n, _, _ int) {
		errs[n] = s.draw(out[n*size:(n+1)*size], rows[n], s.random(rows[n], epoch))
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(out, len(rows), s.height, s.width, 3)}, nil
}

// cropStream keeps these draws apart from all others of a seed.
const cropStream = 0x6372_6f70

// random returns the generator of what happens to a picture in an epoch, nil if
// nothing does.
func (s *Set) random(row, epoch int) *rand.Rand {
	if epoch < 0 || s.opts.Augment == None {
		return nil
	}
	if s.opts.Augment == Frozen {
		epoch = 0
	}
	return rand.New(rand.NewPCG(s.opts.Seed^cropStream, uint64(epoch)<<40^uint64(row)))
}

// shift writes a picture of bytes, shifted and mirrored.
func (s *Set) shift(out []float32, pixels []byte, random *rand.Rand) {
	// The order of the draws is part of the format: a resumed training must see the same.
	dy, dx, flip := 0, 0, false
	if pad := s.opts.Pad; random != nil {
		dy, dx = random.IntN(2*pad+1)-pad, random.IntN(2*pad+1)-pad
		flip = random.IntN(2) == 1
	}
	h, w := s.height, s.width
	i := 0
	for y := range h {
		for x := range w {
			if flip {
				x = w - 1 - x
			}
			sy, sx := y+dy, x+dx
			inside := sy >= 0 && sy < h && sx >= 0 && sx < w
			for c := range 3 {
				var v byte // black
				if inside {
					v = pixels[(sy*w+sx)*3+c]
				}
				out[i] = s.norm[c][v]
				i++
			}
		}
	}
}
