package dataset

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"sync"
	"sync/atomic"
)

// Picture is a picture of any size.
type Picture struct {
	Height, Width int
	Pixels        []byte // row by row, red, green and blue of each pixel
}

// Decode reads a picture as Folder.Picture does, into bytes: grey pictures get
// three equal channels, CMYK is converted, and what is transparent lies on black.
func (f *Folder) Decode(i int) (*Picture, error) {
	m, err := f.Picture(i)
	if err != nil {
		return nil, err
	}
	return fromImage(m), nil
}

// fromImage copies the pixels of an image.
func fromImage(m image.Image) *Picture {
	b := m.Bounds()
	p := &Picture{Height: b.Dy(), Width: b.Dx(), Pixels: make([]byte, 0, 3*b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		switch m := m.(type) {
		case *image.YCbCr:
			for x := b.Min.X; x < b.Max.X; x++ {
				c := m.COffset(x, y)
				r, g, b := color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
				p.Pixels = append(p.Pixels, r, g, b)
			}
		case *image.Gray:
			at := m.PixOffset(b.Min.X, y)
			for _, v := range m.Pix[at : at+b.Dx()] {
				p.Pixels = append(p.Pixels, v, v, v)
			}
		default:
			for x := b.Min.X; x < b.Max.X; x++ {
				r, g, b, _ := m.At(x, y).RGBA()
				p.Pixels = append(p.Pixels, byte(r>>8), byte(g>>8), byte(b>>8))
			}
		}
	}
	return p
}

// Read decodes all pictures and makes them height x width: the largest part of
// that shape around the middle, resized. For sets that fit into memory. Damaged
// pictures are left out and returned as errors, in their order; none left is an
// error. threads 0 means one a processor and never changes the result.
func (f *Folder) Read(ctx context.Context, height, width, threads int) (s *Images, skipped []error, err error) {
	if height < 1 || width < 1 || height > maxPicture/width/3 {
		return nil, nil, fmt.Errorf("dataset: pictures of %d x %d, want sides of at least 1", height, width)
	}
	size := 3 * height * width
	all := &Images{Height: height, Width: width, Classes: f.Classes, Pixels: make([]byte, size*f.Len())}
	failed := make([]error, f.Len())
	f.each(ctx, threads, func(i int) {
		p, err := f.Decode(i)
		if err != nil {
			failed[i] = err
			return
		}
		p.Resize(p.Middle(height, width), height, width, false, all.Pixels[i*size:(i+1)*size])
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	kept := 0
	for i, err := range failed {
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		copy(all.Pixels[kept*size:(kept+1)*size], all.Pixels[i*size:(i+1)*size])
		all.Label = append(all.Label, f.Label[i])
		kept++
	}
	if all.Pixels = all.Pixels[:kept*size]; kept == 0 {
		return nil, skipped, refuse(f.Root, 0, 0, "none of the %d pictures can be read, the first because: %v", f.Len(), skipped[0])
	}
	return all, skipped, nil
}

// Check decodes all pictures and returns a folder of those that are whole, and
// why the others are not, in their order.
func (f *Folder) Check(ctx context.Context, threads int) (whole *Folder, damaged []error, err error) {
	failed := make([]error, f.Len())
	f.each(ctx, threads, func(i int) { _, failed[i] = f.Decode(i) })
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	whole = &Folder{Root: f.Root, Classes: f.Classes, Others: f.Others}
	for i, err := range failed {
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		whole.Files, whole.Label = append(whole.Files, f.Files[i]), append(whole.Label, f.Label[i])
	}
	return whole, damaged, nil
}

// each calls use with every number of a picture, some at a time, until ctx ends.
func (f *Folder) each(ctx context.Context, threads int, use func(i int)) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(threads, f.Len()) {
		wait.Go(func() {
			for i := int(next.Add(1) - 1); i < f.Len() && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				use(i)
			}
		})
	}
	wait.Wait()
}
