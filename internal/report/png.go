package report

import (
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngScale is the number of dots a pixel: a canvas unit is a point of 1/72 inch, so that 72
// dots an inch would be one a pixel.
const pngScale = 2

// WritePNG writes the same picture as WriteSVG at two dots a pixel, on white.
func WritePNG(w io.Writer, p Picture) error {
	s, err := p.scene(true)
	if err != nil {
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(s.width), vg.Length(s.height)), vgimg.UseDPI(72*pngScale), vgimg.UseBackgroundColor(color.White))
	for _, m := range s.marks {
		s.paint(c, m)
	}
	return png.Encode(w, c.Image())
}

// paint draws a mark. The canvas has its origin in the lower left corner and
// one unit a pixel.
func (s *scene) paint(c *vgimg.Canvas, m mark) {
	place := func(p point) vg.Point { return vg.Point{X: vg.Length(p.x), Y: vg.Length(s.height - p.y)} }
	switch {
	case m.hint != "":
		for _, x := range m.inside {
			s.paint(c, x)
		}
		return
	case m.label != "": // turned around its own place: move there, turn, then write
		face := s.fonts.face(m.size)
		var back vg.Length // from the place to where the text begins
		switch width := face.Width(m.label); m.anchor {
		case "middle":
			back = width / 2
		case "end":
			back = width
		}
		c.Push()
		c.Translate(place(m.points[0]))
		if m.upwards {
			c.Rotate(math.Pi / 2)
		}
		c.SetColor(rgb(m.fill, 0))
		c.FillString(face, vg.Point{X: -back}, m.label)
		c.Pop()
		return
	case len(m.points) == 0:
		return
	}
	var path vg.Path
	if m.radius > 0 {
		center := place(m.points[0])
		path.Move(vg.Point{X: center.X + vg.Length(m.radius), Y: center.Y})
		path.Arc(center, vg.Length(m.radius), 0, 2*math.Pi)
		path.Close()
	} else {
		path.Move(place(m.points[0]))
		for _, p := range m.points[1:] {
			path.Line(place(p))
		}
		if m.closed {
			path.Close()
		}
	}
	if m.fill != none {
		c.SetColor(rgb(m.fill, m.opacity))
		c.Fill(path)
	}
	if m.line != none {
		dash := make([]vg.Length, len(m.dash))
		for i, d := range m.dash {
			dash[i] = vg.Length(d)
		}
		c.SetColor(rgb(m.line, 0))
		c.SetLineWidth(vg.Length(m.width))
		c.SetLineDash(dash, 0)
		c.Stroke(path)
	}
}

// rgb returns the colour of an ink; an opacity of 0 means 1.
func rgb(i ink, opacity float64) color.Color {
	v, err := strconv.ParseUint(palette[i].light[1:], 16, 32)
	if err != nil {
		return color.Black // our own colours are well formed
	}
	alpha := uint8(255)
	if opacity > 0 {
		alpha = uint8(255 * opacity)
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: alpha}
}
