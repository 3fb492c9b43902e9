package dataset

import (
	"image"
	"math"
)

// Middle returns the largest part of the picture around its middle that has the
// shape of height x width.
func (p *Picture) Middle(height, width int) image.Rectangle {
	h, w := p.Height, p.Width
	if p.Width*height > p.Height*width {
		w = max(1, int(math.Round(float64(p.Height)*float64(width)/float64(height))))
	} else {
		h = max(1, int(math.Round(float64(p.Width)*float64(height)/float64(width))))
	}
	x, y := (p.Width-w)/2, (p.Height-h)/2
	return image.Rect(x, y, x+w, y+h)
}

// Resize writes a part of the picture as height x width pixels to dst, mirrored
// if flip. Pixels are interpolated linearly; where the result is smaller, each of
// its pixels is a mean weighted by a triangle as wide as two of them, so that fine
// patterns do not alias. dst has length 3 height width; from lies within the
// picture and is not empty.
func (p *Picture) Resize(from image.Rectangle, height, width int, flip bool, dst []byte) {
	columns := taps(from.Min.X, from.Dx(), width)
	rows := taps(from.Min.Y, from.Dy(), height)
	top, bottom := rows[0].first, 0
	for _, r := range rows {
		bottom = max(bottom, r.first+len(r.weight))
	}
	// First each row to its new width, then columns to their new height.
	narrow := make([]float32, (bottom-top)*width*3)
	for y := top; y < bottom; y++ {
		line := p.Pixels[y*p.Width*3 : (y+1)*p.Width*3]
		for x, t := range columns {
			var r, g, b float32
			at := t.first * 3
			for _, w := range t.weight {
				r += w * float32(line[at])
				g += w * float32(line[at+1])
				b += w * float32(line[at+2])
				at += 3
			}
			if flip {
				x = width - 1 - x
			}
			out := narrow[((y-top)*width+x)*3:]
			out[0], out[1], out[2] = r, g, b
		}
	}
	sum := make([]float32, width*3)
	for y, t := range rows {
		clear(sum)
		for n, w := range t.weight {
			for i, v := range narrow[(t.first-top+n)*width*3 : (t.first-top+n+1)*width*3] {
				sum[i] += w * v
			}
		}
		for i, v := range sum {
			dst[y*width*3+i] = byte(min(max(v+0.5, 0), 255))
		}
	}
}

// tap says which pixels make one pixel of the result.
type tap struct {
	first  int
	weight []float32 // sums to 1
}

// taps returns those of n pixels made of length pixels from start on.
func taps(start, length, n int) []tap {
	scale := float64(length) / float64(n)
	reach := max(scale, 1)
	out := make([]tap, n)
	for i := range out {
		centre := (float64(i)+0.5)*scale - 0.5
		first := max(0, int(math.Ceil(centre-reach)))
		last := min(length-1, int(math.Floor(centre+reach)))
		weight := make([]float32, 0, last-first+1)
		var sum float32
		for j := first; j <= last; j++ {
			w := float32(max(0, 1-math.Abs(float64(j)-centre)/reach))
			weight = append(weight, w)
			sum += w
		}
		for j := range weight {
			weight[j] /= sum
		}
		out[i] = tap{start + first, weight}
	}
	return out
}
