package theory

import "math"

// Distortion compares the known distances d of n classes with those of their
// weights, |w_i - w_j| (Assumption 3 of the paper).
type Distortion struct {
	// Lambda is the least lambda >= 1 with s d/lambda <= |w_i - w_j| <=
	// lambda s d for all pairs of classes, s being the scale of d that makes it
	// least: sqrt(largest |w_i - w_j|/d over the smallest one). It is nil if
	// there is none, as classes at distance 0 have different weights or others
	// the same.
	Lambda *float64 `json:"lambda"`
	// Scale is s, 0 without Lambda.
	Scale float64 `json:"scale"`
	// Correlation is that of d and |w_i - w_j| over the pairs: lambda stands for the
	// worst two pairs only. It is nil where one of them is the same for all.
	Correlation *float64 `json:"correlation"`
	Classes     int      `json:"classes"` // whose pairs were looked at; fewer than all are a sample
}

// Unscaled returns the paper's lambda, that of distances as they are (s = 1); it is
// +Inf if there is none.
func (d Distortion) Unscaled() float64 {
	if d.Lambda == nil {
		return math.Inf(1)
	}
	return max(*d.Lambda*d.Scale, *d.Lambda/d.Scale)
}

// Distort compares all pairs of n classes. O(n²) distances.
func Distort(n int, known, weights func(i, j int) float64) Distortion {
	out := Distortion{Classes: n}
	least, largest, undefined := math.Inf(1), 0.0, false
	var c correlation
	for i := range n {
		for j := i + 1; j < n; j++ {
			d, w := known(i, j), weights(i, j)
			c.add(d, w)
			switch {
			case d == 0 && w == 0:
			case d == 0 || w == 0:
				undefined = true
			default:
				least, largest = min(least, w/d), max(largest, w/d)
			}
		}
	}
	if !undefined && largest > 0 {
		lambda := math.Sqrt(largest / least)
		out.Lambda, out.Scale = &lambda, math.Sqrt(largest*least)
	}
	out.Correlation = c.value()
	return out
}

// correlation is Pearson's, of pairs added one by one (Welford 1962).
type correlation struct {
	n, x, y, xx, yy, xy float64
}

// add takes one pair in: means are moved first, and products taken of the difference from
// the old mean with that from the new one, which cancels nothing.
func (c *correlation) add(x, y float64) {
	c.n++
	dx, dy := x-c.x, y-c.y
	c.x += dx / c.n
	c.y += dy / c.n
	c.xx += dx * (x - c.x)
	c.yy += dy * (y - c.y)
	c.xy += dx * (y - c.y)
}

// value is nil if one side does not vary beyond rounding.
func (c *correlation) value() *float64 {
	if c.n < 3 || c.xx <= 1e-12*c.n*c.x*c.x || c.yy <= 1e-12*c.n*c.y*c.y {
		return nil
	}
	v := c.xy / math.Sqrt(c.xx*c.yy)
	return &v
}
