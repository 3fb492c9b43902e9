package images

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/treeloss/treeloss/dataset"
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
	Pad     int     // zeros around a picture before the crop; 0 means 4
	Seed    uint64
}

// Scale is the mean and the standard deviation of each channel, of bytes divided
// by 255.
type Scale struct {
	Mean      [3]float64 `json:"mean"`
	Deviation [3]float64 `json:"deviation"`
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

// Set gives batches of a set of pictures.
type Set struct {
	data *dataset.Images
	opts Options
	norm [3][256]float32 // byte to pixel, by channel
	zero [3]float32      // black, what stands around a picture
}

// New returns batches of data. An unknown augmentation, a negative padding and
// an empty set are errors.
func New(data *dataset.Images, scale Scale, opts Options) (*Set, error) {
	if opts.Augment == "" {
		opts.Augment = Fresh
	}
	if opts.Pad == 0 {
		opts.Pad = 4
	}
	if opts.Augment != Fresh && opts.Augment != Frozen && opts.Augment != None {
		return nil, fmt.Errorf("images: augmentation %q, want %s, %s or %s", opts.Augment, Fresh, Frozen, None)
	}
	if opts.Pad < 0 || data.Len() == 0 {
		return nil, fmt.Errorf("images: %d pictures and %d pixels around, want at least 1 and 0", data.Len(), opts.Pad)
	}
	s := &Set{data: data, opts: opts}
	for c := range 3 {
		if !(scale.Deviation[c] > 0) {
			return nil, fmt.Errorf("images: deviation %v of channel %d, want a number above 0", scale.Deviation[c], c)
		}
		for v := range 256 {
			s.norm[c][v] = float32((float64(v)/255 - scale.Mean[c]) / scale.Deviation[c])
		}
		s.zero[c] = s.norm[c][0]
	}
	return s, nil
}

// Len returns the number of pictures.
func (s *Set) Len() int { return s.data.Len() }

// Label returns the label of a picture.
func (s *Set) Label(i int) int { return int(s.data.Label[i]) }

// Batch returns the pictures of some rows, [rows, height, width, 3], as they are
// in an epoch of training, from 0 on; or unchanged, for epoch -1. The work is
// spread over the processors. There is no error; train.Data wants one.
func (s *Set) Batch(rows []int, epoch int) ([]*tensors.Tensor, error) {
	h, w := s.data.Height, s.data.Width
	size := h * w * 3
	out := make([]float32, len(rows)*size)
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(rows))
	for worker := range workers {
		wait.Go(func() {
			for n := worker; n < len(rows); n += workers {
				s.draw(out[n*size:(n+1)*size], rows[n], epoch)
			}
		})
	}
	wait.Wait()
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(out, len(rows), h, w, 3)}, nil
}

// draw writes one picture.
func (s *Set) draw(out []float32, row, epoch int) {
	pixels := s.data.Picture(row)
	if epoch < 0 || s.opts.Augment == None {
		for i, v := range pixels {
			out[i] = s.norm[i%3][v]
		}
		return
	}
	if s.opts.Augment == Frozen {
		epoch = 0
	}
	rng := rand.New(rand.NewPCG(s.opts.Seed^cropStream, uint64(epoch)<<40^uint64(row)))
	pad := s.opts.Pad
	dy, dx := rng.IntN(2*pad+1)-pad, rng.IntN(2*pad+1)-pad
	flip := rng.IntN(2) == 1
	h, w := s.data.Height, s.data.Width
	i := 0
	for y := range h {
		for x := range w {
			if flip {
				x = w - 1 - x
			}
			sy, sx := y+dy, x+dx
			inside := sy >= 0 && sy < h && sx >= 0 && sx < w
			for c := range 3 {
				if inside {
					out[i] = s.norm[c][pixels[(sy*w+sx)*3+c]]
				} else {
					out[i] = s.zero[c]
				}
				i++
			}
		}
	}
}

// cropStream keeps these draws apart from all others of a seed.
const cropStream = 0x6372_6f70
